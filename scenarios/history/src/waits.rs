//! Waits: for each client and lock, from asking to whatever ended it; and which of them were longer than any may be.
//!
//! A client waits from its first acquire call until it is granted, gives up or dies; refusals and the pauses between
//! retries belong to the wait, and so does a time in which the client itself is stopped. A wait is as long as it was,
//! however it ended: a client that gives up, or dies, after the bound had already missed it.

use std::collections::{BTreeMap, HashMap};

use crate::claims::Claim;
use crate::event::{CallId, ClientId, EventKind, LockId, RunOutcome, TrueNs};
use crate::history::History;
use crate::verdict::{LongWait, WaitEnd, Waited};

/// One client's wait for one lock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wait {
    pub(crate) client: ClientId,
    pub(crate) lock: LockId,
    pub(crate) from: TrueNs,
    pub(crate) to: TrueNs,
    pub(crate) end: WaitEnd,
}

/// Every wait, in the order in which they began.
pub(crate) fn waits(history: &History) -> Vec<Wait> {
    let stalled = history.outcome() == Some(RunOutcome::Stalled);
    let end = if stalled { WaitEnd::Never } else { WaitEnd::RunEnded };
    let mut waits: Vec<Wait> = Vec::new();
    let mut asked: HashMap<CallId, LockId> = HashMap::new();
    let mut open: BTreeMap<(ClientId, LockId), usize> = BTreeMap::new();
    for event in history.events() {
        let (ended, how) = match event.what {
            EventKind::AcquireStarted { client, call: grant, lock } => {
                asked.insert(grant, lock);
                open.entry((client, lock)).or_insert_with(|| {
                    waits.push(Wait { client, lock, from: event.at, to: history.end(), end });
                    waits.len() - 1
                });
                continue;
            }
            EventKind::Granted { client, lock, .. } => (vec![(client, lock)], WaitEnd::Obtained),
            EventKind::GaveUp { client, call: grant } => {
                (asked.get(&grant).map(|&lock| (client, lock)).into_iter().collect(), WaitEnd::GaveUp)
            }
            EventKind::Died { client } | EventKind::Restarted { client } => {
                let of_client = open.range((client, LockId(0))..=(client, LockId(u32::MAX)));
                (of_client.map(|(&key, _)| key).collect(), WaitEnd::Died)
            }
            _ => continue,
        };
        for wait in ended.iter().filter_map(|key| open.remove(key)) {
            waits[wait].to = event.at;
            waits[wait].end = how;
        }
    }
    waits
}

/// The waits longer than the bound, whatever the reason. Those that never end are not among them: a stalled world is
/// its own evidence.
pub(crate) fn long_waits(waits: &[Wait], claims: &[Claim], bound_ns: u64) -> Vec<LongWait> {
    let too_long = |wait: &&Wait| wait.end != WaitEnd::Never && wait.to.since(wait.from) > bound_ns;
    let mut too_long = waits.iter().filter(too_long).peekable();
    if too_long.peek().is_none() {
        return Vec::new();
    }
    let holders = Holders::from_claims(claims);
    let long_wait = |&Wait { client, lock, from, to, end }: &Wait| {
        let (held_by, held_ns) = (holders.holders_during(lock, from, to), holders.held_ns(lock, from, to));
        LongWait { lock, client, from, to, held_by, held_ns, bound_ns, end }
    };
    too_long.map(long_wait).collect()
}

/// Who held which lock when, to be asked about any stretch of time.
#[derive(Default)]
struct Holders {
    /// For each holder, its claims in order: when each began, and the latest end so far.
    by_client: BTreeMap<(LockId, ClientId), Vec<(TrueNs, TrueNs)>>,
    /// When each lock was claimed by anybody: stretches in order, and for how long before each.
    claimed: BTreeMap<LockId, Vec<(TrueNs, TrueNs, u64)>>,
}

impl Holders {
    fn from_claims(claims: &[Claim]) -> Self {
        let mut sorted: Vec<&Claim> = claims.iter().filter(|claim| !claim.span.is_empty()).collect();
        sorted.sort_by_key(|claim| claim.span.from);
        let mut holders = Holders::default();
        for claim in sorted {
            let (from, to) = (claim.span.from, claim.span.to);
            let theirs = holders.by_client.entry((claim.lock, claim.client)).or_default();
            let latest = theirs.last().map_or(to, |&(_, latest)| latest.max(to));
            theirs.push((from, latest));
            let claimed = holders.claimed.entry(claim.lock).or_default();
            match claimed.last_mut() {
                Some((_, last, _)) if *last >= from => *last = (*last).max(to),
                last => {
                    let before = last.map_or(0, |&mut (from, to, before)| before + to.since(from));
                    claimed.push((from, to, before));
                }
            }
        }
        holders
    }

    /// Some of the clients that held the lock at some time in `from..to`, in order of id.
    fn holders_during(&self, lock: LockId, from: TrueNs, to: TrueNs) -> Vec<ClientId> {
        let of_lock = self.by_client.range((lock, ClientId(0))..=(lock, ClientId(u32::MAX)));
        let held = of_lock.filter(|(_, claims)| {
            let first = claims.partition_point(|&(_, latest)| latest <= from);
            claims.get(first).is_some_and(|&(began, _)| began < to)
        });
        held.map(|(&(_, client), _)| client).take(Waited::MAX_CLIENTS).collect()
    }

    /// For how long in `from..to` anybody held the lock.
    fn held_ns(&self, lock: LockId, from: TrueNs, to: TrueNs) -> u64 {
        let Some(claimed) = self.claimed.get(&lock) else { return 0 };
        let until = |at: TrueNs| match claimed.partition_point(|&(from, ..)| from < at).checked_sub(1) {
            Some(last) => claimed[last].2 + claimed[last].1.min(at).since(claimed[last].0),
            None => 0,
        };
        until(to) - until(from)
    }
}
