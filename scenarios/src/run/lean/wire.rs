//! Both directions of a lean connection: bytes out, replies in, and whose they are.
//!
//! Assumes that whoever reads is polled again when there is more: a socket wakes the last who asked.

use std::collections::VecDeque;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use doublehold_sim::SimStream;
use redis::{ErrorKind, RedisError, RedisResult, ServerErrorKind, Value};
use tokio::io::{AsyncReadExt, AsyncWrite};

use super::reply;

/// What there is room for at least when a connection is read: a lock's replies are far shorter.
const READ_BYTES: usize = 512;

/// What a request comes to.
pub(super) type Reply = Poll<RedisResult<Value>>;

/// Both directions of the connection.
pub(super) struct Wire {
    /// `None` when the connection is over.
    stream: Option<SimStream>,
    /// Written by requests, not yet taken by the network.
    unsent: Vec<u8>,
    /// Received, and not yet a whole reply.
    received: Vec<u8>,
    /// The requests whose replies are to come, in the order sent.
    waiting: VecDeque<Waiting>,
    /// The number of the next request.
    next: u64,
    /// Replies that their callers have yet to fetch: found by somebody else.
    done: Vec<(u64, RedisResult<Value>)>,
    /// The task that reads for those who are gone, if there is one.
    pub(super) caretaker: Option<Waker>,
}

struct Waiting {
    number: u64,
    expected: Expected,
    /// `None` once it was given up.
    caller: Option<Waker>,
}

impl Wire {
    pub(super) fn new(stream: SimStream) -> Wire {
        Wire {
            stream: Some(stream),
            unsent: Vec::new(),
            received: Vec::new(),
            waiting: VecDeque::new(),
            next: 0,
            done: Vec::new(),
            caretaker: None,
        }
    }

