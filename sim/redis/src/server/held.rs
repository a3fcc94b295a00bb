//! How a connection waits to try a request again: for a script that overruns, for the end of CLIENT PAUSE, or because
//! its machine keeps it.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};

use super::{Connection, Unblocked, wait_at_most};
use crate::core::NOT_IN_TRANSACTION;
use crate::machine::{Machine, Received};
use crate::resp::reply;
use crate::wait::{First, first};

impl<M: Machine, S: AsyncRead + AsyncWrite + Unpin + Send> Connection<'_, M, S> {
    /// Waits until the overrunning script has ended, or until it is time to answer BUSY.
    pub(super) async fn wait_for_script(&mut self) -> bool {
        let until = self.shared.lock().core.held_until();
        // Past that time only the script's own client is still held.
        let limit = until.and_then(|until| match until.0.saturating_sub(self.shared.machine.wall().0) {
            missing @ 1.. => Some(Duration::from_micros(missing.unsigned_abs())),
            _ => None,
        });
        let timer = wait_at_most(&self.shared.machine, limit);
        let unblocked = self.wait_unblocked(timer, |state, cx| state.poll_script_ended(cx)).await;
        self.retry = true;
        !matches!(unblocked, Unblocked::Gone)
    }

    /// Waits until a request that CLIENT PAUSE holds back may be tried again.
    pub(super) async fn wait_while_paused(&mut self) -> bool {
        let shared = self.shared;
        let mut over = pin!(shared.pause_is_over());
        self.retry = true;
        poll_fn(|cx| match over.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(true),
            Poll::Pending => self.poll_gone(cx).map(|()| false),
        })
        .await
    }

    /// Waits for what the machine does with a request; false when the connection is over. A held request arrives also
    /// if its client has gone: what was sent is never recalled.
    pub(super) async fn wait_for_machine(&mut self, received: Received) -> bool {
        match received {
            Received::Execute | Received::ExecuteWithoutReply => true,
            Received::Hold(until) => {
                self.retry = true;
                let ended = poll_fn(|cx| self.shared.poll_closed(cx));
                matches!(first(ended, until).await, First::Right(()))
            }
            Received::Answer(mut answer) => {
                let mut reply = Vec::new();
                if self.session.is_in_transaction() {
                    self.session.abort_transaction();
                    reply::error(&mut reply, NOT_IN_TRANSACTION);
                } else {
                    let answer = poll_fn(|cx| match answer.as_mut().poll(cx) {
                        Poll::Ready(reply) => Poll::Ready(Some(reply)),
                        Poll::Pending => self.poll_gone(cx).map(|()| None),
                    });
                    let Some(answer) = answer.await else { return false };
                    reply = answer;
                }
                if self.session.is_answered() {
                    self.pipe.out.extend_from_slice(&reply);
                }
                self.session.step_replies();
                true
            }
        }
    }
}
