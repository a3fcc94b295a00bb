//! Figures of a history besides its verdicts: how long clients waited, how long it took to recover from a holder's
//! death, which work took effect, when holders heard that their lock was lost, and for how long there was anything to
//! judge. What a rate is told in (a grant, an hour) comes from here.
//!
//! Nothing here judges. What a death left behind on nodes is not looked at: recovery is what clients see of it.

use std::collections::BTreeMap;

use crate::claims::{Claim, claims};
use crate::event::{EventKind, LockId, TrueNs};
use crate::history::History;
use crate::losses::losses_among;
use crate::verdict::WaitEnd;
use crate::waits::{Wait, waits};

/// What a history shows besides its verdicts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// How long each wait took that ended with the lock, in nanoseconds, in the order in which they began.
    pub obtained_ns: Vec<u64>,
    /// How many waits ended without it: given up, or not over when the run was. A client that died while it waited is
    /// in neither: nobody was there to be served.
    pub missed: u64,
    /// For each client that died while it held a lock: how long others then asked in vain before one had it, in
    /// nanoseconds. Nobody asked: not counted.
    pub recovered_ns: Vec<u64>,
    /// For how long clients were at it, in nanoseconds: until the last wait or claim was over.
    pub operated_ns: u64,
    /// The work that was done under locks, and what came of it.
    pub work: WorkCounts,
    /// For each lock that a holder lost to another client: the time from the other's grant until the holder first heard
    /// of the loss, in nanoseconds. Negative if it heard before; `None` if it never did.
    pub told_ns: Vec<Option<i64>>,
}

/// The work that was done under locks, by what came of it. "Safe and useless" shows here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkCounts {
    /// The writes that the resource applied.
    pub applied: u64,
    /// The writes that the resource refused.
    pub refused: u64,
    /// The grants that a holder gave up because it found its lock lost.
    pub given_up: u64,
}

/// The figures of one history.
///
/// ```
/// use doublehold_history::{CallId, ClientId, EventKind, Header, History, LockId, Reading, TrueNs, figures};
///
/// let mut history = History::new(Header::new("example", 7, &["c1"], &["stock"]));
/// let (client, call, lock) = (ClientId(0), CallId(1), LockId(0));
/// let reading = Reading { wall_ns: 0, monotonic_ns: 0, boot_ns: 0 };
/// history.push(TrueNs(10), EventKind::AcquireStarted { client, call, lock });
/// history.push(
///     TrueNs(14),
///     EventKind::Granted {
///         client, grant: call, lock, token: "2a".into(),
///         fencing: None, deadline: None, reading: Some(reading), within: None,
///     },
/// );
/// history.push(TrueNs(30), EventKind::ReleaseCalled { client, grant: call });
/// let figures = figures(&history);
/// assert_eq!((figures.obtained_ns, figures.operated_ns), (vec![4], 30));
/// ```
pub fn figures(history: &History) -> Figures {
    let (waits, claims) = (waits(history), claims(history));
    let ended = |end| waits.iter().filter(move |wait| wait.end == end);
    let missed = [WaitEnd::GaveUp, WaitEnd::RunEnded, WaitEnd::Never].map(|end| ended(end).count() as u64);
    let last = waits.iter().map(|wait| wait.to).chain(claims.iter().map(|claim| claim.span.to)).max();
    let mut work = WorkCounts::default();
    let mut deaths = Vec::new();
    for event in history.events() {
        match event.what {
            EventKind::Died { client } => deaths.push((event.at, client)),
            EventKind::WriteApplied { .. } => work.applied += 1,
            EventKind::WriteRefused { .. } => work.refused += 1,
            EventKind::ExpiryNoticed { .. } => work.given_up += 1,
            _ => {}
        }
    }
    let left = deaths.into_iter().flat_map(|(at, client)| {
        let held =
            move |claim: &&Claim| claim.client == client && claim.span.to == at && !claim.span.is_empty();
        claims.iter().filter(held).map(move |claim| (at, claim.lock))
    });
    let lost = if may_be_lost(&claims, work) { losses_among(history, &claims) } else { Vec::new() };
    Figures {
        obtained_ns: ended(WaitEnd::Obtained).map(|wait| wait.to.since(wait.from)).collect(),
        missed: missed.iter().sum(),
        recovered_ns: left.filter_map(|(at, lock)| recovery(&waits, at, lock)).collect(),
        operated_ns: last.map_or(0, |last| last.0),
        work,
        told_ns: lost.iter().map(|loss| loss.heard.first().map(|heard| loss.after_next_ns(heard))).collect(),
    }
}

