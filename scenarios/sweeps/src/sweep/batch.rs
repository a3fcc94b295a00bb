//! A row of a sweep: the counts of runs of one cell and one stratum.
//!
//! A line of the records is a row of some hundred runs; a cell's results are rows added up (`merge`). A figure that is
//! to be counted is a field here: `add` counts it in a run, and `merge`, which names every field, does not compile
//! before it says how two counts of it become one.
//!
//! Decision: "Records keep one bit per run, so that any two designs can be compared" (docs/decisions/sweeps.md).

use std::collections::BTreeMap;

use doublehold_history::{Evidence, Predicate, Verdict};
use doublehold_scenarios::report::Summary;
use serde::{Deserialize, Serialize};

use super::durations::Durations;

/// Runs of one cell from seeds one after another, counted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Batch {
    /// The cell.
    pub cell: u64,
    /// Which of the cell's strata; 0 where it has one.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub stratum: u64,
    /// Which batch of that stratum, counted from 0.
    pub batch: u64,
    /// How likely a run of this cell is to be of this stratum; absent where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// In the first stratum: how likely one is to be of none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beyond: Option<f64>,
    /// How many runs the stratum is to have in all; absent where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planned: Option<u64>,
    /// The first seed.
    pub seed: u64,
    /// How many runs.
    pub runs: u64,
    /// What each predicate came to.
    pub predicates: BTreeMap<Predicate, PredicateCount>,
    /// How many calls were granted in a run.
    pub grants: Sums,
    /// For how many milliseconds of true time clients were at it in a run.
    pub operated_ms: Sums,
    /// How long waits took that ended with the lock.
    pub obtained: Durations,
    /// How many waits ended without it.
    pub missed: u64,
    /// How long it took to have the lock again after a holder died.
    #[serde(default, skip_serializing_if = "Durations::is_empty")]
    pub recovered: Durations,
    /// The writes that the resource applied in a run.
    #[serde(default, skip_serializing_if = "Sums::is_zero")]
    pub applied: Sums,
    /// The writes that it refused in a run.
    #[serde(default, skip_serializing_if = "Sums::is_zero")]
    pub refused: Sums,
    /// The grants that holders gave up in a run because they found the lock lost.
    #[serde(default, skip_serializing_if = "Sums::is_zero")]
    pub given_up: Sums,
    /// Of locks that were lost: the time from the news to the next grant, where the holder heard before it.
    #[serde(default, skip_serializing_if = "Durations::is_empty")]
    pub told_before: Durations,
    /// The time from the next grant to the news, where it heard after it.
    #[serde(default, skip_serializing_if = "Durations::is_empty")]
    pub told_after: Durations,
    /// The number of holders that never heard of it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub never_told: u64,
    /// For how long two clients held the lock, by what is violated: P1 or P2.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub overlaps: BTreeMap<Predicate, Durations>,
    /// How many faults of each kind struck.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub faults: BTreeMap<String, u64>,
    /// In how many runs the lock's code panicked.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub panicked: u64,
}

/// What one predicate came to. In runs that are in neither count it holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PredicateCount {
    /// In how many runs it is violated.
    pub violated: u64,
    /// In how many nobody can say.
    pub undecided: u64,
    /// How often it is violated, run by run: a run can show several overlaps.
    #[serde(default, skip_serializing_if = "Sums::is_zero")]
    pub incidents: Sums,
    /// Which runs violate it: a binary digit for each, the first seed's first, four to a hexadecimal digit.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub violations: String,
    /// Which runs are undecided, likewise.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub doubts: String,
    /// The first seeds that violate it, at most [`PredicateCount::SEEDS`]. A sum of batches has them in place of the
    /// digits, which would grow with the number of runs.
    #[serde(skip)]
    pub seeds: Vec<u64>,
}

/// A sum over runs, and of the squares, from which the spread can be told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sums {
    /// The sum.
    pub sum: u64,
    /// The sum of the squares.
    pub squares: u64,
}

impl Sums {
    /// Adds one run's.
    pub fn add(&mut self, value: u64) {
        self.sum += value;
        self.squares = self.squares.saturating_add(value.saturating_mul(value));
    }

    /// Adds what other runs came to.
    pub fn merge(&mut self, other: Sums) {
        self.sum = self.sum.saturating_add(other.sum);
        self.squares = self.squares.saturating_add(other.squares);
    }

