//! A service on a simulated host: its state machine, connections and timer.
//!
//! The knowledge of a service outlives its process: its group has it. A process that starts again goes on from there,
//! without connections.

use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use doublehold_history::{ClientId, NodeId};
use doublehold_services::database::Database;
use doublehold_services::etcd::Etcd;
use doublehold_services::zookeeper::ZooKeeper;
use doublehold_services::{
    EVENT, FrameBuffer, Keepalive, Outbox, Outgoing, Service, ServiceConnection, write_frame,
};
use doublehold_sim::{BoxFuture, Host, MonotonicTime, SimStream};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};

use super::sim_stage::{OnHost, who_is_on};
use super::standby::{self, DatabaseName};
use crate::model::cast::Cast;
use crate::model::scenario::ResourceSetup;
use crate::model::service::{DatabaseSetup, ServiceSetup};
use crate::run::client::in_session::StoreTable;
use crate::run::client::replicated_table::{DatabaseRole, ReplicatedTable};
use crate::run::recorder::Recorder;

/// The bytes that a read has room for, at least.
pub(super) const READ_BYTES: usize = 512;

/// A service of one run. Clones are the same service.
pub(super) struct RunningService<S: Service> {
    state: Arc<Mutex<State<S>>>,
    node: NodeId,
    cast: Arc<Cast>,
    recorder: Recorder,
}

struct State<S: Service> {
    service: S,
    out: Outbox<S::Answer>,
    lines: BTreeMap<ServiceConnection, Line>,
    timer: Option<Waker>,
}

/// The service's end of a connection.
#[derive(Default)]
struct Line {
    unsent: Vec<u8>,
    closing: bool,
    waker: Option<Waker>,
}

/// Makes the process of a service, for each start of its host. A standby has the `name` that clients know it by.
pub(super) fn boot(
    setup: ServiceSetup,
    resource: &ResourceSetup,
    node: NodeId,
    standby_of: Option<DatabaseName>,
    cast: Arc<Cast>,
    recorder: Recorder,
) -> Box<dyn Fn(Host) -> BoxFuture<'static, ()>> {
    let (rules, lag) = match setup {
        ServiceSetup::ZooKeeper(rules) => {
            return RunningService::new(ZooKeeper::new(rules), node, cast, recorder).boot();
        }
        ServiceSetup::Etcd => return RunningService::new(Etcd::default(), node, cast, recorder).boot(),
        ServiceSetup::Database(DatabaseSetup { rules, standby }) => (rules, standby.map(|it| it.lag)),
    };
    let replicated = |role| Box::new(ReplicatedTable::new(role, resource, recorder.clone()));
    match (lag, standby_of) {
        (_, Some(name)) => {
            let database = Database::new(rules, replicated(DatabaseRole::Standby));
            standby::boot_standby(RunningService::new(database, node, cast, recorder.clone()), name, recorder)
        }
        (Some(lag), None) => {
            let database = Database::new(rules, replicated(DatabaseRole::Primary)).with_standby_lag(lag);
            standby::boot_primary(RunningService::new(database, node, cast, recorder))
        }
        (None, None) => {
            let table = StoreTable::new(resource, recorder.clone());
            RunningService::new(Database::new(rules, Box::new(table)), node, cast, recorder).boot()
        }
    }
}

impl<S: Service> RunningService<S> {
    fn new(service: S, node: NodeId, cast: Arc<Cast>, recorder: Recorder) -> RunningService<S> {
        let state = State { service, out: Outbox::default(), lines: BTreeMap::new(), timer: None };
        RunningService { state: Arc::new(Mutex::new(state)), node, cast, recorder }
    }

