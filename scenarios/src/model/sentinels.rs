//! The Sentinels that watch a scenario's nodes.

use std::time::Duration;

use doublehold_lockimpl::Discovery;

/// How the Sentinels are set up. Which there are, the hosts of that role say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentinelsSetup {
    /// How many of them must find the master down before one tries a failover.
    pub quorum: u32,
    /// How long a node may leave a PING unanswered.
    pub down_after: Duration,
    /// Limits the steps of a failover; no two are tried within twice this.
    pub failover_timeout: Duration,
    /// How many replicas follow a new master at once.
    pub parallel_syncs: u32,
    /// What they know when the run begins.
    pub knowledge: Knowledge,
    /// How clients find the master; `None`: as the driver of their lock does.
    pub discovery: Option<Discovery>,
}

/// What Sentinels know when a run begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Knowledge {
    /// All replicas and all Sentinels, as after a while of watching: they are in the files that they keep.
    All,
    /// The master's address, as on the first day: they ask it for its replicas, and meet at its channel.
    Master,
}
