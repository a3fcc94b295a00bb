//! What a picture needs of each grant, looked up once: a run's facts, what its evidence names, keys by node, names.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;

use doublehold_diagnosis::{Causes, RunFacts, Timeline};
use doublehold_history::{
    CallId, ClientId, Evidence, History, LockId, NodeId, ObjectId, Overlap, Predicate, StaleWrite, TrueNs,
    Verdicts,
};
use doublehold_scenarios::Scenario;
use doublehold_scenarios::report::KeySpan;
use doublehold_scenarios::scenario::{HostIndex, Role};
use doublehold_text::{clean, list};

use super::signs::ClientSigns;
use crate::ShownRun;

/// A run with its claims and evidence at hand. Whatever is asked for each grant is found by a search: a run may have a
/// hundred thousand.
pub(super) struct Facts<'a> {
    facts: RunFacts<'a>,
    /// The causes of the first violation, if they were asked for.
    pub(super) causes: Option<(&'a Scenario, &'a Causes)>,
    pub(super) signs: ClientSigns,
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
    /// The keys that each node held, in the order in which they began.
    keys_on: BTreeMap<HostIndex, Vec<&'a KeySpan>>,
    /// Each client's place in the scenario, by its host.
    places: BTreeMap<HostIndex, usize>,
}

/// More steps than this tell no better what a client left out.
const MAX_LEFT_OUT: usize = 6;
/// More evidence than this proves nothing new to the eye.
pub(super) const MAX_EVIDENCE: usize = 200;

impl<'a> Deref for Facts<'a> {
    type Target = RunFacts<'a>;

    fn deref(&self) -> &RunFacts<'a> {
        &self.facts
    }
}

impl<'a> Facts<'a> {
    pub(super) fn from_run(told: ShownRun<'a>) -> Facts<'a> {
        let causes = told.causes.map(|causes| (&*told.report.scenario, causes));
        Facts::new(Timeline::from_run(told.report), causes)
    }

    /// Of a history nobody knows causes.
    pub(super) fn from_history(
        history: &'a History,
        verdicts: &'a Verdicts,
        keys: &'a [KeySpan],
    ) -> Facts<'a> {
        Facts::new(Timeline::from_history(history, verdicts, keys), None)
    }

    fn new(run: Timeline<'a>, causes: Option<(&'a Scenario, &'a Causes)>) -> Facts<'a> {
        let names = run.clients.iter().map(|client| run.hosts.get(client.0).map_or("", |(name, _)| *name));
        let mut facts = Facts {
            signs: ClientSigns::new(names),
            causes,
            involved: BTreeSet::new(),
            deciding: deciding(run.verdicts),
            overlaps_of: BTreeMap::new(),
            stale: BTreeMap::new(),
            long_waits: BTreeMap::new(),
            keys_on: BTreeMap::new(),
            places: run.clients.iter().enumerate().map(|(place, host)| (*host, place)).collect(),
            facts: RunFacts::new(run),
        };
        let Timeline { verdicts, keys, .. } = facts.run;
        for (predicate, verdict) in verdicts.iter() {
            verdict.evidence().iter().take(MAX_EVIDENCE).for_each(|evidence| facts.note(predicate, evidence));
        }
        for key in keys {
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
            Evidence::Overlap(_) | Evidence::Cycle(_) | Evidence::LostWrite(_) => {}
            Evidence::WrongKey(_) | Evidence::Omitted { .. } => {}
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

    /// The keys that a node held, in the order in which they began.
    pub(super) fn keys_on(&self, node: HostIndex) -> &[&'a KeySpan] {
        self.keys_on.get(&node).map_or(&[], Vec::as_slice)
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

    /// A node's name, by its number in the history.
    pub(super) fn node(&self, node: NodeId) -> String {
        clean(&self.run.history.header().node(node))
    }

    /// The names of hosts as a list.
    pub(super) fn host_list(&self, hosts: &[HostIndex]) -> String {
        list(&hosts.iter().map(|host| self.host(*host)).collect::<Vec<_>>())
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

    /// The steps that a client left out because it gave up a call: `, and leaves out: work 2s, write`.
    pub(super) fn left_out(&self, call: CallId) -> String {
        let steps = self.run.left_out.and_then(|all| all.get(&call)).map_or(&[][..], Vec::as_slice);
        let (told, more) = steps.split_at(steps.len().min(MAX_LEFT_OUT));
        match more.len() {
            _ if told.is_empty() => String::new(),
            0 => format!(", and leaves out: {}", clean(&told.join(", "))),
            more => format!(", and leaves out: {}, and {more} more", clean(&told.join(", "))),
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
        Evidence::LostWrite(it) => Some(it.at),
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
        Evidence::LostWrite(it) => vec![it.grant],
        Evidence::WrongKey(it) => vec![it.by, it.held],
        Evidence::Waited(_) | Evidence::LongWait(_) | Evidence::Omitted { .. } => Vec::new(),
    }
}

#[cfg(test)]
mod tests;
