//! LV liveness: whoever asks for a lock obtains it within the stated bounds.
//!
//! A history may promise two things. *Obtain within*: every wait is at most so long, whatever the reason, starvation
//! included. *Obtain free within*: the same of a lock that nobody claims, for scenarios in which somebody may hold the
//! lock for long. The second is held against each longest interval in which somebody waits and nobody holds a claim (as
//! P1 sees claims: a dead holder claims nothing, so its lease's remaining time counts). A grant always ends such an
//! interval, even one that is given back at once.
//!
//! Both may count from some time on only, such as the end of the last fault: what was waited before is not looked at.
//!
//! What reaches the end of the history is judged by its length so far. If the world *stalled*, nothing can happen any
//! more, so every wait left over never ends, claimed lock or not, and misses any bound.
//!
//! Not judged: fairness beyond the first bound, and how long a claim lasts.
//!
//! Decision: "LV is inconclusive if no bound is stated" (docs/decisions/locks.md).
//! Decision: "Waits can count from the end of the last fault" (docs/decisions/scenarios.md).

use std::collections::{BTreeMap, BTreeSet};

use crate::claims::{Claim, claims};
use crate::event::{ClientId, LockId, RunOutcome, TrueNs};
use crate::history::{Bounds, History};
use crate::verdict::{Evidence, Findings, Predicate, Verdict, WaitEnd, Waited};
use crate::waits::{Wait, long_waits, waits};

/// LV: a wait was longer than a bound allows, or never ended.
///
/// Inconclusive if the header states no bound.
pub fn liveness(history: &History) -> Verdict {
    liveness_of(history, &claims(history))
}

/// LV, given the history's claims.
pub(crate) fn liveness_of(history: &History, claims: &[Claim]) -> Verdict {
    let Bounds { obtain_within_ns, obtain_free_within_ns, counted_from_ns } = history.header().bounds;
    let Some(any_bound) = obtain_within_ns.or(obtain_free_within_ns) else {
        return Verdict::Inconclusive("no bound stated".to_owned());
    };
    let waits = counted_from(TrueNs(counted_from_ns), waits(history));
    let mut missed: Vec<(TrueNs, LockId, Evidence)> = Vec::new();
    let stalled = history.outcome() == Some(RunOutcome::Stalled);
    if let Some(bound_ns) = obtain_free_within_ns {
        let idle = idle(&waits, claims, bound_ns, history.end(), stalled).into_iter();
        missed.extend(idle.map(|it| (it.from, it.lock, Evidence::Waited(it))));
    }
    if stalled {
        let endless = endless(&waits, any_bound).into_iter();
        missed.extend(endless.map(|it| (it.from, it.lock, Evidence::Waited(it))));
    }
    if let Some(bound_ns) = obtain_within_ns {
        let long = long_waits(&waits, claims, bound_ns).into_iter();
        missed.extend(long.map(|it| (it.from, it.lock, Evidence::LongWait(it))));
    }
    missed.sort_by_key(|&(from, lock, _)| (from, lock));

    let mut findings = Findings::new(Predicate::LV);
    for (.., evidence) in missed {
        if findings.push(evidence).is_break() {
            break;
        }
    }
    findings.into_verdict()
}

/// What is left of the waits from this time on.
fn counted_from(from: TrueNs, waits: Vec<Wait>) -> Vec<Wait> {
    let later = waits.into_iter().filter(|wait| wait.to >= from || wait.end == WaitEnd::Never);
    later.map(|wait| Wait { from: wait.from.max(from), to: wait.to.max(from), ..wait }).collect()
}

/// The waits that a stalled world left over, one piece of evidence a lock.
fn endless(waits: &[Wait], bound_ns: u64) -> Vec<Waited> {
    let mut endless: BTreeMap<LockId, Waited> = BTreeMap::new();
    for wait in waits.iter().filter(|wait| wait.end == WaitEnd::Never) {
        let &Wait { lock, from, to, end, .. } = wait;
        let waited =
            endless.entry(lock).or_insert(Waited { lock, clients: Vec::new(), from, to, bound_ns, end });
        waited.clients.push(wait.client);
    }
    let mut endless: Vec<Waited> = endless.into_values().collect();
    for waited in &mut endless {
        waited.clients.sort_unstable();
        waited.clients.truncate(Waited::MAX_CLIENTS);
    }
    endless
}

/// The waits for a lock that nobody claimed that were longer than the bound.
fn idle(waits: &[Wait], claims: &[Claim], bound_ns: u64, end: TrueNs, stalled: bool) -> Vec<Waited> {
    let mut waited = Vec::new();
    for (lock, changes) in changes(waits, claims) {
        let mut idle = Idle::new(lock, bound_ns);
        for at_once in changes.chunk_by(|a, b| a.at == b.at) {
            idle.apply(at_once);
        }
        idle.finish(end, stalled);
        waited.append(&mut idle.too_long);
    }
    waited
}

