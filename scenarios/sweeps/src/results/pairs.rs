//! Designs compared run by run: in how many seeds both were violated, one of them, or none.
//!
//! The same seed means the same faults to both as far as they have the same hosts, so that much of what chance does is
//! the same on both sides, and the difference is told more precisely than from two rates. Runs that one of them, or
//! neither, decided are counted by what the other came to.
//!
//! Pairs are many: sixty designs make 1,770 at each point of the grid. So they are counted at the first points only,
//! which are those that a report has tables of.

use std::collections::{BTreeMap, BTreeSet};

use doublehold_history::Predicate;
use doublehold_statistics::PartlyPaired;

use crate::sweep::{Batch, ROW, StudyHeader};

/// All pairs of designs at the first [`Pairs::POINTS`] points of the grid. Only where runs are not divided into strata:
/// those of one count for more than those of another, and perhaps with one design only.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pairs {
    /// By point, the smaller design's number and the larger one's.
    counts: BTreeMap<(u64, usize, usize, Predicate), PartlyPaired>,
    /// Where pairs are counted.
    points: BTreeSet<u64>,
    designs: u64,
    is_divided: bool,
    /// The batches of one point and row that were read: by number and design.
    open: BTreeMap<(u64, usize), Vec<Marks>>,
    row: (u64, u64),
}

/// What 64 runs of a batch came to, a binary digit for each; of each predicate, as in [`Predicate::ALL`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Marks {
    violated: [u64; Predicate::ALL.len()],
    undecided: [u64; Predicate::ALL.len()],
    /// The runs that were made, of 64, as bits.
    made: u64,
}

impl Marks {
    /// The runs that are violated, held, and undecided, as bits.
    fn bits(&self, number: usize) -> [u64; 3] {
        let (undecided, violated) = (self.undecided[number], self.violated[number]);
        [violated & !undecided, self.made & !violated & !undecided, undecided]
    }
}

impl Pairs {
    /// At how many points of the grid pairs are counted.
    pub const POINTS: usize = 6;

    pub(super) fn from_header(header: &StudyHeader) -> Pairs {
        let designs = header.designs.len() as u64;
        Pairs { designs, is_divided: header.strata.len() > 1, ..Pairs::default() }
    }

    /// How two designs compare at a point, by their numbers; none if they have no runs in common there, or if pairs are
    /// not counted.
    pub fn get(
        &self,
        point: u64,
        (one, other): (usize, usize),
        predicate: Predicate,
    ) -> Option<PartlyPaired> {
        let counted = *self.counts.get(&(point, one.min(other), one.max(other), predicate))?;
        Some(if one < other { counted } else { counted.swap_designs() })
    }

    /// Takes in the next batch. Those of one point and row come one after another, and the first points come first.
    pub(super) fn add(&mut self, batch: &Batch) {
        let row = (batch.cell / self.designs, batch.batch / ROW);
        let is_first = self.points.contains(&row.0) || self.points.len() < Pairs::POINTS;
        if self.is_divided || !is_first {
            return;
        }
        self.points.insert(row.0);
        if row != self.row {
            self.close();
            self.row = row;
        }
        let design = (batch.cell % self.designs) as usize;
        self.open.insert((batch.batch, design), marks(batch));
    }

    /// Counts what was read.
    pub(super) fn close(&mut self) {
        let open: Vec<_> = std::mem::take(&mut self.open).into_iter().collect();
        for batch in open.chunk_by(|((one, _), _), ((other, _), _)| one == other) {
            for (place, ((_, first), one)) in batch.iter().enumerate() {
                for ((_, second), other) in &batch[place + 1..] {
                    self.count((*first, one), (*second, other));
                }
            }
        }
    }

    /// All pairs that were counted, by point, designs and predicate: the smaller design's number first.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, (usize, usize), Predicate, &PartlyPaired)> {
        self.counts
            .iter()
            .map(|((point, one, other, predicate), pairs)| (*point, (*one, *other), *predicate, pairs))
    }

    /// Counts one batch of two designs: the runs that both have.
    fn count(&mut self, (first, one): (usize, &[Marks]), (second, other): (usize, &[Marks])) {
        for (number, predicate) in Predicate::ALL.into_iter().enumerate() {
            let pairs = self.counts.entry((self.row.0, first, second, predicate)).or_default();
            for (one, other) in one.iter().zip(other) {
                let made = one.made & other.made;
                let ([violated, held, undecided], theirs) = (one.bits(number), other.bits(number));
                let count = |one: u64, other: usize| u64::from((made & one & theirs[other]).count_ones());
                let decided = &mut pairs.decided;
                decided.both += count(violated, VIOLATED);
                decided.only_first += count(violated, HELD);
                decided.only_second += count(held, VIOLATED);
                decided.neither += count(held, HELD);
                pairs.violated_undecided += count(violated, UNDECIDED);
                pairs.held_undecided += count(held, UNDECIDED);
                pairs.undecided_violated += count(undecided, VIOLATED);
                pairs.undecided_held += count(undecided, HELD);
                pairs.both_undecided += count(undecided, UNDECIDED);
            }
        }
    }
}

