//! What the records of a sweep add up to: of each cell, and of each two designs on the same seeds.
//!
//! Only sums: which rate follows from them, and how sure it is, is for statistics to say. Read
//! in one pass, a batch at a time; what is kept grows with the number of cells and not with that of runs.

mod estimate;
mod other_rates;
mod pairs;
mod reweigh;
mod told_apart;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

pub use other_rates::{NewRate, RateChange, RateError};
pub use pairs::Pairs;
pub use reweigh::{Factors, ReweighError};
pub use told_apart::DifferingPairs;

use doublehold_history::Predicate;

use crate::records::{Records, RecordsError};
use crate::sweep::{Batch, StudyHeader};

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
    /// The sum of its batches, by stratum; one entry if they are not divided.
    pub strata: BTreeMap<u64, Batch>,
    /// The predicates that runs elsewhere have shown to be violated without a fault.
    pub refuted: BTreeSet<Predicate>,
}

impl Results {
    /// Reads a file of records.
    ///
    /// # Errors
    ///
    /// If it cannot be read, has no header, or has what no sweep writes.
    pub fn read_file(path: &Path) -> Result<Results, RecordsError> {
        let Some(mut records) = Records::open(path)? else {
            return Err(RecordsError::unusable(path, "it has no header", "sweep the study again"));
        };
        let header = records.header().clone();
        let mut cells: BTreeMap<u64, Cell> = BTreeMap::new();
        let mut pairs = Pairs::from_header(&header);
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
            let planned: Option<Vec<u64>> = cell.strata.values().map(|row| row.planned).collect();
            let all = planned.filter(|known| known.len() as u64 == strata);
            all.map_or(most, |known| known.into_iter().fold(0, u64::saturating_add))
        };
        let begun = self.cells.values().map(of_cell).fold(0, u64::saturating_add);
        cells.saturating_sub(self.cells.len() as u64).saturating_mul(most).saturating_add(begun)
    }

    /// Takes in what was seen elsewhere: runs of this design violate a predicate without a fault.
    pub fn refute_quiet(&mut self, design: usize, predicate: Predicate) {
        let grid = self.header.grid();
        let of_design = self.cells.iter_mut().filter(|(cell, _)| grid.design(**cell) == design);
        of_design.for_each(|(_, cell)| {
            cell.refuted.insert(predicate);
        });
    }

    /// Whether runs are divided into strata.
    pub fn is_divided(&self) -> bool {
        self.header.strata.len() > 1
    }

    /// How many runs there are.
    pub fn runs(&self) -> u64 {
        self.cells.values().flat_map(|cell| cell.strata.values()).map(|row| row.runs).sum()
    }
}

impl Cell {
    /// Adds a batch of its runs.
    pub fn add(&mut self, batch: Batch) {
        self.strata.entry(batch.stratum).or_default().merge(batch);
    }
}
