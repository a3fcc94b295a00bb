//! One client's way to one node: a connection opened when it is first needed, replaced when it broke,
//! and what a missing reply means.
//!
//! Does not retry, unless its [`Transport`] does: a request that was sent and not answered may have been executed.
//! Several commands at once are never sent again.

use std::time::Duration;

use futures_util::FutureExt as _;
use redis::{Cmd, ErrorKind, Pipeline, RedisError, Value};

use super::discovery::Finder;
use super::driver::Driver;
use super::request::Request;
use super::transport::{Dialing, Reconnect, Transport};
use super::tries::{Tries, sleep};
use super::wire::{NoReply, Wire, deadline_after, run_until};
use crate::config::MasterDiscovery;
use crate::config::{Choice, Form};
use crate::env::{DeadlinePassed, Env, MonotonicTime, NodeName};
use crate::lock::{Acquired, Doubt, ErrorReply, Refusal};

/// What happens to a connection on which a reply did not come in time. Either way the request is
/// not recalled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnTimeout {
    /// Close it and open a new one for the next request, as the reference implementation's driver
    /// does. What is sent on the new connection may overtake the request that is stuck in the old
    /// one: a release can arrive before the claim it is meant to undo, which then stays for a lease.
    #[default]
    Reconnect,
    /// Keep using it, as redis-rs does by itself. The driver discards the late reply, and the node
    /// executes what follows in order, after the stuck request and as late.
    Keep,
}

impl Choice for OnTimeout {
    const WORDS: &'static [(&'static str, Self)] = &[("reconnect", Self::Reconnect), ("keep", Self::Keep)];
}

impl OnTimeout {
    /// Asks for it.
    pub(crate) fn choose(form: &mut Form<'_>) -> Self {
        form.choice(
            "on_timeout",
            Self::default(),
            "what becomes of a connection on which a reply did not come in time",
        )
    }
}

/// A request without a usable reply.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    /// It was never sent.
    Unsent(String),
    /// It was sent, and what became of it is not known.
    Lost(Doubt),
    /// The node answered with an error.
    ErrorReply(ErrorReply),
}

impl Failure {
    /// True if a driver that sends again does so after this.
    pub(super) fn is_retried(&self, minds_silence: bool) -> bool {
        match self {
            Self::Unsent(_) | Self::Lost(Doubt::ConnectionLost(_)) => true,
            Self::Lost(Doubt::Timeout) => minds_silence,
            Self::Lost(_) | Self::ErrorReply(_) => false,
        }
    }

    /// As the doubt of a caller who wanted to know whether it still owns a key.
    pub(crate) fn into_doubt(self) -> Doubt {
        match self {
            Self::Unsent(why) => Doubt::Unreachable(why),
            Self::Lost(doubt) => doubt,
            Self::ErrorReply(error) => Doubt::ErrorReply(error),
        }
    }

    /// As the answer to a caller who asked for the lock with nothing but this request.
    pub(crate) fn into_acquired(self) -> Acquired {
        match self {
            Self::Unsent(why) => Acquired::Refused(Refusal::Unreachable(why)),
            Self::Lost(doubt) => Acquired::Unknown(doubt),
            Self::ErrorReply(error) => Acquired::Refused(Refusal::ErrorReply(error)),
        }
    }
}

/// The way to one node.
pub(crate) struct Link<E: Env> {
    node: NodeName,
    timeout: Option<Duration>,
    on_timeout: OnTimeout,
    conn: Option<E::Conn>,
    transport: Transport,
    /// The driver that connects, if not the requests themselves.
    driver: Option<Driver<E>>,
    /// Whoever looks for the node, if it is a master that has to be asked for and no driver connects.
    finder: Option<Box<Finder<E>>>,
}

impl<E: Env> Link<E> {
    pub(crate) fn new(node: NodeName, timeout: Option<Duration>, on_timeout: OnTimeout) -> Self {
        let transport = Transport::default();
        Self { node, timeout, on_timeout, conn: None, transport, driver: None, finder: None }
    }

