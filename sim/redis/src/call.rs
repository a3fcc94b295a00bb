//! How the node calls a connection that waits: for input, for its turn to send, for a script.
//!
//! A connection leaves its waker with the node once. After that a look costs two atomic reads, unless the node has
//! closed or has something for some connection.

use std::task::{Context, Poll, Waker};

use crate::machine::Machine;
use crate::shared::Shared;

/// What a connection and the node know of each other, so that waiting for input does not lock the node each time.
#[derive(Default)]
pub(crate) struct CallState {
    /// The waker the node has.
    waker: Option<Waker>,
    /// The node's news this connection has looked at.
    news: u64,
}

/// What the node wants of a connection that waits.
pub(crate) enum Call {
    /// To end.
    Leave,
    /// To send what was pushed to it.
    Push,
}

/// Ready when the node has closed, or has something for this connection. A task's waker rarely changes, so the node is
/// asked only when it did, or when there are news.
pub(crate) fn poll_call<M: Machine>(
    shared: &Shared<M>,
    session: u64,
    known: &mut CallState,
    cx: &Context<'_>,
) -> Poll<Call> {
    let has_waker = known.waker.as_ref().is_some_and(|known| known.will_wake(cx.waker()));
    if has_waker && known.news == shared.news() && !shared.is_closed() {
        return Poll::Pending;
    }
    let mut state = shared.lock();
    if shared.is_closed() || state.core.is_killed(session) {
        return Poll::Ready(Call::Leave);
    }
    if state.core.has_news(session) {
        return Poll::Ready(Call::Push);
    }
    state.wake_on_news(session, cx.waker());
    *known = CallState { waker: Some(cx.waker().clone()), news: shared.news() };
    Poll::Pending
}

/// The same, and ready too when the node drains: nothing of this connection is left to be answered.
pub(crate) fn poll_leave<M: Machine>(
    shared: &Shared<M>,
    session: u64,
    known: &mut CallState,
    cx: &Context<'_>,
) -> Poll<Call> {
    // In this order: a node that begins to drain in between finds the waker.
    match poll_call(shared, session, known, cx) {
        Poll::Pending if shared.is_draining() => Poll::Ready(Call::Leave),
        called => called,
    }
}
