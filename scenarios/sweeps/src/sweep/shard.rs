//! Shards: parts of a sweep, and the rule that gives each batch to one of them.
//!
//! Pure counting. Every shard goes through all batches of the study and takes its own, so that none has to know what
//! another did.
//!
//! Decision: "Each batch goes to the shard with the fewest runs so far" (docs/decisions/sweeps.md).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A part of a sweep: the `number`-th of `of`, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    number: u64,
    of: u64,
}

impl Shard {
    /// The only part there is.
    pub const WHOLE: Shard = Shard { number: 1, of: 1 };

    /// A part of so many; `None` unless its number is from 1 to that.
    pub fn new(number: u64, of: u64) -> Option<Shard> {
        (1..=of).contains(&number).then_some(Shard { number, of })
    }

    /// Its number, from 1.
    pub fn number(self) -> u64 {
        self.number
    }

    /// Number of the parts that there are.
    pub fn total(self) -> u64 {
        self.of
    }

    /// True if a cell is this shard's, where shards are of whole cells.
    pub(super) fn has_cell(self, cell: u64) -> bool {
        cell % self.of == self.number - 1
    }

    /// The number of this shard's cells, out of so many, where shards are of whole cells.
    pub(super) fn cells(self, cells: u64) -> u64 {
        cells / self.of + u64::from(cells % self.of >= self.number)
    }
}

/// The rule that gives the next batch to the shard with the fewest runs, the first of equals. So no two ever differ by
/// more than one batch, whatever sizes batches have. Dealing them out in turn gave all of a study to one shard, or all
/// long batches, if a multiple of the number of shards came between two of a kind.
pub(super) struct ShardBalance {
    of: u64,
    /// The number of shards that have had a batch: those after them have no runs. Shards may far outnumber batches.
    begun: u64,
    /// The number of runs of each of these, and its own number.
    runs: BinaryHeap<Reverse<(u64, u64)>>,
}

impl ShardBalance {
    pub(super) fn new(of: u64) -> ShardBalance {
        ShardBalance { of, begun: 0, runs: BinaryHeap::new() }
    }

    /// The number of the shard that gets a batch of so many runs.
    pub(super) fn next(&mut self, runs: u64) -> u64 {
        if self.begun < self.of {
            // A batch without a run leaves its shard where it was.
            let number = self.begun + 1;
            if runs > 0 {
                self.begun = number;
                self.runs.push(Reverse((runs, number)));
            }
            return number;
        }
        let Some(mut least) = self.runs.peek_mut() else { return 1 };
        least.0.0 += runs;
        least.0.1
    }
}
