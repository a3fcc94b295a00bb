//! All six verdicts on one history, and what becomes of *holds* when the run showed too little.
//!
//! A violation is one however the run ended. *Holds* becomes *inconclusive* if the history was cut short, if the
//! run used up a budget, if the world stalled, or if a fault the scenario is about never fired: a vacuous pass
//! is not a pass. It becomes *not seen* if nobody was granted the lock (P1 to P4), or if nothing was read or written
//! (P3 and P4). A stalled world is also a liveness violation if somebody was waiting and a bound was stated.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::anomaly::data_anomaly;
use crate::claims::{Claim, claims};
use crate::event::{EventKind, RunOutcome};
use crate::history::{Bounds, History};
use crate::liveness::liveness_of;
use crate::overlap::{claim_overlap_of, valid_overlap_of};
use crate::stale_effect::stale_effect;
use crate::verdict::{Evidence, Predicate, Verdict};
use crate::wrong_release::{is_watched, wrong_release};

/// One verdict for each predicate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Verdicts(BTreeMap<Predicate, Verdict>);

impl Verdicts {
    /// The verdict on one predicate.
    pub fn get(&self, predicate: Predicate) -> &Verdict {
        self.0.get(&predicate).expect("`judge` fills in every predicate")
    }

    /// The same with another verdict on one predicate.
    #[must_use]
    pub fn with(mut self, predicate: Predicate, verdict: Verdict) -> Verdicts {
        self.0.insert(predicate, verdict);
        self
    }

    /// All six, in the order of [`Predicate::ALL`].
    pub fn iter(&self) -> impl Iterator<Item = (Predicate, &Verdict)> {
        self.0.iter().map(|(&predicate, verdict)| (predicate, verdict))
    }

    /// The first evidence against `told`, or, if nobody says which, against the first predicate that is violated.
    pub fn first_evidence(&self, told: Option<Predicate>) -> Option<(Predicate, &Evidence)> {
        let mut asked = self.iter().filter(|(predicate, _)| told.is_none_or(|told| told == *predicate));
        asked.find_map(|(predicate, verdict)| Some((predicate, verdict.evidence().first()?)))
    }
}

/// What the verdicts on a history of which nothing was expected come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overall {
    /// No predicate is violated, and all were decided.
    Holds,
    /// At least one predicate is violated.
    Violated,
    /// No predicate is violated, and not all were decided.
    Inconclusive,
}

impl Verdicts {
    /// All six in one word; of predicates that somebody asked for, these in one word.
    ///
    /// Where nobody asked, three things do not count: LV without a stated bound, WR where nobody watched the nodes'
    /// keys, and P3 and P4 where nothing was read or written. A history from a system that promises no bound, whose
    /// nodes nobody can watch, or that records no resource would otherwise never hold.
    pub fn overall(&self, history: &History, asked: &[Predicate]) -> Overall {
        let is_asked = |predicate: &Predicate| asked.is_empty() || asked.contains(predicate);
        let unbounded = history.header().bounds == Bounds::default();
        let (unwatched, no_grant) = (!is_watched(history), !has_grant(history));
        let mut overall = Overall::Holds;
        for (predicate, verdict) in self.iter().filter(|(predicate, _)| is_asked(predicate)) {
            let counts = !asked.is_empty()
                || match (predicate, verdict) {
                    (Predicate::LV, _) => !unbounded,
                    (Predicate::WR, _) => !unwatched,
                    (_, Verdict::NotSeen(_)) => no_grant,
                    _ => true,
                };
            match verdict {
                Verdict::Violated(_) => return Overall::Violated,
                Verdict::Inconclusive(_) | Verdict::NotSeen(_) if counts => overall = Overall::Inconclusive,
                Verdict::Inconclusive(_) | Verdict::NotSeen(_) | Verdict::Holds => {}
            }
        }
        overall
    }
}

