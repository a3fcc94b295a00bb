//! Results as if faults came at other rates, without a run.
//!
//! A stratum has the runs with just so many faults of each cause. How often such a run goes wrong does not depend on
//! how often it comes; its weight does. Faults of a cause are all but Poisson (`weather/odds.rs`: two never strike in
//! one slot, of which there are at least sixteen for each fault that is expected), so that with a mean `f` times as
//! high the weight of `n` of them is `f^n exp(-(f - 1) mean)` times what it was.
//!
//! Decision: "Other rates are reckoned from the weights, by Poisson's law" (docs/decisions/sweeps.md).
//!
//! Assumes that all lines of one cause are scaled alike: the mix within a stratum stays.

use std::collections::BTreeMap;

use thiserror::Error;

use super::{Cell, Results};
use crate::sweep::{Batch, StudyHeader};

/// The factors by which causes come more often, by their names in [`StudyHeader::strata`].
pub type Factors = BTreeMap<String, f64>;

/// Results that cannot be reweighted.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ReweighError {
    /// Runs that have no strata.
    #[error(
        "these runs are not divided by their faults, so that other rates need other runs\nhint: add `[strata]` to the \
         study and sweep it, or sweep it with the rates that are meant"
    )]
    NotDivided,
    /// A cause by which runs are not divided.
    #[error("no stratum has the fault `{name}`\nhint: {known}")]
    UnknownCause {
        /// As asked.
        name: String,
        /// What there is.
        known: String,
    },
    /// A rate so high that runs have more faults than any stratum.
    #[error(
        "with these rates {share} of the runs of `{design}` have more faults than any that were made\nhint: set \
         `strata.faults` of the study higher, or sweep it without `[strata]` at these rates"
    )]
    TooOften {
        /// The weight of what was not run, in words.
        share: String,
        /// The design.
        design: String,
    },
    /// A mix of faults of which few runs were made.
    #[error(
        "with these rates the runs of `{design}` say as much as {runs} runs, and less than {least} say too little\nhint: \
         sweep the study with these rates in its `[set]`"
    )]
    TooFewRuns {
        /// The effective sample size.
        runs: u64,
        /// How many it must be.
        least: u64,
        /// The design.
        design: String,
    },
}

/// As much as may lie beyond all strata: more, and the upper ends of rates say nothing.
const MOST_BEYOND: f64 = 0.1;
/// Fewer effective runs than this show no rate to a tenth of the runs that have faults.
const LEAST_RUNS: u64 = 100;

impl Results {
    /// These results as if each of these causes came so many times as often.
    ///
    /// # Errors
    ///
    /// If runs are not divided, a cause is none of theirs, or too few runs have such faults.
    pub fn reweigh(&self, factors: &Factors) -> Result<Results, ReweighError> {
        if !self.is_divided() {
            return Err(ReweighError::NotDivided);
        }
        let known: Vec<&String> = self.header.causes();
        if let Some(name) = factors.keys().find(|name| !known.contains(name)) {
            let known: Vec<&str> = known.iter().map(|name| name.as_str()).collect();
            let known = doublehold_text::suggest::hint(name, &known);
            return Err(ReweighError::UnknownCause { name: name.clone(), known });
        }
        let mut results = self.clone();
        for (number, cell) in &mut results.cells {
            let design = &self.header.designs[self.place(*number).0].name;
            cell.reweigh(&self.header, factors);
            cell.check_support(design)?;
        }
        Ok(results)
    }
}

impl StudyHeader {
    /// The causes by which runs are divided, in the order of the weather.
    pub fn causes(&self) -> Vec<&String> {
        let is_single = |faults: &&BTreeMap<String, u32>| faults.values().copied().eq([1]);
        self.strata.iter().filter(is_single).filter_map(|faults| faults.keys().next()).collect()
    }
}

