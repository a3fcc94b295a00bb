//! One connection to a service: requests, answers in any order, and what the service says unasked.
//!
//! A task reads and writes for all who use it. A request whose future is dropped is not recalled.

use std::collections::{BTreeMap, VecDeque};
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use doublehold_services::{EVENT, FrameBuffer, Service, write_frame};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};

use crate::env::Env;

/// The bytes that a read has room for, at least.
const READ_BYTES: usize = 512;

/// The connection ended before the answer came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the connection to the service ended")]
pub(crate) struct LinkEnded;

/// A connection to a service. Clones are the same connection.
pub(crate) struct ServiceLink<S: Service>(Arc<Mutex<State<S::Answer>>>);

struct State<A> {
    unsent: Vec<u8>,
    next_number: u32,
    /// The requests that are not answered, with who waits for each.
    waiting: BTreeMap<u32, Option<Waker>>,
    answers: BTreeMap<u32, A>,
    events: VecDeque<A>,
    /// The number of messages that have come.
    received: u64,
    ended: bool,
    driver: Option<Waker>,
    /// Those who wait for anything to come.
    listeners: Vec<Waker>,
}

impl<S: Service> ServiceLink<S> {
    /// Takes a connection into use.
    pub(crate) fn new<E: Env>(env: &E, stream: E::Stream) -> Self {
        let state = State {
            unsent: Vec::new(),
            next_number: EVENT + 1,
            waiting: BTreeMap::new(),
            answers: BTreeMap::new(),
            events: VecDeque::new(),
            received: 0,
            ended: false,
            driver: None,
            listeners: Vec::new(),
        };
        let link = Self(Arc::new(Mutex::new(state)));
        env.spawn(link.clone().drive(stream));
        link
    }

    /// Sends a request and waits for its answer.
    pub(crate) fn ask(
        &self,
        request: &S::Request,
    ) -> impl Future<Output = Result<S::Answer, LinkEnded>> + Send + use<S>
    where
        S::Answer: Send,
    {
        let number = self.send(request);
        let link = self.clone();
        poll_fn(move |cx| link.poll_answer(number, cx))
    }

    /// Takes what the service has said unasked, in order.
    pub(crate) fn take_events(&self) -> VecDeque<S::Answer> {
        std::mem::take(&mut self.state().events)
    }

    /// Takes the first thing of a kind that the service has said unasked; false if it has said no such thing.
    pub(crate) fn take_event(&self, is_wanted: impl Fn(&S::Answer) -> bool) -> bool {
        let events = &mut self.state().events;
        let at = events.iter().position(is_wanted);
        at.is_some_and(|at| events.remove(at).is_some())
    }

    /// Returns how many messages have come so far, and whether the connection has ended.
    pub(crate) fn progress(&self) -> (u64, bool) {
        let state = self.state();
        (state.received, state.ended)
    }

    /// Waits until more messages have come than `known`, or the connection has ended.
    pub(crate) async fn wait_for_more(&self, known: u64) {
        poll_fn(|cx| {
            let mut state = self.state();
            if state.ended || state.received > known {
                return Poll::Ready(());
            }
            state.listeners.push(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// Ends the connection from this side. Who waits for an answer is told so.
    pub(crate) fn close(&self) {
        self.state().end();
    }

    fn send(&self, request: &S::Request) -> u32 {
        let mut state = self.state();
        let number = state.next_number;
        state.next_number += 1;
        if !state.ended {
            write_frame(number, request, &mut state.unsent);
            state.waiting.insert(number, None);
            state.driver.iter().for_each(Waker::wake_by_ref);
        }
        number
    }

    fn poll_answer(&self, number: u32, cx: &Context<'_>) -> Poll<Result<S::Answer, LinkEnded>> {
        let mut state = self.state();
        if let Some(answer) = state.answers.remove(&number) {
            return Poll::Ready(Ok(answer));
        }
        match state.waiting.get_mut(&number) {
            Some(waiting) => {
                *waiting = Some(cx.waker().clone());
                Poll::Pending
            }
            None => Poll::Ready(Err(LinkEnded)),
        }
    }

    async fn drive(self, mut stream: impl AsyncRead + AsyncWrite + Unpin) {
        let mut received = FrameBuffer::default();
        poll_fn(|cx| {
            let mut state = self.state();
            if !state.ended {
                state.driver = Some(cx.waker().clone());
                if state.write(&mut stream, cx).is_err()
                    || state.read(&mut stream, &mut received, cx).is_err()
                {
                    state.end();
                }
            }
            if state.ended { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }

    fn state(&self) -> MutexGuard<'_, State<S::Answer>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: Service> Clone for ServiceLink<S> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<A: serde::de::DeserializeOwned> State<A> {
    fn write(
        &mut self,
        stream: &mut (impl AsyncWrite + Unpin),
        cx: &mut Context<'_>,
    ) -> Result<(), LinkEnded> {
        while !self.unsent.is_empty() {
            match Pin::new(&mut *stream).poll_write(cx, &self.unsent) {
                Poll::Pending => break,
                Poll::Ready(Ok(count)) => drop(self.unsent.drain(..count)),
                Poll::Ready(Err(_)) => return Err(LinkEnded),
            }
        }
        Ok(())
    }

    fn read(
        &mut self,
        stream: &mut (impl AsyncRead + Unpin),
        received: &mut FrameBuffer,
        cx: &mut Context<'_>,
    ) -> Result<(), LinkEnded> {
        loop {
            let tail = received.tail();
            tail.reserve(READ_BYTES);
            match pin!(stream.read_buf(tail)).poll(cx) {
                Poll::Pending => return Ok(()),
                Poll::Ready(Ok(1..)) => {}
                Poll::Ready(_) => return Err(LinkEnded),
            }
            while let Some((number, message)) = received.next_frame().map_err(|_| LinkEnded)? {
                self.take(number, message);
            }
        }
    }

    fn take(&mut self, number: u32, message: A) {
        self.received += 1;
        if number == EVENT {
            self.events.push_back(message);
        } else if let Some(waiting) = self.waiting.remove(&number) {
            self.answers.insert(number, message);
            waiting.into_iter().for_each(Waker::wake);
        }
        self.listeners.drain(..).for_each(Waker::wake);
    }
}

impl<A> State<A> {
    fn end(&mut self) {
        self.ended = true;
        let waiting = std::mem::take(&mut self.waiting).into_values().flatten();
        waiting.chain(self.listeners.drain(..)).chain(self.driver.take()).for_each(Waker::wake);
    }
}
