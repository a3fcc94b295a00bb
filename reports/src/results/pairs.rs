//! Designs compared run by run: in how many seeds both were violated, one of them, or none.
//!
//! The same seed means the same faults to both as far as they have the same hosts, so that much of what chance does is
//! the same on both sides, and the difference is told more precisely than from two rates. Only runs that both designs
//! decided are counted.

use std::collections::{BTreeMap, BTreeSet};

use doublehold_history::Predicate;
use doublehold_scenarios::sweep::{Batch, ROW, StudyHeader};

/// Two designs at one point of the grid, by their numbers, the smaller first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pair {
    /// The point: a cell's number divided by the number of designs.
    pub point: u64,
    /// The one design.
    pub first: usize,
    /// The other.
    pub second: usize,
}

/// In how many runs which of two designs was violated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Both {
    /// Both.
    pub both: u64,
    /// Only the first.
    pub only_first: u64,
    /// Only the second.
    pub only_second: u64,
    /// Neither.
    pub neither: u64,
}

/// All pairs of designs. Only where runs are not divided into strata: a seed means something else in each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pairs {
    counts: BTreeMap<(Pair, Predicate), Both>,
    designs: u64,
    is_divided: bool,
    /// The batches of one point and row that were read: by design and number.
    open: BTreeMap<(usize, u64), Batch>,
    row: (u64, u64),
}

impl Pairs {
    pub(super) fn of(header: &StudyHeader) -> Pairs {
        let designs = header.designs.len() as u64;
        Pairs { designs, is_divided: header.strata.len() > 1, ..Pairs::default() }
    }

    /// The counts of one pair.
    pub fn get(&self, pair: Pair, predicate: Predicate) -> Option<Both> {
        self.counts.get(&(pair, predicate)).copied()
    }

    /// All pairs that have runs in common.
    pub fn iter(&self) -> impl Iterator<Item = (Pair, Predicate, Both)> {
        self.counts.iter().map(|((pair, predicate), both)| (*pair, *predicate, *both))
    }

    /// Takes in the next batch. Those of one point and row come one after another.
    pub(super) fn add(&mut self, batch: &Batch) {
        if self.is_divided {
            return;
        }
        let row = (batch.cell / self.designs, batch.batch / ROW);
        if row != self.row {
            self.close();
            self.row = row;
        }
        let design = (batch.cell % self.designs) as usize;
        self.open.insert((design, batch.batch), batch.clone());
    }

    /// Counts what was read.
    pub(super) fn close(&mut self) {
        let open = std::mem::take(&mut self.open);
        let batches: BTreeSet<u64> = open.keys().map(|(_, number)| *number).collect();
        for number in batches {
            let of_batch: Vec<(usize, &Batch)> = open
                .iter()
                .filter(|((_, it), _)| *it == number)
                .map(|((design, _), it)| (*design, it))
                .collect();
            for (place, (first, one)) in of_batch.iter().enumerate() {
                for (second, other) in &of_batch[place + 1..] {
                    let pair = Pair { point: self.row.0, first: *first, second: *second };
                    for predicate in Predicate::ALL {
                        self.counts.entry((pair, predicate)).or_default().add(one, other, predicate);
                    }
                }
            }
        }
    }
}

impl Both {
    fn add(&mut self, one: &Batch, other: &Batch, predicate: Predicate) {
        let runs = one.runs.min(other.runs);
        let marks = |batch: &Batch| {
            let outcome = batch.predicates.get(&predicate).cloned().unwrap_or_default();
            let set = |places: &mut dyn Iterator<Item = u64>| {
                places.filter(|it| *it < runs).collect::<BTreeSet<u64>>()
            };
            (set(&mut outcome.violating()), set(&mut outcome.doubtful()))
        };
        let ((first, first_doubts), (second, second_doubts)) = (marks(one), marks(other));
        let doubts: BTreeSet<u64> = first_doubts.union(&second_doubts).copied().collect();
        let sure = |it: &&u64| !doubts.contains(it);
        let both = first.intersection(&second).filter(sure).count() as u64;
        let only_first = first.difference(&second).filter(sure).count() as u64;
        let only_second = second.difference(&first).filter(sure).count() as u64;
        self.both += both;
        self.only_first += only_first;
        self.only_second += only_second;
        self.neither += runs - doubts.len() as u64 - both - only_first - only_second;
    }
}
