//! One connection as a node's other connections see it.

use crate::core::WallMicros;
use crate::resp::Protocol;

/// One connection as others see it.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    pub(crate) addr: String,
    pub(crate) connected_at: WallMicros,
    /// When it last sent a command.
    pub(crate) seen_at: WallMicros,
    pub(crate) name: Vec<u8>,
    pub(crate) db: usize,
    pub(crate) protocol: Protocol,
    /// Commands between MULTI and EXEC.
    pub(crate) queued: Option<usize>,
    pub(crate) no_evict: bool,
    pub(crate) is_replica: bool,
    pub(crate) is_monitor: bool,
    /// Whether it wants replies, and with them what is pushed.
    pub(crate) is_answered: bool,
    /// What was pushed to it and not taken yet.
    pub(crate) outbox: Vec<u8>,
    /// `None`: the last one was no command at all.
    pub(crate) last_command: Option<&'static str>,
}