    /// The same through such a driver. One that connects beside its requests begins now.
    pub(crate) fn with_transport(self, env: &E, transport: Transport) -> Self {
        let asks = (transport.discovery, self.timeout);
        let finder = self.node.group().map(|group| Finder::new(env, &self.node, group, asks));
        if transport.reconnect.is_beside() {
            let driver = Some(Driver::start(env, &self.node, transport, finder));
            return Self { transport, driver, ..self };
        }
        // redis-py connects anew for each Sentinel, and sends a command to a master once.
        let is_redis_py =
            matches!(transport.discovery, MasterDiscovery::RedisPy5 | MasterDiscovery::RedisPy8);
        let transport = match is_redis_py && finder.is_some() {
            true => Transport { retries: 0, reconnect: Reconnect::AtOnce, ..transport },
            false => transport,
        };
        Self { transport, finder: finder.map(Box::new), ..self }
    }

    /// Another way to the same node, over the same connection as long as that lasts: for a request that others do not
    /// wait for.
    pub(crate) fn twin(&self) -> Self {
        let Self { node, timeout, on_timeout, conn, transport, driver, finder } = self;
        let (conn, driver) = (conn.clone(), driver.clone());
        Self {
            node: node.clone(),
            timeout: *timeout,
            on_timeout: *on_timeout,
            conn,
            transport: *transport,
            driver,
            finder: finder.as_ref().map(|finder| Box::new(finder.twin())),
        }
    }

    /// Ends its connection.
    pub(super) fn disconnect(&mut self) {
        self.conn = None;
    }

    /// The node at its other end.
    pub(crate) fn node(&self) -> &NodeName {
        &self.node
    }

    /// Makes `request` and waits for what came of it. Each command of it may take as long as the link's
    /// timeout says, the first one including the time it takes to open a connection.
    pub(crate) async fn ask(&mut self, env: &E, request: &Request<'_>) -> Result<Value, Failure> {
        let mut reply = Value::Nil;
        self.ask_with(env, request, &request.first_command(), &mut reply).await?;
        Ok(reply)
    }

    /// The same with the request's first command, which may have been made once for many nodes. Puts the reply down
    /// where the caller wants it.
    pub(crate) async fn ask_with(
        &mut self,
        env: &E,
        request: &Request<'_>,
        first: &Cmd,
        reply: &mut Value,
    ) -> Result<(), Failure> {
        self.say(env, Words::Request(request, first), reply).await
    }

    /// Sends one command, as it is.
    pub(crate) async fn call(&mut self, env: &E, command: &Cmd) -> Result<Value, Failure> {
        let mut reply = Value::Nil;
        self.say(env, Words::Command(command), &mut reply).await?;
        Ok(reply)
    }

    /// Says it as often as the driver does, which is once if it has no retries: on a new connection each time.
    async fn say(&mut self, env: &E, words: Words<'_>, reply: &mut Value) -> Result<(), Failure> {
        if let Some(driver) = self.driver.clone() {
            return Box::pin(self.say_through(env, &driver, &words, reply)).await;
        }
        let mut tries = Tries::new(self.transport);
        loop {
            let dialing = self.transport.reconnect.dialing(tries.is_again());
            let said = match self.connect_first(env, dialing).await {
                Ok(()) => self.say_once(env, &words, reply).await,
                // A pool that could not connect fails before there is a request.
                Err(failure) if dialing == Some(Dialing::AsOften { only_if_late: false }) => {
                    return Err(failure);
                }
                Err(failure) => Err(failure),
            };
            let Err(failure) = said else { return Ok(()) };
            let pause = tries.pause_after(env, failure)?;
            self.conn = None;
            sleep(env, pause).await;
        }
    }

    /// Connects for one try of a request, for a driver that does so more than once.
    async fn connect_first(&mut self, env: &E, dialing: Option<Dialing>) -> Result<(), Failure> {
        let (None, Some(dialing)) = (&self.conn, dialing) else { return Ok(()) };
        let mut tries = Tries::to_connect(self.transport, dialing);
        loop {
            let deadline = deadline_after(env, self.transport.connect_timeout.or(self.timeout)).await;
            match (self.dial(env, deadline).await, dialing) {
                (Ok(conn), _) => {
                    self.conn = Some(conn);
                    return Ok(());
                }
                (Err(refused @ Unopened::Failed(_)), Dialing::AsOften { only_if_late: true }) => {
                    return Err(refused.into());
                }
                (Err(unopened), _) => sleep(env, tries.pause_after(env, unopened.into())?).await,
            }
        }
    }