    /// Whether nothing is to come, in either direction.
    pub(super) fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.unsent.is_empty()
    }

    pub(super) fn is_over(&self) -> bool {
        self.stream.is_none()
    }

    /// Where a request is appended that is to be sent.
    pub(super) fn unsent(&mut self) -> &mut Vec<u8> {
        &mut self.unsent
    }

    /// The oldest request that somebody still waits for.
    pub(super) fn first_caller(&self) -> Option<&Waker> {
        self.waiting.iter().find_map(|waiting| waiting.caller.as_ref())
    }

    pub(super) fn wake_caretaker(&self) {
        if let Some(caretaker) = &self.caretaker {
            caretaker.wake_by_ref();
        }
    }

    pub(super) fn expect(&mut self, expected: Expected, caller: Option<Waker>) -> u64 {
        let number = self.next;
        self.next += 1;
        self.waiting.push_back(Waiting { number, expected, caller });
        number
    }

    /// The caller of a request is polled with this waker from now on.
    pub(super) fn waits(&mut self, number: u64, waker: &Waker) {
        if let Some(waiting) = self.find(number)
            && let Some(known) = &mut waiting.caller
        {
            known.clone_from(waker);
        }
    }

    fn find(&mut self, number: u64) -> Option<&mut Waiting> {
        // Numbers are given out one by one, and requests leave at the front.
        let first = self.waiting.front()?.number;
        self.waiting.get_mut(usize::try_from(number.checked_sub(first)?).ok()?)
    }

    pub(super) fn give_up(&mut self, number: u64) {
        if let Some(waiting) = self.find(number) {
            waiting.caller = None;
        }
        self.done.retain(|(done, _)| *done != number);
    }

    pub(super) fn take(&mut self, number: u64) -> Reply {
        match self.done.iter().position(|(done, _)| *done == number) {
            Some(at) => Poll::Ready(self.done.swap_remove(at).1),
            None => Poll::Pending,
        }
    }

    /// Writes what there is room for.
    pub(super) fn write(&mut self, cx: &mut Context<'_>) {
        while !self.unsent.is_empty()
            && let Some(stream) = &mut self.stream
        {
            match Pin::new(stream).poll_write(cx, &self.unsent) {
                Poll::Pending => return,
                Poll::Ready(Ok(count)) if count == self.unsent.len() => self.unsent.clear(),
                Poll::Ready(Ok(count)) => drop(self.unsent.drain(..count)),
                Poll::Ready(Err(error)) => self.end(error.into()),
            }
        }
    }

    /// Reads until nothing is left, and hands out what came. Who reads looks for its own reply: it is not woken for it,
    /// and gets it at once where nobody else waits, put down where it wants it.
    pub(super) fn read_replies(&mut self, cx: &mut Context<'_>, reader: Option<u64>, reply: &mut Reply) {
        while self.fill(cx) {
            if self.has_only(reader) {
                self.take_only(reply);
            } else {
                self.hand_out(reader);
            }
            // Whoever got its reply needs no more, and the next request asks again. That one reads before it is sent,
            // and is woken for its reply only if it read until there was nothing.
            if self.waiting.is_empty() && reader.is_some() {
                break;
            }
        }
    }

    /// Receives something; `false` if nothing is left, perhaps for good.
    fn fill(&mut self, cx: &mut Context<'_>) -> bool {
        let Some(stream) = &mut self.stream else { return false };
        self.received.reserve(READ_BYTES);
        match pin!(stream.read_buf(&mut self.received)).poll(cx) {
            Poll::Pending => return false,
            Poll::Ready(Ok(0)) => self.end(broken_pipe()),
            Poll::Ready(Ok(_)) => return true,
            Poll::Ready(Err(error)) => self.end(error.into()),
        }
        false
    }

    /// Whether this request waits for one reply, and nobody else for any.
    fn has_only(&self, number: Option<u64>) -> bool {
        let Some(first) = self.waiting.front() else { return false };
        self.waiting.len() == 1 && Some(first.number) == number && matches!(first.expected, Expected::One)
    }

    /// The reply to the only request that waits for any, once it is whole.
    fn take_only(&mut self, reply: &mut Reply) {
        let mut rest = self.received.as_slice();
        *reply = reply::take(&mut rest);
        let left = rest.len();
        match reply {
            Poll::Pending => {}
            Poll::Ready(Ok(_)) => {
                self.waiting.clear();
                self.received.drain(..self.received.len() - left);
                self.hand_out(None); // nobody asked for more
            }
            Poll::Ready(Err(_)) => {
                self.waiting.clear();
                self.close();
            }
        }
    }

    /// Hands out the replies that were received.
    fn hand_out(&mut self, reader: Option<u64>) {
        let received = std::mem::take(&mut self.received);
        let mut rest = received.as_slice();
        loop {
            match reply::take(&mut rest) {
                Poll::Pending => break,
                Poll::Ready(Ok(value)) => self.deliver(value, reader),
                Poll::Ready(Err(error)) => return self.end(error),
            }
        }
        let used = received.len() - rest.len();
        self.received = received;
        self.received.drain(..used);
    }

    /// A reply came: it is the oldest request's.
    fn deliver(&mut self, value: Value, reader: Option<u64>) {
        let Some(oldest) = self.waiting.front_mut() else { return };
        if let Some(answer) = oldest.expected.meets(value)
            && let Some(waiting) = self.waiting.pop_front()
        {
            self.answer(waiting, answer, reader);
        }
    }

    /// Keeps an answer for whoever waits for it, and wakes it unless it is the one who reads.
    fn answer(&mut self, waiting: Waiting, answer: RedisResult<Value>, reader: Option<u64>) {
        let Waiting { number, caller: Some(caller), .. } = waiting else { return };
        self.done.push((number, answer));
        if reader != Some(number) {
            caller.wake();
        }
    }

    /// The connection is over, for this reason.
    fn end(&mut self, why: RedisError) {
        self.close();
        let mut why = Some(why);
        while let Some(waiting) = self.waiting.pop_front() {
            let error = why.take().unwrap_or_else(broken_pipe);
            self.answer(waiting, Err(error), None);
        }
    }

    fn close(&mut self) {
        (self.stream, self.unsent, self.received) = (None, Vec::new(), Vec::new());
    }
}

/// What redis-rs says of a connection that is over.
pub(super) fn broken_pipe() -> RedisError {
    io::Error::from(io::ErrorKind::BrokenPipe).into()
}

/// What a request waits for.
pub(super) enum Expected {
    One,
    Several(Box<Several>),
}

/// What a pipeline waits for.
pub(super) struct Several {
    /// Replies to leave out before those that count.
    skip: usize,
    count: usize,
    is_transaction: bool,
    values: Vec<Value>,
    /// The first error among those left out: nothing of the transaction is executed.
    error: Option<RedisError>,
}

impl Several {
    pub(super) fn new(skip: usize, count: usize, is_transaction: bool) -> Several {
        Several { skip, count, is_transaction, values: Vec::new(), error: None }
    }
}

impl Expected {
    /// Takes a reply. The answer, if it was the last.
    fn meets(&mut self, value: Value) -> Option<RedisResult<Value>> {
        let several = match self {
            Expected::One => return Some(Ok(value)),
            Expected::Several(several) => several,
        };
        if several.skip > 0 {
            several.skip -= 1;
            if let Value::ServerError(error) = value
                && several.is_transaction
                && several.error.is_none()
            {
                let kind = ErrorKind::Server(ServerErrorKind::ExecAbort);
                several.error = Some(RedisError::from((kind, "Transaction aborted", error.to_string())));
            }
            return None;
        }
        several.values.push(value);
        if several.values.len() < several.count {
            return None;
        }
        let values = Value::Array(std::mem::take(&mut several.values));
        Some(several.error.take().map_or(Ok(values), Err))
    }
}
