//! From violations per run to violations per grant or per hour.
//!
//! The rate per grant is violations per run over grants per run: both are means over runs, so that grants of one
//! run, which are not independent, need not be. Grants per run vary, and the mean of those that were run is not
//! exact, so the ratio has errors of both. They are combined by MOVER for ratios (A. Donner and G. Y. Zou,
//! Statistical Methods in Medical Research 21, 2012), which keeps the numerator's interval uneven. The delta method
//! would make it even, which is wrong for few violations. Where the mean is known exactly, it is the interval
//! divided by it.
//!
//! Numerator and denominator are taken to be independent, though they come from the same runs. That matters only
//! where the mean's error is not far below the rate's, and so not where violations are rare: with `k` violations in
//! `n` runs the first is the smaller one by `√(n / k)` or more, unless grants vary by more than their mean.

use super::{Confidence, Estimate, Interval, Reason, Unsupported};

/// The strata whose mean is known must make up nearly all runs: the others may have more or less of it.
const LEAST_COVERED: f64 = 0.99;

/// Something counted in each run (grants, milliseconds): how many runs, the sum, and the sum of squares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MeanPerRun {
    /// How many runs.
    pub runs: u64,
    /// Of all runs.
    pub sum: u128,
    /// Of the squares of each run's.
    pub sum_of_squares: u128,
}

impl MeanPerRun {
    /// The mean and the variance of the mean; none for fewer than two runs, which show no spread.
    fn moments(&self) -> Option<(f64, f64)> {
        if self.runs < 2 {
            return None;
        }
        let runs = self.runs as f64;
        let mean = self.sum as f64 / runs;
        // The difference cancels where the spread is a hundred-millionth of the mean. It matters to nobody then.
        let variance = ((self.sum_of_squares as f64 - mean * self.sum as f64) / (runs - 1.0)).max(0.0);
        Some((mean, variance / runs))
    }
}

/// What violations are counted by: grants, or hours.
///
/// The strata without a fault belong here even if no violation is possible in them: they are where nearly all the
/// grants are.
///
/// ```
/// use doublehold_statistics::{Confidence, Exposure, MeanPerRun, Proportion, Stratified};
///
/// let confidence = Confidence::P95;
/// let per_run = Stratified::from_proportion(Proportion::new(400, 10_000)).estimate(confidence);
/// // Ten grants in each run.
/// let grants = MeanPerRun { runs: 10_000, sum: 100_000, sum_of_squares: 1_000_000 };
/// let grants = Exposure { strata: vec![(1.0, grants)], unit: 1.0 };
/// let per_grant = grants.rate(per_run, confidence).expect("there are violations enough");
/// assert_eq!(per_grant.value, 0.004);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Exposure {
    /// The probability of each stratum, and what its runs had.
    pub strata: Vec<(f64, MeanPerRun)>,
    /// How much of what was counted makes one: 1 for grants, 3.6 × 10⁶ for hours where milliseconds were counted.
    pub unit: f64,
}

impl Exposure {
    /// The mean per run, in units, and its interval; none if it is unknown for a hundredth of the runs or more.
    pub fn mean(&self, confidence: Confidence) -> Option<(f64, Interval)> {
        let (mut covered, mut mean, mut variance) = (0.0, 0.0, 0.0);
        for (weight, of) in &self.strata {
            let Some((of_stratum, spread)) = of.moments() else { continue };
            covered += weight;
            mean += weight * of_stratum;
            variance += weight * weight * spread;
        }
        if covered < LEAST_COVERED {
            return None;
        }
        let scale = covered * self.unit;
        let (mean, spread) = (mean / scale, confidence.deviations() * variance.sqrt() / scale);
        Some((mean, Interval { low: mean - spread, high: mean + spread }))
    }

    /// A rate per run as one per unit. What is refused per run is refused here, with its bound per unit.
    ///
    /// # Errors
    /// [`Unsupported`] if the rate per run is, or if the mean is unknown or may be zero.
    pub fn rate(
        &self,
        per_run: Result<Estimate, Unsupported>,
        confidence: Confidence,
    ) -> Result<Estimate, Unsupported> {
        let mean = self.mean(confidence).filter(|(_, interval)| interval.low > 0.0);
        let Some((mean, ends)) = mean else {
            return Err(Unsupported { reason: Reason::NoExposure, at_most: None });
        };
        let Estimate { value, interval, plain_runs } =
            per_run.map_err(|Unsupported { reason, at_most }| Unsupported {
                reason: match reason {
                    Reason::Undecided { range, interval } => Reason::Undecided {
                        range: Interval { low: range.low / mean, high: range.high / mean },
                        interval: Interval { low: interval.low / ends.high, high: interval.high / ends.low },
                    },
                    other => other,
                },
                at_most: at_most.map(|bound| bound / ends.low),
            })?;
        // Both errors of the mean are alike, and relative.
        let error = (mean - ends.low) / mean;
        let side = |own: f64, sign: f64| {
            let both = (value * error).powi(2) + own * own * (1.0 - error * error);
            (value + sign * both.sqrt()) / (mean * (1.0 - error * error))
        };
        let interval = Interval {
            low: side(value - interval.low, -1.0).max(0.0),
            high: side(interval.high - value, 1.0),
        };
        Ok(Estimate { value: value / mean, interval, plain_runs })
    }
}
