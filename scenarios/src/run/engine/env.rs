//! A simulated host as the environment of a lock, and of the program around it.
//!
//! The newtype joins two crates that do not know each other: locks know only their [`Env`], hosts know nothing of
//! Redis. The driver between them is redis-rs' own `MultiplexedConnection`, over the simulated byte stream, between
//! the two halves of what tells the recorder which lock call sent what; or, for many runs, a lean connection.
//!
//! Decision: "A task belongs to the lock call that started it" (docs/decisions/locks.md).

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use doublehold_history::{CallId, ClientId};
use doublehold_lockimpl::{
    BootTime, CONNECT_LIMIT, Deadline, DeadlinePassed, Env, MonotonicTime, NodeName, ProcessState, Pushes,
    RedisRs, Task, WallTime, connection_config, connection_info, default_config, listening_config,
    listening_info,
};
use doublehold_sim::{BoxFuture, Host, SimStream};
use doublehold_sim_sentinel::SENTINEL_PORT;
use redis::aio::{ConnectionLike, MultiplexedConnection};
use redis::{Cmd, Pipeline, RedisFuture, Value};

use super::calls::{CallConnection, CallStream, Ended};
use super::drivers::Drivers;
use super::standby::DatabaseName;
use super::threads::{AsThread, Starts};
use super::tokio_timers::Fired;
use crate::model::cast::{Cast, Member};
use crate::run::Driver;
use crate::run::client::panic_guard::PanicGuard;
use crate::run::client::stage::Stage;
use crate::run::clocks;
use crate::run::lean::LeanConnection;
use crate::run::recorder::Recorder;

/// The port every simulated node listens on.
pub(crate) const REDIS_PORT: u16 = 6379;

/// What a lock on a simulated client sees of the world.
#[derive(Clone)]
pub struct SimEnv {
    pub(in crate::run) host: Host,
    pub(in crate::run) client: ClientId,
    pub(in crate::run) cast: Arc<Cast>,
    recorder: Recorder,
    driver: Driver,
    /// Of connections that are in the hands of somebody's own code.
    pub(in crate::run) drivers: Drivers,
    /// Of this process.
    process_state: ProcessState,
    /// Whether this process is gone although its host runs on.
    pub(in crate::run) ended: Arc<AtomicBool>,
    /// The threads of this host that may begin, where it has several.
    pub(in crate::run) starts: Starts,
    /// Whether drivers read what has arrived before the lock's code runs, since a timer of tokio's may be due with it.
    pub(in crate::run) fired: Fired,
    /// The name of a database that has a standby.
    database: Option<DatabaseName>,
}

impl SimEnv {
    /// The environment of a client on its host; `cast` says which host each name means.
    pub(crate) fn new(
        host: Host,
        client: ClientId,
        cast: Arc<Cast>,
        recorder: Recorder,
        driver: Driver,
    ) -> SimEnv {
        SimEnv {
            host,
            client,
            cast,
            recorder,
            driver,
            drivers: Drivers::default(),
            process_state: ProcessState::default(),
            ended: Arc::default(),
            starts: Starts::default(),
            fired: Fired::default(),
            database: None,
        }
    }

    /// The same, where a promotion changes what a name means.
    pub(in crate::run) fn with_database(self, database: Option<DatabaseName>) -> SimEnv {
        SimEnv { database, ..self }
    }

    /// The same, with what other lives of its process were told.
    pub(in crate::run) fn with_starts(self, starts: Starts) -> SimEnv {
        SimEnv { starts, ..self }
    }

    /// The same, in a run in which tokio's timers may fire.
    pub(in crate::run) fn with_fired(self, fired: Fired) -> SimEnv {
        SimEnv { fired, ..self }
    }

    /// The port that whatever runs on this host listens on.
    fn port_of(&self, node: &NodeName) -> u16 {
        let host = self.cast.host(node.as_str());
        let is_sentinel = host.is_ok_and(|host| matches!(self.cast.member(host), Member::Sentinel(_)));
        if is_sentinel { SENTINEL_PORT } else { REDIS_PORT }
    }

    /// The same process as another of its threads sees it.
    pub(in crate::run) fn thread_env(&self, client: ClientId) -> SimEnv {
        SimEnv { client, ..self.clone() }
    }
}

