//! From the sums of a cell to its rates: with intervals, or the reason why there is no number.
//!
//! Rates are counted by run, and made rates per grant and per hour by what a run has of those on average. Undecided
//! runs count both ways. `statistics` says what follows from counts; here is only which counts are meant.

use std::collections::BTreeMap;

use doublehold_history::Predicate;
use doublehold_statistics::{
    Confidence, Estimate, Exposure, Interval, PartlyDecided, Reason, Unsupported, undecided_matter,
};
use doublehold_sweeps::results::{Cell, Results};
use doublehold_sweeps::sweep::Batch;
use serde::Serialize;

use super::distribution::Distribution;
use super::news::{News, Work};
use super::rounding;

/// How sure all intervals of a page are.
pub(crate) const SURE: Confidence = Confidence::P95;

/// The figures of a cell: what its row of counts says, each under its name in the JSON of a report.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Figures {
    #[serde(skip)]
    pub(crate) cell: u64,
    /// Its design, by number.
    #[serde(skip)]
    pub(crate) design: usize,
    /// Its place on each axis.
    #[serde(skip)]
    pub(crate) place: Vec<usize>,
    pub(crate) runs: u64,
    pub(crate) panicked: u64,
    /// Calls granted in a run.
    #[serde(rename = "grants_per_run", serialize_with = "rounding::mean")]
    pub(crate) grants: Exposure,
    /// Hours of operation of a run's clients.
    #[serde(rename = "hours_per_run", serialize_with = "rounding::mean")]
    pub(crate) hours: Exposure,
    /// The number of waits that ended, with the lock or without it.
    pub(crate) waits: u64,
    /// The share of waits that ended with the lock; `None` without waits.
    #[serde(serialize_with = "rounding::share")]
    pub(crate) available: Option<f64>,
    #[serde(rename = "time_to_acquire")]
    pub(crate) obtained: Distribution,
    #[serde(rename = "recovery")]
    pub(crate) recovered: Distribution,
    pub(crate) overlaps: BTreeMap<Predicate, Distribution>,
    pub(crate) work: Work,
    #[serde(rename = "lost_locks")]
    pub(crate) news: News,
    #[serde(skip)]
    pub(crate) rates: BTreeMap<Predicate, Rate>,
}

/// How often a predicate is violated, by run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rate {
    pub(crate) violated: u64,
    pub(crate) undecided: u64,
    /// How many runs decided it.
    pub(crate) decided: u64,
    pub(crate) per_run: Result<Estimate, Unsupported>,
    /// Whether runs are divided into strata.
    pub(crate) is_divided: bool,
}

impl Figures {
    /// What a cell of these results came to, also one without runs.
    pub(crate) fn from_results(results: &Results, cell: u64) -> Figures {
        let (design, place) = results.place(cell);
        let none = Cell::default();
        let sums = results.cells.get(&cell).unwrap_or(&none);
        let mut figures = Figures {
            cell,
            design,
            place,
            rates: Predicate::ALL.map(|it| (it, Rate::from_cell(results, sums, it))).into(),
            grants: sums.grants(),
            hours: sums.hours(),
            work: Work::from_cell(sums),
            ..Figures::default()
        };
        let (mut obtained, mut waited) = (0.0, 0.0);
        for row in sums.strata.values().filter(|row| row.runs > 0) {
            // How much one run of this stratum counts.
            let each = row.weight() / row.runs as f64;
            figures.add(row, each);
            let all = row.obtained.count + row.missed;
            obtained += row.obtained.count as f64 * each;
            waited += all as f64 * each;
            figures.waits += all;
        }
        figures.available = (waited > 0.0).then(|| obtained / waited);
        figures
    }

    /// Adds the runs of a stratum.
    fn add(&mut self, row: &Batch, each: f64) {
        // Names every count, so that a new one is not forgotten here; the others are for `from_results`, `work` and
        // `news`, or in no figure.
        let Batch {
            cell: _,
            stratum: _,
            batch: _,
            weight: _,
            beyond: _,
            planned: _,
            seed: _,
            runs,
            predicates: _,
            grants: _,
            operated_ms: _,
            obtained,
            missed: _,
            recovered,
            applied: _,
            refused: _,
            given_up: _,
            told_before: _,
            told_after: _,
            never_told: _,
            overlaps,
            faults: _,
            panicked,
        } = row;
        self.runs += runs;
        self.panicked += panicked;
        self.obtained.add(obtained, each);
        self.recovered.add(recovered, each);
        self.news.add(row, each);
        for (predicate, durations) in overlaps {
            self.overlaps.entry(*predicate).or_default().add(durations, each);
        }
    }

