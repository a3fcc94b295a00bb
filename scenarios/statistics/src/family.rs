//! Many comparisons at once, and which of them are told apart. If all designs of a page are the same, it says of none
//! that it differs, nineteen times in twenty.
//!
//! Eleven designs are 55 pairs, and six predicates make 330 comparisons: each on its own at 95 %, a page of designs
//! that are the same tells up to sixteen apart. So the bar is raised, in two ways. Both keep the chance of even one
//! false difference on a page below one minus the confidence, however comparisons depend on each other:
//!
//! - [`holm`] for comparisons that have a p-value (S. Holm, Scandinavian Journal of Statistics 6, 1979);
//! - [`simultaneous`] for intervals, of which all hold at once, by Bonferroni.
//!
//! Rejected: Benjamini and Hochberg's procedure, which tells more apart. It limits the share of false ones among those
//! that are told apart, over many pages. A reader takes one sentence of one page, and has no share.

use super::Confidence;

/// A comparison that is tested.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// The chance that two that are the same look at least so different.
    pub p_value: f64,
    /// In how many seeds the two may differ.
    pub discordant: u64,
}

impl Comparison {
    /// True if it could be told apart on its own, if all seeds that differ were on one side. A comparison that could
    /// not is not an attempt that has to be paid for: how many seeds differ says nothing of the side they are on.
    fn could_be_apart(&self, miss: f64) -> bool {
        // 2 × (1/2)^n
        2.0 * 0.5_f64.powf(self.discordant as f64) <= miss
    }
}

/// Tells of each comparison, in their order, whether it is told apart among all of them: Holm's procedure.
///
/// ```
/// use doublehold_statistics::{Confidence, Comparison, holm};
///
/// let of = |p_value| Comparison { p_value, discordant: 20 };
/// assert_eq!(holm(&[of(0.03), of(0.001), of(0.04)], Confidence::P95), [false, true, false]);
/// assert_eq!(holm(&[of(0.03), of(0.001)], Confidence::P95), [true, true]);
/// ```
pub fn holm(comparisons: &[Comparison], confidence: Confidence) -> Vec<bool> {
    let miss = confidence.miss();
    let mut order: Vec<usize> = (0..comparisons.len()).collect();
    order.retain(|place| comparisons[*place].could_be_apart(miss));
    order.sort_by(|one, other| comparisons[*one].p_value.total_cmp(&comparisons[*other].p_value));
    let mut apart = vec![false; comparisons.len()];
    let passes =
        |(done, place): &(usize, &usize)| comparisons[**place].p_value <= miss / (order.len() - done) as f64;
    order.iter().enumerate().take_while(passes).for_each(|(_, place)| apart[*place] = true);
    apart
}

/// The number of standard deviations that so many intervals need on each side for all of them to hold at once, as often
/// as the confidence says.
pub fn simultaneous(intervals: usize, confidence: Confidence) -> f64 {
    let tail = confidence.miss() / 2.0 / intervals.max(1) as f64;
    let (mut low, mut high) = (0.0, 40.0);
    // Enough halvings for a float's digits.
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if 0.5 * libm::erfc(middle / std::f64::consts::SQRT_2) > tail { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_interval_needs_the_deviations_of_its_confidence() {
        for confidence in [Confidence::P90, Confidence::P95, Confidence::P99] {
            assert!((simultaneous(1, confidence) - confidence.deviations()).abs() < 1e-12);
        }
        // By Python's `statistics`: the quantile of one minus 0.025 / 66 and 0.025 / 30,000.
        for (intervals, expected) in [(66, 3.367_847_180_032_718), (30_000, 4.790_137_978_787_522)] {
            let got = simultaneous(intervals, Confidence::P95);
            assert!((got - expected).abs() < 1e-9, "{intervals}: {got}");
        }
    }

    #[test]
    fn what_could_never_be_told_apart_costs_nothing() {
        let strong = Comparison { p_value: 0.04, discordant: 30 };
        let hopeless = Comparison { p_value: 0.0625, discordant: 5 };
        assert_eq!(holm(&[hopeless, strong, hopeless], Confidence::P95), [false, true, false]);
        let possible = Comparison { p_value: 0.7, discordant: 6 };
        assert_eq!(holm(&[possible, strong], Confidence::P95), [false, false]);
    }
}
