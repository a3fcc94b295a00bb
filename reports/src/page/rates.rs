//! From the sums of a cell to its rates: with intervals, or the reason why there is no number.
//!
//! Rates are counted by run, over the runs that decided, and made rates per grant and per hour by what a run has of
//! those on average. That average is taken as exact: its own spread is far less than that of the violations.

use std::collections::BTreeMap;

use doublehold_history::Predicate;
use doublehold_scenarios::sweep::StudyHeader;

use super::spread::Spread;
use crate::results::{Cell, Results, Totals};
use crate::statistics::{Confidence, Interval, Part, Proportion, Stratified, Stratum};

/// How sure all intervals of a page are.
pub(crate) const SURE: Confidence = Confidence::P95;

/// What a cell came to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Figures {
    /// Its design, by number.
    pub(crate) design: usize,
    /// Its place on each axis.
    pub(crate) place: Vec<usize>,
    pub(crate) runs: u64,
    pub(crate) rates: BTreeMap<Predicate, Rate>,
    /// How many calls are granted in a run, on average.
    pub(crate) grants: f64,
    /// For how many hours a run's clients are at it, on average.
    pub(crate) hours: f64,
    /// The share of waits that ended with the lock, and how many waits there were.
    pub(crate) available: Option<(f64, u64)>,
    pub(crate) obtained: Spread,
    pub(crate) recovered: Spread,
    pub(crate) overlaps: BTreeMap<Predicate, Spread>,
    pub(crate) panicked: u64,
}

/// How often a predicate is violated, by run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Rate {
    pub(crate) violated: u64,
    pub(crate) undecided: u64,
    /// How many runs decided it.
    pub(crate) decided: u64,
    pub(crate) known: Known,
}

/// What can be said of a rate.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Known {
    /// A number.
    Estimated {
        value: f64,
        interval: Interval,
        /// Clopper and Pearson's interval, where runs are not divided.
        exact: Option<Interval>,
        /// How many plain runs would tell it as precisely, where runs are divided.
        plain_runs: Option<f64>,
    },
    /// Only a bound: no violation was seen, or too little was run.
    AtMost {
        bound: f64,
        /// Why there is no number, where runs are divided.
        why: Option<String>,
    },
    /// Nothing: no run decided.
    #[default]
    Nothing,
}

impl Figures {
    /// What a cell of these results came to, also one without runs.
    pub(crate) fn of(results: &Results, cell: u64) -> Figures {
        let (design, place) = results.place(cell);
        let none = Cell::default();
        let sums = results.cells.get(&cell).unwrap_or(&none);
        let mut figures = Figures { design, place, ..Figures::default() };
        let mut waits = (0.0, 0.0, 0);
        let weights: f64 = sums.strata.values().filter(|it| it.runs > 0).map(weight).sum();
        for totals in sums.strata.values().filter(|totals| totals.runs > 0) {
            // How much one run of this stratum counts.
            let each = weight(totals) / weights.max(f64::MIN_POSITIVE) / totals.runs as f64;
            figures.runs += totals.runs;
            figures.panicked += totals.panicked;
            figures.grants += totals.grants.sum as f64 * each;
            figures.hours += totals.operated_ms.sum as f64 / 3_600_000.0 * each;
            figures.obtained.add(&totals.obtained, each);
            figures.recovered.add(&totals.recovered, each);
            for (predicate, durations) in &totals.overlaps {
                figures.overlaps.entry(*predicate).or_default().add(durations, each);
            }
            let (obtained, missed) = (totals.obtained.count, totals.missed);
            waits = (
                waits.0 + obtained as f64 * each,
                waits.1 + missed as f64 * each,
                waits.2 + obtained + missed,
            );
        }
        figures.available = (waits.2 > 0).then(|| (waits.0 / (waits.0 + waits.1), waits.2));
        figures.rates = Predicate::ALL.map(|it| (it, Rate::of(&results.header, sums, it))).into();
        figures
    }

