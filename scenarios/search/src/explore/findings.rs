//! What a search has found so far: counts, and the smallest placements that break something.
//!
//! Runs are told apart by their traces' hashes, eight bytes each, so two in about 2⁶⁴ could be taken for one. A fault
//! is an event of its trace, so that two runs told apart need not differ in what clients did. Kept besides are, of each
//! finding, one example for each group of minimal placements, and those sets that are smaller than the largest that is
//! tried, because larger ones are compared with them.
//!
//! Decision: "`explore` counts traces, not effects" (docs/decisions/search.md).

use std::collections::{BTreeMap, BTreeSet};

use doublehold_history::{Predicate, Verdict};
use doublehold_scenarios::report::Summary;

use super::kinds::Kinds;
use super::place::{Place, proper_subsets, sorted_places};
use crate::shrink::Target;

/// What one placement came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TriedPlacement {
    /// The hash of the trace.
    pub hash: u64,
    /// What happened.
    pub findings: Vec<Target>,
    /// The predicates of which nobody can say whether they hold.
    pub unsaid: Vec<Predicate>,
}

impl TriedPlacement {
    pub(super) fn from_summary(run: &Summary) -> TriedPlacement {
        let is = |wanted: fn(&Verdict) -> bool| {
            run.verdicts.iter().filter(move |(_, verdict)| wanted(verdict)).map(|(predicate, _)| predicate)
        };
        let violated = is(|verdict| matches!(verdict, Verdict::Violated(_))).map(Target::Violates);
        let panicked = run.panicked.iter().map(|_| Target::Panics);
        TriedPlacement {
            hash: run.trace_hash.0,
            findings: violated.chain(panicked).collect(),
            unsaid: is(|verdict| matches!(verdict, Verdict::Inconclusive(_))).collect(),
        }
    }
}

/// The state of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explored {
    /// Whether every placement was tried.
    pub complete: bool,
    /// How many placements of one fault were tried, of two, and so on.
    pub tried: Vec<u64>,
    /// Of each thing that happened, in how many runs and how little it takes.
    pub findings: BTreeMap<Target, Violations>,
    /// Of each predicate that some run did not decide, how many did not, and the first.
    pub unsaid: BTreeMap<Predicate, UndecidedRuns>,
    /// The hashes of all runs.
    pub(super) seen: BTreeSet<u64>,
    /// How many batches are in this.
    pub(super) batches: u64,
}

/// In which runs something happened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Violations {
    /// In how many different ones.
    pub runs: u64,
    /// The minimal placements, by their kinds of faults and of steps in the order in which they strike. The group
    /// without a fault is the run without one.
    pub minimal: BTreeMap<Group, MinimalPlacements>,
    /// The minimal sets that larger ones are compared with.
    pub(super) sets: BTreeSet<Vec<Place>>,
}

/// For each fault its kind and the kind of its step: `pause` at `check`.
pub type Group = Vec<(&'static str, &'static str)>;

/// Minimal placements of one group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MinimalPlacements {
    /// How many different runs.
    pub count: u64,
    /// The first of them, a few.
    pub examples: Vec<Vec<Place>>,
}

/// How many examples are kept of a group: not every one does the same through redis-rs.
const EXAMPLES: usize = 4;

/// Runs that did not decide a predicate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndecidedRuns {
    /// How many different ones.
    pub runs: u64,
    /// The first of them.
    pub example: Vec<Place>,
}

impl Explored {
    /// How many placements were tried.
    pub fn placements(&self) -> u64 {
        self.tried.iter().sum()
    }

    /// The number of different traces that those had, that of the run without faults among them.
    pub fn distinct_traces(&self) -> u64 {
        self.seen.len() as u64
    }

    /// In how many runs of different traces it happened.
    pub fn runs_with(&self, finding: Target) -> u64 {
        self.findings.get(&finding).map_or(0, |violations| violations.runs)
    }

    /// Adds the run of one placement; `most` is how many faults the largest has.
    pub(super) fn add(&mut self, places: &[Place], tried: &TriedPlacement, most: usize, kinds: &Kinds) {
        if let Some(size) = places.len().checked_sub(1) {
            self.tried.resize(self.tried.len().max(size + 1), 0);
            self.tried[size] += 1;
        }
        let is_new = self.seen.insert(tried.hash);
        for predicate in tried.unsaid.iter().filter(|_| is_new) {
            let first = || UndecidedRuns { runs: 0, example: places.to_vec() };
            self.unsaid.entry(*predicate).or_insert_with(first).runs += 1;
        }
        for finding in &tried.findings {
            let violations = self.findings.entry(*finding).or_default();
            violations.runs += u64::from(is_new);
            let is_minimal = !proper_subsets(places).any(|subset| violations.sets.contains(&subset));
            if !is_minimal {
                continue;
            }
            if places.len() < most {
                violations.sets.insert(sorted_places(places.to_vec()));
            }
            if is_new {
                let none = || MinimalPlacements { count: 0, examples: Vec::new() };
                let minimal = violations.minimal.entry(group(places, kinds)).or_insert_with(none);
                minimal.count += 1;
                if minimal.examples.len() < EXAMPLES {
                    minimal.examples.push(places.to_vec());
                }
            }
        }
    }
}

/// Which group a placement belongs to.
pub(super) fn group(places: &[Place], kinds: &Kinds) -> Group {
    let sort = |place: &Place| {
        let kind = place.fault(kinds).map_or("", |fault| fault.effect.kind().word);
        (kind, place.at.event.step().as_str())
    };
    places.iter().map(sort).collect()
}

#[cfg(test)]
mod tests;