impl Cell {
    /// The mean number of faults of each cause in a run: what one fault weighs beside none.
    pub fn mean_faults(&self, header: &StudyHeader) -> BTreeMap<String, f64> {
        let weight = |row: Option<&Batch>| row.map_or(0.0, Batch::weight);
        let quiet = weight(self.strata.get(&0));
        let of = |name: &String| {
            let single = header.strata.iter().position(|faults| is_just(faults, name));
            let row = single.and_then(|number| self.strata.get(&(number as u64)));
            (name.clone(), if quiet > 0.0 { weight(row) / quiet } else { 0.0 })
        };
        header.causes().into_iter().map(of).collect()
    }

    fn reweigh(&mut self, header: &StudyHeader, factors: &Factors) {
        let means = self.mean_faults(header);
        let factor = |name: &str| factors.get(name).copied().unwrap_or(1.0);
        let more: f64 = means.iter().map(|(name, mean)| (factor(name) - 1.0) * mean).sum();
        let sum: f64 = means.iter().map(|(name, mean)| factor(name) * mean).sum();
        let by = |faults: &BTreeMap<String, u32>| -> f64 {
            // Multiplied one by one: `powi` need not come to the same in every build.
            let each = |(name, count): (&String, &u32)| (0..*count).map(|_| factor(name)).product::<f64>();
            faults.iter().map(each).product()
        };
        let most = header.strata.iter().map(|faults| faults.values().sum::<u32>()).max().unwrap_or(0);
        // Poisson's law says by how much more lies beyond, and the records what lay there: two hits of a line share
        // no slot.
        let recorded = self.strata.values().find_map(|row| row.beyond).unwrap_or(0.0);
        let before = chance_of_more(means.values().sum(), most);
        let grown = if before > 0.0 { recorded * chance_of_more(sum, most) / before } else { 0.0 };
        let beyond = grown.min(1.0);
        let faults = |number: &u64| header.strata.get(*number as usize);
        let all: f64 =
            self.strata.iter().filter_map(|(number, row)| Some(row.weight? * by(faults(number)?))).sum();
        // All of it is one, whatever Poisson's law is off by; of unfinished records nobody knows the rest.
        let is_whole = self.strata.len() == header.strata.len();
        let each = if is_whole { (1.0 - beyond) / all } else { (-more).exp().min((1.0 - beyond) / all) };
        for (number, row) in &mut self.strata {
            let Some(faults) = faults(number) else { continue };
            row.weight = row.weight.map(|weight| weight * by(faults) * each);
            row.beyond = row.beyond.map(|_| beyond);
        }
    }

    /// Refuses weights that hardly any run carries.
    fn check_support(&self, design: &str) -> Result<(), ReweighError> {
        let beyond = self.strata.values().find_map(|row| row.beyond).unwrap_or(0.0);
        if beyond > MOST_BEYOND {
            let share = doublehold_text::share(beyond);
            return Err(ReweighError::TooOften { share, design: design.to_owned() });
        }
        let struck = || self.strata.iter().filter(|(number, row)| **number > 0 && row.runs > 0);
        let sum: f64 = struck().map(|(_, row)| row.weight()).sum();
        let squares: f64 = struck().map(|(_, row)| row.weight().powi(2) / row.runs as f64).sum();
        let runs = if squares > 0.0 { (sum * sum / squares) as u64 } else { LEAST_RUNS };
        if runs < LEAST_RUNS {
            return Err(ReweighError::TooFewRuns { runs, least: LEAST_RUNS, design: design.to_owned() });
        }
        Ok(())
    }
}

fn is_just(faults: &BTreeMap<String, u32>, name: &str) -> bool {
    faults.len() == 1 && faults.get(name) == Some(&1)
}

/// The chance that a Poisson number of this mean is larger than `most`. Added up from its first term: one minus the
/// others would leave nothing but rounding.
fn chance_of_more(mean: f64, most: u32) -> f64 {
    let mut term = (-mean).exp();
    (1..=most + 1).for_each(|number| term *= mean / f64::from(number));
    let mut sum = 0.0;
    for number in most + 2.. {
        sum += term;
        term *= mean / f64::from(number);
        // A tail that falls by halves is as small as its next term.
        if f64::from(number) > 2.0 * mean && term < sum * 1e-16 || term == 0.0 {
            break;
        }
    }
    sum
}
