//! Which server runs on which port: nodes that know nothing of each other, or a master with its replicas, and the
//! Sentinels that watch them.
//!
//! Decision: "Served Sentinels know everybody from the start, and wait five seconds" (docs/decisions/redis.md).

use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::time::Duration;

use doublehold_sim_redis::{Machine, TokioMachine};
use doublehold_sim_sentinel::{Address, SentinelConfig};

use super::error::ServeError;

/// The name by which Sentinels and clients know the master.
pub(crate) const MASTER_NAME: &str = "mymaster";

/// The host of all servers, as they tell it each other.
const HOST: &str = "127.0.0.1";

/// The part of `failover-timeout` that is `down-after-milliseconds`: one sixth, as in Redis' defaults.
const DOWN_AFTERS_IN_FAILOVER_TIMEOUT: u32 = 6;

/// The shortest `failover-timeout`: as long as Redis gives an election.
const SHORTEST_FAILOVER_TIMEOUT: Duration = Duration::from_secs(10);

/// All servers.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// The first node's port.
    pub(crate) port: u16,
    /// The nodes, on this port and those that follow.
    pub(crate) nodes: Nodes,
    /// The Sentinels, on the ports after those of the nodes.
    pub(crate) sentinels: Option<Sentinels>,
    /// Whether faults may be asked for. The port after all others then answers words about them, and is never struck.
    pub(crate) faults: bool,
}

/// The number of nodes, and their relation to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nodes {
    /// So many nodes that know nothing of each other.
    Apart(u16),
    /// A master and so many replicas.
    Replicated(u16),
}

/// The Sentinels of a master.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sentinels {
    /// How many there are.
    pub(crate) count: u16,
    /// How many must find the master down.
    pub(crate) quorum: u32,
    /// The time for which a server may leave a PING unanswered.
    pub(crate) down_after: Duration,
}

/// A server's duty on its port.
#[derive(Clone, Debug)]
pub(crate) enum Duty {
    /// A node, which follows the node on another port if there is one.
    Node { replica_of: Option<(String, u16)> },
    /// A Sentinel.
    Sentinel(Box<SentinelConfig>),
    /// Answering words about faults, and nothing else.
    Control,
}

impl Layout {
    /// How many nodes there are.
    pub(crate) fn nodes(&self) -> u32 {
        match self.nodes {
            Nodes::Apart(count) => count.into(),
            Nodes::Replicated(replicas) => 1 + u32::from(replicas),
        }
    }

    /// How many Sentinels there are.
    pub(crate) fn sentinels(&self) -> u32 {
        self.sentinels.map_or(0, |sentinels| sentinels.count.into())
    }

    /// The ports of all servers.
    pub(super) fn ports(&self) -> Result<RangeInclusive<u16>, ServeError> {
        let count = self.nodes() + self.sentinels() + u32::from(self.faults);
        let more = count.checked_sub(1).ok_or(ServeError::NoNodes)?;
        match u16::try_from(u32::from(self.port) + more) {
            Ok(last) if self.port > 0 => Ok(self.port..=last),
            _ => {
                let control = if self.faults { " and the port for words" } else { "" };
                Err(ServeError::PortsOutOfRange { what: format!("{self}{control}"), port: self.port })
            }
        }
    }

    /// The duty on each of the ports, in their order.
    pub(super) fn duties(&self) -> Vec<Duty> {
        let replicas_follow = matches!(self.nodes, Nodes::Replicated(_));
        let master = |index| (replicas_follow && index > 0).then(|| (HOST.to_owned(), self.port));
        let nodes = (0..self.nodes()).map(|index| Duty::Node { replica_of: master(index) });
        let sentinels = self.sentinel_configs().into_iter().map(|config| Duty::Sentinel(Box::new(config)));
        nodes.chain(sentinels).chain(self.faults.then_some(Duty::Control)).collect()
    }

    /// The name and port of each node and each Sentinel, and a node's place among nodes.
    pub(super) fn hosts(&self) -> Vec<(String, u16, Option<usize>)> {
        let nodes = (0..self.nodes())
            .map(|index| (node_name(index), self.port_of(index), usize::try_from(index).ok()));
        let sentinels = (0..self.sentinels())
            .map(|index| (format!("S{}", index + 1), self.port_of(self.nodes() + index), None));
        nodes.chain(sentinels).collect()
    }