/// A connection to a simulated node, through whichever driver the run has.
#[derive(Clone)]
pub struct Connection(Driven);

#[derive(Clone)]
enum Driven {
    RedisRs(CallConnection),
    Lean(LeanConnection),
    /// Of a connection on which the node may push: redis-rs', without labels. It counts the arguments of a `SUBSCRIBE`.
    Listening(MultiplexedConnection),
}

impl ConnectionLike for Connection {
    fn req_packed_command<'a>(&'a mut self, cmd: &'a Cmd) -> RedisFuture<'a, Value> {
        match &mut self.0 {
            Driven::RedisRs(connection) => connection.req_packed_command(cmd),
            Driven::Lean(connection) => connection.req_packed_command(cmd),
            Driven::Listening(connection) => connection.req_packed_command(cmd),
        }
    }

    fn req_packed_commands<'a>(
        &'a mut self,
        pipeline: &'a Pipeline,
        offset: usize,
        count: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        match &mut self.0 {
            Driven::RedisRs(connection) => connection.req_packed_commands(pipeline, offset, count),
            Driven::Lean(connection) => connection.req_packed_commands(pipeline, offset, count),
            Driven::Listening(connection) => connection.req_packed_commands(pipeline, offset, count),
        }
    }

    fn get_db(&self) -> i64 {
        match &self.0 {
            Driven::RedisRs(connection) => connection.get_db(),
            Driven::Lean(connection) => connection.get_db(),
            Driven::Listening(connection) => connection.get_db(),
        }
    }
}

impl Env for SimEnv {
    type Conn = Connection;
    type Stream = SimStream;

    async fn wall(&self) -> WallTime {
        clocks::wall(self.host.wall().await)
    }

    async fn monotonic(&self) -> MonotonicTime {
        clocks::monotonic(self.host.monotonic().await)
    }

    async fn boot(&self) -> BootTime {
        clocks::boot(self.host.boot().await)
    }

    async fn sleep_until(&self, at: MonotonicTime) {
        self.host.sleep_until(clocks::sim_monotonic(at)).await;
    }

    async fn race<F>(&self, operation: F, deadline: MonotonicTime) -> Result<F::Output, DeadlinePassed>
    where
        F: Future + Send,
        F::Output: Send,
    {
        self.host.race(operation, clocks::sim_monotonic(deadline)).await.map_err(|_| DeadlinePassed)
    }

    fn random(&self, bytes: &mut [u8]) {
        self.host.random(bytes);
    }

    fn marks(&self, value: &[u8]) {
        self.recorder.marks(self.client, value);
    }

    fn marks_key(&self, key: &[u8]) {
        self.recorder.marks_key(self.client, key);
    }

    fn names_key(&self, resource: &str, key: &[u8]) {
        self.recorder.names_key(resource, key);
    }

    fn votes(&self, nodes: &[&NodeName]) {
        let known = nodes.iter().filter_map(|node| self.cast.host(node.as_str()).ok());
        self.recorder.record_votes(self.client, known.collect());
    }

    fn process_state<T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        self.process_state.get()
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> Task {
        let (recorder, name) = (self.recorder.clone(), self.host.name());
        // What a thread starts is its own, also through what another thread made.
        let client = self.recorder.acting_for(self.client);
        let end = PanicGuard { stage: self.clone(), recorder, client, name };
        let (handle, task) = Task::new(end.guard(task));
        let call = self.recorder.call_of(client);
        let (recorder, ended) = (self.recorder.clone(), self.ended.clone());
        let task = InCall { client, call, recorder, ended, task: Box::pin(task) };
        match self.cast.is_thread(self.cast.client(client)) {
            true => self.host.spawn(AsThread::new(client, self.recorder.clone(), task)),
            false => self.host.spawn(task),
        }
        handle
    }

    async fn renewal_started(&self) {
        let client = self.recorder.acting_for(self.client);
        self.recorder.renewing(client);
        self.thread_env(client).mark("extending").await;
    }

    async fn renewal_ended(&self, came_to: Result<Option<Deadline>, String>) {
        let client = self.recorder.acting_for(self.client);
        self.recorder.record_renewal(client, came_to.map(|deadline| deadline.map(clocks::deadline)));
        self.thread_env(client).mark("extend").await;
    }

