//! A Sentinel's settings, in the words of `sentinel.conf`.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use doublehold_sim_redis::core::Limits;

/// The port that a Sentinel listens on.
pub const SENTINEL_PORT: u16 = 26_379;

/// The address at which a node or a Sentinel listens.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address {
    /// The host's name or its IP address.
    pub host: Arc<str>,
    /// The port.
    pub port: u16,
}

impl Address {
    /// Makes an address.
    pub fn new(host: &str, port: u16) -> Address {
        Address { host: host.into(), port }
    }

    /// True if somebody wrote this host and port. Letters may differ in case, as Redis compares them.
    pub(crate) fn is(&self, host: &str, port: u16) -> bool {
        self.port == port && self.host.eq_ignore_ascii_case(host)
    }
}

/// `host port`, as the events of a Sentinel have it.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.host, self.port)
    }
}

/// Settings of a Sentinel that watches one master.
#[derive(Clone, Debug)]
pub struct SentinelConfig {
    /// The address that it announces to other Sentinels.
    pub own: Address,
    /// The name of the master: what clients ask for.
    pub master_name: String,
    /// The master's address at the beginning.
    pub master: Address,
    /// `quorum`: how many Sentinels must find the master down before one of them tries a failover.
    pub quorum: u32,
    /// `down-after-milliseconds`: how long an instance may leave a PING unanswered.
    pub down_after: Duration,
    /// `failover-timeout`: limits the steps of a failover. Half of the time between two tries.
    pub failover_timeout: Duration,
    /// `parallel-syncs`: how many replicas are told at once to follow the new master.
    pub parallel_syncs: u32,
    /// `known-replica`: the replicas that it knows of before it has asked anybody.
    pub known_replicas: Vec<Address>,
    /// `known-sentinel`: the other Sentinels that it knows of, each with its id.
    pub known_sentinels: Vec<(Address, String)>,
    /// `myid`: 40 hexadecimal digits. `None`: drawn when it starts for the first time.
    pub id: Option<String>,
    /// Limits on its clients: `maxclients` and its like.
    pub limits: Limits,
}

impl SentinelConfig {
    /// Redis' defaults for a Sentinel at `own` that watches `master` under the name `mymaster`, with a quorum of 2.
    pub fn new(own: Address, master: Address) -> SentinelConfig {
        SentinelConfig {
            own,
            master_name: "mymaster".to_owned(),
            master,
            quorum: 2,
            down_after: Duration::from_secs(30),
            failover_timeout: Duration::from_secs(180),
            parallel_syncs: 1,
            known_replicas: Vec::new(),
            known_sentinels: Vec::new(),
            id: None,
            limits: Limits::default(),
        }
    }
}