    /// The commands that bring each node back to its first role, without data.
    pub(super) fn first_roles(&self) -> Vec<Vec<String>> {
        let duties = self.duties().into_iter().map(|duty| match duty {
            Duty::Node { replica_of: Some((_, port)) } => vec![self.follow(port)],
            Duty::Node { replica_of: None } => {
                ["REPLICAOF NO ONE", "FLUSHALL", "SCRIPT FLUSH"].map(str::to_owned).to_vec()
            }
            Duty::Sentinel(_) | Duty::Control => Vec::new(),
        });
        duties.collect()
    }

    /// The command that makes a node follow the one on `port`.
    pub(super) fn follow(&self, port: u16) -> String {
        format!("REPLICAOF {HOST} {port}")
    }

    /// The port that answers words about faults, if there is one.
    pub(crate) fn control_port(&self) -> Option<u16> {
        self.faults.then(|| self.port_of(self.nodes() + self.sentinels()))
    }

    /// The port of a server, counted from 0, of those that fit.
    pub(crate) fn port_of(&self, index: u32) -> u16 {
        u16::try_from(u32::from(self.port) + index).unwrap_or(u16::MAX)
    }

    /// The settings of each Sentinel. All know each other and the replicas from the start, so that a failover needs no
    /// patience.
    fn sentinel_configs(&self) -> Vec<SentinelConfig> {
        let Some(Sentinels { quorum, down_after, .. }) = self.sentinels else { return Vec::new() };
        let address = |index| Address::new(HOST, self.port_of(index));
        let nodes = self.nodes();
        let sentinels = nodes..nodes + self.sentinels();
        let all: Vec<(Address, String)> = sentinels.map(|index| (address(index), drawn_id())).collect();
        let config_of = |(own, id): &(Address, String)| SentinelConfig {
            master_name: MASTER_NAME.to_owned(),
            quorum,
            down_after,
            failover_timeout: SHORTEST_FAILOVER_TIMEOUT.max(down_after * DOWN_AFTERS_IN_FAILOVER_TIMEOUT),
            known_replicas: (1..nodes).map(address).collect(),
            known_sentinels: all.clone(),
            id: Some(id.clone()),
            ..SentinelConfig::new(own.clone(), address(0))
        };
        all.iter().map(config_of).collect()
    }

    /// The places of all servers, and something to try. `listen` is the address on which they listen.
    pub(crate) fn announcement(&self, listen: IpAddr) -> String {
        let (port, nodes) = (self.port, self.nodes());
        let between = |first, count| ports_text(self.port_of(first), self.port_of(first + count - 1));
        let ping = format!("redis-cli -p {port} ping");
        let (what, example) = match (self.nodes, self.sentinels()) {
            (Nodes::Apart(_), _) => (format!(", {}", between(0, nodes)), ping),
            (Nodes::Replicated(_), 0) => {
                (format!(": a master on port {port}, replicas on {}", between(1, nodes - 1)), ping)
            }
            (Nodes::Replicated(_), sentinels) => {
                let (replicas, watch) = (between(1, nodes - 1), between(nodes, sentinels));
                let first = self.port_of(nodes);
                (
                    format!(": `{MASTER_NAME}` on port {port}, replicas on {replicas}, Sentinels on {watch}"),
                    format!("redis-cli -p {first} sentinel get-master-addr-by-name {MASTER_NAME}"),
                )
            }
        };
        let faults = self.control_port().map_or_else(String::new, |port| {
            format!("; faults and verdicts on port {port}: `redis-cli -p {port} doublehold help`")
        });
        format!("serving on {listen}{what}; try `{example}`{faults}, stop with Ctrl-C")
    }
}

/// The number of each, in words.
impl std::fmt::Display for Layout {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.nodes, self.sentinels()) {
            (Nodes::Apart(nodes), _) => f.write_str(&counted(nodes.into(), "node")),
            (Nodes::Replicated(replicas), 0) => {
                write!(f, "a master and {}", counted(replicas.into(), "replica"))
            }
            (Nodes::Replicated(replicas), sentinels) => {
                let (replicas, sentinels) =
                    (counted(replicas.into(), "replica"), counted(sentinels, "Sentinel"));
                write!(f, "a master, {replicas} and {sentinels}")
            }
        }
    }
}

