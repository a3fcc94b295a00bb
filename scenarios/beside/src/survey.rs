//! The conditions in which the reference keeps a predicate: found before anything is compared, from seeds of its own.
//!
//! These seeds are never those of a comparison. Otherwise chance would favour the reference: conditions in which it
//! happened to break nothing would be those that are counted.
//!
//! Decision: "A rule is compared where the reference keeps it" (docs/decisions/search.md).

use std::collections::{BTreeMap, BTreeSet};

use doublehold_history::Predicate;
use doublehold_scenarios::report::Summary;

use crate::condition::Condition;
use crate::count::is_violated;

/// In how many runs of a condition the reference must keep what it is said to keep there.
const RUNS: u64 = 16;
/// In so many at least, where more happens than [`EVENTS_MAX`] in all of them.
const RUNS_MIN: u64 = 5;
/// See [`RUNS_MIN`].
const EVENTS_MAX: u64 = 10_000;

/// What the reference did in each condition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// By the place of the condition: what it kept there, in all runs.
    kept: BTreeMap<usize, BTreeSet<Predicate>>,
    /// By the place of the condition: how much happens in a run, in events.
    events: BTreeMap<usize, u64>,
    /// How many runs were made for it.
    pub runs: u64,
    events_in_all: u64,
}

/// What the reference did in one condition.
#[derive(Clone, Debug)]
pub(crate) struct Surveyed {
    runs: u64,
    events: u64,
    broken: BTreeSet<Predicate>,
    decided: BTreeSet<Predicate>,
}

impl Surveyed {
    pub(crate) fn new() -> Surveyed {
        Surveyed { runs: 0, events: 0, broken: BTreeSet::new(), decided: BTreeSet::new() }
    }

    /// Whether it takes no more runs: there were enough, or some in which much happened.
    pub(crate) fn is_enough(&self) -> bool {
        self.runs >= RUNS || (self.runs >= RUNS_MIN && self.events >= EVENTS_MAX)
    }

    pub(crate) fn add(&mut self, run: &Summary) {
        self.runs += 1;
        self.events += run.events;
        for (predicate, verdict) in run.verdicts.iter() {
            match is_violated(verdict) {
                Some(true) => _ = self.broken.insert(predicate),
                Some(false) => _ = self.decided.insert(predicate),
                None => {}
            }
        }
    }
}

impl Survey {
    /// One that took no runs.
    pub(crate) fn from_parts(
        kept: BTreeMap<usize, BTreeSet<Predicate>>,
        events: BTreeMap<usize, u64>,
    ) -> Survey {
        Survey { kept, events, ..Survey::default() }
    }

    /// What was kept where, and how much happens there.
    pub(crate) fn parts(&self) -> (&BTreeMap<usize, BTreeSet<Predicate>>, &BTreeMap<usize, u64>) {
        (&self.kept, &self.events)
    }

    pub(crate) fn add(&mut self, place: usize, surveyed: Surveyed) {
        let Surveyed { runs, events, broken, decided } = surveyed;
        self.runs += runs;
        self.events_in_all += events;
        self.events.insert(place, events / runs.max(1));
        self.kept.insert(place, decided.difference(&broken).copied().collect());
    }

    /// Whether the reference kept a predicate in all runs of a condition.
    pub fn keeps(&self, place: usize, predicate: Predicate) -> bool {
        self.kept.get(&place).is_some_and(|kept| kept.contains(&predicate))
    }

    /// How much happened in all runs together.
    pub(crate) fn events_in_all(&self) -> u64 {
        self.events_in_all
    }

    /// The conditions in which the reference could be run.
    pub fn places(&self) -> impl Iterator<Item = usize> + '_ {
        self.kept.keys().copied()
    }

    /// The conditions in which the reference could be run, those in which least happens first.
    pub(crate) fn cheapest_first(&self) -> Vec<usize> {
        let mut places: Vec<usize> = self.places().collect();
        places.sort_by_key(|place| self.events.get(place));
        places
    }

    /// So many pairs, or fewer in a condition in which more happens than in most: one slow condition takes the time of
    /// many.
    pub(crate) fn share(&self, place: usize, pairs: u64) -> u64 {
        let mut all: Vec<u64> = self.events.values().copied().collect();
        all.sort_unstable();
        let usual = all.get(all.len() / 2).copied().unwrap_or(1).max(1);
        let events = self.events.get(&place).copied().unwrap_or(usual).max(usual);
        (pairs * usual / events).max(1)
    }

    /// The kinds of faults under which the reference kept a predicate, and those under which it never did.
    pub fn kinds(&self, conditions: &[Condition], predicate: Predicate) -> WeatherKinds {
        let (mut survived, mut all) = (BTreeSet::new(), BTreeSet::new());
        for (place, kept) in &self.kept {
            let kinds = conditions[*place].kinds();
            if kept.contains(&predicate) {
                survived.extend(kinds.iter().cloned());
            }
            all.extend(kinds);
        }
        let taken_away = all.difference(&survived).cloned().collect();
        WeatherKinds { survived: survived.into_iter().collect(), taken_away }
    }
}

/// WeatherKinds of faults, in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WeatherKinds {
    /// Under which the reference kept a predicate, each in some condition.
    pub survived: Vec<String>,
    /// Under which it never did.
    pub taken_away: Vec<String>,
}
