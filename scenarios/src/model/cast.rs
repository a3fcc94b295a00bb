//! Who is who: which client and which node of the history a host of the scenario is.
//!
//! Built once for a scenario. Its hosts keep the scenario's order, and the numbers that they have in an engine are the
//! engine's business.

use std::collections::BTreeMap;

use doublehold_history::{ClientId, NodeId};

use super::host::{HostIndex, Names, Role, UnknownHost};

/// The hosts of a scenario under all their names and numbers.
#[derive(Clone, Debug)]
pub struct Cast {
    members: Vec<(String, Member)>,
    clients: Vec<HostIndex>,
    nodes: Vec<HostIndex>,
    by_name: BTreeMap<String, HostIndex>,
}

/// A host and what it is in the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Member {
    /// A client, by its number among clients.
    Client(ClientId),
    /// A node, by its number among nodes.
    Node(NodeId),
    /// The resource, of which there is one.
    Resource,
}

impl Cast {
    /// The cast of these hosts, in the order in which they are added to the world.
    pub fn new<'a>(hosts: impl IntoIterator<Item = (&'a str, Role)>) -> Cast {
        let mut cast =
            Cast { members: Vec::new(), clients: Vec::new(), nodes: Vec::new(), by_name: BTreeMap::new() };
        for ((name, role), host) in hosts.into_iter().zip((0..).map(HostIndex)) {
            let next = |ids: &mut Vec<HostIndex>| {
                ids.push(host);
                ids.len() as u32 - 1
            };
            let member = match role {
                Role::Client => Member::Client(ClientId(next(&mut cast.clients))),
                Role::Node => Member::Node(NodeId(next(&mut cast.nodes))),
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

    /// The nodes, in the scenario's order.
    pub fn nodes(&self) -> impl Iterator<Item = HostIndex> {
        self.nodes.iter().copied()
    }

    /// The host of a client of the history.
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

    /// The number of hosts.
    pub(crate) fn count(&self) -> usize {
        self.members.len()
    }

    /// Every name with its host.
    pub(crate) fn by_name(&self) -> impl Iterator<Item = (&str, HostIndex)> {
        self.by_name.iter().map(|(name, host)| (name.as_str(), *host))
    }
}
