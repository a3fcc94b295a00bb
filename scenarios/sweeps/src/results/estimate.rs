//! From the sums of a cell to what statistics asks for: strata with their weights, and what violations are counted by.

use doublehold_history::Predicate;
use doublehold_statistics::{Exposure, MeanPerRun, Part, PartlyDecided, Stratified, Stratum};

use super::{Cell, Totals};
use crate::sweep::{StudyHeader, Sums};

impl Cell {
    /// The runs of this cell by what a predicate came to. Strata that were not run yet, since the sweep is unfinished,
    /// count as unexplored.
    pub fn stratified(&self, header: &StudyHeader, predicate: Predicate) -> Stratified {
        let stratum = |(number, totals): (&u64, &Totals)| Stratum {
            weight: totals.weight(),
            part: totals.part(header, *number, predicate),
        };
        let strata: Vec<Stratum> = self.strata.iter().map(stratum).collect();
        let beyond = self.strata.values().find_map(|totals| totals.beyond).unwrap_or(0.0);
        let run: f64 = strata.iter().map(|stratum| stratum.weight).sum();
        let is_whole = strata.len() == header.strata.len();
        let unexplored = if is_whole { beyond } else { beyond.max(1.0 - run) };
        Stratified { strata, unexplored: unexplored.clamp(0.0, 1.0) }
    }

    /// Grants per run: what rates per grant are counted by.
    pub fn grants(&self) -> Exposure {
        self.exposure(|totals| totals.grants, 1.0)
    }

    /// Hours per run for which clients were at it.
    pub fn hours(&self) -> Exposure {
        const HOUR_MS: f64 = 3.6e6;
        self.exposure(|totals| totals.operated_ms, HOUR_MS)
    }

    fn exposure(&self, of: impl Fn(&Totals) -> Sums, unit: f64) -> Exposure {
        let mean = |totals: &Totals| {
            let Sums { sum, squares } = of(totals);
            MeanPerRun { runs: totals.runs, sum: sum.into(), sum_of_squares: squares.into() }
        };
        let strata = self.strata.values().map(|totals| (totals.weight(), mean(totals))).collect();
        Exposure { strata, unit }
    }
}

impl Totals {
    /// How likely a run is to be of this stratum.
    pub fn weight(&self) -> f64 {
        self.weight.unwrap_or(1.0)
    }

    /// What is known of a predicate in this stratum, the `number`-th of the study. Where it is taken for granted that
    /// nothing goes wrong without a fault, such runs are made all the same. Once any is known in which something does,
    /// they count as all others do, for each predicate.
    pub fn part(&self, header: &StudyHeader, number: u64, predicate: Predicate) -> Part {
        let is_quiet = number == 0 && header.quiet_holds && !self.shows_a_violation();
        if is_quiet {
            return Part::Impossible;
        }
        let count = self.of(predicate);
        Part::Counted(PartlyDecided::new(count.violated, count.undecided, self.runs))
    }

    /// Whether a run like these is known that violates anything.
    pub fn shows_a_violation(&self) -> bool {
        self.is_refuted || self.predicates.values().any(|count| count.violated > 0)
    }
}
