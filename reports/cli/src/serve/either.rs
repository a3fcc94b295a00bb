//! Waiting for one of two things.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

/// The one of two things that happened.
pub(crate) enum Either<A, B> {
    Left(A),
    Right(B),
}

impl<A, B> Either<A, B> {
    pub(crate) fn is_left(&self) -> bool {
        matches!(self, Either::Left(_))
    }
}

/// Waits for the first of two futures, `left` before `right` where both are ready.
pub(crate) async fn first<A: Future, B: Future>(left: A, right: B) -> Either<A::Output, B::Output> {
    let (mut left, mut right) = (pin!(left), pin!(right));
    poll_fn(|cx| match left.as_mut().poll(cx) {
        Poll::Ready(value) => Poll::Ready(Either::Left(value)),
        Poll::Pending => right.as_mut().poll(cx).map(Either::Right),
    })
    .await
}