    fn boot(self) -> Box<dyn Fn(Host) -> BoxFuture<'static, ()>> {
        Box::new(move |host| {
            let service = self.clone();
            Box::pin(async move { service.run(host).await })
        })
    }

    /// Ends what ends with the process, when that is dropped, and not only when the next one begins.
    pub(super) fn ends_with(&self, host: &Host) -> impl Drop + use<S> {
        EndsWithProcess { service: self.clone(), host: host.clone() }
    }

    /// Looks at its state, or changes it in a way of which nobody is told.
    pub(super) fn with<T>(&self, what: impl FnOnce(&mut S) -> T) -> T {
        what(&mut self.lock().service)
    }

    pub(super) async fn run(self, host: Host) {
        let port = S::KIND.port();
        let mut incoming = host.listen(port);
        if host.restarts() > 0 {
            let mut state = self.lock();
            state.lines.clear();
            let State { service, out, .. } = &mut *state;
            service.restart(now(&host), out);
            self.settle(&mut state, None);
        }
        host.spawn(self.clone().keep_time(host.clone()));
        loop {
            let stream = incoming.accept().await;
            host.spawn(self.clone().serve(host.clone(), stream));
        }
    }

    /// Ends what has had its time, when it is due.
    async fn keep_time(self, host: Host) {
        let mut sleep: Option<(Duration, BoxFuture<'static, ()>)> = None;
        poll_fn(|cx| {
            loop {
                let mut state = self.lock();
                state.timer = Some(cx.waker().clone());
                let due = state.service.next_due();
                drop(state);
                // A timer that is too early costs one look; most deadlines only move away.
                let Some(due) = due else { return Poll::<()>::Pending };
                let earlier = sleep.as_ref().is_none_or(|(until, _)| *until > due);
                if earlier {
                    let until = MonotonicTime(u64::try_from(due.as_nanos()).unwrap_or(u64::MAX));
                    sleep = Some((due, Box::pin(host.sleep_until(until))));
                }
                let Some((_, timer)) = &mut sleep else { return Poll::Pending };
                if timer.as_mut().poll(cx).is_pending() {
                    return Poll::Pending;
                }
                sleep = None;
                self.act(None, |service, out| service.advance(now(&host), out));
            }
        })
        .await;
    }

    async fn serve(self, host: Host, mut stream: SimStream) {
        let (connection, peer) = (ServiceConnection(stream.connection().0), stream.peer());
        let client = match who_is_on(&self.cast, peer) {
            OnHost::Client(client) => Some(client),
            OnHost::Thread | OnHost::Nobody => None,
        };
        self.lock().lines.insert(connection, Line::default());
        let mut received = FrameBuffer::default();
        let mut probes = Probes::new(&host, self.lock().service.keepalive());
        if let Some(keepalive) = probes.keepalive {
            stream.set_user_timeout(keepalive.gives_up_after());
        }
        poll_fn(|cx| {
            loop {
                match read_more(&mut stream, &mut received, cx) {
                    Poll::Pending => break,
                    Poll::Ready(false) => return Poll::Ready(()),
                    Poll::Ready(true) => probes.put_off(&host),
                }
                loop {
                    match received.next_frame::<S::Request>() {
                        Ok(None) => break,
                        Err(_) => return Poll::Ready(()),
                        Ok(Some((number, request))) => {
                            host.note(S::word(&request), Some(peer));
                            self.act(client, |service, out| {
                                service.receive(connection, number, request, now(&host), out);
                            });
                        }
                    }
                }
            }
            if probes.poll_due(&host, cx)
                && let Some(line) = self.lock().lines.get_mut(&connection)
                && let Some(probe) = S::probe()
            {
                write_frame(EVENT, &probe, &mut line.unsent);
            }
            self.send(connection, &mut stream, cx)
        })
        .await;
        self.lock().lines.remove(&connection);
        self.act(None, |service, out| service.disconnect(connection, now(&host), out));
    }

    /// Sends what there is; ready when the connection is to end.
    fn send(&self, connection: ServiceConnection, stream: &mut SimStream, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.lock();
        let Some(line) = state.lines.get_mut(&connection) else { return Poll::Ready(()) };
        while !line.unsent.is_empty() {
            match Pin::new(&mut *stream).poll_write(cx, &line.unsent) {
                Poll::Ready(Ok(count)) => drop(line.unsent.drain(..count)),
                Poll::Ready(Err(_)) => return Poll::Ready(()),
                Poll::Pending => break,
            }
        }
        if line.closing && line.unsent.is_empty() {
            return Poll::Ready(());
        }
        line.waker = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Lets the service act, at the request of a client or by itself.
    fn act(&self, by: Option<ClientId>, what: impl FnOnce(&mut S, &mut Outbox<S::Answer>)) {
        let mut state = self.lock();
        let State { service, out, .. } = &mut *state;
        what(service, out);
        self.settle(&mut state, by);
    }

    /// Hands out what the service has to say, and tells of locks that have another owner.
    fn settle(&self, state: &mut State<S>, by: Option<ClientId>) {
        let State { out, lines, timer, .. } = state;
        for (to, message) in out.sent.drain(..) {
            let Some(line) = lines.get_mut(&to) else { continue };
            match message {
                Outgoing::Say(number, answer) => write_frame(number, &answer, &mut line.unsent),
                Outgoing::Close => line.closing = true,
            }
            line.waker.take().into_iter().for_each(Waker::wake);
        }
        timer.take().into_iter().for_each(Waker::wake);
        out.changes.drain(..).for_each(|change| self.recorder.record_owner_change(self.node, &change, by));
    }

    fn lock(&self) -> MutexGuard<'_, State<S>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: Service> Clone for RunningService<S> {
    fn clone(&self) -> Self {
        RunningService {
            state: self.state.clone(),
            node: self.node,
            cast: self.cast.clone(),
            recorder: self.recorder.clone(),
        }
    }
}

struct EndsWithProcess<S: Service> {
    service: RunningService<S>,
    host: Host,
}

impl<S: Service> Drop for EndsWithProcess<S> {
    fn drop(&mut self) {
        self.service.act(None, |service, out| service.restart(now(&self.host), out));
    }
}

/// The probes of one connection.
struct Probes {
    keepalive: Option<Keepalive>,
    next: Option<BoxFuture<'static, ()>>,
}

impl Probes {
    fn new(host: &Host, keepalive: Option<Keepalive>) -> Probes {
        let mut probes = Probes { keepalive, next: None };
        probes.put_off(host);
        probes
    }

    /// Something came: the next probe is due when nothing has come for as long again.
    fn put_off(&mut self, host: &Host) {
        self.next = self.keepalive.map(|keepalive| {
            let until = MonotonicTime(host.clocks().monotonic.0).after(keepalive.idle);
            Box::pin(host.sleep_until(until)) as BoxFuture<'static, ()>
        });
    }

    fn poll_due(&mut self, host: &Host, cx: &mut Context<'_>) -> bool {
        let Some(next) = &mut self.next else { return false };
        let is_due = next.as_mut().poll(cx).is_ready();
        if is_due {
            self.put_off(host);
            // So that its timer is known.
            let _ = self.next.as_mut().map(|next| next.as_mut().poll(cx));
        }
        is_due
    }
}

/// Receives something; false at the end of the stream.
fn read_more(
    stream: &mut (impl AsyncRead + Unpin),
    into: &mut FrameBuffer,
    cx: &mut Context<'_>,
) -> Poll<bool> {
    let tail = into.tail();
    tail.reserve(READ_BYTES);
    pin!(stream.read_buf(tail)).poll(cx).map(|read| read.is_ok_and(|bytes| bytes > 0))
}

fn now(host: &Host) -> Duration {
    Duration::from_nanos(host.clocks().monotonic.0)
}
