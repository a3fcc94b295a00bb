//! How long things took, over the strata of a cell: a distribution whose parts count by how likely they are.
//!
//! What is exact: how many were seen, and the longest. All else is from buckets of one part in 32, so that a quantile
//! is at most 3 % off.

use std::collections::BTreeMap;

use doublehold_scenarios::sweep::Durations;

/// Durations, each with how often it is met.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spread {
    /// How many were seen.
    pub(crate) count: u64,
    /// The longest, in seconds.
    pub(crate) longest: f64,
    /// The mass of each bucket, by its beginning in microseconds.
    masses: BTreeMap<u64, f64>,
    mass: f64,
    /// The mass times the mean, in seconds.
    sum: f64,
}

impl Spread {
    /// Adds durations of which each counts for so much.
    pub(crate) fn add(&mut self, durations: &Durations, each: f64) {
        self.count += durations.count;
        self.longest = self.longest.max(durations.max_ns as f64 / 1e9);
        self.mass += durations.count as f64 * each;
        self.sum += durations.sum_us as f64 / 1e6 * each;
        for (bucket, count) in &durations.buckets {
            *self.masses.entry(*bucket).or_default() += *count as f64 * each;
        }
    }

    /// What that share of them is not longer than, in seconds; none without any.
    pub(crate) fn quantile(&self, share: f64) -> Option<f64> {
        let wanted = self.mass * share;
        let mut below = 0.0;
        let reached = |(bucket, mass): (&u64, &f64)| {
            below += mass;
            (below >= wanted * (1.0 - 1e-12)).then_some(*bucket)
        };
        let bucket = self.masses.iter().find_map(reached)?;
        Some(middle(bucket).min(self.longest))
    }

    /// Their mean in seconds.
    pub(crate) fn mean(&self) -> Option<f64> {
        (self.mass > 0.0).then(|| self.sum / self.mass)
    }

    /// How far the mean of so many may be off: 1.96 standard errors. None for fewer than two.
    pub(crate) fn mean_error(&self) -> Option<f64> {
        let mean = self.mean().filter(|_| self.count > 1)?;
        let squares: f64 =
            self.masses.iter().map(|(bucket, mass)| (middle(*bucket) - mean).powi(2) * mass).sum();
        let count = self.count as f64;
        let variance = squares / self.mass * count / (count - 1.0);
        Some(1.96 * (variance / count).sqrt())
    }

    /// The share that is at most so long, after each bucket: `(seconds, share)`.
    pub(crate) fn steps(&self) -> Vec<(f64, f64)> {
        let mut below = 0.0;
        let step = |(bucket, mass): (&u64, &f64)| {
            below += mass;
            (middle(*bucket).min(self.longest), below / self.mass)
        };
        self.masses.iter().map(step).collect()
    }
}

/// The middle of the bucket that begins at so many microseconds, in seconds.
fn middle(bucket: u64) -> f64 {
    let digits = u64::BITS - bucket.leading_zeros();
    let width = 1u64 << digits.saturating_sub(5);
    (bucket as f64 + width as f64 / 2.0) / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    fn durations(ms: &[u64]) -> Durations {
        let mut durations = Durations::default();
        ms.iter().for_each(|ms| durations.add(ms * 1_000_000));
        durations
    }

    #[test]
    fn quantiles_are_near_what_was_counted_and_never_above_the_longest() {
        let mut spread = Spread::default();
        spread.add(&durations(&(1..=100).collect::<Vec<u64>>()), 1.0);
        for (share, expected) in [(0.5, 0.050), (0.99, 0.099), (1.0, 0.1)] {
            let got = spread.quantile(share).expect("there are some");
            assert!((got / expected - 1.0).abs() < 0.04, "{share}: {got}");
            assert!(got <= 0.1);
        }
        assert!((spread.mean().expect("some") - 0.0505).abs() < 1e-9);
        // The standard deviation of 1 to 100 is 29.
        assert!((spread.mean_error().expect("some") - 1.96 * 0.02901 / 10.0).abs() < 1e-4);
    }

    #[test]
    fn a_rare_stratum_counts_little() {
        let mut spread = Spread::default();
        spread.add(&durations(&[10; 10]), 0.999 / 10.0);
        spread.add(&durations(&[5_000; 1_000]), 0.001 / 1_000.0);
        assert!(spread.quantile(0.5).expect("some") < 0.011);
        assert!(spread.quantile(0.9995).expect("some") > 4.8);
        assert_eq!(spread.count, 1_010);
    }

    #[test]
    fn nothing_has_no_quantile() {
        let none = Spread::default();
        assert_eq!((none.quantile(0.5), none.mean(), none.mean_error()), (None, None, None));
        let mut one = Spread::default();
        one.add(&durations(&[7]), 1.0);
        assert_eq!(one.mean_error(), None);
        assert!(one.steps().len() == 1);
    }
}