    fn is_zero(&self) -> bool {
        *self == Sums::default()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub(super) fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Batch {
    /// Counts a run: the next seed's.
    pub(super) fn add(&mut self, run: &Summary) {
        for (predicate, verdict) in run.verdicts.iter() {
            let outcome = self.predicates.entry(predicate).or_default();
            match verdict {
                Verdict::Holds | Verdict::NotSeen(_) => {}
                Verdict::Inconclusive(_) => {
                    outcome.undecided += 1;
                    mark(&mut outcome.doubts, self.runs);
                }
                Verdict::Violated(evidence) => {
                    outcome.violated += 1;
                    outcome.incidents.add(evidence.len() as u64);
                    mark(&mut outcome.violations, self.runs);
                    let overlaps = evidence.iter().filter_map(|piece| match piece {
                        Evidence::Overlap(overlap) => Some(overlap.to.since(overlap.from)),
                        _ => None,
                    });
                    overlaps.for_each(|ns| self.overlaps.entry(predicate).or_default().add(ns));
                }
            }
        }
        self.runs += 1;
        self.grants.add(run.grants.count);
        self.operated_ms.add(run.figures.operated_ns / 1_000_000);
        run.figures.obtained_ns.iter().for_each(|ns| self.obtained.add(*ns));
        self.missed += run.figures.missed;
        run.figures.recovered_ns.iter().for_each(|ns| self.recovered.add(*ns));
        self.applied.add(run.figures.work.applied);
        self.refused.add(run.figures.work.refused);
        self.given_up.add(run.figures.work.given_up);
        for told in &run.figures.told_ns {
            match told {
                Some(ns) if *ns < 0 => self.told_before.add(ns.unsigned_abs()),
                Some(ns) => self.told_after.add(ns.unsigned_abs()),
                None => self.never_told += 1,
            }
        }
        for hit in run.faults.iter().filter(|hit| hit.struck > 0) {
            *self.faults.entry(hit.kind.to_owned()).or_default() += hit.struck;
        }
        self.panicked += u64::from(run.panicked.is_some());
    }

    /// Adds a later batch of the same cell and stratum. A sum begins with the default.
    pub(crate) fn merge(&mut self, later: Batch) {
        let Batch {
            cell,
            stratum,
            batch: _,
            weight,
            beyond,
            planned,
            seed,
            runs,
            predicates,
            grants,
            operated_ms,
            obtained,
            missed,
            recovered,
            applied,
            refused,
            given_up,
            told_before,
            told_after,
            never_told,
            overlaps,
            faults,
            panicked,
        } = later;
        (self.cell, self.stratum) = (cell, stratum);
        (self.weight, self.beyond, self.planned) = (weight, beyond, planned);
        self.runs += runs;
        for (predicate, count) in predicates {
            self.predicates.entry(predicate).or_default().merge(count, seed);
        }
        self.grants.merge(grants);
        self.operated_ms.merge(operated_ms);
        self.obtained.merge(&obtained);
        self.missed = self.missed.saturating_add(missed);
        self.recovered.merge(&recovered);
        self.applied.merge(applied);
        self.refused.merge(refused);
        self.given_up.merge(given_up);
        self.told_before.merge(&told_before);
        self.told_after.merge(&told_after);
        self.never_told = self.never_told.saturating_add(never_told);
        for (predicate, durations) in &overlaps {
            self.overlaps.entry(*predicate).or_default().merge(durations);
        }
        for (kind, struck) in faults {
            let all = self.faults.entry(kind).or_default();
            *all = all.saturating_add(struck);
        }
        self.panicked += panicked;
    }

    /// Returns its sums over runs, by their names in a file.
    pub(crate) fn sums(&self) -> [(&'static str, Sums); 5] {
        [
            ("grants", self.grants),
            ("operated_ms", self.operated_ms),
            ("applied", self.applied),
            ("refused", self.refused),
            ("given_up", self.given_up),
        ]
    }

    /// Returns its distributions, likewise.
    pub(crate) fn durations(&self) -> [(&'static str, &Durations); 4] {
        [
            ("obtained", &self.obtained),
            ("recovered", &self.recovered),
            ("told_before", &self.told_before),
            ("told_after", &self.told_after),
        ]
    }

    /// The count of a predicate.
    pub fn count(&self, predicate: Predicate) -> PredicateCount {
        self.predicates.get(&predicate).cloned().unwrap_or_default()
    }
}

/// Sets a binary digit.
fn mark(digits: &mut String, place: u64) {
    let digit = (place / 4) as usize;
    let mut values: Vec<u32> = digits.chars().filter_map(|it| it.to_digit(16)).collect();
    values.resize(values.len().max(digit + 1), 0);
    values[digit] |= 8 >> (place % 4);
    *digits = values.iter().filter_map(|value| char::from_digit(*value, 16)).collect();
}

impl PredicateCount {
    /// The number of seeds that are kept to choose an example from.
    pub const SEEDS: usize = 16;

    /// Adds the count of later runs, whose first seed is given.
    fn merge(&mut self, later: PredicateCount, seed: u64) {
        let room = PredicateCount::SEEDS - self.seeds.len();
        self.seeds.extend(later.violating().take(room).map(|place| seed + place));
        self.violated += later.violated;
        self.undecided += later.undecided;
        self.incidents.merge(later.incidents);
    }

    /// The places of the runs that violate it, counted from 0.
    pub fn violating(&self) -> impl Iterator<Item = u64> {
        decode_marks(&self.violations)
    }

    /// The places of the runs that are undecided.
    pub fn doubtful(&self) -> impl Iterator<Item = u64> {
        decode_marks(&self.doubts)
    }
}

fn decode_marks(digits: &str) -> impl Iterator<Item = u64> {
    let digits = digits.chars().zip(0u64..);
    digits.flat_map(|(digit, place)| {
        let value = digit.to_digit(16).unwrap_or_default();
        (0..4).filter(move |bit| value & (8 >> bit) != 0).map(move |bit| place * 4 + bit)
    })
}
