//! Runs several futures at once and keeps their results in order.
//!
//! Ready-made combinators that pick a branch at random, or poll only what was woken, would make the
//! order of requests depend on something other than the plan. Here every future that is not done is
//! polled, first to last, whenever any of them may have moved: fine for the handful of nodes a lock has.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

/// Waits for all `futures`, polling them in the order given, and returns what each came to.
pub(crate) async fn join_in_order<F: Future>(futures: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut pending: Vec<Pin<Box<F>>> = futures.map(Box::pin).collect();
    let mut results: Vec<Option<F::Output>> = pending.iter().map(|_| None).collect();
    poll_fn(|cx| {
        for (future, result) in pending.iter_mut().zip(&mut results) {
            if result.is_none()
                && let Poll::Ready(output) = future.as_mut().poll(cx)
            {
                *result = Some(output);
            }
        }
        if results.iter().all(Option::is_some) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    results.into_iter().flatten().collect()
}
