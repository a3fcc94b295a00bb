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
        let (mut clients, mut nodes) = ((0..).map(ClientId), (0..).map(NodeId));
        let mut member = |role| match role {
            Role::Client => Member::Client(clients.next().expect("there is always a next number")),
            Role::Node => Member::Node(nodes.next().expect("there is always a next number")),
            Role::Resource => Member::Resource,
        };
        let members: Vec<(String, Member)> =
            hosts.into_iter().map(|(name, role)| (name.to_owned(), member(role))).collect();
        let by_name = members.iter().enumerate().map(|(index, (name, _))| (name.clone(), HostIndex(index)));
        Cast { by_name: by_name.collect(), members }
    }

    /// The scenario's host of that name.
    ///
    /// # Errors
    ///
    /// If it has none.
    pub fn host(&self, name: &str) -> Result<HostIndex, UnknownHost> {
        self.by_name.get(name).copied().ok_or_else(|| UnknownHost(name.to_owned()))
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
        let all = self.members.iter().enumerate();
        all.filter(|(_, (_, member))| matches!(member, Member::Node(_))).map(|(index, _)| HostIndex(index))
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