    async fn say_once(&mut self, env: &E, words: &Words<'_>, reply: &mut Value) -> Result<(), Failure> {
        if self.finder.is_some() {
            return Box::pin(self.say_to_master(env, words, reply)).await;
        }
        let mut wire = self.open(env, words.served_in()).await?;
        let sent = words.send(&mut wire, reply).await;
        sent.map_err(|trouble| self.settle(trouble))
    }

    /// Says it to a master that somebody has to be asked for, and of which the driver may hear that it is none any
    /// more.
    async fn say_to_master(&mut self, env: &E, words: &Words<'_>, reply: &mut Value) -> Result<(), Failure> {
        self.leave_ended(env);
        if self.conn.is_none() {
            self.conn = Some(self.dial(env, None).await?);
        }
        let cut = self.finder.as_ref().and_then(|finder| finder.cut());
        let limit = self.timeout.map(|timeout| timeout.saturating_add(words.served_in()));
        let mut wire = self.open(env, words.served_in()).await?;
        let sent = words.send(&mut wire, reply);
        let sent = match cut {
            Some(cut) => cut.run(env, limit, sent).await,
            None => sent.await,
        };
        sent.map_err(|trouble| self.settle(trouble))
    }

    /// Says it on each connection that the driver opens, until it is answered or the driver gives it up.
    async fn say_through(
        &self,
        env: &E,
        driver: &Driver<E>,
        words: &Words<'_>,
        reply: &mut Value,
    ) -> Result<(), Failure> {
        let (flushes, mut lost) = (driver.flushes(), None);
        let timeout = self.timeout.map(|timeout| timeout.saturating_add(words.served_in()));
        let deadline = deadline_after(env, timeout).await;
        loop {
            let connection = run_until(env, deadline, driver.connection(flushes)).await;
            let Ok(Some((number, mut conn, cut))) = connection else {
                let why = if connection.is_ok() { GAVE_UP } else { NO_CONNECTION };
                return Err(lost.map_or(Failure::Unsent(why.into()), Failure::Lost));
            };
            let mut wire = Wire::new(env, &mut conn, timeout, deadline);
            let sent = words.send(&mut wire, reply);
            let sent = match cut {
                Some(cut) => cut.run(env, timeout, sent).await,
                None => sent.await,
            };
            match sent {
                Ok(()) => return Ok(()),
                Err(NoReply::Late) => return Err(Failure::Lost(Doubt::Timeout)),
                Err(NoReply::Error(error)) => match error_reply(&error) {
                    Some(reply) => return Err(Failure::ErrorReply(reply)),
                    None => lost = Some(Doubt::ConnectionLost(error.to_string())),
                },
            }
            driver.broke(number);
        }
    }

    /// Sends several commands at once, and waits for all replies.
    pub(crate) async fn pipeline(&mut self, env: &E, commands: &Pipeline) -> Result<Vec<Value>, Failure> {
        let mut wire = self.open(env, Duration::ZERO).await?;
        let replies = wire.pipeline(commands).await;
        replies.map_err(|trouble| self.settle(trouble))
    }

    /// The connection, opened if there is none.
    async fn open<'a>(&'a mut self, env: &'a E, served_in: Duration) -> Result<Wire<'a, E>, Failure> {
        self.leave_ended(env);
        let timeout = self.timeout.map(|timeout| timeout.saturating_add(served_in));
        let mut deadline = deadline_after(env, timeout).await;
        if self.conn.is_none() {
            let limit = self.transport.connect_timeout;
            let until = if limit.is_some() { deadline_after(env, limit).await } else { deadline };
            self.conn = Some(self.dial(env, until).await?);
            if limit.is_some() {
                deadline = deadline_after(env, timeout).await;
            }
        }
        let conn = self.conn.as_mut().ok_or_else(|| Failure::Unsent(NO_CONNECTION.into()))?;
        Ok(Wire::new(env, conn, timeout, deadline))
    }

