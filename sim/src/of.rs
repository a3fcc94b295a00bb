//! Something of the kernel, or of another simulator: what handles of hosts and connections hold.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Something of the kernel or of another simulator.
#[derive(Clone)]
pub(crate) enum Of<K, O> {
    Kernel(K),
    Other(O),
}

/// Does the same with either.
macro_rules! each {
    ($of:expr, $inner:ident => $action:expr) => {
        match $of {
            $crate::of::Of::Kernel($inner) => $action,
            $crate::of::Of::Other($inner) => $action,
        }
    };
}
pub(crate) use each;

impl<K: Future + Unpin, O: Future<Output = K::Output> + Unpin> Future for Of<K, O> {
    type Output = K::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<K::Output> {
        each!(&mut *self, wait => Pin::new(wait).poll(cx))
    }
}
