//! What a report says about each grant, looked up once: claims, evidence, keys, names.

use std::collections::{BTreeMap, BTreeSet};

use doublehold_history::{
    CallId, Claim, ClientId, EventKind, Evidence, History, LockId, ObjectId, Overlap, Predicate, StaleWrite,
    TrueNs, Verdicts, claims,
};
use doublehold_scenarios::report::{KeyOrigin, KeySpan};
use doublehold_scenarios::scenario::{HostIndex, Role};
use doublehold_text::clean;

use super::fault_times::FaultTimes;
use super::signs::ClientSigns;
use super::timeline::Timeline;

/// A run with its claims and evidence at hand. Whatever is asked for each grant is found by a search: a run may have a
/// hundred thousand.
pub(super) struct Facts<'a> {
    pub(super) run: Timeline<'a>,
    /// Every claim, in the order of the grants.
    pub(super) claims: Vec<Claim>,
    pub(super) faults: FaultTimes<'a>,
    pub(super) signs: ClientSigns,
    /// Where each grant's claim is among the claims.
    claim_of: BTreeMap<CallId, usize>,
    /// Grants that some evidence names.
    involved: BTreeSet<CallId>,
    /// Grants that the first evidence of each predicate names.
    deciding: BTreeSet<CallId>,
    /// The overlaps of claims that each grant has part in.
    overlaps_of: BTreeMap<CallId, Vec<&'a Overlap>>,
    /// Late writes, by grant and version.
    stale: BTreeMap<(CallId, u64), &'a StaleWrite>,
    /// When each client waited too long.
    long_waits: BTreeMap<ClientId, Vec<(TrueNs, TrueNs)>>,
    /// The keys of each grant, in the order in which they began.
    keys_of: BTreeMap<CallId, Vec<&'a KeySpan>>,
    /// The keys that each node held, in the order in which they began.
    keys_on: BTreeMap<HostIndex, Vec<&'a KeySpan>>,
    /// Each client's place in the scenario, by its host.
    places: BTreeMap<HostIndex, usize>,
    several_nodes: bool,
    /// The lock that each acquire call is about.
    locks: BTreeMap<CallId, LockId>,
}

/// More evidence than this proves nothing new to the eye.
pub(super) const MAX_EVIDENCE: usize = 200;

impl<'a> Facts<'a> {
    pub(super) fn new(run: Timeline<'a>) -> Facts<'a> {
        let claims = claims(run.history);
        let names = run.clients.iter().map(|client| run.hosts.get(client.0).map_or("", |(name, _)| *name));
        let mut facts = Facts {
            faults: FaultTimes::new(run.faults),
            signs: ClientSigns::new(names),
            claim_of: claims.iter().enumerate().map(|(index, claim)| (claim.grant, index)).collect(),
            claims,
            involved: BTreeSet::new(),
            deciding: deciding(run.verdicts),
            overlaps_of: BTreeMap::new(),
            stale: BTreeMap::new(),
            long_waits: BTreeMap::new(),
            keys_of: BTreeMap::new(),
            keys_on: BTreeMap::new(),
            places: run.clients.iter().enumerate().map(|(place, host)| (*host, place)).collect(),
            several_nodes: run.hosts.iter().filter(|(_, role)| *role == Role::Node).count() > 1,
            locks: locks(run.history),
            run,
        };
        for (predicate, verdict) in facts.run.verdicts.iter() {
            verdict.evidence().iter().take(MAX_EVIDENCE).for_each(|evidence| facts.note(predicate, evidence));
        }
        for key in facts.run.keys {
            facts.keys_of.entry(key.grant).or_default().push(key);
            facts.keys_on.entry(key.node).or_default().push(key);
        }
        facts
    }

    fn note(&mut self, predicate: Predicate, evidence: &'a Evidence) {
        self.involved.extend(grants_in(evidence));
        match evidence {
            Evidence::Overlap(it) if predicate == Predicate::P1 => {
                for grant in it.grants {
                    self.overlaps_of.entry(grant).or_default().push(it);
                }
            }
            Evidence::StaleWrite(it) => {
                self.stale.insert((it.grant, it.version), it);
            }
            Evidence::LongWait(it) => self.long_waits.entry(it.client).or_default().push((it.from, it.to)),
            Evidence::Waited(it) => {
                for client in &it.clients {
                    self.long_waits.entry(*client).or_default().push((it.from, it.to));
                }
            }
            Evidence::Overlap(_) | Evidence::Cycle(_) | Evidence::WrongKey(_) | Evidence::Omitted { .. } => {}
        }
    }

    /// The overlaps that prove P1 or P2 violated.
    pub(super) fn overlaps(&self, predicate: Predicate) -> impl Iterator<Item = &'a Overlap> {
        let evidence = self.run.verdicts.get(predicate).evidence().iter().take(MAX_EVIDENCE);
        evidence.filter_map(|evidence| match evidence {
            Evidence::Overlap(overlap) => Some(overlap),
            _ => None,
        })
    }

