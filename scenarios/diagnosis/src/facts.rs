//! The facts of a run by grant, client and node, each looked up in an index: a run may have a hundred thousand grants.

use std::collections::{BTreeMap, BTreeSet};

use doublehold_history::{CallId, Claim, ClientId, EventKind, History, LockId, NodeId, TrueNs, claims};
use doublehold_scenarios::report::{KeyEnd, KeyOrigin, KeySpan};
use doublehold_scenarios::scenario::{HostIndex, Role};

use crate::Timeline;
use crate::fault_times::FaultTimes;

/// A run with its claims at hand.
#[derive(Debug)]
pub struct RunFacts<'a> {
    /// The run.
    pub run: Timeline<'a>,
    /// Every claim, in the order of the grants.
    pub claims: Vec<Claim>,
    /// When faults struck and ended.
    pub faults: FaultTimes<'a>,
    /// The place of each grant's claim among the claims.
    claim_of: BTreeMap<CallId, usize>,
    /// The keys of each grant, in the order in which they began.
    keys_of: BTreeMap<CallId, Vec<&'a KeySpan>>,
    /// The lock that each acquire call is about.
    locks: BTreeMap<CallId, LockId>,
    has_several_nodes: bool,
}

impl<'a> RunFacts<'a> {
    /// Indexes a run.
    pub fn new(run: Timeline<'a>) -> RunFacts<'a> {
        let claims = claims(run.history);
        let mut keys_of: BTreeMap<CallId, Vec<&'a KeySpan>> = BTreeMap::new();
        for key in run.keys {
            keys_of.entry(key.grant).or_default().push(key);
        }
        RunFacts {
            faults: FaultTimes::new(run.faults),
            claim_of: claims.iter().enumerate().map(|(index, claim)| (claim.grant, index)).collect(),
            claims,
            keys_of,
            locks: locks(run.history),
            has_several_nodes: run.hosts.iter().filter(|(_, role)| *role == Role::Node).count() > 1,
            run,
        }
    }

    /// The claim of a grant; `None` of a call that was not granted.
    pub fn claim(&self, grant: CallId) -> Option<&Claim> {
        self.claim_of.get(&grant).map(|index| &self.claims[*index])
    }

    /// True if the grant's client believes in it at this instant.
    pub fn is_claimed(&self, grant: CallId, at: TrueNs) -> bool {
        self.claim(grant).is_some_and(|claim| claim.span.from <= at && at < claim.span.to)
    }

    /// The keys of a grant, in the order in which they began.
    pub fn keys_of(&self, grant: CallId) -> &[&'a KeySpan] {
        self.keys_of.get(&grant).map_or(&[], Vec::as_slice)
    }

    /// True if a lock has several nodes to ask, so that it is worth saying which said yes.
    pub fn has_several_nodes(&self) -> bool {
        self.has_several_nodes
    }

    /// The nodes that said yes to the grant: as its client counted them, or those that executed a command which set its
    /// key, with its token and until then. A replica that has it from its master, or a node that has it from its file,
    /// granted nothing; nor did a node that an attempt before had left another token on, or a key that it took back.
    pub fn nodes_of(&self, grant: CallId) -> Vec<HostIndex> {
        let voted = self.run.votes.and_then(|votes| votes.get(&grant)).filter(|voted| !voted.is_empty());
        if let Some(voted) = voted {
            return voted.clone();
        }
        let granted_at = self.claim(grant).map(|claim| claim.span.from);
        let is_later = |key: &KeySpan| granted_at.is_some_and(|at| at < key.from);
        let is_taken_back = |key: &KeySpan| match (key.until, granted_at) {
            (Some((until, KeyEnd::Deleted)), Some(granted_at)) => until < granted_at,
            _ => false,
        };
        let is_vote = |key: &KeySpan| key.origin == KeyOrigin::Executed && key.is_token;
        let set = self.keys_of(grant).iter();
        let set = set.filter(|key| is_vote(key) && !is_later(key) && !is_taken_back(key));
        let nodes: BTreeSet<HostIndex> = set.map(|key| key.node).collect();
        nodes.into_iter().collect()
    }

    /// A client's host.
    pub fn host_of(&self, client: ClientId) -> Option<HostIndex> {
        let index = usize::try_from(client.0).ok()?;
        self.run.clients.get(index).copied()
    }

    /// True if a host is this node of the history, which knows nodes by their names.
    pub fn is_node(&self, host: HostIndex, node: NodeId) -> bool {
        let name = self.run.hosts.get(host.0).map(|(name, _)| *name);
        name == Some(self.run.history.header().node(node).as_str())
    }

    /// The lock that a call is about.
    pub fn lock_of(&self, call: CallId) -> LockId {
        self.locks.get(&call).copied().unwrap_or(LockId(0))
    }

    /// When a call asked for its lock.
    pub fn asked_at(&self, wanted: CallId) -> Option<TrueNs> {
        self.run.history.events().iter().find_map(|event| match event.what {
            EventKind::AcquireStarted { call, .. } if call == wanted => Some(event.at),
            _ => None,
        })
    }
}

fn locks(history: &History) -> BTreeMap<CallId, LockId> {
    let about = |what: &EventKind| match *what {
        EventKind::AcquireStarted { call, lock, .. } | EventKind::Granted { grant: call, lock, .. } => {
            Some((call, lock))
        }
        _ => None,
    };
    history.events().iter().filter_map(|event| about(&event.what)).collect()
}