/// The places of [`Marks::bits`].
const VIOLATED: usize = 0;
const HELD: usize = 1;
const UNDECIDED: usize = 2;

fn marks(batch: &Batch) -> Vec<Marks> {
    let mut marks = vec![Marks::default(); batch.runs.div_ceil(64) as usize];
    for run in 0..batch.runs {
        marks[(run / 64) as usize].made |= 1 << (run % 64);
    }
    for (number, predicate) in Predicate::ALL.into_iter().enumerate() {
        let Some(outcome) = batch.predicates.get(&predicate) else { continue };
        for run in outcome.violating().take_while(|run| *run < batch.runs) {
            marks[(run / 64) as usize].violated[number] |= 1 << (run % 64);
        }
        for run in outcome.doubtful().take_while(|run| *run < batch.runs) {
            marks[(run / 64) as usize].undecided[number] |= 1 << (run % 64);
        }
    }
    marks
}

#[cfg(test)]
mod tests {
    use doublehold_statistics::Paired;

    use super::*;
    use crate::sweep::{BATCH, PredicateCount};

    /// Runs as letters: violated, held, in doubt.
    fn batch(cell: u64, number: u64, runs: &str) -> Batch {
        let digits = |wanted: char| -> String {
            let of_four = |four: &[char]| {
                let bits = (0..4).filter(|bit| four.get(*bit) == Some(&wanted)).map(|bit| 8 >> bit);
                char::from_digit(bits.sum(), 16).expect("four binary digits")
            };
            runs.chars().collect::<Vec<_>>().chunks(4).map(of_four).collect()
        };
        let count =
            PredicateCount { violations: digits('v'), doubts: digits('?'), ..PredicateCount::default() };
        let predicates = [(Predicate::P2, count)].into();
        Batch { cell, batch: number, runs: runs.len() as u64, predicates, ..Batch::default() }
    }

    fn pairs(designs: u64, batches: &[Batch]) -> Pairs {
        let mut pairs = Pairs { designs, ..Pairs::default() };
        batches.iter().for_each(|batch| pairs.add(batch));
        pairs.close();
        pairs
    }

    #[test]
    fn runs_that_both_made_are_counted_one_by_one() {
        // The same behind 64 others, over two rows of batches, and with a partner that made fewer runs.
        for before in [0, 60, 64, 128] {
            let of = |cell, number, runs: &str| batch(cell, number, &(".".repeat(before) + runs));
            let pairs = pairs(
                2,
                &[
                    of(0, 0, "vvvv.?vv"),
                    of(1, 0, "vv.v.v"),
                    of(0, ROW, "v"),
                    of(1, ROW, "?"),
                    of(0, 2 * ROW, "v"),
                ],
            );
            let neither = 1 + 2 * before as u64;
            let decided = Paired { both: 3, only_first: 1, only_second: 0, neither };
            let expected = PartlyPaired {
                decided,
                violated_undecided: 1,
                undecided_violated: 1,
                ..PartlyPaired::default()
            };
            assert_eq!(pairs.get(0, (0, 1), Predicate::P2), Some(expected), "behind {before}");
            assert_eq!(pairs.get(0, (1, 0), Predicate::P2), Some(expected.swap_designs()));
            let silent = pairs.get(0, (0, 1), Predicate::P1).expect("they ran");
            assert_eq!((silent.pairs(), silent.decided.neither), (7 + neither - 1, 7 + neither - 1));
        }
    }

    #[test]
    fn pairs_are_counted_at_the_first_points_only() {
        let points = Pairs::POINTS as u64 + 2;
        let batches: Vec<Batch> = (0..3 * points).map(|cell| batch(cell, 0, "v.")).collect();
        let again: Vec<Batch> = (0..3 * points).map(|cell| batch(cell, BATCH, "v.")).collect();
        let pairs = pairs(3, &[batches, again].concat());
        for point in 0..points {
            let both = pairs.get(point, (2, 0), Predicate::P2).map(|it| it.decided.both);
            assert_eq!(both, (point < Pairs::POINTS as u64).then_some(2), "point {point}");
        }
        assert_eq!(pairs.counts.len(), Pairs::POINTS * 3 * Predicate::ALL.len());
    }
}