    pub(crate) fn rate(&self, predicate: Predicate) -> &Rate {
        const NONE: &Rate = &Rate { violated: 0, undecided: 0, decided: 0, known: Known::Nothing };
        self.rates.get(&predicate).unwrap_or(NONE)
    }
}

fn weight(totals: &Totals) -> f64 {
    totals.weight.unwrap_or(1.0)
}

impl Rate {
    fn of(header: &StudyHeader, cell: &Cell, predicate: Predicate) -> Rate {
        let mut rate = Rate::default();
        for totals in cell.strata.values() {
            let count = totals.of(predicate);
            rate.violated += count.violated;
            rate.undecided += count.undecided;
            rate.decided += totals.runs - count.undecided;
        }
        rate.known = if header.strata.len() > 1 {
            divided(&stratified(header, cell, predicate))
        } else {
            plain(Proportion::new(rate.violated, rate.decided))
        };
        rate
    }

    /// The number to sort by and to draw: zero where none was seen, none where nothing is known.
    pub(crate) fn value(&self) -> Option<f64> {
        match &self.known {
            Known::Estimated { value, .. } => Some(*value),
            Known::AtMost { .. } => Some(0.0),
            Known::Nothing => None,
        }
    }

    /// What it is at most.
    pub(crate) fn high(&self) -> Option<f64> {
        match &self.known {
            Known::Estimated { interval, .. } => Some(interval.high),
            Known::AtMost { bound, .. } => Some(*bound),
            Known::Nothing => None,
        }
    }

    /// What it is at least.
    pub(crate) fn low(&self) -> f64 {
        match &self.known {
            Known::Estimated { interval, .. } => interval.low,
            _ => 0.0,
        }
    }
}

/// Runs that are not divided.
fn plain(proportion: Proportion) -> Known {
    let Some((value, interval)) = proportion.estimate().zip(proportion.wilson(SURE)) else {
        return Known::Nothing;
    };
    if proportion.hits() == 0 {
        let bound = proportion.at_most(SURE).unwrap_or(1.0);
        return Known::AtMost { bound, why: None };
    }
    Known::Estimated { value, interval, exact: proportion.exact(SURE), plain_runs: None }
}

fn divided(runs: &Stratified) -> Known {
    match runs.estimate(SURE) {
        Ok(estimate) => Known::Estimated {
            value: estimate.value,
            interval: estimate.interval,
            exact: None,
            plain_runs: Some(estimate.plain_runs),
        },
        Err(unsupported) => match unsupported.at_most {
            Some(bound) => Known::AtMost { bound, why: Some(unsupported.to_string()) },
            None => Known::Nothing,
        },
    }
}

/// A cell's strata. Those that were not run yet, since the sweep is unfinished, count as unexplored.
pub(crate) fn stratified(header: &StudyHeader, cell: &Cell, predicate: Predicate) -> Stratified {
    let part = |number: u64, totals: &Totals| {
        let count = totals.of(predicate);
        let part = Proportion::new(count.violated, totals.runs - count.undecided);
        // It is tried all the same, and what was seen counts.
        let is_quiet = number == 0 && header.quiet_holds && part.hits() == 0;
        if is_quiet { Part::Impossible } else { Part::Counted(part) }
    };
    let strata: Vec<Stratum> = cell
        .strata
        .iter()
        .map(|(number, totals)| Stratum { weight: weight(totals), part: part(*number, totals) })
        .collect();
    let beyond = cell.strata.values().find_map(|totals| totals.beyond).unwrap_or(0.0);
    let all: f64 = strata.iter().map(|stratum| stratum.weight).sum();
    let is_whole = strata.len() == header.strata.len();
    let unexplored = if is_whole { beyond } else { beyond.max(1.0 - all) };
    Stratified { strata, unexplored: unexplored.clamp(0.0, 1.0) }
}