/// False if no lock can be lost, which is so in most runs: no claim begins in another, and none was given up early.
fn may_be_lost(claims: &[Claim], work: WorkCounts) -> bool {
    let mut ends: BTreeMap<LockId, TrueNs> = BTreeMap::new();
    work.given_up > 0
        || claims.iter().any(|claim| {
            let end = ends.entry(claim.lock).or_default();
            let begins_within = claim.span.from < *end;
            *end = claim.span.to.max(*end);
            begins_within
        })
}

/// How long others asked in vain for a lock whose holder died: until one had it, or the last stopped asking.
fn recovery(waits: &[Wait], died: TrueNs, lock: LockId) -> Option<u64> {
    let after = || waits.iter().filter(|wait| wait.lock == lock && wait.to > died);
    let asked = after().map(|wait| wait.from).min()?.max(died);
    let obtained = after().filter(|wait| wait.end == WaitEnd::Obtained).map(|wait| wait.to).min();
    let over = obtained.or_else(|| after().map(|wait| wait.to).max())?;
    Some(over.since(asked))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{CallId, ClientId, ObjectId};
    use crate::history::Header;

    const LOCK: LockId = LockId(0);

    fn granted(client: u32, grant: u64) -> EventKind {
        EventKind::Granted {
            client: ClientId(client),
            grant: CallId(grant),
            lock: LOCK,
            token: grant.to_string(),
            fencing: None,
            deadline: None,
            reading: None,
            within: None,
        }
    }

    fn seen(events: Vec<(u64, EventKind)>) -> Figures {
        let mut history = History::new(Header::new("figures", 1, &["c1", "c2"], &["stock"]));
        events.into_iter().for_each(|(at, what)| history.push(TrueNs(at), what));
        figures(&history)
    }

    #[test]
    fn a_loss_is_counted_although_its_holder_gave_up_before_the_next_grant() {
        let (client, grant) = (ClientId(0), CallId(1));
        let noticed = EventKind::ExpiryNoticed { client, grant };
        let figures = seen(vec![(1, granted(0, 1)), (4, noticed), (10, granted(1, 2))]);
        assert_eq!(figures.told_ns, [Some(-6)]);
        assert_eq!(figures.work, WorkCounts { given_up: 1, ..WorkCounts::default() });
    }

    #[test]
    fn a_holder_that_never_hears_of_a_loss_is_counted_and_so_is_its_refused_write() {
        let (client, grant, object) = (ClientId(0), CallId(1), ObjectId(0));
        let why = "an old number".to_owned();
        let refused =
            EventKind::WriteRefused { client, grant, object, why, fencing: Some(1), highest_seen: Some(2) };
        let figures = seen(vec![(1, granted(0, 1)), (10, granted(1, 2)), (12, refused)]);
        assert_eq!(figures.told_ns, [None]);
        assert_eq!(figures.work, WorkCounts { refused: 1, ..WorkCounts::default() });
    }

    #[test]
    fn locks_that_are_handed_on_in_turn_are_not_lost() {
        let released = EventKind::ReleaseCalled { client: ClientId(0), grant: CallId(1) };
        assert_eq!(seen(vec![(1, granted(0, 1)), (9, released), (10, granted(1, 2))]).told_ns, []);
    }
}
