//! A script that never ends, as far as the node's clients can tell.

use crate::core::WallMicros;
use crate::core::session::Queued;

/// A script that was stopped at its limit and counts as running until it is killed.
#[derive(Debug)]
pub(crate) struct Overrun {
    /// Whose script it is.
    pub(crate) session: u64,
    /// When others are told BUSY.
    pub(crate) busy_from: WallMicros,
    /// It has written: it cannot be killed.
    pub(crate) wrote: bool,
    /// It came from a master: it cannot be killed.
    pub(crate) from_master: bool,
    pub(crate) state: OverrunState,
    /// The error its client gets once it is killed.
    pub(crate) kill_error: Vec<u8>,
    /// The rest of the transaction it is part of.
    pub(crate) transaction: Option<SuspendedTransaction>,
}

/// Whether the script still counts as running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OverrunState {
    Running,
    /// Its client has not been answered yet.
    Killed,
}

/// An EXEC whose script is overrunning.
#[derive(Debug)]
pub(crate) struct SuspendedTransaction {
    /// Replies so far.
    pub(crate) replies: Vec<u8>,
    /// What comes after the script.
    pub(crate) rest: Vec<Queued>,
}

impl Overrun {
    pub(crate) fn is_running(&self) -> bool {
        self.state == OverrunState::Running
    }
}
