//! Waiting for the node's own state, and for the first of two things.
//!
//! Whoever waits leaves a waker beside the state it waits for, under the same lock, and looks again when woken. The
//! order in which things are polled is written down here and never drawn.
//!
//! Not `tokio::sync::Notify`: it wakes outside of the lock, so that who registers late must look twice, and it keeps a
//! list of its own for each thing to wait for. These are a vector each.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// Tasks that want to look again when something changed.
#[derive(Debug, Default)]
pub struct Wakers(Vec<Waker>);

impl Wakers {
    /// Wakes the current task at the next [`wake`](Self::wake).
    pub fn register(&mut self, cx: &Context<'_>) {
        if !self.0.iter().any(|known| known.will_wake(cx.waker())) {
            self.0.push(cx.waker().clone());
        }
    }

    /// Wakes everyone who registered since the last call.
    pub fn wake(&mut self) {
        self.0.drain(..).for_each(Waker::wake);
    }
}

/// The one of two things that happened.
pub enum First<A, B> {
    /// The first one.
    Left(A),
    /// The second one.
    Right(B),
}

/// Waits for the first of two futures; `left` is polled first and wins a tie. The other one is dropped.
pub async fn first<A: Future, B: Future>(left: A, right: B) -> First<A::Output, B::Output> {
    let (mut left, mut right) = (pin!(left), pin!(right));
    poll_fn(|cx| {
        if let Poll::Ready(value) = left.as_mut().poll(cx) {
            return Poll::Ready(First::Left(value));
        }
        right.as_mut().poll(cx).map(First::Right)
    })
    .await
}
