//! How a connection answers a Redis that asks to be a replica: a Redis reads RDB files, and a node sends commands.

use std::task::Poll;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};

use super::{Connection, Unblocked};
use crate::machine::Machine;
use crate::resp::reply;

/// Shorter than the 256 bytes that a Redis reads of a line.
const NO_RDB: &[u8] =
    b"ERR this master is a node of `doublehold serve` and sends its data as commands, not as RDB: no \
    Redis can follow it. Let another node of `doublehold serve` follow it, or a Redis be the master";

/// A Redis that is refused comes back at once, and writes several lines into its log each time.
const DELAY: Duration = Duration::from_secs(1);

impl<M: Machine, S: AsyncRead + AsyncWrite + Unpin + Send> Connection<'_, M, S> {
    /// Says after a moment why it cannot follow this node; false when it has gone.
    pub(super) async fn refuse_replica(&mut self) -> bool {
        self.shared.lock().refused.note(&self.session);
        let timer = self.shared.machine.sleep(DELAY);
        if let Unblocked::Gone = self.wait_unblocked(timer, |_, _| Poll::<()>::Pending).await {
            return false;
        }
        reply::error(&mut self.pipe.out, NO_RDB);
        true
    }
}