/// Something that matters to one lock's waiters.
#[derive(Clone, Copy)]
struct Change {
    at: TrueNs,
    kind: ChangeKind,
}

#[derive(Clone, Copy)]
enum ChangeKind {
    Claimed,
    Unclaimed,
    WaitBegins(ClientId),
    WaitEnds(ClientId),
}

/// Each lock's changes, in order of time.
fn changes(waits: &[Wait], claims: &[Claim]) -> BTreeMap<LockId, Vec<Change>> {
    let mut changes: BTreeMap<LockId, Vec<Change>> = BTreeMap::new();
    for wait in waits {
        let changes = changes.entry(wait.lock).or_default();
        changes.push(Change { at: wait.from, kind: ChangeKind::WaitBegins(wait.client) });
        if !matches!(wait.end, WaitEnd::RunEnded | WaitEnd::Never) {
            changes.push(Change { at: wait.to, kind: ChangeKind::WaitEnds(wait.client) });
        }
    }
    for claim in claims {
        let changes = changes.entry(claim.lock).or_default();
        changes.push(Change { at: claim.span.from, kind: ChangeKind::Claimed });
        if !claim.span.open_ended {
            changes.push(Change { at: claim.span.to, kind: ChangeKind::Unclaimed });
        }
    }
    for changes in changes.values_mut() {
        // Stable: a client's wait ends before its next begins, and begins before it ends, within an instant too.
        changes.sort_by_key(|change| change.at);
    }
    changes
}

/// One lock: who waits for it, who claims it, and since when it has been waited for in vain.
struct Idle {
    lock: LockId,
    bound_ns: u64,
    waiting: BTreeSet<ClientId>,
    claims: u64,
    since: Option<TrueNs>,
    /// Some of those who have waited since then, and when they joined.
    clients: BTreeMap<ClientId, TrueNs>,
    too_long: Vec<Waited>,
}

impl Idle {
    fn new(lock: LockId, bound_ns: u64) -> Self {
        Self {
            lock,
            bound_ns,
            waiting: BTreeSet::new(),
            claims: 0,
            since: None,
            clients: BTreeMap::new(),
            too_long: Vec::new(),
        }
    }

    /// Applies everything that happened at one instant, and only then looks whether the lock is idle: a wait
    /// that passes from one client to another in no time is one wait.
    fn apply(&mut self, at_once: &[Change]) {
        let Some(at) = at_once.first().map(|change| change.at) else { return };
        let mut granted = false;
        for change in at_once {
            match change.kind {
                ChangeKind::Claimed => {
                    self.claims += 1;
                    granted = true;
                }
                ChangeKind::Unclaimed => self.claims = self.claims.saturating_sub(1),
                ChangeKind::WaitBegins(client) => {
                    self.waiting.insert(client);
                }
                ChangeKind::WaitEnds(client) => {
                    self.waiting.remove(&client);
                }
            }
        }
        if granted {
            self.close(at, WaitEnd::Obtained);
        }
        match (self.claims == 0 && !self.waiting.is_empty(), self.since) {
            (true, None) => self.open(at),
            (true, Some(_)) => self.join(at_once),
            (false, Some(_)) => self.close(at, WaitEnd::Abandoned),
            _ => {}
        }
    }

    fn open(&mut self, at: TrueNs) {
        self.since = Some(at);
        self.clients = self.waiting.iter().take(Waited::MAX_CLIENTS).map(|&client| (client, at)).collect();
    }

    fn join(&mut self, at_once: &[Change]) {
        for change in at_once {
            if let ChangeKind::WaitBegins(client) = change.kind
                && self.waiting.contains(&client)
                && self.clients.len() < Waited::MAX_CLIENTS
            {
                self.clients.entry(client).or_insert(change.at);
            }
        }
    }

    fn close(&mut self, to: TrueNs, end: WaitEnd) {
        let Some(from) = self.since.take() else { return };
        let clients = std::mem::take(&mut self.clients);
        if to.since(from) > self.bound_ns {
            // Who joined at the last instant did not wait.
            let waited = clients.into_iter().filter(|&(_, joined)| joined < to);
            self.report(from, to, waited.map(|(client, _)| client).collect(), end);
        }
    }

    /// The history ends. In a stalled world what is left over never ends, which is told of all waits at once.
    fn finish(&mut self, at: TrueNs, stalled: bool) {
        if !stalled {
            self.close(at, WaitEnd::RunEnded);
        }
    }

    fn report(&mut self, from: TrueNs, to: TrueNs, clients: Vec<ClientId>, end: WaitEnd) {
        let (lock, bound_ns) = (self.lock, self.bound_ns);
        self.too_long.push(Waited { lock, clients, from, to, bound_ns, end });
    }
}
