//! A program that answers on a node's port in place of the data: Redis runs Sentinel so, in the same server, with a
//! table of commands of its own.
//!
//! The node keeps what every server has: connections, the protocol, messages to subscribers. The program answers its
//! own commands, and says of each other one if the server may.

use super::WallMicros;
use crate::resp::{Args, Protocol};

/// The one who answered a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answered {
    /// The program: its reply is in the buffer.
    ByProgram,
    /// Nobody yet: the server answers as it always does.
    ByServer,
    /// Nobody: here the command does not exist.
    ByNobody,
}

/// A program that answers in place of the data.
///
/// It is called in the middle of a command, with the node locked: it notes things down and never calls back into the
/// node.
pub trait Program: Send + Sync {
    /// Answers a request, whose first argument is the command, into `out`.
    fn answer(&self, now: WallMicros, args: &Args<'_>, protocol: Protocol, out: &mut Vec<u8>) -> Answered;
}
