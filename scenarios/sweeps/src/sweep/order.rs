//! The order of all batches of a study, and which of them are a shard's.
//!
//! Rounds come first, and in a round every cell has some batches, so that a sweep which ends early has about as many
//! runs of each cell. Each batch goes to the shard that has the fewest runs so far, so that shards differ by a batch at
//! most. If cells may have enough before their last round, a round begins when all batches before it are told, and
//! shards are of whole cells: no other shard knows the results of a cell's batches.
//!
//! Decision: "A sweep writes its records in one fixed order" (docs/decisions/sweeps.md).

use std::collections::BTreeMap;

use doublehold_history::Predicate;

use super::batch::Batch;
use super::header::StudyHeader;
use super::shard::{Shard, ShardBalance};
use crate::study::{CellId, Study};

/// How many runs a batch has: some tenths of a second of work, and what is lost at most where a sweep is killed.
pub const BATCH: u64 = 500;
/// How many batches of a cell come in a row. A cell's world is made anew for each batch.
pub const ROW: u64 = 4;
/// The most batches that are counted one by one to say how many runs a shard has. Of more, a batch is a small part.
const COUNTED: u64 = 100_000;

/// A batch to be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unit {
    /// Its place in the order of all batches of the study.
    pub place: u64,
    /// The cell.
    pub cell: CellId,
    /// The cell's stratum.
    pub stratum: u64,
    /// Which batch of that stratum, from 0.
    pub batch: u64,
    /// How many runs.
    pub runs: u64,
    /// How many runs the stratum has in all its batches.
    pub of: u64,
}

/// All batches of a study, or of a shard of it, one after another.
pub struct Order {
    units: Units,
    shard: Shard,
    shares: ShardBalance,
    /// The most runs that a cell has.
    runs_of_a_cell: u64,
    enough: Option<Enough>,
}

/// All batches of a study, whoever runs them.
#[derive(Clone)]
struct Units {
    cells: u64,
    strata: u64,
    /// How many runs a stratum has at most.
    runs: u64,
    division: Division,
    /// The place of the next batch to look at.
    next: u64,
}

/// The number of runs of each stratum of a cell.
#[derive(Clone)]
enum Division {
    /// As many as the study says: they are not divided.
    None,
    /// By the rates of faults, which a grid can vary. Of the cell that was looked at last: its strata come one after
    /// another.
    Study { study: Box<Study>, last: Option<(CellId, Vec<u64>)> },
    /// As the first batch of each says.
    Recorded(BTreeMap<(CellId, u64), u64>),
}

impl Division {
    /// `None` where that is not known yet.
    fn runs_of(&mut self, cell: CellId, stratum: u64, undivided: u64) -> Option<u64> {
        match self {
            Division::None => Some(undivided),
            Division::Recorded(runs) => runs.get(&(cell, stratum)).copied(),
            Division::Study { study, last } => {
                if last.as_ref().is_none_or(|(last, _)| *last != cell) {
                    // The mistake in a cell is told by whoever runs it, so the cell has to be run.
                    let runs =
                        study.runs_by_stratum(cell).unwrap_or_else(|_| vec![1; study.parts() as usize]);
                    *last = Some((cell, runs));
                }
                last.as_ref().map(|(_, runs)| runs[stratum as usize])
            }
        }
    }
}

impl Units {
    fn from_study(study: &Study) -> Units {
        let more = study.strata.as_ref().map_or(0, |strata| strata.by_weight);
        let divided = Division::Study { study: Box::new(study.clone()), last: None };
        Units {
            cells: study.grid().cells(),
            strata: study.parts(),
            runs: study.runs + more,
            division: if study.strata.is_some() { divided } else { Division::None },
            next: 0,
        }
    }

    /// The number of places in a round.
    fn round_length(&self) -> u64 {
        self.cells.saturating_mul(self.strata).saturating_mul(ROW)
    }

    fn begins_round(&self) -> bool {
        self.next.is_multiple_of(self.round_length())
    }

    fn is_finished(&self) -> bool {
        let batch = (self.next / self.round_length()).saturating_mul(ROW);
        batch.saturating_mul(BATCH) >= self.runs
    }

    /// The batch at the next place, if it has one; most have none if runs are few.
    fn step(&mut self) -> Option<Unit> {
        let place = self.next;
        self.next += 1;
        let (round, in_round) = (place / self.round_length(), place % self.round_length());
        let (part, batch) = (in_round / ROW, round * ROW + in_round % ROW);
        let (cell, stratum) = (CellId(part / self.strata), part % self.strata);
        let of = self.division.runs_of(cell, stratum, self.runs).unwrap_or(0);
        // A stratum that cannot come has one batch without a run, which says so.
        let is_one = batch * BATCH < of || batch == 0;
        is_one.then(|| Unit { place, cell, stratum, batch, runs: BATCH.min(of - batch * BATCH), of })
    }
}

/// When a cell has had enough.
struct Enough {
    predicate: Predicate,
    /// Tells whether the counts are enough.
    is: Box<dyn Fn(Counted) -> bool + Send>,
    /// Of each cell of the shard: what its runs came to, and whether that was enough when its last round began.
    cells: BTreeMap<CellId, (Counted, bool)>,
    /// How many batches were handed out and not told of.
    under_way: u64,
}

impl Enough {
    fn new(predicate: Predicate, is: impl Fn(Counted) -> bool + Send + 'static) -> Enough {
        Enough { predicate, is: Box::new(is), cells: BTreeMap::new(), under_way: 0 }
    }
}

