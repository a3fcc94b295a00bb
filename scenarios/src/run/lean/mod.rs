//! A connection for many runs: to a lock it is what redis-rs' `MultiplexedConnection` is, at a fraction of the cost.
//!
//! It has no driver task. Whoever waits for a reply reads what there is, for all who wait, and wakes those whose
//! replies it found. It writes requests itself, so it knows which lock call each is of, and needs no label.
//!
//! As with redis-rs:
//! - Clones share one connection; requests are written in the order in which they were made, replies belong to them in
//!   that order.
//! - A request whose future is dropped is not recalled, and its late reply is discarded. A caretaker, a task that there
//!   is only then, writes what the network had no room for and reads what comes while nobody waits.
//! - When the connection ends, the oldest request gets the reason and all others a broken pipe, also those to come.
//!   Dropping the last clone closes it, whatever is still to come.
//!
//! Otherwise than with redis-rs:
//! - A request is written when its future is polled first, not by another task at the same instant. So one that is
//!   given up at once was sent all the same, and the trace is another.
//! - The end of a connection that nobody uses is noticed by the next request, and by who waits for it.
//! - RESP2 only, and no subscriptions. A transaction that fails names the first of its errors.
//!
//! Decision: "Searches and sweeps may use a connection of our own in place of redis-rs" (docs/decisions/world.md).

pub(super) mod reply;
#[cfg(test)]
mod tests;
mod wire;

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};

use doublehold_history::{CallId, ClientId};
use doublehold_sim::{Host, SimStream};
use doublehold_sim_redis::resp::reply::{array, bulk};
use redis::aio::ConnectionLike;
use redis::{Arg, Cmd, ErrorKind, Pipeline, RedisError, RedisFuture, RedisResult, Value};

use self::wire::{Expected, Reply, Several, Wire, broken_pipe};
use crate::run::keys::attribution::ConnectionNumber;
use crate::run::recorder::Recorder;

/// A connection without a driver. Clones share it.
#[derive(Clone)]
pub struct LeanConnection {
    host: Host,
    /// Hears which lock call of which client each request is of.
    recorder: Option<(ClientId, Recorder)>,
    connection: ConnectionNumber,
    shared: Arc<Shared>,
}

impl LeanConnection {
    /// Speaks RESP2 to a node over `stream`, which is one of `host`'s.
    pub fn new(stream: SimStream, host: Host) -> LeanConnection {
        let connection = ConnectionNumber(stream.connection().0);
        let shared = Arc::new(Shared(Mutex::new(Wire::new(stream))));
        LeanConnection { host, recorder: None, connection, shared }
    }

    /// The same, for the requests of a lock: `recorder` is told of each.
    pub(crate) fn new_recorded(
        stream: SimStream,
        host: Host,
        client: ClientId,
        recorder: Recorder,
    ) -> LeanConnection {
        LeanConnection { recorder: Some((client, recorder)), ..LeanConnection::new(stream, host) }
    }

    /// Whose call it is does not depend on when it is polled.
    fn request<'a>(&'a self, what: Payload<'a>) -> Request<'a> {
        let call = self.recorder.as_ref().and_then(|(client, recorder)| recorder.call_of(*client));
        Request { on: self, what, call, progress: Progress::Unsent }
    }

    fn tell(&self, calls: &[Option<CallId>], bytes: usize) {
        if let Some((_, recorder)) = &self.recorder {
            recorder.record_sent(self.connection, calls, bytes);
        }
    }

