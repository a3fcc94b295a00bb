//! How long things took, over the strata of a cell: a distribution whose parts count by how likely they are.
//!
//! What is exact: how many were seen, and the longest. All else is from buckets of one part in 32, so that a quantile
//! is at most 3 % off. Durations of one run are taken to be independent.

use std::collections::BTreeMap;

use doublehold_sweeps::sweep::Durations;

/// So many durations make a median: with fewer, half of what others drew would lie outside of all that was seen more
/// often than one time in twenty (2 × (1/2)⁵ of five).
pub(crate) const FEWEST: f64 = 6.0;

/// Durations, each with how often it is met.
#[derive(Clone, Debug, Default)]
pub(crate) struct Distribution {
    /// How many were seen.
    pub(crate) count: u64,
    /// The longest, in seconds.
    pub(crate) longest: f64,
    /// The mass of each bucket, by its beginning in microseconds, and the sum of the squares of what each duration in
    /// it counts for.
    masses: BTreeMap<u64, (f64, f64)>,
    mass: f64,
    squares: f64,
    /// The mass times the mean, in seconds.
    sum: f64,
}

impl Distribution {
    /// Adds durations of which each counts for so much.
    pub(crate) fn add(&mut self, durations: &Durations, each: f64) {
        self.count += durations.count;
        self.longest = self.longest.max(durations.max_ns as f64 / 1e9);
        self.mass += durations.count as f64 * each;
        self.squares += durations.count as f64 * each * each;
        self.sum += durations.sum_us as f64 / 1e6 * each;
        for (bucket, count) in &durations.buckets {
            let (mass, squares) = self.masses.entry(*bucket).or_default();
            *mass += *count as f64 * each;
            *squares += *count as f64 * each * each;
        }
    }

    /// All that its durations count for.
    pub(crate) fn mass(&self) -> f64 {
        self.mass
    }

    /// The effective sample size: the number of equally weighted durations that would say as much (L. Kish, "Survey
    /// Sampling", 1965).
    pub(crate) fn effective(&self) -> f64 {
        if self.squares > 0.0 { self.mass * self.mass / self.squares } else { 0.0 }
    }

    /// The quantile, in seconds: this share of the durations is not longer. None from a handful: fewer than [`FEWEST`],
    /// or fewer than it takes for one to lie beyond it on average (100 for 99 %), where it would be the longest by
    /// another name.
    pub(crate) fn quantile(&self, share: f64) -> Option<f64> {
        let fewest = FEWEST.max(1.0 / (1.0 - share));
        (self.effective() >= fewest * (1.0 - 1e-9)).then(|| self.quantile_at(share)).flatten()
    }

    /// The same, however few there are.
    fn quantile_at(&self, share: f64) -> Option<f64> {
        let wanted = self.mass * share;
        let mut below = 0.0;
        let reached = |(bucket, (mass, _)): (&u64, &(f64, f64))| {
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

    /// The margin of error of the mean: 1.96 standard errors, where each duration counts by its weight. None if all of
    /// them say no more than one would.
    pub(crate) fn mean_error(&self) -> Option<f64> {
        let (mean, effective) = (self.mean()?, self.effective());
        if effective <= 1.0 + 1e-9 {
            return None;
        }
        let off = |(bucket, (_, squares)): (&u64, &(f64, f64))| (middle(*bucket) - mean).powi(2) * squares;
        let squares: f64 = self.masses.iter().map(off).sum();
        let variance = squares / (self.mass * self.mass) * effective / (effective - 1.0);
        Some(1.96 * variance.sqrt())
    }

    /// The share that is at most so long, after each bucket: `(seconds, share)`.
    pub(crate) fn steps(&self) -> Vec<(f64, f64)> {
        let mut below = 0.0;
        let step = |(bucket, (mass, _)): (&u64, &(f64, f64))| {
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
        let mut spread = Distribution::default();
        spread.add(&durations(&(1..=100).collect::<Vec<u64>>()), 1.0);
        for (share, expected) in [(0.5, 0.050), (0.9, 0.09), (0.99, 0.099)] {
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
        let mut spread = Distribution::default();
        spread.add(&durations(&[10; 10]), 0.999 / 10.0);
        spread.add(&durations(&[5_000; 1_000]), 0.001 / 1_000.0);
        assert!(spread.quantile(0.5).expect("some") < 0.011);
        assert!(spread.quantile_at(0.9995).expect("some") > 4.8);
        assert_eq!((spread.count, spread.quantile(0.99)), (1_010, None), "they say as much as ten");
    }

    /// A tenth of the deaths is seen in runs that count for nine tenths: what those say is worth ten of them.
    #[test]
    fn a_mean_of_strata_is_as_uncertain_as_its_heaviest_part() {
        let mut spread = Distribution::default();
        let (few, many) = ([100, 300, 200, 400, 500, 100, 300, 200, 400, 500], [2_000; 90]);
        spread.add(&durations(&few), 0.9 / 10.0);
        spread.add(&durations(&many), 0.1 / 90.0);
        let mean = 0.9 * 0.3 + 0.1 * 2.0;
        let off = |ms: &u64, each: f64| (*ms as f64 / 1e3 - mean).powi(2) * each * each;
        let squares: f64 =
            few.iter().map(|ms| off(ms, 0.09)).chain(many.iter().map(|ms| off(ms, 0.1 / 90.0))).sum();
        let effective = 1.0 / (10.0 * 0.09 * 0.09 + 90.0 * (0.1_f64 / 90.0).powi(2));
        assert!((spread.effective() - effective).abs() < 1e-9 && effective < 13.0, "{effective}");
        let expected = 1.96 * (squares * effective / (effective - 1.0)).sqrt();
        let got = spread.mean_error().expect("some");
        assert!((got / expected - 1.0).abs() < 0.02, "{got} and {expected}");
    }

    #[test]
    fn a_handful_has_a_number_and_no_quantiles() {
        for (count, median, high) in
            [(5, false, false), (6, true, false), (99, true, false), (100, true, true)]
        {
            let mut spread = Distribution::default();
            spread.add(&durations(&vec![7; count]), 0.25);
            assert_eq!(
                (spread.quantile(0.5).is_some(), spread.quantile(0.99).is_some()),
                (median, high),
                "{count}"
            );
        }
    }

    #[test]
    fn nothing_has_no_quantile() {
        let none = Distribution::default();
        assert_eq!((none.quantile(0.5), none.mean(), none.mean_error()), (None, None, None));
        let mut one = Distribution::default();
        one.add(&durations(&[7]), 1.0);
        assert_eq!(one.mean_error(), None);
        assert!(one.steps().len() == 1);
    }
}
