//! What handles of hosts and connections hold: something of the kernel, or of another simulator.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

#[derive(Clone)]
pub(crate) enum Either<K, O> {
    Kernel(K),
    Other(O),
}

/// Does the same with either.
macro_rules! for_both {
    ($either:expr, $inner:ident => $action:expr) => {
        match $either {
            $crate::either::Either::Kernel($inner) => $action,
            $crate::either::Either::Other($inner) => $action,
        }
    };
}
pub(crate) use for_both;

impl<K: Future + Unpin, O: Future<Output = K::Output> + Unpin> Future for Either<K, O> {
    type Output = K::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<K::Output> {
        for_both!(&mut *self, wait => Pin::new(wait).poll(cx))
    }
}
