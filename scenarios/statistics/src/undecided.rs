//! Hits among runs of which some were never decided. Pure arithmetic.
//!
//! Undecided runs are not missing at random: whatever keeps a run from being decided (a limit that is met, a wait that
//! goes on) is often what a hit comes from. Leaving them out makes a rate too low or too high by as many as they are.
//! Here they count both ways: as if none was a hit, and as if all were. Rejected: an estimate between the two, which
//! would need to know why they are missing.
//!
//! Decision: "Undecided runs count both as holding and as violated" (docs/decisions/search.md).
//! Decision: "Undecided runs count both ways" (docs/decisions/sweeps.md).

use super::{Confidence, Interval, Proportion};

/// So many hits of so many runs, of which so many were never decided and may be either.
///
/// ```
/// use doublehold_statistics::{Confidence, PartlyDecided};
///
/// let few = PartlyDecided::new(0, 276, 300);
/// assert_eq!(few.range().map(|range| (range.low, range.high)), Some((0.0, 0.92)));
/// assert!(few.upper_bound(Confidence::P95) > Some(0.92));
/// assert!(!few.is_nearly_all());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartlyDecided {
    hits: u64,
    undecided: u64,
    of: u64,
}

impl PartlyDecided {
    /// Of so many runs one may be undecided, for the rest to speak for all of them. With 1 in 100 a rate is at most one
    /// percentage point further up than it looks, which is less than what sampling leaves open in the few hundred runs
    /// that a job of CI makes (0 of 300: at most 1 %). With 1 in 10 nothing found could mean one violation in ten
    /// runs, and nobody would call that a pass. None was rejected: an hour's search has a run that meets a limit.
    pub const RUNS_PER_UNDECIDED: u64 = 100;

    /// `hits` and `undecided` of `of` runs.
    ///
    /// # Panics
    /// If both together are more than the runs.
    pub fn new(hits: u64, undecided: u64, of: u64) -> PartlyDecided {
        let some = hits.saturating_add(undecided);
        assert!(
            some <= of,
            "{hits} hits and {undecided} undecided of {of} runs: each run is at most one of them"
        );
        PartlyDecided { hits, undecided, of }
    }

    /// The runs that were never decided.
    pub fn undecided_runs(self) -> u64 {
        self.undecided
    }

    /// True if so few runs are undecided that the others speak for all.
    pub fn is_nearly_all(self) -> bool {
        self.undecided <= self.of / PartlyDecided::RUNS_PER_UNDECIDED
    }

    /// The share of hits, from none of the undecided runs to all of them; none without runs.
    pub fn range(self) -> Option<Interval> {
        self.interval_between(Proportion::estimate, Proportion::estimate)
    }

    /// The interval from the low end without the undecided runs to the high end with them, by Clopper and Pearson; none
    /// without runs. It holds both ends of the range at least as often as the confidence says.
    pub fn exact(self, confidence: Confidence) -> Option<Interval> {
        self.interval_between(
            |few| few.exact(confidence).map(|it| it.low),
            |many| many.exact(confidence).map(|it| it.high),
        )
    }

    /// The same by Wilson's interval.
    pub fn wilson(self, confidence: Confidence) -> Option<Interval> {
        self.interval_between(
            |few| few.wilson(confidence).map(|it| it.low),
            |many| many.wilson(confidence).map(|it| it.high),
        )
    }

    /// The bound that the truth is below with this confidence even if every undecided run was a hit.
    pub fn upper_bound(self, confidence: Confidence) -> Option<f64> {
        self.as_if_hits().upper_bound(confidence)
    }

    /// The runs that were decided, alone.
    pub fn decided_part(self) -> Proportion {
        Proportion::new(self.hits, self.of - self.undecided)
    }

    /// As if no undecided run was a hit.
    pub fn as_if_misses(self) -> Proportion {
        Proportion::new(self.hits, self.of)
    }

    /// As if every undecided run was a hit.
    pub fn as_if_hits(self) -> Proportion {
        Proportion::new(self.hits + self.undecided, self.of)
    }

    fn interval_between(
        self,
        low: impl Fn(Proportion) -> Option<f64>,
        high: impl Fn(Proportion) -> Option<f64>,
    ) -> Option<Interval> {
        Some(Interval { low: low(self.as_if_misses())?, high: high(self.as_if_hits())? })
    }
}