    /// The overlaps of claims that a grant has part in.
    pub(super) fn overlaps_of(&self, grant: CallId) -> &[&'a Overlap] {
        self.overlaps_of.get(&grant).map_or(&[], Vec::as_slice)
    }

    /// Whether, by the evidence, this client was waiting too long at this instant.
    pub(super) fn waits_too_long(&self, client: ClientId, at: TrueNs) -> bool {
        let waits = self.long_waits.get(&client);
        waits.is_some_and(|waits| waits.iter().any(|(from, to)| *from <= at && at <= *to))
    }

    /// Whether some verdict turns on this grant.
    pub(super) fn is_involved(&self, grant: CallId) -> bool {
        self.involved.contains(&grant)
    }

    /// Whether a verdict is decided by this grant: the evidence that a reader sees first names it.
    pub(super) fn decides(&self, grant: CallId) -> bool {
        self.deciding.contains(&grant)
    }

    /// How many grants decide a verdict.
    pub(super) fn deciding(&self) -> usize {
        self.deciding.len()
    }

    /// Whether some verdict turns on any grant at all.
    pub(super) fn has_evidence(&self) -> bool {
        !self.involved.is_empty()
    }

    /// Whether the moments of a grant deserve columns: all do where no verdict turns on any.
    pub(super) fn matters(&self, grant: CallId) -> bool {
        self.involved.is_empty() || self.involved.contains(&grant)
    }

    /// When each verdict turned: the instant of the evidence that a reader sees first.
    pub(super) fn turns(&self) -> Vec<TrueNs> {
        let first = self.run.verdicts.iter().filter_map(|(_, verdict)| verdict.evidence().first());
        first.filter_map(instant_of).collect()
    }

