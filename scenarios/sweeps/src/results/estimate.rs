//! From the sums of a cell to what statistics asks for: strata with their weights, and what violations are counted by.

use doublehold_history::Predicate;
use doublehold_statistics::{Exposure, MeanPerRun, Part, PartlyDecided, Stratified, Stratum};

use super::Cell;
use crate::sweep::{Batch, StudyHeader, Sums};

impl Cell {
    /// The runs of this cell by what a predicate came to. Strata that were not run yet, since the sweep is unfinished,
    /// count as unexplored.
    pub fn stratify(&self, header: &StudyHeader, predicate: Predicate) -> Stratified {
        let stratum = |row: &Batch| Stratum { weight: row.weight(), part: self.part(header, row, predicate) };
        let strata: Vec<Stratum> = self.strata.values().map(stratum).collect();
        let beyond = self.strata.values().find_map(|row| row.beyond).unwrap_or(0.0);
        let run: f64 = strata.iter().map(|stratum| stratum.weight).sum();
        let is_whole = strata.len() == header.strata.len();
        let unexplored = if is_whole { beyond } else { beyond.max(1.0 - run) };
        Stratified { strata, unexplored: unexplored.clamp(0.0, 1.0) }
    }

    /// Grants per run: what rates per grant are counted by.
    pub fn grants(&self) -> Exposure {
        self.exposure(|row| row.grants, 1.0)
    }

    /// Hours per run for which clients were at it.
    pub fn hours(&self) -> Exposure {
        const HOUR_MS: f64 = 3.6e6;
        self.exposure(|row| row.operated_ms, HOUR_MS)
    }

    /// Writes per run that the resource applied.
    pub fn applied(&self) -> Exposure {
        self.exposure(|row| row.applied, 1.0)
    }

    /// Writes per run that the resource refused.
    pub fn refused(&self) -> Exposure {
        self.exposure(|row| row.refused, 1.0)
    }

    /// Grants per run that holders gave up because they found the lock lost.
    pub fn given_up(&self) -> Exposure {
        self.exposure(|row| row.given_up, 1.0)
    }

    fn exposure(&self, of: impl Fn(&Batch) -> Sums, unit: f64) -> Exposure {
        let mean = |row: &Batch| {
            let Sums { sum, squares } = of(row);
            MeanPerRun { runs: row.runs, sum: sum.into(), sum_of_squares: squares.into() }
        };
        let strata = self.strata.values().map(|row| (row.weight(), mean(row))).collect();
        Exposure { strata, unit }
    }

    /// The runs of one of its strata by what a predicate came to. Where it is taken for granted that nothing goes
    /// wrong without a fault, such runs are made all the same. Once any is known that violates this predicate, they
    /// count for it as all others do: of the other predicates it says nothing.
    pub fn part(&self, header: &StudyHeader, row: &Batch, predicate: Predicate) -> Part {
        if row.stratum == 0 && header.quiet_holds && !self.fails_without_faults(predicate) {
            return Part::Impossible;
        }
        let count = row.count(predicate);
        Part::Counted(PartlyDecided::new(count.violated, count.undecided, row.runs))
    }

    /// True if a run without a fault is known that violates this predicate, where such runs were made here.
    pub fn fails_without_faults(&self, predicate: Predicate) -> bool {
        let is_violated = |quiet: &Batch| quiet.count(predicate).violated > 0;
        self.strata.get(&0).is_some_and(|quiet| self.refuted.contains(&predicate) || is_violated(quiet))
    }
}

impl Batch {
    /// The chance that a run is of this stratum.
    pub fn weight(&self) -> f64 {
        self.weight.unwrap_or(1.0)
    }
}
