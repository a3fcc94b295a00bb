//! Role, ids, offsets and links: written by the node, read by INFO, ROLE and the write checks.

use std::fmt;
use std::time::Duration;

use super::{WallMicros, hex};

/// A replication id: 20 random bytes, printed as 40 hexadecimal digits.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReplicationId(pub [u8; 20]);

impl fmt::Display for ReplicationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(&self.0))
    }
}

impl fmt::Debug for ReplicationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ReplicationId({self})")
    }
}

/// The capability (`REPLCONF capa`) of a replica that takes a data set as commands. Redis passes over it.
pub const READS_COMMANDS: &str = "doublehold-commands";

/// What a node is in a replication chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// Takes writes.
    Master,
    /// Follows a master.
    Replica {
        /// The master's address.
        host: String,
        /// The master's port.
        port: u16,
        /// How far the link is.
        link: LinkState,
    },
}

/// A replica's link to its master, in ROLE's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkState {
    /// Nothing under way: waiting to try (again).
    Connect,
    /// The connection or its handshake is under way.
    Connecting,
    /// The data set is being transferred.
    Sync,
    /// Streaming.
    Connected,
}

/// One replica attached to this node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicaState {
    /// The connection's session id.
    pub session: u64,
    /// The address it announced or came from.
    pub ip: String,
    /// The port it said it listens on (`REPLCONF listening-port`).
    pub port: u16,
    /// Whether it is past the transfer of the data set.
    pub online: bool,
    /// The last offset it acknowledged.
    pub acked: u64,
    /// How much of it the replica's file covered then, if it has told.
    pub fsynced: u64,
    /// Since its last acknowledgement.
    pub lag: Duration,
}

/// A node's replication state.
#[derive(Clone, Debug)]
pub struct Replication {
    /// Master or replica.
    pub role: Role,
    /// The id of the history this node follows or writes.
    pub id: ReplicationId,
    /// The id it followed before its promotion, valid up to `second_offset`.
    pub second_id: Option<ReplicationId>,
    /// First offset that `second_id` does not cover; -1 without one.
    pub second_offset: i64,
    /// Bytes of history so far. The core moves it with every propagated write while `counting`; the node moves it for
    /// what it writes into the stream itself (PING, GETACK) and for what it receives as a replica.
    pub offset: u64,
    /// Whether propagated bytes move the offset. Redis counts from the first replica on: the backlog exists.
    pub counting: bool,
    /// Size of the backlog in bytes; reported.
    pub backlog_size: u64,
    /// First offset in the backlog; reported.
    pub backlog_first: u64,
    /// Bytes in the backlog; reported.
    pub backlog_len: u64,
    /// Attached replicas, in the order they came.
    pub replicas: Vec<ReplicaState>,
    /// Replicas that are online and not lagging: what `min-replicas-to-write` is compared with.
    pub good_replicas: u32,
    /// How much of the history this node's own file covers; `None` without a file.
    pub fsynced: Option<u64>,
    /// The moment at which the link to the master broke; `None` while it stands, and before it stood for the first
    /// time.
    pub link_down_since: Option<WallMicros>,
}

impl Default for Replication {
    fn default() -> Replication {
        Replication::new(ReplicationId::default())
    }
}

impl Replication {
    /// A master with no history.
    pub fn new(id: ReplicationId) -> Replication {
        Replication {
            role: Role::Master,
            id,
            second_id: None,
            second_offset: -1,
            offset: 0,
            counting: false,
            backlog_size: 1 << 20,
            backlog_first: 0,
            backlog_len: 0,
            replicas: Vec::new(),
            good_replicas: 0,
            fsynced: None,
            link_down_since: None,
        }
    }

    /// Whether this node follows a master.
    pub fn is_replica(&self) -> bool {
        matches!(self.role, Role::Replica { .. })
    }

    /// How many online replicas have acknowledged `offset`.
    pub fn replicas_at(&self, offset: u64) -> usize {
        self.replicas.iter().filter(|replica| replica.online && replica.acked >= offset).count()
    }

    /// Whether this node's file covers `offset`.
    pub fn is_in_file(&self, offset: u64) -> bool {
        self.fsynced.is_some_and(|fsynced| fsynced >= offset)
    }

    /// How many online replicas have told that their files cover `offset`.
    pub fn files_at(&self, offset: u64) -> usize {
        self.replicas.iter().filter(|replica| replica.online && replica.fsynced >= offset).count()
    }
}
