//! One client's connection: read what is there, execute every complete request, send the replies, in this order.
//!
//! What the node pushes (MONITOR, messages) leaves the same way, behind the replies so far. Who reads too slowly is
//! closed, as `client-output-buffer-limit` says.
//!
//! While replies wait to be sent, more requests are read and executed, as Redis does: a client may send all that it has
//! before it reads. Nothing is allocated or spawned per command.

mod covered;
mod files;
mod held;
mod keys;
mod refused;
mod sending;

use std::future::{Future, pending, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use covered::Covered;
use keys::Acknowledged;
use sending::Sent;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::call::{Call, CallState, poll_leave};
use crate::core::{DEMOTED, Next, OutputLimit, Peer, Session, WallMicros};
use crate::machine::{Machine, Received};
use crate::pipe::Pipe;
use crate::replication;
use crate::resp::reply;
use crate::shared::{Shared, State};

/// Replies are sent before the next pipelined request is executed once this much came together: a turn of large reads
/// must end. Large enough that lock traffic never notices.
const OUT_LIMIT_BYTES: usize = 256 << 10;

/// A connection reports what it holds once that has changed by so much: lock traffic never does.
const REPORTED_BYTES: i64 = 64 << 10;

/// A blocked client's further requests are read, so that its leaving is noticed, but only up to here.
const BLOCKED_INPUT_BYTES: usize = 64 << 10;

/// Serves one client until either side closes.
pub(crate) async fn serve<M, S>(shared: Arc<Shared<M>>, stream: S, peer: Peer, addr: String)
where
    M: Machine,
    S: AsyncRead + AsyncWrite + Unpin + Send,
{
    let (shared, pipe) = (&shared, Pipe::new(stream));
    let Some(session) = admit(&mut shared.lock(), || (peer, addr, shared.machine.wall())) else {
        return turn_away(pipe).await;
    };
    let (retry, known, reported, output_limit) = (false, CallState::default(), 0, OutputLimit::default());
    let slow_since = None;
    let mut connection =
        Connection { shared, session, pipe, retry, known, reported, output_limit, slow_since };
    connection.run().await;
    connection.report(0);
    connection.pipe.shut_down().await;
    shared.lock().end_session(&mut connection.session);
    shared.close_if_drained();
}

/// The connection's session, unless there are `maxclients` already.
fn admit(state: &mut State, who: impl FnOnce() -> (Peer, String, WallMicros)) -> Option<Session> {
    if state.core.connected_clients() >= u64::from(state.core.config().limits.max_clients) {
        state.core.note_rejected();
        return None;
    }
    let (peer, addr, now) = who();
    Some(state.open_session(peer, addr, now))
}

/// Says why and closes. As in Redis nobody waits for a client that does not take even that.
async fn turn_away<S: AsyncRead + AsyncWrite + Unpin>(mut pipe: Pipe<S>) {
    reply::error(&mut pipe.out, b"ERR max number of clients reached");
    poll_fn(|cx| {
        let _taken_or_not = pipe.poll_send(cx);
        Poll::Ready(())
    })
    .await;
    pipe.shut_down().await;
}

struct Connection<'a, M: Machine, S> {
    shared: &'a Arc<Shared<M>>,
    session: Session,
    pipe: Pipe<S>,
    /// The last request was held back by an overrunning script and is executed again.
    retry: bool,
    known: CallState,
    /// What the node knows it to hold.
    reported: i64,
    /// What may wait to be sent, as of the last command.
    output_limit: OutputLimit,
    /// Since when more waits than may wait for long.
    slow_since: Option<Duration>,
}

/// Why executing stopped.
enum Stop {
    /// Every complete request is executed.
    NeedInput,
    /// Enough replies are waiting.
    OutputFull,
    /// The core wants something done that takes time. In a box, because what every turn ends with is handed on often.
    Ask(Box<Next>),
    /// The machine keeps the request, or answers it.
    Received(Box<Received>),
}

impl Stop {
    /// The connection is to end.
    fn close() -> Stop {
        Stop::Ask(Box::new(Next::Close))
    }

    /// True if the next request may be executed before all replies are sent.
    fn may_read_on(&self) -> bool {
        matches!(self, Stop::OutputFull | Stop::NeedInput)
    }
}

/// What comes next in a turn.
enum Pause {
    /// The last command keeps the node busy for so long.
    Busy(Duration),
    /// The configuration file is to be written before anything else happens; then the node is busy for so long.
    Rewrite(Duration),
    /// The turn is over.
    End(Stop),
}

/// How a blocked wait ended.
enum Unblocked<T> {
    Done(T),
    TimedOut,
    Gone,
}

