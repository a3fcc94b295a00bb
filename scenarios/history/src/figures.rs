//! Figures of a history besides its verdicts: how long clients waited, how long it took to recover from a holder's
//! death, and for how long there was anything to judge. What a rate is told in (a grant, an hour) comes from here.
//!
//! Nothing here judges. What a death left behind on nodes is not looked at: recovery is what clients see of it.

use crate::claims::claims;
use crate::event::{EventKind, LockId, TrueNs};
use crate::history::History;
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
    let deaths = history.events().iter().filter_map(|event| match event.what {
        EventKind::Died { client } => Some((event.at, client)),
        _ => None,
    });
    let left = deaths.flat_map(|(at, client)| {
        let held = move |claim: &&crate::Claim| {
            claim.client == client && claim.span.to == at && !claim.span.is_empty()
        };
        claims.iter().filter(held).map(move |claim| (at, claim.lock))
    });
    Figures {
        obtained_ns: ended(WaitEnd::Obtained).map(|wait| wait.to.since(wait.from)).collect(),
        missed: missed.iter().sum(),
        recovered_ns: left.filter_map(|(at, lock)| recovery(&waits, at, lock)).collect(),
        operated_ns: last.map_or(0, |last| last.0),
    }
}

/// How long others asked in vain for a lock whose holder died: until one had it, or the last stopped asking.
fn recovery(waits: &[Wait], died: TrueNs, lock: LockId) -> Option<u64> {
    let after = || waits.iter().filter(|wait| wait.lock == lock && wait.to > died);
    let asked = after().map(|wait| wait.from).min()?.max(died);
    let obtained = after().filter(|wait| wait.end == WaitEnd::Obtained).map(|wait| wait.to).min();
    let over = obtained.or_else(|| after().map(|wait| wait.to).max())?;
    Some(over.since(asked))
}
