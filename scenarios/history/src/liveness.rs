//! LV liveness: a lock that nobody claims is obtained by a waiting client within the stated bound.
//!
//! A client waits for a lock from its first acquire call until it is granted, gives up or dies; refusals and
//! the pauses between retries belong to the wait. The bound is held against each longest interval in which
//! somebody waits and nobody holds a claim (as P1 sees claims: a dead holder claims nothing, so its lease's
//! remaining time counts). A grant always ends such an interval, even one that is given back at once.
//!
//! An interval that reaches the end of the history is judged by its length so far. If the world *stalled*,
//! nothing can happen any more, so every wait left over never ends, claimed lock or not, and misses any bound.
//!
//! Not judged: fairness (somebody obtains the lock, not everybody), and how long a claim lasts.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::claims::{Claim, claims};
use crate::event::{ClientId, GrantId, LockId, RunOutcome, TrueNs, What};
use crate::history::History;
use crate::verdict::{Evidence, Findings, Predicate, Verdict, WaitEnd, Waited};

/// LV: a lock nobody claimed was not obtained within the bound, or a wait never ended.
///
/// Inconclusive if the header states no bound.
pub fn liveness(history: &History) -> Verdict {
    liveness_of(history, &claims(history))
}

/// LV, given the history's claims.
pub(crate) fn liveness_of(history: &History, claims: &[Claim]) -> Verdict {
    let Some(bound_ns) = history.header().bounds.obtain_within_ns else {
        return Verdict::Inconclusive("no bound stated".to_owned());
    };
    let stalled = history.outcome() == Some(RunOutcome::Stalled);
    let mut waited = Vec::new();
    for (lock, changes) in changes(history, claims) {
        let mut idle = Idle::new(lock, bound_ns);
        for at_once in changes.chunk_by(|a, b| a.at == b.at) {
            idle.apply(at_once);
        }
        idle.finish(history.end(), stalled);
        waited.append(&mut idle.too_long);
    }
    waited.sort_by_key(|it| (it.from, it.lock));

    let mut findings = Findings::new(Predicate::LV);
    for it in waited {
        if findings.push(Evidence::Waited(it)).is_break() {
            break;
        }
    }
    findings.into_verdict()
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
fn changes(history: &History, claims: &[Claim]) -> BTreeMap<LockId, Vec<Change>> {
    let mut changes: BTreeMap<LockId, Vec<Change>> = BTreeMap::new();
    add_waits(history, &mut changes);
    for claim in claims {
        let changes = changes.entry(claim.lock).or_default();
        changes.push(Change { at: claim.span.from, kind: ChangeKind::Claimed });
        if !claim.span.open_ended {
            changes.push(Change { at: claim.span.to, kind: ChangeKind::Unclaimed });
        }
    }
    for changes in changes.values_mut() {
        // Stable: within an instant a wait begins before it ends, if it was recorded so.
        changes.sort_by_key(|change| change.at);
    }
    changes
}

fn add_waits(history: &History, changes: &mut BTreeMap<LockId, Vec<Change>>) {
    let mut asked: HashMap<GrantId, LockId> = HashMap::new();
    let mut waiting: BTreeSet<(ClientId, LockId)> = BTreeSet::new();
    for event in history.events() {
        let ended = match event.what {
            What::AcquireStarted { client, grant, lock } => {
                asked.insert(grant, lock);
                if waiting.insert((client, lock)) {
                    let kind = ChangeKind::WaitBegins(client);
                    changes.entry(lock).or_default().push(Change { at: event.at, kind });
                }
                continue;
            }
            What::Granted { client, lock, .. } => vec![(client, lock)],
            What::GaveUp { client, grant } => {
                asked.get(&grant).map(|&lock| (client, lock)).into_iter().collect()
            }
            What::Died { client } | What::Restarted { client } => {
                waiting.range((client, LockId(0))..=(client, LockId(u32::MAX))).copied().collect()
            }
            _ => continue,
        };
        for (client, lock) in ended {
            if waiting.remove(&(client, lock)) {
                let kind = ChangeKind::WaitEnds(client);
                changes.entry(lock).or_default().push(Change { at: event.at, kind });
            }
        }
    }
}

/// One lock: who waits for it, who claims it, and since when it has been waited for in vain.
struct Idle {
    lock: LockId,
    bound_ns: u64,
    /// Who waits, and since when.
    waiting: BTreeMap<ClientId, TrueNs>,
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
            waiting: BTreeMap::new(),
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
                    self.waiting.insert(client, at);
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
        self.clients = self.waiting.keys().take(Waited::MAX_CLIENTS).map(|&client| (client, at)).collect();
    }

    fn join(&mut self, at_once: &[Change]) {
        for change in at_once {
            if let ChangeKind::WaitBegins(client) = change.kind
                && self.waiting.contains_key(&client)
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

    fn finish(&mut self, at: TrueNs, stalled: bool) {
        if !stalled {
            return self.close(at, WaitEnd::RunEnded);
        }
        if let Some(&from) = self.waiting.values().min() {
            let clients = self.waiting.keys().take(Waited::MAX_CLIENTS).copied().collect();
            self.report(from, at, clients, WaitEnd::Never);
        }
    }

    fn report(&mut self, from: TrueNs, to: TrueNs, clients: Vec<ClientId>, end: WaitEnd) {
        let (lock, bound_ns) = (self.lock, self.bound_ns);
        self.too_long.push(Waited { lock, clients, from, to, bound_ns, end });
    }
}