/// Judges one history by every predicate.
///
/// ```
/// use doublehold_history::{judge, Header, History, Predicate, RunOutcome, TrueNs, EventKind};
///
/// let mut history = History::new(Header::new("quiet", 7, &["c1"], &["stock"]));
/// history.push(TrueNs(9), EventKind::RunEnded { outcome: RunOutcome::Completed });
/// let verdicts = judge(&history);
/// assert_eq!(verdicts.get(Predicate::P1).doubt(), Some("nobody was granted the lock"));
/// assert_eq!(verdicts.get(Predicate::LV).doubt(), Some("no bound stated"));
/// ```
pub fn judge(history: &History) -> Verdicts {
    let doubt = doubt(history);
    // Three predicates look at claims: a sweep judges thousands of histories, so they are built once.
    let claims = claims(history);
    let judged = Predicate::ALL.map(|predicate| {
        let verdict = match (check_with(predicate, history, &claims), &doubt) {
            (Verdict::Holds, Some(reason)) => Verdict::Inconclusive(reason.clone()),
            (Verdict::Holds, None) => not_seen(predicate, history).map_or(Verdict::Holds, Verdict::NotSeen),
            (verdict, _) => verdict,
        };
        (predicate, verdict)
    });
    Verdicts(judged.into())
}

/// Judges one history by one predicate, whatever way the run ended.
pub fn check(predicate: Predicate, history: &History) -> Verdict {
    match predicate {
        Predicate::P1 | Predicate::P2 | Predicate::LV => check_with(predicate, history, &claims(history)),
        Predicate::P3 | Predicate::P4 | Predicate::WR => check_with(predicate, history, &[]),
    }
}

fn check_with(predicate: Predicate, history: &History, claims: &[Claim]) -> Verdict {
    match predicate {
        Predicate::P1 => claim_overlap_of(history, claims),
        Predicate::P2 => valid_overlap_of(history, claims),
        Predicate::P3 => stale_effect(history),
        Predicate::P4 => data_anomaly(history),
        Predicate::WR => wrong_release(history),
        Predicate::LV => liveness_of(history, claims),
    }
}

/// Why nothing was seen that a predicate is about, if so.
fn not_seen(predicate: Predicate, history: &History) -> Option<&'static str> {
    use EventKind::{ReadDone, WriteApplied, WriteRefused, WriteSent};
    match predicate {
        Predicate::WR | Predicate::LV => return None,
        Predicate::P1 | Predicate::P2 | Predicate::P3 | Predicate::P4 => {}
    }
    if !has_grant(history) {
        return Some("nobody was granted the lock");
    }
    let is_of_data = matches!(predicate, Predicate::P3 | Predicate::P4);
    let is_resources = |what: &EventKind| {
        matches!(what, ReadDone { .. } | WriteSent { .. } | WriteApplied { .. } | WriteRefused { .. })
    };
    let has_resource = || history.events().iter().any(|event| is_resources(&event.what));
    (is_of_data && !has_resource()).then_some("nothing was read or written under the lock")
}

fn has_grant(history: &History) -> bool {
    history.events().iter().any(|event| matches!(event.what, EventKind::Granted { .. }))
}

/// Why nothing can be said to hold in this history, if so.
fn doubt(history: &History) -> Option<String> {
    let reason = match history.outcome() {
        Some(RunOutcome::Completed) => return recorded_doubt(history),
        Some(RunOutcome::Stalled) => {
            let stalled = "the world stalled: nothing could happen any more, with work unfinished";
            return Some(
                recorded_doubt(history).map_or(stalled.to_owned(), |why| format!("{stalled}; {why}")),
            );
        }
        Some(RunOutcome::EventBudget) => "the run used up its budget of events",
        Some(RunOutcome::TimeBudget) => "the run used up its budget of true time",
        Some(RunOutcome::MemoryBudget) => "the run used up its budget of memory",
        Some(RunOutcome::Halted) => {
            return recorded_doubt(history)
                .or_else(|| Some("the run was ended before its programs were".to_owned()));
        }
        None => "the history was cut short: it has no `run_ended`",
    };
    Some(reason.to_owned())
}

fn recorded_doubt(history: &History) -> Option<String> {
    history.events().iter().find_map(|event| match &event.what {
        EventKind::Inconclusive { why } => Some(why.clone()),
        _ => None,
    })
}