/// The counts of a cell's runs, by the predicate whose rate is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// In how many it is violated.
    pub violated: u64,
    /// In how many nobody can say, which leaves the rate as open as they are many.
    pub undecided: u64,
    /// All of them.
    pub runs: u64,
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandOut {
    /// This batch.
    Run(Unit),
    /// What is under way has to be told of first.
    Wait,
    /// Nothing.
    Done,
}

impl Order {
    /// All batches of this shard. `is_enough` says whether what was counted tells the rate precisely enough; it is
    /// asked where the study wants a precision.
    pub fn from_study(
        study: &Study,
        shard: Shard,
        is_enough: impl Fn(Counted) -> bool + Send + 'static,
    ) -> Order {
        Order {
            units: Units::from_study(study),
            shard,
            shares: ShardBalance::new(shard.total()),
            runs_of_a_cell: study.runs_of_a_cell(),
            enough: study.precision.map(|precision| Enough::new(precision.predicate, is_enough)),
        }
    }

    /// All batches that the records of a whole study have, as far as their header and the batches that were told of
    /// say: of a stratum whose first batch was not told of, only that one is known, and not how many runs it has.
    pub fn from_records(header: &StudyHeader, is_enough: impl Fn(Counted) -> bool + Send + 'static) -> Order {
        let is_divided = header.strata.len() > 1 || header.by_weight > 0;
        let units = Units {
            cells: header.grid().cells(),
            strata: header.strata.len() as u64,
            runs: header.runs.saturating_add(header.by_weight),
            division: if is_divided { Division::Recorded(BTreeMap::new()) } else { Division::None },
            next: 0,
        };
        Order {
            units,
            shard: Shard::WHOLE,
            shares: ShardBalance::new(1),
            runs_of_a_cell: header.runs,
            enough: header.precision.as_ref().map(|precision| Enough::new(precision.predicate, is_enough)),
        }
    }

    /// How many runs there are at most, in this shard; the largest number if there are more.
    pub fn runs(&self) -> u64 {
        let Units { cells, strata, runs, .. } = self.units;
        let all = cells.saturating_mul(self.runs_of_a_cell);
        let batches = cells.saturating_mul(strata).saturating_mul(runs.div_ceil(BATCH));
        if self.shard == Shard::WHOLE {
            all
        } else if self.enough.is_some() {
            self.shard.cells(cells).saturating_mul(self.runs_of_a_cell)
        } else if batches > COUNTED {
            all / self.shard.total()
        } else {
            self.count_runs()
        }
    }

    /// Counts the runs of this shard, batch by batch.
    fn count_runs(&self) -> u64 {
        let (mut units, mut shares) = (self.units.clone(), ShardBalance::new(self.shard.total()));
        units.next = 0;
        let mut runs = 0;
        while !units.is_finished() {
            let Some(unit) = units.step() else { continue };
            runs += if shares.next(unit.runs) == self.shard.number() { unit.runs } else { 0 };
        }
        runs
    }

    /// Where in the order of its study a batch is.
    pub fn place_of(header: &StudyHeader, batch: &Batch) -> u64 {
        let strata = header.strata.len() as u64;
        let part = batch.cell.saturating_mul(strata).saturating_add(batch.stratum);
        let in_round = header.grid().cells().saturating_mul(strata).saturating_mul(ROW);
        let before = (batch.batch / ROW).saturating_mul(in_round);
        before.saturating_add(part.saturating_mul(ROW)).saturating_add(batch.batch % ROW)
    }

    /// The batch to run next.
    pub fn hand_out(&mut self) -> HandOut {
        loop {
            if self.units.is_finished() {
                return HandOut::Done;
            }
            if self.units.begins_round() && !self.may_begin_round() {
                return HandOut::Wait;
            }
            if let Some(unit) = self.units.step()
                && self.is_wanted(&unit)
            {
                return HandOut::Run(unit);
            }
        }
    }

    /// Whether all is known that decides which cells go on; decides it.
    fn may_begin_round(&mut self) -> bool {
        let Some(enough) = &mut self.enough else { return true };
        if enough.under_way > 0 {
            return false;
        }
        for (counted, over) in enough.cells.values_mut() {
            *over = *over || (enough.is)(*counted);
        }
        true
    }

    fn is_wanted(&mut self, unit: &Unit) -> bool {
        match &mut self.enough {
            None => self.shares.next(unit.runs) == self.shard.number(),
            Some(enough) => {
                let is_over = enough.cells.get(&unit.cell).is_some_and(|(_, over)| *over);
                let wants = self.shard.has_cell(unit.cell.0) && !is_over;
                enough.under_way += u64::from(wants);
                wants
            }
        }
    }

    /// Adds what a batch counted. Batches are added in their order.
    pub fn add_batch(&mut self, batch: &Batch) {
        if let Division::Recorded(runs) = &mut self.units.division {
            runs.insert((CellId(batch.cell), batch.stratum), batch.planned.unwrap_or(self.units.runs));
        }
        let Some(enough) = &mut self.enough else { return };
        enough.under_way = enough.under_way.saturating_sub(1);
        let outcome = batch.predicates.get(&enough.predicate).cloned().unwrap_or_default();
        let (counted, _) = enough.cells.entry(CellId(batch.cell)).or_default();
        counted.violated += outcome.violated;
        counted.undecided += outcome.undecided;
        counted.runs += batch.runs;
    }
}
