//! How a connection waits for files: WAITAOF.

use std::task::Poll;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};

use super::covered::Covered;
use super::{Connection, Unblocked, wait_at_most};
use crate::core::{DEMOTED, reply_files};
use crate::machine::Machine;
use crate::replication;
use crate::resp::reply;

/// How the wait ended: as CLIENT UNBLOCK says, or with what there is; `None` for a master no more.
enum Ended {
    Unblocked,
    Files(Option<(bool, usize)>),
}

impl<M: Machine, S: AsyncRead + AsyncWrite + Unpin + Send> Connection<'_, M, S> {
    /// Answers with whether this node's file covers `offset` and how many replicas' do, once these are as many as
    /// `wanted`; false when the connection is over.
    pub(super) async fn wait_for_files(
        &mut self,
        wanted: (bool, usize),
        timeout: Duration,
        offset: u64,
    ) -> bool {
        let (shared, session) = (self.shared, self.session.id());
        let demotions = {
            let mut state = shared.lock();
            replication::ask_for_acknowledgements(shared, &mut state);
            state.links.demotions()
        };
        let timer = wait_at_most(&shared.machine, (!timeout.is_zero()).then_some(timeout));
        let unblocked = self.wait_unblocked(timer, |state, cx| match state.core.take_unblocked(session) {
            Some(_) => Poll::Ready(Ended::Unblocked),
            None => state.poll_files(wanted, offset, demotions, cx).map(Ended::Files),
        });
        let unblocked = unblocked.await;
        shared.lock().core.stop_waiting(session);
        let (is_local, replicas) = match unblocked {
            Unblocked::Gone => return false,
            // CLIENT UNBLOCK: the reply is among what was pushed.
            Unblocked::Done(Ended::Unblocked) => return true,
            Unblocked::TimedOut => shared.lock().files_at(offset),
            Unblocked::Done(Ended::Files(Some(files))) => files,
            Unblocked::Done(Ended::Files(None)) => {
                reply::error(&mut self.pipe.out, DEMOTED);
                // Redis closes such a connection after the reply.
                let _ = self.send(Covered::default(), false).await;
                return false;
            }
        };
        reply_files(&mut self.pipe.out, is_local, replicas);
        true
    }
}
