//! What a node needs from the machine it runs on: clocks, randomness, tasks, connections and a disk.
//!
//! A simulated host implements it, and so does tokio on a real machine; the node cannot tell which. Everything a fault
//! can touch goes through here: a node that is paused, whose clock jumps or whose power fails knows only what its
//! machine tells it.
//!
//! Not modelled: a disk that reports errors in the middle of a run without losing power (a failed fsync ends the node),
//! and more than one processor (a node does one thing at a time).

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};

use crate::core::{Peer, WallMicros};
use crate::resp::Args;

/// How often Redis' own timer looks at things that wait for the wall clock (`hz 10`).
pub(crate) const TICK: Duration = Duration::from_millis(100);

/// The machine under a node.
///
/// Clones are handles to the same machine. When the machine's process crashes, its tasks are dropped where they stand
/// and its connections end; [`Node::boot`](crate::Node::boot) on the same machine is the next process.
pub trait Machine: Clone + Send + Sync + 'static {
    /// An ordered byte stream to another host.
    type Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static;

    /// The wall clock now. It may jump both ways between two calls.
    fn wall(&self) -> WallMicros;

    /// The monotonic clock: time since some fixed moment. It never goes back; it may stand still while the machine is
    /// suspended.
    fn monotonic(&self) -> Duration;

    /// Ends when `duration` has passed on the monotonic clock.
    fn sleep(&self, duration: Duration) -> impl Future<Output = ()> + Send;

    /// Ends when the wall clock shows `when` or later, also because the clock jumped there.
    ///
    /// The default looks at the clock every 100 ms, as Redis' timer does. A machine that knows when its clock changes
    /// should override it: an idle node waits here for its next key to expire.
    fn wall_reaches(&self, when: WallMicros) -> impl Future<Output = ()> + Send {
        async move {
            loop {
                let missing = when.0.saturating_sub(self.wall().0);
                let Ok(missing @ 1..) = u64::try_from(missing) else { return };
                self.sleep(Duration::from_micros(missing).min(TICK)).await;
            }
        }
    }

    /// Starts a task of this machine's process; it ends with the process.
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static);

    /// Opens a connection.
    ///
    /// # Errors
    /// When the other end refuses or the machine gives up. It may also never end: the node has its own time limit.
    fn connect(&self, host: &str, port: u16) -> impl Future<Output = io::Result<Self::Stream>> + Send;

    /// Fills `buf` from the machine's randomness.
    fn random(&self, buf: &mut [u8]);

    /// Appends to a file, creating it if needed. Like write(2): the bytes survive this process, not yet a power loss.
    fn append(&self, file: &str, bytes: &[u8]);

    /// Ends when everything that was in the file at the call survives a power loss.
    ///
    /// # Errors
    /// When the disk cannot promise that; the node then ends.
    fn fsync(&self, file: &str) -> impl Future<Output = io::Result<()>> + Send;

    /// The file's bytes, as a process that has just started sees them; empty if there is no such file.
    ///
    /// # Errors
    /// When the file exists and cannot be read.
    fn read(&self, file: &str) -> io::Result<Vec<u8>>;

    /// Cuts the file to its first `len` bytes.
    fn truncate(&self, file: &str, len: u64);

    /// Puts new contents in place of the file's, atomically: what survives a power loss is the old contents until an
    /// fsync ends, then the new.
    fn replace(&self, file: &str, bytes: &[u8]);

    /// How long executing `command` (its name as the client wrote it) keeps the node busy; `None`: no time at all.
    fn command_time(&self, command: &[u8]) -> Option<Duration> {
        let _ = command;
        None
    }

    /// Keeps the node busy for so long.
    fn be_busy(&self, time: Duration) -> impl Future<Output = ()> + Send {
        self.sleep(time)
    }

    /// Decides what becomes of a request that the node is about to execute: one that a client sent over the connection
    /// `from`, or a Sentinel. Asked again about a request that was held. Called under the node's lock: it must not call
    /// back into a node.
    fn receive(&self, from: Peer, request: &Args<'_>) -> Received {
        let _ = (from, request);
        Received::Execute
    }
}

/// What becomes of a request.
pub enum Received {
    /// It is executed.
    Execute,
    /// It is executed, and its connection ends before the reply has left.
    ExecuteWithoutReply,
    /// It is held until this ends, also if its client has gone by then; what its connection brings waits behind it.
    Hold(Pin<Box<dyn Future<Output = ()> + Send>>),
    /// The node never sees it: this is its reply, in RESP.
    Answer(Pin<Box<dyn Future<Output = Vec<u8>> + Send>>),
}