    async fn notice_loss(&self, notice: &'static str) {
        // Where a pause can strike: between the news and whoever acts on it.
        let _now = self.host.monotonic().await;
        let client = self.recorder.acting_for(self.client);
        self.recorder.record_loss_notice(client, notice, false);
    }

    async fn notice_recovery(&self, notice: &'static str) {
        let client = self.recorder.acting_for(self.client);
        self.recorder.record_loss_notice(client, notice, true);
    }

    async fn stream(&self, host: &str, port: u16) -> io::Result<SimStream> {
        let to = self.cast.world(host).map_err(|unknown| io::Error::new(io::ErrorKind::NotFound, unknown))?;
        let to = self.database.as_ref().map_or(to, |name| name.resolve(to));
        self.host.connect(to, port).await.map_err(io::Error::from)
    }

    async fn wait_closed(&self, conn: &Connection) {
        match &conn.0 {
            Driven::RedisRs(connection) => connection.wait_closed().await,
            Driven::Lean(connection) => connection.wait_closed().await,
            // Whoever listens is told by the last push.
            Driven::Listening(_) => std::future::pending().await,
        }
    }

    async fn connect(&self, node: &NodeName) -> redis::RedisResult<Connection> {
        let stream = self.stream(node.as_str(), self.port_of(node)).await?;
        let recorder = self.recorder.clone();
        if self.driver == Driver::Lean {
            let lean = LeanConnection::new_recorded(stream, self.host.clone(), self.client, recorder);
            return Ok(Connection(Driven::Lean(lean)));
        }
        let stream = CallStream::new(stream, recorder.clone());
        let (connection, driver) =
            MultiplexedConnection::new_with_config(&connection_info(), stream, connection_config()).await?;
        let ended = Ended::default();
        self.host.spawn(ended.clone().drive(driver));
        Ok(Connection(Driven::RedisRs(CallConnection::new(connection, self.client, recorder, ended))))
    }

    async fn listen(&self, node: &NodeName) -> redis::RedisResult<(Connection, Pushes)> {
        let stream = self.stream(node.as_str(), self.port_of(node)).await?;
        let stream = CallStream::new_unlabelled(stream, self.recorder.clone(), self.client);
        let (sender, pushes) = Pushes::channel();
        let config = listening_config(sender);
        let (connection, driver) =
            MultiplexedConnection::new_with_config(&listening_info(), stream, config).await?;
        self.host.spawn(self.drivers.share(driver));
        Ok((Connection(Driven::Listening(connection)), pushes))
    }
}

impl RedisRs for SimEnv {
    async fn open_multiplexed(&self, node: &NodeName) -> redis::RedisResult<MultiplexedConnection> {
        let limit = self.monotonic().await.saturating_add(CONNECT_LIMIT);
        let connecting = self.race(self.stream(node.as_str(), REDIS_PORT), limit).await;
        let stream = connecting.unwrap_or_else(|DeadlinePassed| Err(io::ErrorKind::TimedOut.into()))?;
        let stream = CallStream::new_unlabelled(stream, self.recorder.clone(), self.client);
        // A world without tokio's timers has none to wait for a reply on.
        let config = if self.fired.has_timers() { default_config() } else { connection_config() };
        let (connection, driver) =
            MultiplexedConnection::new_with_config(&connection_info(), stream, config).await?;
        self.host.spawn(self.drivers.share(driver));
        Ok(connection)
    }
}

/// A task that a lock started. While it runs, its client is in the call that started it, whatever call the client's
/// program has got to meanwhile.
struct InCall {
    pub(in crate::run) client: ClientId,
    call: Option<CallId>,
    recorder: Recorder,
    /// Whether its process is gone, and the task with it.
    ended: Arc<AtomicBool>,
    /// An object, so that `InCall` is compiled once and not for each task of each lock.
    task: BoxFuture<'static, ()>,
}

impl Future for InCall {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        if this.ended.load(Ordering::Relaxed) {
            return Poll::Ready(());
        }
        let before = this.recorder.set_call(this.client, this.call);
        let polled = this.task.as_mut().poll(cx);
        this.recorder.set_call(this.client, before);
        polled
    }
}
