//! How a connection waits for a key that is not there yet.
//!
//! The core serves those who wait in its own order, within the command that brings what they wait for; the connection
//! only learns that it waits no more. So a pause of the node or of a client moves nobody in the queue, and an element
//! that was given is given once: if its client is gone by then, it is lost, as with Redis.

use std::future::pending;
use std::task::Poll;

use tokio::io::{AsyncRead, AsyncWrite};

use super::Connection;
use super::covered::Covered;
use crate::core::{Unblocked, WallMicros};
use crate::machine::Machine;

/// How WAIT ended: as CLIENT UNBLOCK says, or with the replicas that have acknowledged; `None` for a master no more.
pub(super) enum Acknowledged {
    Unblocked,
    Ended(Option<usize>),
}

impl<M: Machine, S: AsyncRead + AsyncWrite + Unpin + Send> Connection<'_, M, S> {
    /// Waits until the core has answered, or until the wall clock is past the deadline; false when the connection is
    /// over.
    pub(super) async fn wait_for_key(&mut self, deadline_ms: Option<i64>) -> bool {
        let (shared, session) = (self.shared, self.session.id());
        let timer = async {
            match deadline_ms {
                Some(ms) => {
                    let past = WallMicros(ms.saturating_add(1).saturating_mul(1000));
                    shared.machine.wall_reaches(past).await;
                }
                None => pending().await,
            }
        };
        let ended = self.wait_unblocked(timer, |state, cx| match state.core.take_unblocked(session) {
            Some(how) => Poll::Ready(how),
            None => {
                // One who wants no replies is called by this alone: nothing is pushed to it.
                state.wake_on_news(session, cx.waker());
                Poll::Pending
            }
        });
        let how = match ended.await {
            super::Unblocked::Gone => return false,
            super::Unblocked::Done(how) => Some(how),
            super::Unblocked::TimedOut => {
                let mut state = shared.lock();
                state.core.time_out(session);
                state.core.take_unblocked(session)
            }
        };
        if how != Some(Unblocked::Closing) {
            return true;
        }
        self.take_pushed(&mut shared.lock());
        // Redis closes such a connection after the reply.
        let _ = self.send(Covered::default(), false).await;
        false
    }
}
