//! What a checker or a fault trigger learns about a node, as it happens.

use super::StoppedScript;

/// Who is at the other end, as the world names it (0: unknown). Opaque to the node, handed to the observer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Peer {
    /// Its host.
    pub host: u32,
    /// The connection, by a number that means the same at both ends.
    pub connection: u64,
}

/// On whose behalf a node did something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A client's: its command is being executed.
    Client {
        /// Who sent it, and over which connection.
        peer: Peer,
        /// Which request of the connection it is, counted from 0 in the order sent.
        request: u64,
    },
    /// Its master's: the replication stream or a full resynchronisation is being applied.
    Master,
    /// That of the process before it: the append-only file is being loaded.
    File,
    /// Its own: a key's time was up.
    Node,
}

impl Default for Origin {
    fn default() -> Origin {
        Origin::Client { peer: Peer::default(), request: 0 }
    }
}

/// Told of everything a node does that a checker or fault trigger may care about.
///
/// The core calls it in the middle of a command: an observer notes things down, it never calls back into a node.
pub trait Observer: Send + Sync {
    /// A top-level command was executed; its name in capitals. Called for every PING and ECHO: must be cheap.
    fn executed(&self, origin: Origin, command: &'static str) {
        let _ = (origin, command);
    }

    /// A string key changed its value or lifetime or went away, also inside a script or a transaction.
    fn changed(&self, origin: Origin, change: &KeyChange<'_>) {
        let _ = (origin, change);
    }

    /// A script met one of our limits: what follows on the node is not what a Redis would do.
    fn script_stopped(&self, origin: Origin, script: &StoppedScript) {
        let _ = (origin, script);
    }
}

/// One change of one string key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyChange<'a> {
    /// The key.
    pub key: &'a [u8],
    /// Its value before, `None` if it did not exist.
    pub before: Option<&'a [u8]>,
    /// Its value now, `None` if it is gone.
    pub after: Option<&'a [u8]>,
    /// When it expires now: milliseconds since the epoch on the node's wall clock.
    pub expires_at_ms: Option<i64>,
    /// What changed it: a command's name in capitals, or `EXPIRED`.
    pub command: &'static str,
}
