//! Who claims the lock, and the evidence of clocks: whose are read when a claim begins or ends, and which deadline
//! counts.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use doublehold_history::{CallId, ClientId, Deadline, EventKind};

/// How many claimants' clocks are read when a claim begins or ends: 496 pairs of them can overlap, and each is listed
/// with its times on both clocks. What is listed after these has true time alone.
const CLAIMANTS_READ: usize = 32;

/// The claims of the moment.
#[derive(Default)]
pub(in crate::run) struct Claimants {
    /// Grants that claim the lock, with their holder, in the order granted.
    claims: Vec<(CallId, ClientId)>,
    /// The last call that each client began, until it is known what became of it.
    asking: BTreeMap<ClientId, CallId>,
    /// The calls that claim the lock or ask for it.
    alive: BTreeSet<CallId>,
    /// The latest deadline of each grant: an older one passing means nothing.
    deadlines: BTreeMap<CallId, Deadline>,
}

impl Claimants {
    /// A client asks for the lock. Whatever it asked for before, it will not be granted.
    pub(in crate::run) fn ask(&mut self, call: CallId, client: ClientId) {
        self.record_refusal(client);
        self.asking.insert(client, call);
        self.alive.insert(call);
    }

    /// What a client asked for last was not granted.
    pub(in crate::run) fn record_refusal(&mut self, client: ClientId) {
        if let Some(call) = self.asking.remove(&client) {
            self.alive.remove(&call);
        }
    }

    pub(in crate::run) fn begin(&mut self, grant: CallId, client: ClientId) {
        self.record_refusal(client);
        self.claims.push((grant, client));
        self.alive.insert(grant);
    }

    /// Whether a call has a claim, or may yet be granted one.
    pub(in crate::run) fn may_claim(&self, call: CallId) -> bool {
        self.alive.contains(&call)
    }

    pub(in crate::run) fn end(&mut self, grant: CallId) {
        self.claims.retain(|(claimed, _)| *claimed != grant);
        self.alive.remove(&grant);
    }

    pub(in crate::run) fn record_death(&mut self, client: ClientId) {
        self.record_refusal(client);
        let alive = &mut self.alive;
        self.claims.retain(|(claimed, holder)| *holder != client || !alive.remove(claimed));
    }

    /// The grants by which a client claims a lock, in the order granted.
    pub(in crate::run) fn of(&self, client: ClientId) -> Vec<CallId> {
        self.claims.iter().filter(|(_, holder)| *holder == client).map(|(grant, _)| *grant).collect()
    }

    pub(in crate::run) fn set_deadline(&mut self, grant: CallId, deadline: Deadline) {
        self.deadlines.insert(grant, deadline);
    }

    /// Whether a grant is claimed.
    pub(in crate::run) fn is_claimed(&self, grant: CallId) -> bool {
        self.claims.iter().any(|(claimed, _)| *claimed == grant)
    }

    /// Whether this deadline passing means anything: after the release nobody believes in the grant any more.
    pub(in crate::run) fn counts(&self, grant: CallId, deadline: Deadline) -> bool {
        self.is_claimed(grant) && self.deadlines.get(&grant) == Some(&deadline)
    }

    /// Whose clocks are read when a claim of `client` begins or ends: its own, and those of who claims then.
    ///
    /// Of as many as a reader compares: a boundary would otherwise cost as much as there are claims, and the history of
    /// a thousand who hold at once two million readings. The evidence listed first is of those granted first.
    pub(in crate::run) fn to_read(&self, client: ClientId) -> Vec<ClientId> {
        let first = self.claims.iter().take(CLAIMANTS_READ).map(|(_, holder)| *holder);
        let mut holders: Vec<ClientId> = first.chain([client]).collect();
        holders.sort_unstable();
        holders.dedup();
        holders
    }
}

/// Which grant starts to be claimed, and which ends, by this event.
pub(in crate::run) fn boundary(what: &EventKind) -> (Option<CallId>, Option<CallId>) {
    match what {
        EventKind::Granted { grant, .. } => (Some(*grant), None),
        EventKind::ReleaseCalled { grant, .. }
        | EventKind::ExpiryNoticed { grant, .. }
        | EventKind::Abandoned { grant, .. } => (None, Some(*grant)),
        _ => (None, None),
    }
}