/// The name of a node as scenarios have it: `A` to `Z`, then `N27`.
fn node_name(index: u32) -> String {
    match u8::try_from(index) {
        Ok(letter @ 0..26) => char::from(b'A' + letter).to_string(),
        _ => format!("N{}", index + 1),
    }
}

fn counted(count: u32, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn ports_text(first: u16, last: u16) -> String {
    if first == last { format!("port {first}") } else { format!("ports {first} to {last}") }
}

/// A new Sentinel's id: 40 hexadecimal digits.
fn drawn_id() -> String {
    let mut bytes = [0; 20];
    TokioMachine::new(false).random(&mut bytes);
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(port: u16, nodes: Nodes, sentinels: u16) -> Layout {
        let settings = Sentinels { count: sentinels, quorum: 2, down_after: Duration::from_secs(5) };
        Layout { port, nodes, sentinels: (sentinels > 0).then_some(settings), faults: false }
    }

    #[test]
    fn a_range_of_ports_that_does_not_exist_is_refused() {
        assert!(matches!(layout(7000, Nodes::Apart(0), 0).ports(), Err(ServeError::NoNodes)));
        for (port, nodes, sentinels) in [
            (65_535, Nodes::Apart(2), 0),
            (0, Nodes::Apart(1), 0),
            (65_531, Nodes::Replicated(2), 3),
            (1, Nodes::Replicated(u16::MAX), u16::MAX),
        ] {
            let told = layout(port, nodes, sentinels).ports();
            assert!(matches!(told, Err(ServeError::PortsOutOfRange { .. })), "{told:?}");
        }
        assert_eq!(layout(65_535, Nodes::Apart(1), 0).ports().expect("the last port"), 65_535..=65_535);
        assert_eq!(layout(65_530, Nodes::Replicated(2), 3).ports().expect("the last six"), 65_530..=65_535);
    }

    #[test]
    fn replicas_follow_the_first_node_and_sentinels_watch_it() {
        let duties = layout(7000, Nodes::Replicated(2), 3).duties();
        let followed = |duty: &Duty| match duty {
            Duty::Node { replica_of } => replica_of.as_ref().map(|(_, port)| *port),
            Duty::Sentinel(config) => Some(config.master.port),
            Duty::Control => None,
        };
        let master = Some(7000);
        let all: Vec<_> = duties.iter().map(followed).collect();
        assert_eq!(all, [None, master, master, master, master, master]);
        let Duty::Sentinel(last) = &duties[5] else { panic!("{:?}", duties[5]) };
        assert_eq!(last.own, Address::new(HOST, 7005));
        assert_eq!(last.known_replicas, [Address::new(HOST, 7001), Address::new(HOST, 7002)]);
        assert_eq!(last.known_sentinels[2], (last.own.clone(), last.id.clone().expect("it is drawn")));
        assert_eq!(last.failover_timeout, Duration::from_secs(30));
    }

    #[test]
    fn what_runs_where_is_told_with_something_to_try() {
        let loopback = std::net::Ipv4Addr::LOCALHOST.into();
        let said = |nodes, sentinels| layout(7000, nodes, sentinels).announcement(loopback);
        assert_eq!(
            said(Nodes::Apart(1), 0),
            "serving on 127.0.0.1, port 7000; try `redis-cli -p 7000 ping`, stop with Ctrl-C"
        );
        assert_eq!(
            said(Nodes::Replicated(2), 0),
            "serving on 127.0.0.1: a master on port 7000, replicas on ports 7001 to 7002; try `redis-cli -p 7000 ping`, \
             stop with Ctrl-C"
        );
        assert_eq!(
            said(Nodes::Replicated(1), 3),
            "serving on 127.0.0.1: `mymaster` on port 7000, replicas on port 7001, Sentinels on ports 7002 to 7004; try \
             `redis-cli -p 7002 sentinel get-master-addr-by-name mymaster`, stop with Ctrl-C"
        );
    }
}
