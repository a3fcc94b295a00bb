//! Sends a connection's replies, and reads on meanwhile.

use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};

use super::covered::Covered;
use super::{Connection, wait_at_most};
use crate::call::{Call, poll_call};
use crate::machine::Machine;

/// The extent to which the replies are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sent {
    /// All are on their way.
    Whole,
    /// Some wait, and more requests are there.
    InPart,
}

impl<M: Machine, S: AsyncRead + AsyncWrite + Unpin + Send> Connection<'_, M, S> {
    /// Sends the replies, once file and stream cover what they tell, and what is pushed meanwhile.
    ///
    /// With `reads_on`, also ends when a client that takes no replies sends more: as Redis does, the node executes
    /// that, up to the limit of what may wait.
    pub(super) async fn send(&mut self, mut covered: Covered, reads_on: bool) -> io::Result<Sent> {
        let shared = self.shared;
        while !self.pipe.is_sent() {
            let patience = self.output_limit.patience(self.pipe.unsent_bytes()).map(|patience| {
                let now = shared.machine.monotonic();
                patience.saturating_sub(now.saturating_sub(*self.slow_since.get_or_insert(now)))
            });
            if patience.is_none() {
                self.slow_since = None;
            }
            if let Some(sent) = self.send_until_called(covered, patience, reads_on).await {
                return sent;
            }
            let is_taken = {
                let mut state = shared.lock();
                if state.core.is_unblocked(self.session.id()) {
                    // Among what was pushed is a reply, which waits as any other.
                    covered = Covered::now(&state);
                }
                self.take_pushed(&mut state)
            };
            if !is_taken || !self.may_hold() {
                return Err(io::ErrorKind::ConnectionAborted.into());
            }
        }
        Ok(Sent::Whole)
    }

    /// Sends for at most so long; `None` if something was pushed before all was sent.
    async fn send_until_called(
        &mut self,
        covered: Covered,
        patience: Option<Duration>,
        reads_on: bool,
    ) -> Option<io::Result<Sent>> {
        let (shared, pipe, session) = (self.shared, &mut self.pipe, self.session.id());
        let known = &mut self.known;
        let mut too_late = pin!(wait_at_most(&shared.machine, patience));
        let mut is_covered = covered.is_nothing();
        let aborted = || Some(Err(io::ErrorKind::ConnectionAborted.into()));
        poll_fn(|cx| {
            is_covered = is_covered || covered.poll(&mut shared.lock(), cx).is_ready();
            if is_covered && let Poll::Ready(sent) = pipe.poll_send(cx) {
                return Poll::Ready(Some(sent.map(|()| Sent::Whole)));
            }
            // The end of the stream shows in the next write.
            if is_covered && reads_on && matches!(pipe.poll_fill(cx), Poll::Ready(Ok(1..))) {
                pipe.forget_sent();
                return Poll::Ready(Some(Ok(Sent::InPart)));
            }
            if too_late.as_mut().poll(cx).is_ready() {
                return Poll::Ready(aborted());
            }
            poll_call(shared, session, known, cx).map(|call| match call {
                Call::Leave => aborted(),
                Call::Push => None,
            })
        })
        .await
    }
}
