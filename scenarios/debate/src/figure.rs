//! Figures of runs: what a claim bounds besides verdicts, over all seeds of a case.
//!
//! A claim of an upper bound is tested by the largest figure of all seeds. The one exception is `grants`, which claims
//! bound from below.

use doublehold_history::{Evidence, Predicate};
use doublehold_scenarios::report::Summary;
use doublehold_text::duration;
use serde::Deserialize;

/// A figure of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Figure {
    /// The longest wait that ended with the lock, in milliseconds.
    #[serde(rename = "longest wait")]
    Wait,
    /// The longest time, in milliseconds, for which two clients both believed.
    #[serde(rename = "longest overlap P1")]
    ClaimOverlap,
    /// The longest time, in milliseconds, for which two clients both held before either's deadline.
    #[serde(rename = "longest overlap P2")]
    ValidOverlap,
    /// Messages of the whole run, handed to the network by anybody, for each grant in it.
    #[serde(rename = "messages per grant")]
    Messages,
    /// The number of grants.
    #[serde(rename = "grants")]
    Grants,
    /// The number of waits that ended without the lock.
    #[serde(rename = "missed")]
    Missed,
}

impl Figure {
    /// The words in the file: `longest wait`.
    pub fn as_str(self) -> &'static str {
        match self {
            Figure::Wait => "longest wait",
            Figure::ClaimOverlap => "longest overlap P1",
            Figure::ValidOverlap => "longest overlap P2",
            Figure::Messages => "messages per grant",
            Figure::Grants => "grants",
            Figure::Missed => "missed",
        }
    }

    /// Such a value with its unit: `9.848 s`, or a number.
    pub fn text(self, value: f64) -> String {
        match self {
            Figure::Wait | Figure::ClaimOverlap | Figure::ValidOverlap => {
                // Whole milliseconds: a claim's bound is no finer.
                duration(value.round() as u64 * 1_000_000)
            }
            Figure::Messages => format!("{value:.1}"),
            Figure::Grants | Figure::Missed => format!("{value:.0}"),
        }
    }

    /// The value over all runs; `None` if no run has one, such as a wait where nobody obtained the lock.
    pub(crate) fn value_over_runs(self, runs: &[Summary]) -> Option<f64> {
        let values = runs.iter().filter_map(|run| self.run_value(run));
        match self {
            Figure::Grants => values.reduce(f64::min),
            _ => values.reduce(f64::max),
        }
    }

    fn run_value(self, run: &Summary) -> Option<f64> {
        let longest = |lengths_ns: &[u64]| Some(*lengths_ns.iter().max()? as f64 / 1e6);
        match self {
            Figure::Wait => longest(&run.figures.obtained_ns),
            Figure::ClaimOverlap => longest(&overlaps(run, Predicate::P1)),
            Figure::ValidOverlap => longest(&overlaps(run, Predicate::P2)),
            Figure::Messages => (run.grants.count > 0).then(|| run.messages as f64 / run.grants.count as f64),
            Figure::Grants => Some(run.grants.count as f64),
            Figure::Missed => Some(run.figures.missed as f64),
        }
    }
}

/// The length of each overlap, in nanoseconds; one of no length where there was none.
fn overlaps(run: &Summary, predicate: Predicate) -> Vec<u64> {
    let length = |evidence: &Evidence| match evidence {
        Evidence::Overlap(overlap) => Some(overlap.to.since(overlap.from)),
        _ => None,
    };
    let found = run.verdicts.get(predicate).evidence().iter().filter_map(length);
    std::iter::once(0).chain(found).collect()
}
