//! The conditions in which the reference keeps a predicate: found before anything is compared, from seeds of its own.
//!
//! These seeds are never those of a comparison. Otherwise chance would favour the reference: conditions in which it
//! happened to break nothing would be those that are counted.

use std::collections::{BTreeMap, BTreeSet};

use doublehold_history::Predicate;
use doublehold_scenarios::report::Summary;

use crate::condition::Condition;
use crate::count::is_violated;

/// What the reference did in each condition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// By the place of the condition: what it kept there, in all runs.
    kept: BTreeMap<usize, BTreeSet<Predicate>>,
    /// How many runs were made for it.
    pub runs: u64,
}

/// What the reference did in one condition.
#[derive(Clone, Debug)]
pub(crate) struct Surveyed {
    runs: u64,
    broken: BTreeSet<Predicate>,
    decided: BTreeSet<Predicate>,
}

impl Surveyed {
    pub(crate) fn new() -> Surveyed {
        Surveyed { runs: 0, broken: BTreeSet::new(), decided: BTreeSet::new() }
    }

    pub(crate) fn add(&mut self, run: &Summary) {
        self.runs += 1;
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
    pub(crate) fn add(&mut self, place: usize, surveyed: Surveyed) {
        let Surveyed { runs, broken, decided } = surveyed;
        self.runs += runs;
        self.kept.insert(place, decided.difference(&broken).copied().collect());
    }

    /// Whether the reference kept a predicate in all runs of a condition.
    pub fn keeps(&self, place: usize, predicate: Predicate) -> bool {
        self.kept.get(&place).is_some_and(|kept| kept.contains(&predicate))
    }

    /// The conditions in which the reference could be run.
    pub fn places(&self) -> impl Iterator<Item = usize> + '_ {
        self.kept.keys().copied()
    }

    /// The kinds of faults under which the reference kept a predicate, and those under which it never did.
    pub fn kinds(&self, conditions: &[Condition], predicate: Predicate) -> Kinds {
        let (mut survived, mut all) = (BTreeSet::new(), BTreeSet::new());
        for (place, kept) in &self.kept {
            let kinds = conditions[*place].kinds();
            if kept.contains(&predicate) {
                survived.extend(kinds.iter().cloned());
            }
            all.extend(kinds);
        }
        let taken_away = all.difference(&survived).cloned().collect();
        Kinds { survived: survived.into_iter().collect(), taken_away }
    }
}

/// Kinds of faults, in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kinds {
    /// Under which the reference kept a predicate, each in some condition.
    pub survived: Vec<String>,
    /// Under which it never did.
    pub taken_away: Vec<String>,
}
