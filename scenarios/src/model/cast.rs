//! Who is who: which client and which node of the history a host of the scenario is.
//!
//! Built once for a scenario. Its hosts keep the scenario's order, and the numbers that they have in an engine are the
//! engine's business.
//!
//! A client is a machine of its own, or one of several threads of a process: then the process is the machine, and no
//! client of the history. Whatever is done to a machine or read off it is so for all its threads.
//!
//! Decision: "One place knows which client or node each host is" (docs/decisions/scenarios.md).

use std::collections::BTreeMap;

use doublehold_history::{ClientId, NodeId};

use super::host::{HostIndex, Names, Role, UnknownHost};

/// The hosts of a scenario under all their names and numbers.
#[derive(Clone, Debug)]
pub struct Cast {
    members: Vec<(String, Member)>,
    /// The machine that each is on: itself, or a thread's process.
    machines: Vec<HostIndex>,
    /// All of them with the threads after the machines, each in the scenario's order.
    ranked: Vec<HostIndex>,
    /// The place of each in that.
    ranks: Vec<usize>,
    clients: Vec<HostIndex>,
    nodes: Vec<HostIndex>,
    sentinels: Vec<HostIndex>,
    by_name: BTreeMap<String, HostIndex>,
}

/// A host and what it is in the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Member {
    /// A client, by its number among clients; a thread is one.
    Client(ClientId),
    /// A process of several clients, which are its threads.
    Process,
    /// A node, by its number among nodes.
    Node(NodeId),
    /// A Sentinel, by its number among Sentinels.
    Sentinel(u32),
    /// The resource, of which there is one.
    Resource,
}

impl Cast {
    /// The cast of these hosts, in the order in which they are added to the world.
    pub fn new<'a>(hosts: impl IntoIterator<Item = (&'a str, Role)>) -> Cast {
        let hosts: Vec<(&str, Role)> = hosts.into_iter().collect();
        let machine = |(place, (_, role)): (usize, &(&str, Role))| match role {
            Role::Thread(of) => *of,
            Role::Node | Role::Sentinel | Role::Resource | Role::Client => HostIndex(place),
        };
        let machines: Vec<HostIndex> = hosts.iter().enumerate().map(machine).collect();
        let all = || (0..hosts.len()).map(HostIndex);
        let (mut ranked, threads): (Vec<HostIndex>, Vec<HostIndex>) =
            all().partition(|host| machines[host.0] == *host);
        ranked.extend(threads);
        let mut ranks = vec![0; hosts.len()];
        ranked.iter().enumerate().for_each(|(rank, host)| ranks[host.0] = rank);
        let mut has_threads = vec![false; hosts.len()];
        for (place, machine) in machines.iter().enumerate().filter(|(place, machine)| *place != machine.0) {
            debug_assert!(machine.0 < hosts.len(), "host {place} is a thread of a host that there is");
            has_threads[machine.0] = true;
        }
        let mut cast = Cast {
            members: Vec::new(),
            machines,
            ranked,
            ranks,
            clients: Vec::new(),
            nodes: Vec::new(),
            sentinels: Vec::new(),
            by_name: BTreeMap::new(),
        };
        for ((name, role), host) in hosts.into_iter().zip((0..).map(HostIndex)) {
            let next = |ids: &mut Vec<HostIndex>| {
                ids.push(host);
                ids.len() as u32 - 1
            };
            let member = match role {
                Role::Client if has_threads[host.0] => Member::Process,
                Role::Client | Role::Thread(_) => Member::Client(ClientId(next(&mut cast.clients))),
                Role::Node => Member::Node(NodeId(next(&mut cast.nodes))),
                Role::Sentinel => Member::Sentinel(next(&mut cast.sentinels)),
                Role::Resource => Member::Resource,
            };
            cast.members.push((name.to_owned(), member));
            cast.by_name.insert(name.to_owned(), host);
        }
        cast
    }

    /// The scenario's host of that name.
    ///
    /// # Errors
    ///
    /// If it has none.
    pub fn host(&self, name: &str) -> Result<HostIndex, UnknownHost> {
        self.by_name.get(name).copied().ok_or_else(|| UnknownHost(name.to_owned()))
    }

    /// A host's name.
    pub fn name(&self, host: HostIndex) -> &str {
        &self.members[host.0].0
    }

    /// What a host is in the history.
    pub fn member(&self, host: HostIndex) -> Member {
        self.members[host.0].1
    }

    /// The machine that a host's code runs on: a thread's is its process, every other is its own.
    pub fn machine(&self, host: HostIndex) -> HostIndex {
        self.machines[host.0]
    }

    /// The machine that a client's code runs on.
    pub fn machine_of(&self, client: ClientId) -> HostIndex {
        self.machine(self.client(client))
    }

    /// The name of the machine that the code of the host of this name runs on; the name itself if there is none.
    pub fn machine_named<'a>(&'a self, name: &'a str) -> &'a str {
        self.host(name).map_or(name, |host| self.name(self.machine(host)))
    }

    /// Whether a host is a thread of a process.
    pub fn is_thread(&self, host: HostIndex) -> bool {
        self.machine(host) != host
    }

    /// The threads of a process, in the scenario's order; none of a host that is no process.
    pub fn threads(&self, process: HostIndex) -> impl Iterator<Item = HostIndex> {
        let on = self.machines.iter().enumerate().filter(move |(_, machine)| **machine == process);
        on.map(|(host, _)| HostIndex(host)).filter(move |host| *host != process)
    }

    /// The clients of the history, in the order of their numbers.
    pub fn clients(&self) -> impl Iterator<Item = HostIndex> {
        self.clients.iter().copied()
    }

    /// The nodes, in the scenario's order.
    pub fn nodes(&self) -> impl Iterator<Item = HostIndex> {
        self.nodes.iter().copied()
    }

    /// The Sentinels, in the scenario's order.
    pub fn sentinels(&self) -> impl Iterator<Item = HostIndex> {
        self.sentinels.iter().copied()
    }

    /// The host of a client of the history; a thread's is itself, and not its machine.
    ///
    /// # Panics
    ///
    /// If the history is another scenario's.
    pub fn client(&self, client: ClientId) -> HostIndex {
        self.clients[client.0 as usize]
    }

    /// The host of a node of the history.
    ///
    /// # Panics
    ///
    /// If the history is another scenario's.
    pub fn node(&self, node: NodeId) -> HostIndex {
        self.nodes[node.0 as usize]
    }

    /// All nodes but these, in the scenario's order.
    pub(crate) fn nodes_but(&self, hosts: &Names) -> Names {
        let others = self
            .members
            .iter()
            .filter(|(name, member)| matches!(member, Member::Node(_)) && !hosts.0.contains(name));
        others.map(|(name, _)| name.as_str()).collect()
    }

    /// The place of a host if all threads came after all machines.
    pub(crate) fn rank(&self, host: HostIndex) -> usize {
        self.ranks[host.0]
    }

    /// The host at such a place.
    pub(crate) fn host_at_rank(&self, rank: usize) -> Option<HostIndex> {
        self.ranked.get(rank).copied()
    }

    /// The name of every machine and every thread, with its host.
    pub(crate) fn named_hosts(&self) -> impl Iterator<Item = (&str, HostIndex)> {
        self.by_name.iter().map(|(name, host)| (name.as_str(), *host))
    }
}
