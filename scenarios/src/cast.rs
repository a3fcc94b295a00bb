//! Who is who: the one place that knows which host of the simulated world, which client and which node of the history a
//! host of the scenario is.
//!
//! Built once for a scenario. The world's own observer is its host number zero, and hosts are added in the scenario's
//! order; nothing else in the program relies on either.

use std::collections::BTreeMap;

use doublehold_history::{ClientId, NodeId};
use doublehold_sim::HostId;
use thiserror::Error;

use crate::fault::Names;
use crate::scenario::{HostIndex, Role};

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

/// A name that no host of the scenario has.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the scenario has no host `{0}`")]
pub struct UnknownHost(pub String);

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

    /// The world's number for the host of that name.
    ///
    /// # Errors
    ///
    /// If the scenario has none.
    pub fn world(&self, name: &str) -> Result<HostId, UnknownHost> {
        self.host(name).map(|host| self.in_world(host))
    }

    /// The world's number for a host.
    pub fn in_world(&self, host: HostIndex) -> HostId {
        HostId(host.0 as u32 + 1)
    }

    /// The scenario's host with that number in the world; `None` for the observer.
    pub fn of_world(&self, host: HostId) -> Option<HostIndex> {
        let index = usize::try_from(host.0).ok()?.checked_sub(1)?;
        (index < self.members.len()).then_some(HostIndex(index))
    }

    /// What a host is in the history.
    pub fn member(&self, host: HostIndex) -> Member {
        self.members[host.0].1
    }

    /// What a host of the world is in the history; `None` for the observer.
    pub fn member_of_world(&self, host: HostId) -> Option<Member> {
        self.of_world(host).map(|host| self.member(host))
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

    /// Every name with its number in the world.
    pub fn names(&self) -> BTreeMap<String, HostId> {
        self.by_name.iter().map(|(name, host)| (name.clone(), self.in_world(*host))).collect()
    }
}