    /// Connects to the node, or to the one that is the master now.
    async fn dial(&mut self, env: &E, deadline: Option<MonotonicTime>) -> Result<E::Conn, Unopened> {
        let Some(finder) = &mut self.finder else { return connect(env, &self.node, deadline).await };
        // In a box: it is long, and whoever has no finder would carry it in each request of its own.
        Box::pin(finder.dial(env, self.transport.connect_timeout.or(self.timeout))).await
    }

    /// Forgets a connection that has ended while nobody used it, for a driver that looks, and one to a node of which
    /// the driver has heard that it is not the master any more.
    fn leave_ended(&mut self, env: &E) {
        let Some(finder) = &self.finder else { return };
        let looks = finder.discovery().sees_idle_end();
        let conn = self.conn.as_ref().filter(|_| looks);
        let has_ended = conn.is_some_and(|conn| env.wait_closed(conn).now_or_never().is_some());
        if has_ended || finder.has_moved() {
            self.conn = None;
        }
    }

    /// Decides what a missing or bad reply means for the request and for the connection.
    fn settle(&mut self, trouble: NoReply) -> Failure {
        match trouble {
            NoReply::Late => {
                if self.on_timeout == OnTimeout::Reconnect {
                    self.conn = None;
                }
                Failure::Lost(Doubt::Timeout)
            }
            NoReply::Error(error) => match error_reply(&error) {
                Some(reply) => {
                    let ends = |finder: &Finder<E>| finder.discovery().minds_readonly();
                    if reply.code == "READONLY" && self.finder.as_deref().is_some_and(ends) {
                        self.conn = None;
                    }
                    Failure::ErrorReply(reply)
                }
                None => {
                    self.conn = None;
                    Failure::Lost(Doubt::ConnectionLost(error.to_string()))
                }
            },
        }
    }
}

/// A connection that was not opened.
pub(super) enum Unopened {
    /// Not in time.
    Late,
    /// It was refused, or ended.
    Failed(String),
}

impl From<Unopened> for Failure {
    fn from(unopened: Unopened) -> Self {
        match unopened {
            Unopened::Late => Self::Unsent(NO_CONNECTION.into()),
            Unopened::Failed(why) => Self::Unsent(why),
        }
    }
}

pub(super) async fn connect<E: Env>(
    env: &E,
    node: &NodeName,
    deadline: Option<MonotonicTime>,
) -> Result<E::Conn, Unopened> {
    match run_until(env, deadline, Box::pin(env.connect(node))).await {
        Ok(Ok(conn)) => Ok(conn),
        Ok(Err(error)) => Err(Unopened::Failed(error.to_string())),
        Err(DeadlinePassed) => Err(Unopened::Late),
    }
}

const NO_CONNECTION: &str = "no connection in time";
const GAVE_UP: &str = "the driver gave up connecting";

/// The words of a request to a node.
enum Words<'a> {
    /// A request, and its first command.
    Request(&'a Request<'a>, &'a Cmd),
    Command(&'a Cmd),
}

impl Words<'_> {
    fn served_in(&self) -> Duration {
        match self {
            Self::Request(request, _) => request.served_in(),
            Self::Command(_) => Duration::ZERO,
        }
    }

    async fn send<E: Env>(&self, wire: &mut Wire<'_, E>, reply: &mut Value) -> Result<(), NoReply> {
        match self {
            Self::Request(request, first) => request.send(first, wire, reply).await,
            Self::Command(command) => wire.call(command, reply).await,
        }
    }
}

/// The error a node replied with, unless the error is the connection's or the driver's own.
pub(crate) fn error_reply(error: &RedisError) -> Option<ErrorReply> {
    let from_node = matches!(error.kind(), ErrorKind::Server(_) | ErrorKind::Extension);
    from_node.then(|| ErrorReply {
        code: error.code().unwrap_or("ERR").to_owned(),
        message: error.detail().unwrap_or_default().to_owned(),
    })
}
