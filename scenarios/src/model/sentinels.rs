//! The Sentinels that watch a scenario's nodes.

use std::time::Duration;

use doublehold_lockimpl::MasterDiscovery;
use doublehold_text::{exact_duration, several};

use super::scenario::{HostIndex, Role, Scenario};

/// The setup of all Sentinels. The hosts of that role are the Sentinels there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentinelsSetup {
    /// The number of them that must find the master down before one tries a failover.
    pub quorum: u32,
    /// The time for which a node may leave a PING unanswered.
    pub down_after: Duration,
    /// Limits the steps of a failover; no two are tried within twice this.
    pub failover_timeout: Duration,
    /// The number of replicas that are told at once to follow a new master.
    pub parallel_syncs: u32,
    /// Their knowledge when the run begins.
    pub knowledge: Knowledge,
    /// The way in which clients find the master; `None`: as the driver of their lock does.
    pub discovery: Option<MasterDiscovery>,
}

/// The knowledge of Sentinels when a run begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Knowledge {
    /// All replicas and all Sentinels, as after a while of watching: they are in the files that they keep.
    All,
    /// The master's address, as on the first day: they ask it for its replicas, and meet at its channel.
    Master,
}

/// What a reader should doubt about the Sentinels of a scenario, each with a way out: it can be run, and says less than
/// it seems to.
pub(crate) fn doubts(scenario: &Scenario) -> Vec<String> {
    let Some(setup) = &scenario.sentinels else { return Vec::new() };
    let count = scenario.hosts.iter().filter(|host| host.role == Role::Sentinel).count() as u64;
    let mut doubts = Vec::new();
    if count < 3 {
        let what = if count == 1 { "a Sentinel that is gone" } else { "one that is gone" };
        doubts.push(format!(
            "`sentinels.count` is {count}: {what} leaves no majority, and nobody fails over; use 3 or more"
        ));
    }
    let hosts = || (0..scenario.hosts.len()).map(HostIndex);
    let is_replica =
        |host: &HostIndex| scenario.hosts[host.0].role == Role::Node && scenario.nodes.master != Some(*host);
    if hosts().filter(is_replica).all(|replica| *scenario.nodes.replica_priority.of(replica) == 0) {
        doubts.push(
            "`nodes.replica_priority` is 0 for every replica: Sentinels promote none of them, and nobody fails over; \
             give one of them another"
                .to_owned(),
        );
    }
    let ttls = scenario.clients.iter().map(|client| scenario.ttl_of(client.host));
    if let Some(longest) = ttls.max().filter(|longest| setup.down_after > *longest) {
        doubts.push(format!(
            "`sentinels.down_after` is {}, and no lease is longer than {}: the key that a master takes with it is of a \
             lease that has ended before there is another master; shorten it, or lengthen `lock.ttl`",
            exact_duration(setup.down_after),
            exact_duration(longest),
        ));
    }
    let quorum = u64::from(setup.quorum);
    if quorum > count / 2 + 1 {
        doubts.push(format!(
            "`sentinels.quorum` is {quorum} of {}: with {} out of reach nobody fails over; use {}",
            several(count, "Sentinel"),
            several((count + 1).saturating_sub(quorum), "Sentinel"),
            count / 2 + 1
        ));
    }
    doubts
}