    /// Waits until the connection is over, whether or not anybody uses it: a caretaker that stays.
    pub(crate) async fn wait_closed(&self) {
        let _watch = Watch(&self.shared);
        poll_fn(|cx| {
            let mut wire = self.shared.lock();
            wire.read_replies(cx, None, &mut Poll::Pending);
            wire.write(cx);
            if wire.is_over() {
                return Poll::Ready(());
            }
            wire.caretaker = Some(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// Wakes somebody who reads on, now that the one who read does not.
    fn hand_over(&self, wire: &mut Wire) {
        if wire.is_idle() {
            return wire.wake_caretaker();
        }
        if let Some(caller) = wire.first_caller() {
            return caller.wake_by_ref();
        }
        if wire.caretaker.is_none() {
            // Its own comes when it is polled.
            wire.caretaker = Some(Waker::noop().clone());
            self.host.spawn(take_care(Arc::downgrade(&self.shared)));
        } else {
            wire.wake_caretaker();
        }
    }
}

impl ConnectionLike for LeanConnection {
    fn req_packed_command<'a>(&'a mut self, cmd: &'a Cmd) -> RedisFuture<'a, Value> {
        Box::pin(self.request(Payload::Command(cmd)))
    }

    fn req_packed_commands<'a>(
        &'a mut self,
        pipeline: &'a Pipeline,
        offset: usize,
        count: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        let request = self.request(Payload::Pipeline { pipeline, offset, count });
        Box::pin(async move {
            match request.await? {
                Value::Array(values) => Ok(values),
                value => Ok(vec![value]),
            }
        })
    }

    fn get_db(&self) -> i64 {
        0
    }
}

/// What is asked.
enum Payload<'a> {
    Command(&'a Cmd),
    Pipeline { pipeline: &'a Pipeline, offset: usize, count: usize },
}

impl Payload<'_> {
    /// Writes the request, and whose each of its commands is: MULTI is nobody's, as in redis-rs, which adds it.
    fn write(&self, call: Option<CallId>, unsent: &mut Vec<u8>, tell: impl FnOnce(&[Option<CallId>], usize)) {
        let before = unsent.len();
        match self {
            Payload::Command(cmd) => {
                pack(cmd, unsent);
                tell(&[call], unsent.len() - before);
            }
            Payload::Pipeline { pipeline, .. } => {
                unsent.append(&mut pipeline.get_packed_pipeline());
                let mut calls = vec![call; pipeline.len()];
                if pipeline.is_transaction() {
                    calls.insert(0, None);
                    calls.push(call);
                }
                tell(&calls, unsent.len() - before);
            }
        }
    }

    fn expected_replies(&self) -> Expected {
        match *self {
            Payload::Command(_) => Expected::One,
            Payload::Pipeline { pipeline, offset, count } => {
                Expected::Several(Box::new(Several::new(offset, count, pipeline.is_transaction())))
            }
        }
    }

    /// Nothing to be sent, which redis-rs refuses.
    fn is_empty(&self) -> bool {
        match self {
            Payload::Command(cmd) => cmd.args_iter().next().is_none(),
            Payload::Pipeline { pipeline, .. } => pipeline.is_empty(),
        }
    }

    fn wants_no_reply(&self) -> bool {
        matches!(self, Payload::Command(cmd) if cmd.is_no_response())
    }
}

/// Writes a command. redis-rs writes the same, and goes over the arguments twice.
fn pack(cmd: &Cmd, unsent: &mut Vec<u8>) {
    let start = unsent.len();
    array(unsent, cmd.args_iter().len());
    for arg in cmd.args_iter() {
        let Arg::Simple(bytes) = arg else {
            // A cursor, which redis-rs shows nobody.
            unsent.truncate(start);
            return cmd.write_packed_command(unsent);
        };
        bulk(unsent, bytes);
    }
}

/// A request and the wait for its reply.
struct Request<'a> {
    on: &'a LeanConnection,
    what: Payload<'a>,
    call: Option<CallId>,
    progress: Progress,
}

#[derive(Clone, Copy)]
enum Progress {
    Unsent,
    /// Under this number.
    Sent(u64),
    Over,
}

impl Request<'_> {
    fn send(&mut self, wire: &mut Wire, cx: &mut Context<'_>) -> RedisResult<Progress> {
        if self.what.is_empty() {
            return Err(RedisError::from((ErrorKind::Client, "empty command")));
        }
        // What came while nobody waited goes first: late replies, or the end of the connection.
        wire.read_replies(cx, None, &mut Poll::Pending);
        if wire.is_over() {
            return Err(broken_pipe());
        }
        self.what.write(self.call, wire.unsent(), |calls, bytes| self.on.tell(calls, bytes));
        let caller = (!self.what.wants_no_reply()).then(|| cx.waker().clone());
        let waits = caller.is_some();
        let number = wire.expect(self.what.expected_replies(), caller);
        wire.write(cx);
        if waits {
            return Ok(Progress::Sent(number));
        }
        self.on.hand_over(wire);
        Ok(Progress::Over)
    }

    /// Goes as far as it can.
    fn advance(&mut self, cx: &mut Context<'_>, reply: &mut Reply) {
        let mut wire = self.on.shared.lock();
        let number = match self.progress {
            Progress::Unsent => match self.send(&mut wire, cx) {
                Err(error) => {
                    self.progress = Progress::Over;
                    *reply = Poll::Ready(Err(error));
                    return;
                }
                Ok(Progress::Sent(number)) => {
                    self.progress = Progress::Sent(number);
                    number
                }
                Ok(_) => {
                    self.progress = Progress::Over;
                    *reply = Poll::Ready(Ok(Value::Nil));
                    return;
                }
            },
            Progress::Sent(number) => {
                wire.waits(number, cx.waker());
                wire.read_replies(cx, Some(number), reply);
                wire.write(cx);
                number
            }
            Progress::Over => panic!("a request was polled after its reply"),
        };
        if reply.is_pending() {
            *reply = wire.take(number);
        }
        if reply.is_ready() {
            self.progress = Progress::Over;
            self.on.hand_over(&mut wire);
        }
    }
}

impl Future for Request<'_> {
    type Output = RedisResult<Value>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Reply {
        // Written where the caller takes it: each copy of a reply takes as long as reading it.
        let mut reply = Poll::Pending;
        self.advance(cx, &mut reply);
        reply
    }
}

impl Drop for Request<'_> {
    fn drop(&mut self) {
        if let Progress::Sent(number) = self.progress {
            let mut wire = self.on.shared.lock();
            wire.give_up(number);
            self.on.hand_over(&mut wire);
        }
    }
}

/// Reads and writes for those who are gone, until nothing is left to come or the connection is gone itself.
async fn take_care(of: Weak<Shared>) {
    poll_fn(|cx| {
        let Some(shared) = of.upgrade() else { return Poll::Ready(()) };
        let mut wire = shared.lock();
        wire.read_replies(cx, None, &mut Poll::Pending);
        wire.write(cx);
        if wire.is_idle() {
            wire.caretaker = None;
            return Poll::Ready(());
        }
        wire.caretaker = Some(cx.waker().clone());
        Poll::Pending
    })
    .await;
}

/// Somebody who waits for the end of a connection, and is its caretaker until then.
struct Watch<'a>(&'a Shared);

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        self.0.lock().caretaker = None;
    }
}

/// The connection that clones share.
struct Shared(Mutex<Wire>);

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Wire> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // It finds the connection gone, and ends.
        self.lock().wake_caretaker();
    }
}