    pub(crate) fn rate(&self, predicate: Predicate) -> Rate {
        self.rates.get(&predicate).cloned().unwrap_or_default()
    }

    /// Calls granted in a run, on average.
    pub(crate) fn mean_grants(&self) -> Option<f64> {
        self.grants.mean(SURE).map(|(mean, _)| mean)
    }

    /// Hours of operation of a run's clients, on average.
    pub(crate) fn mean_hours(&self) -> Option<f64> {
        self.hours.mean(SURE).map(|(mean, _)| mean)
    }
}

impl Default for Rate {
    fn default() -> Rate {
        let per_run = Err(Unsupported { reason: Reason::NothingDecided, at_most: None });
        Rate { violated: 0, undecided: 0, decided: 0, per_run, is_divided: false }
    }
}

impl Rate {
    fn from_cell(results: &Results, cell: &Cell, predicate: Predicate) -> Rate {
        let mut rate = Rate::default();
        for row in cell.strata.values() {
            let count = row.count(predicate);
            rate.violated += count.violated;
            rate.undecided += count.undecided;
            rate.decided += row.runs - count.undecided;
        }
        rate.is_divided = results.is_divided();
        rate.per_run = if rate.is_divided {
            cell.stratify(&results.header, predicate).estimate(SURE)
        } else {
            undivided_rate(rate.all_runs())
        };
        rate
    }

    /// All runs, whatever they came to.
    fn all_runs(&self) -> PartlyDecided {
        PartlyDecided::new(self.violated, self.undecided, self.decided + self.undecided)
    }

    /// The rate, zero where none was seen, and nothing where it cannot be stated.
    pub(crate) fn stated_rate(&self) -> Option<f64> {
        match &self.per_run {
            Ok(estimate) => Some(estimate.value),
            Err(unsupported) => unsupported.at_most.map(|_| 0.0).filter(|_| self.violated == 0),
        }
    }

    /// The rate as if all undecided runs held and as if all were violated, and the interval around both: where they
    /// are too many for one number.
    pub(crate) fn range(&self) -> Option<(Interval, Interval)> {
        match self.per_run {
            Err(Unsupported { reason: Reason::Undecided { range, interval }, .. }) => Some((range, interval)),
            _ => None,
        }
    }

    /// Clopper and Pearson's interval, both ways, where runs are not divided and something was seen. It takes long for
    /// many violations.
    pub(crate) fn exact(&self) -> Option<Interval> {
        let is_counted = !self.is_divided && self.violated > 0;
        self.all_runs().exact(SURE).filter(|_| is_counted)
    }

    /// The number that is shown: the rate, or what stands for it.
    pub(crate) fn size(&self) -> Option<f64> {
        self.per_run.as_ref().map_or_else(|_| self.high(), |estimate| Some(estimate.value))
    }

    /// What it is at most.
    pub(crate) fn high(&self) -> Option<f64> {
        match &self.per_run {
            Ok(estimate) => Some(estimate.interval.high),
            Err(unsupported) => unsupported.at_most,
        }
    }

    /// What it is at least.
    pub(crate) fn low(&self) -> f64 {
        match &self.per_run {
            Ok(estimate) => estimate.interval.low,
            Err(_) => self.range().map_or(0.0, |(_, interval)| interval.low),
        }
    }
}

/// Runs that are not divided: any number of violations has its interval, which says how little few of them say.
fn undivided_rate(counted: PartlyDecided) -> Result<Estimate, Unsupported> {
    let (decided, undecided) = (counted.decided_part(), counted.undecided_runs());
    let (Some(value), Some(range), Some(interval)) =
        (decided.estimate(), counted.range(), counted.wilson(SURE))
    else {
        return Err(Unsupported { reason: Reason::NothingDecided, at_most: None });
    };
    if value == 0.0 {
        let reason = Reason::NoneSeen { runs: decided.runs(), undecided };
        return Err(Unsupported { reason, at_most: counted.upper_bound(SURE) });
    }
    if undecided_matter(range) {
        return Err(Unsupported {
            reason: Reason::Undecided { range, interval },
            at_most: Some(interval.high),
        });
    }
    Ok(Estimate { value, interval, plain_runs: decided.runs() as f64 })
}