impl<M: Machine, S: AsyncRead + AsyncWrite + Unpin + Send> Connection<'_, M, S> {
    async fn run(&mut self) {
        loop {
            let (stop, covered) = self.execute().await;
            if !self.may_hold() {
                return;
            }
            let Ok(sent) = self.send(covered, stop.may_read_on()).await else { return };
            let go_on = match stop {
                Stop::OutputFull => true,
                Stop::NeedInput => (sent == Sent::InPart || self.fill().await) && self.may_hold(),
                Stop::Ask(next) => self.perform(*next).await,
                Stop::Received(received) => self.wait_for_machine(*received).await,
            };
            if !go_on {
                return;
            }
        }
    }

    /// Whether the connection may hold what it holds now, together with all others.
    fn may_hold(&mut self) -> bool {
        let held = self.pipe.memory() + self.session.memory();
        let held = i64::try_from(held).unwrap_or(i64::MAX);
        (held - self.reported).abs() < REPORTED_BYTES || self.report(held)
    }

    fn report(&mut self, held: i64) -> bool {
        let more = held - std::mem::replace(&mut self.reported, held);
        more == 0 || self.shared.lock().hold(more)
    }

    /// Executes what has been received. Also returns what the replies may not overtake.
    async fn execute(&mut self) -> (Stop, Covered) {
        let shared = self.shared;
        let _turn = shared.take_turn().await;
        loop {
            let (pause, covered) = self.execute_at_once(&mut shared.lock());
            match pause {
                Pause::Busy(time) => shared.machine.be_busy(time).await,
                Pause::Rewrite(time) => {
                    shared.rewrite_config().await;
                    shared.machine.be_busy(time).await;
                }
                Pause::End(stop) => return (stop, covered),
            }
        }
    }

    fn execute_at_once(&mut self, state: &mut State) -> (Pause, Covered) {
        if self.shared.is_closed() {
            return (Pause::End(Stop::close()), Covered::default());
        }
        if !self.take_pushed(state) {
            self.pipe.out.clear();
            return (Pause::End(Stop::close()), Covered::default());
        }
        self.shared.refresh_links(state);
        let pause = self.execute_until_paused(state);
        self.output_limit = state.core.config().limits.output_of(self.session.is_subscribed());
        if !matches!(pause, Pause::Busy(_)) {
            self.shared.settle(state);
            state.release_held();
            state.release_paused();
        }
        (pause, Covered::now(state))
    }

    /// Puts what was pushed behind the replies; false if the connection is to end without another word.
    fn take_pushed(&mut self, state: &mut State) -> bool {
        state.core.take_pushed(self.session.id(), &mut self.pipe.out);
        !state.core.is_killed(self.session.id())
            && !self.output_limit.is_exceeded_by(self.pipe.unsent_bytes())
    }

    fn execute_until_paused(&mut self, state: &mut State) -> Pause {
        let machine = &self.shared.machine;
        let limits = &state.core.config().limits;
        self.output_limit = limits.output_of(self.session.is_subscribed());
        self.pipe.input.set_limit(usize::try_from(limits.query_buffer).unwrap_or(usize::MAX));
        let full = self.pipe.out.len() + OUT_LIMIT_BYTES;
        while self.pipe.out.len() < full {
            if !std::mem::take(&mut self.retry) {
                match self.pipe.input.next_request() {
                    Ok(Some(_)) => {}
                    Ok(None) => return Pause::End(Stop::NeedInput),
                    Err(error) => {
                        if self.session.is_answered() {
                            error.reply(&mut self.pipe.out);
                        }
                        return Pause::End(Stop::close());
                    }
                }
            }
            let args = self.pipe.input.last_args();
            let received = machine.receive(self.session.peer(), &args);
            if let Received::Hold(_) | Received::Answer(_) = received {
                return Pause::End(Stop::Received(Box::new(received)));
            }
            let time = args.get(0).and_then(|name| machine.command_time(name));
            let next = state.core.execute(&mut self.session, machine.wall(), &args, &mut self.pipe.out);
            let is_to_end = state.core.take_output_overflow()
                || self.output_limit.is_exceeded_by(self.pipe.unsent_bytes())
                || matches!(received, Received::ExecuteWithoutReply);
            match next {
                Next::Reply => {}
                Next::ReplicaOf(target) => {
                    self.shared.settle(state);
                    replication::follow(self.shared, state, target);
                }
                ask if !is_to_end => return Pause::End(Stop::Ask(Box::new(ask))),
                _ => {}
            }
            if is_to_end {
                // Redis closes such a connection without another word.
                self.pipe.out.clear();
                return Pause::End(Stop::close());
            }
            if state.core.take_config_rewrite() {
                return Pause::Rewrite(time.unwrap_or_default());
            }
            if let Some(time) = time {
                return Pause::Busy(time);
            }
        }
        Pause::End(Stop::OutputFull)
    }

    /// Waits for input, or for something to be pushed; false when there will be no more of either.
    async fn fill(&mut self) -> bool {
        let (shared, pipe, session) = (self.shared, &mut self.pipe, self.session.id());
        let known = &mut self.known;
        poll_fn(|cx| match pipe.poll_fill(cx) {
            Poll::Ready(read) => Poll::Ready(read.is_ok_and(|bytes| bytes > 0)),
            Poll::Pending => poll_leave(shared, session, known, cx).map(|call| matches!(call, Call::Push)),
        })
        .await
    }

    /// Does what the core cannot do by itself; false when the connection is over.
    async fn perform(&mut self, next: Next) -> bool {
        match next {
            Next::Reply | Next::ReplicaOf(_) => true,
            Next::RefusedReplica => self.refuse_replica().await,
            Next::Close => false,
            Next::Wait { replicas, timeout, offset, file: None } => {
                self.wait_for_replicas(replicas as usize, timeout, offset).await
            }
            Next::Wait { replicas, timeout, offset, file: Some(local) } => {
                self.wait_for_files((local, replicas as usize), timeout, offset).await
            }
            Next::Blocked { deadline_ms } => self.wait_for_key(deadline_ms).await,
            Next::Psync { id, offset } => {
                let request = replication::SyncRequest::Psync(&id, offset);
                replication::serve_replica(self.shared, &mut self.pipe, &self.session, request).await;
                false
            }
            Next::Sync => {
                let request = replication::SyncRequest::Sync;
                replication::serve_replica(self.shared, &mut self.pipe, &self.session, request).await;
                false
            }
            Next::Shutdown { save } => {
                let _turn = self.shared.take_turn().await;
                self.shared.shut_down(save).await;
                false
            }
            Next::Held => self.wait_for_script().await,
            Next::Paused => self.wait_while_paused().await,
        }
    }

    /// WAIT: answers with the number of replicas that acknowledged `offset`.
    async fn wait_for_replicas(&mut self, replicas: usize, timeout: Duration, offset: u64) -> bool {
        let demotions = {
            let mut state = self.shared.lock();
            if state.links.count_acknowledged(offset) < replicas {
                replication::ask_for_acknowledgements(self.shared, &mut state);
            }
            state.links.demotions()
        };
        let limit = (!timeout.is_zero()).then_some(timeout);
        let (shared, session) = (self.shared, self.session.id());
        let timer = wait_at_most(&shared.machine, limit);
        let unblocked = self.wait_unblocked(timer, |state, cx| match state.core.take_unblocked(session) {
            Some(_) => Poll::Ready(Acknowledged::Unblocked),
            None => state.links.poll_acknowledged(replicas, offset, demotions, cx).map(Acknowledged::Ended),
        });
        let unblocked = unblocked.await;
        shared.lock().core.stop_waiting(session);
        let acknowledged = match unblocked {
            Unblocked::Gone => return false,
            // CLIENT UNBLOCK: the reply is among what was pushed.
            Unblocked::Done(Acknowledged::Unblocked) => return true,
            Unblocked::TimedOut => self.shared.lock().links.count_acknowledged(offset),
            Unblocked::Done(Acknowledged::Ended(Some(acknowledged))) => acknowledged,
            Unblocked::Done(Acknowledged::Ended(None)) => {
                reply::error(&mut self.pipe.out, DEMOTED);
                // Redis closes such a connection after the reply.
                let _ = self.send(Covered::default(), false).await;
                return false;
            }
        };
        reply::integer(&mut self.pipe.out, acknowledged as i64);
        true
    }

    /// Waits for the node's state, a timer, or the end of the connection.
    async fn wait_unblocked<T>(
        &mut self,
        timer: impl Future<Output = ()>,
        mut look: impl FnMut(&mut State, &mut Context<'_>) -> Poll<T>,
    ) -> Unblocked<T> {
        let shared = self.shared;
        let mut timer = pin!(timer);
        poll_fn(|cx| {
            if let Poll::Ready(value) = look(&mut shared.lock(), cx) {
                return Poll::Ready(Unblocked::Done(value));
            }
            if timer.as_mut().poll(cx).is_ready() {
                return Poll::Ready(Unblocked::TimedOut);
            }
            self.poll_gone(cx).map(|()| Unblocked::Gone)
        })
        .await
    }

    /// Ready when a blocked client's connection ends. Meanwhile reads what it sends, up to a limit, and sends what is
    /// pushed.
    fn poll_gone(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while self.pipe.input.tail().len() < BLOCKED_INPUT_BYTES {
            match self.pipe.poll_fill(cx) {
                Poll::Ready(Ok(1..)) => {}
                Poll::Ready(_) => return Poll::Ready(()),
                Poll::Pending => break,
            }
        }
        while let Poll::Ready(call) = poll_leave(self.shared, self.session.id(), &mut self.known, cx) {
            let shared = self.shared;
            let mut state = shared.lock();
            if matches!(call, Call::Push) && state.core.is_unblocked(self.session.id()) {
                // It is told so first: its reply waits for the file, as any other.
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            if matches!(call, Call::Leave) || !self.take_pushed(&mut state) {
                return Poll::Ready(());
            }
        }
        match self.pipe.poll_send(cx) {
            Poll::Ready(Err(_)) if !self.pipe.is_sent() => Poll::Ready(()),
            _ => Poll::Pending,
        }
    }
}

/// Ends after `limit`, if there is one.
async fn wait_at_most<M: Machine>(machine: &M, limit: Option<Duration>) {
    match limit {
        Some(limit) => machine.sleep(limit).await,
        None => pending().await,
    }
}
