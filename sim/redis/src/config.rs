//! What a node is told before it starts, and why it does not.

use std::io;
use std::time::Duration;

use crate::core::CoreConfig;

/// What a node is told before it starts. `Default` is redis.conf's: a master that keeps nothing on disk.
#[derive(Clone, Debug)]
pub struct NodeConfig {
    /// The core's settings; `append_only` and `append_fsync` are overwritten from `persistence`, `repl_backlog_bytes`
    /// and `repl_ping_period` from what is below. With `config_file` the node keeps its role and what CONFIG SET
    /// changed in a file on its disk: what CONFIG REWRITE wrote there counts at the next start, not what is here and
    /// in `replica_of`.
    pub core: CoreConfig,
    /// What is kept on disk.
    pub persistence: Persistence,
    /// The seconds of `save SECONDS 1`, for [`Persistence::Rdb`]: a part of a second does not count.
    pub snapshot_interval: Duration,
    /// `replicaof`: the master's address, if the node starts as a replica.
    pub replica_of: Option<(String, u16)>,
    /// `replica-announce-ip`: the address under which masters list this node as a replica. `None`: the one that its
    /// connection comes from.
    pub announced_address: Option<String>,
    /// `repl-backlog-size`: bytes of history kept for replicas that come back.
    pub repl_backlog_bytes: usize,
    /// `repl-ping-replica-period`: how often a master with replicas writes a PING into the stream.
    pub repl_ping_period: Duration,
    /// `repl-timeout`: a replication link that is silent for longer is dropped, by either end.
    pub repl_timeout: Duration,
}

impl Default for NodeConfig {
    fn default() -> NodeConfig {
        NodeConfig {
            core: CoreConfig::default(),
            persistence: Persistence::None,
            snapshot_interval: Duration::from_secs(3600),
            replica_of: None,
            announced_address: None,
            repl_backlog_bytes: 1 << 20,
            repl_ping_period: Duration::from_secs(10),
            repl_timeout: Duration::from_secs(60),
        }
    }
}

/// Whether and how a node keeps its data on disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Persistence {
    /// Nothing is kept: a restarted node is empty.
    #[default]
    None,
    /// `appendonly yes`, `appendfsync no`.
    AofNo,
    /// `appendonly yes`, `appendfsync everysec`.
    AofEverysec,
    /// `appendonly yes`, `appendfsync always`.
    AofAlways,
    /// `appendonly no`, `save SECONDS 1`: see [`NodeConfig::snapshot_interval`].
    Rdb,
}

impl Persistence {
    /// The value of `appendfsync`, for CONFIG GET and INFO.
    pub(crate) fn append_fsync(self) -> &'static str {
        match self {
            Persistence::AofNo => "no",
            Persistence::AofAlways => "always",
            Persistence::None | Persistence::AofEverysec | Persistence::Rdb => "everysec",
        }
    }
}

/// Why a node did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BootError {
    /// The disk did not give the file of its data back.
    #[error("cannot read `{file}`: {source}")]
    ReadData {
        /// Its name.
        file: &'static str,
        /// What the disk says.
        source: io::Error,
    },
    /// The disk did not give the configuration file back.
    #[error("cannot read `redis.conf`: {0}")]
    ReadConfig(#[source] io::Error),
    /// The configuration file holds what CONFIG REWRITE never writes.
    #[error("bad line in `redis.conf`: `{0}`; remove the file, then start again")]
    BadConfig(String),
    /// The file holds something that no crash leaves behind.
    #[error(
        "bad file format in `{file}` at byte {offset}: {cause}; cut the file there or remove it, then start again"
    )]
    BadData {
        /// Its name.
        file: &'static str,
        /// Where the first command begins that cannot be read.
        offset: u64,
        /// What is wrong with it.
        cause: String,
    },
}