    /// The evidence that this write came too late, if it did.
    pub(super) fn stale(&self, grant: CallId, version: u64) -> Option<&'a StaleWrite> {
        self.stale.get(&(grant, version)).copied()
    }

    pub(super) fn claim(&self, grant: CallId) -> Option<&Claim> {
        self.claim_of.get(&grant).map(|index| &self.claims[*index])
    }

    /// Whether the grant's client believes in it at this instant.
    pub(super) fn is_claimed(&self, grant: CallId, at: TrueNs) -> bool {
        self.claim(grant).is_some_and(|claim| claim.span.from <= at && at < claim.span.to)
    }

    /// The keys of a grant, in the order in which they began.
    pub(super) fn keys_of(&self, grant: CallId) -> &[&'a KeySpan] {
        self.keys_of.get(&grant).map_or(&[], Vec::as_slice)
    }

    /// The keys that a node held, in the order in which they began.
    pub(super) fn keys_on(&self, node: HostIndex) -> &[&'a KeySpan] {
        self.keys_on.get(&node).map_or(&[], Vec::as_slice)
    }

    /// Whether a lock has several nodes to ask, so that it is worth saying which said yes.
    pub(super) fn has_several_nodes(&self) -> bool {
        self.several_nodes
    }

    /// The nodes that said yes to the grant: as its client counted them, or those that executed a command which set its
    /// key. A replica that has it from its master, or a node that has it from its file, granted nothing.
    pub(super) fn nodes_of(&self, grant: CallId) -> Vec<HostIndex> {
        let voted = self.run.votes.and_then(|votes| votes.get(&grant)).filter(|voted| !voted.is_empty());
        if let Some(voted) = voted {
            return voted.clone();
        }
        let set = self.keys_of(grant).iter().filter(|key| key.origin == KeyOrigin::Executed);
        let nodes: BTreeSet<HostIndex> = set.map(|key| key.node).collect();
        nodes.into_iter().collect()
    }

    /// A client's host.
    pub(super) fn host_of(&self, client: ClientId) -> Option<HostIndex> {
        let index = usize::try_from(client.0).ok()?;
        self.run.clients.get(index).copied()
    }

    /// The hosts of a role, in the scenario's order.
    pub(super) fn hosts(&self, role: Role) -> impl Iterator<Item = HostIndex> {
        let hosts = self.run.hosts.iter().enumerate();
        hosts.filter(move |(_, (_, of))| *of == role).map(|(index, _)| HostIndex(index))
    }

    /// A client's place in the scenario, by its host.
    pub(super) fn place_of(&self, host: HostIndex) -> usize {
        self.places.get(&host).copied().unwrap_or(0)
    }

    pub(super) fn client(&self, client: ClientId) -> String {
        clean(&self.run.history.header().client(client))
    }

    pub(super) fn host(&self, host: HostIndex) -> String {
        let known = self.run.hosts.get(host.0);
        known.map_or_else(|| format!("host {}", host.0), |(name, _)| clean(name))
    }

    /// The label of a client's lane: its sign comes first where the name does not show it.
    pub(super) fn label(&self, client: HostIndex) -> String {
        let name = self.host(client);
        if self.signs.are_in_names() {
            name
        } else {
            format!("{} {name}", self.signs.sign_at(self.place_of(client)))
        }
    }

    /// The label of a lane that is about one lock of a host: the lock is named where there are several.
    pub(super) fn label_for(&self, label: &str, lock: LockId) -> String {
        if self.has_several_locks() { format!("{label} {}", self.lock(lock)) } else { label.to_owned() }
    }

    /// A lock's name.
    pub(super) fn lock(&self, lock: LockId) -> String {
        clean(&self.run.history.header().lock(lock))
    }

    /// Every lock there is. A history in which nothing happened need not name any: its clients have lanes all the same.
    pub(super) fn locks(&self) -> impl Iterator<Item = LockId> + use<> {
        let count = u32::try_from(self.run.history.header().locks.len()).unwrap_or(u32::MAX);
        (0..count.max(1)).map(LockId)
    }

    pub(super) fn has_several_locks(&self) -> bool {
        self.run.history.header().locks.len() > 1
    }

    /// The lock that a call is about.
    pub(super) fn lock_of(&self, call: CallId) -> LockId {
        self.locks.get(&call).copied().unwrap_or(LockId(0))
    }

    /// `the lock`, or its name where there are several.
    pub(super) fn the_lock(&self, lock: LockId) -> String {
        if self.has_several_locks() { format!("\"{}\"", self.lock(lock)) } else { "the lock".to_owned() }
    }

    /// Which lock a sentence about a call's lease, key or release means, where there are several.
    pub(super) fn lock_phrase(&self, call: CallId) -> String {
        if self.has_several_locks() {
            format!(" of \"{}\"", self.lock(self.lock_of(call)))
        } else {
            String::new()
        }
    }

    /// Which object a sentence about a version means, where there are several.
    pub(super) fn object_phrase(&self, object: ObjectId) -> String {
        let header = self.run.history.header();
        if header.objects.len() > 1 {
            format!(" of \"{}\"", clean(&header.object(object)))
        } else {
            String::new()
        }
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

/// The grants that the evidence names, the first pieces of all predicates before the second ones, as many as there is
/// room for beside other events.
fn deciding(verdicts: &Verdicts) -> BTreeSet<CallId> {
    const PIECES: usize = 3;
    const ROOM: usize = 14;
    let mut deciding = BTreeSet::new();
    for piece in 0..PIECES {
        let evidence = verdicts.iter().filter_map(|(_, verdict)| verdict.evidence().get(piece));
        for grant in evidence.flat_map(grants_in) {
            if deciding.len() < ROOM {
                deciding.insert(grant);
            }
        }
    }
    deciding
}

/// When that was which a piece of evidence proves; of a cycle nobody can say.
fn instant_of(evidence: &Evidence) -> Option<TrueNs> {
    match evidence {
        Evidence::Overlap(it) => Some(it.from),
        Evidence::StaleWrite(it) => Some(it.at),
        Evidence::WrongKey(it) => Some(it.at),
        Evidence::Waited(it) => Some(it.to),
        Evidence::LongWait(it) => Some(it.to),
        Evidence::Cycle(_) | Evidence::Omitted { .. } => None,
    }
}

pub(super) fn grants_in(evidence: &Evidence) -> Vec<CallId> {
    match evidence {
        Evidence::Overlap(it) => it.grants.to_vec(),
        Evidence::StaleWrite(it) => vec![it.grant, it.later_grant],
        Evidence::Cycle(it) => it.steps.iter().flat_map(|step| [step.before, step.after]).collect(),
        Evidence::WrongKey(it) => vec![it.by, it.held],
        Evidence::Waited(_) | Evidence::LongWait(_) | Evidence::Omitted { .. } => Vec::new(),
    }
}

#[cfg(test)]
mod tests;
