//! What the records of a sweep add up to: of each cell, and of each two designs on the same seeds.
//!
//! Only sums: which rate follows from them, and how sure it is, is for statistics to say. Read
//! in one pass, a batch at a time; what is kept grows with the number of cells and not with that of runs.

mod apart;
mod estimate;
mod pairs;

use std::collections::BTreeMap;
use std::path::Path;

pub use apart::Apart;
use doublehold_history::Predicate;
pub use pairs::Pairs;

use crate::records::{Records, RecordsError};
use crate::sweep::{Batch, Durations, StudyHeader, Sums};

/// A sweep's results.
#[derive(Clone, Debug, PartialEq)]
pub struct Results {
    /// The study.
    pub header: StudyHeader,
    /// Its cells that have runs, in order.
    pub cells: BTreeMap<u64, Cell>,
    /// Designs compared on the same seeds.
    pub pairs: Pairs,
    /// Whether the last line of the records was torn, and left out.
    pub is_torn: bool,
}

/// One design at one point of the grid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    /// What its runs came to, by stratum; one entry if they are not divided.
    pub strata: BTreeMap<u64, Totals>,
}

/// What runs of one cell and one stratum came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Totals {
    /// How likely a run is to be of this stratum; `None` where there is one.
    pub weight: Option<f64>,
    /// In the first stratum: how likely one is to be of none.
    pub beyond: Option<f64>,
    /// How many runs there are to be; `None` where there is one stratum.
    pub planned: Option<u64>,
    /// Whether the word that nothing goes wrong without a fault is known to be wrong, from elsewhere than these runs.
    pub is_refuted: bool,
    /// How many runs.
    pub runs: u64,
    /// How often each predicate came to what.
    pub predicates: BTreeMap<Predicate, PredicateTotals>,
    /// Calls granted in a run.
    pub grants: Sums,
    /// Milliseconds of true time for which clients were at it in a run.
    pub operated_ms: Sums,
    /// How long waits took that ended with the lock.
    pub obtained: Durations,
    /// How many waits ended without it.
    pub missed: u64,
    /// How long it took to have the lock again after a holder died.
    pub recovered: Durations,
    /// For how long two clients held the lock, by what is violated.
    pub overlaps: BTreeMap<Predicate, Durations>,
    /// In how many runs the lock's code panicked.
    pub panicked: u64,
}

/// How often one predicate came to what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PredicateTotals {
    /// In how many runs it is violated.
    pub violated: u64,
    /// In how many nobody can say.
    pub undecided: u64,
    /// The first seeds from which it is violated, at most [`PredicateTotals::SEEDS`].
    pub seeds: Vec<u64>,
}

impl Results {
    /// Reads a file of records.
    ///
    /// # Errors
    ///
    /// If it cannot be read, has no header, or has what no sweep writes.
    pub fn read(path: &Path) -> Result<Results, RecordsError> {
        let Some(mut records) = Records::open(path)? else {
            return Err(RecordsError::refused(path, "it has no header", "sweep the study again"));
        };
        let header = records.header().clone();
        let mut cells: BTreeMap<u64, Cell> = BTreeMap::new();
        let mut pairs = Pairs::of(&header);
        while let Some(batch) = records.next_batch()? {
            pairs.add(&batch);
            cells.entry(batch.cell).or_default().add(batch);
        }
        pairs.close();
        Ok(Results { header, cells, pairs, is_torn: records.is_torn() })
    }

    /// The design of a cell, and its value on each axis, by their numbers.
    pub fn place(&self, cell: u64) -> (usize, Vec<usize>) {
        self.header.grid().place(cell)
    }

    /// How many runs there are to be, at most. What a cell gets just is known once all of its strata have begun.
    pub fn planned_runs(&self) -> u64 {
        let cells = self.header.grid().cells();
        let strata = self.header.strata.len().max(1) as u64;
        let most = strata.saturating_mul(self.header.runs).saturating_add(self.header.by_weight);
        let of_cell = |cell: &Cell| {
            let planned: Option<Vec<u64>> = cell.strata.values().map(|totals| totals.planned).collect();
            let all = planned.filter(|known| known.len() as u64 == strata);
            all.map_or(most, |known| known.into_iter().fold(0, u64::saturating_add))
        };
        let begun = self.cells.values().map(of_cell).fold(0, u64::saturating_add);
        cells.saturating_sub(self.cells.len() as u64).saturating_mul(most).saturating_add(begun)
    }

    /// Takes in what was seen elsewhere: runs of this design go wrong without a fault.
    pub fn refute_quiet(&mut self, design: usize) {
        let grid = self.header.grid();
        let of_design = self.cells.iter_mut().filter(|(cell, _)| grid.design(**cell) == design);
        of_design.filter_map(|(_, cell)| cell.strata.get_mut(&0)).for_each(|totals| totals.is_refuted = true);
    }

    /// Whether runs are divided into strata.
    pub fn is_divided(&self) -> bool {
        self.header.strata.len() > 1
    }

    /// How many runs there are.
    pub fn runs(&self) -> u64 {
        self.cells.values().flat_map(|cell| cell.strata.values()).map(|totals| totals.runs).sum()
    }
}

impl PredicateTotals {
    /// How many seeds are kept to choose an example from.
    pub const SEEDS: usize = 16;
}

impl Cell {
    /// Adds a batch of its runs.
    pub fn add(&mut self, batch: Batch) {
        self.strata.entry(batch.stratum).or_default().add(batch);
    }
}

impl Totals {
    /// How often a predicate came to what.
    pub fn of(&self, predicate: Predicate) -> PredicateTotals {
        self.predicates.get(&predicate).cloned().unwrap_or_default()
    }

    fn add(&mut self, batch: Batch) {
        self.weight = batch.weight;
        self.beyond = batch.beyond;
        self.planned = batch.planned;
        self.runs += batch.runs;
        for (predicate, outcome) in batch.predicates {
            let count = self.predicates.entry(predicate).or_default();
            count.violated += outcome.violated;
            let room = PredicateTotals::SEEDS - count.seeds.len();
            count.seeds.extend(outcome.violating().take(room).map(|place| batch.seed + place));
            count.undecided += outcome.undecided;
        }
        self.grants.merge(batch.grants);
        self.operated_ms.merge(batch.operated_ms);
        self.obtained.merge(&batch.obtained);
        self.missed = self.missed.saturating_add(batch.missed);
        self.recovered.merge(&batch.recovered);
        for (predicate, durations) in &batch.overlaps {
            self.overlaps.entry(*predicate).or_default().merge(durations);
        }
        self.panicked += batch.panicked;
    }
}
