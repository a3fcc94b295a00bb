//! Hits among independent runs. Pure arithmetic: the ends are exact where the counts are none or all.
//!
//! Two intervals, for two uses. Wilson's is right on average, so that it is what is drawn and what others are made
//! of; for single probabilities it covers less than it says (84 % at worst, near 0.18 expected hits). Clopper and
//! Pearson's never covers less, and is wider. Wald's (estimate ± two standard errors) is neither: it has no width at
//! zero hits.

use super::{Confidence, Interval, binomial};

/// So many hits of so many independent runs.
///
/// ```
/// use doublehold_statistics::{Confidence, Proportion};
///
/// let quiet = Proportion::new(0, 3_000);
/// let bound = quiet.upper_bound(Confidence::P95).expect("there were runs");
/// assert!((bound - 0.001).abs() < 2e-6, "the rule of three: at most 3 of 3,000, {bound}");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proportion {
    hits: u64,
    of: u64,
}

impl Proportion {
    /// `hits` of `of` runs.
    ///
    /// # Panics
    /// If there are more hits than runs.
    pub fn new(hits: u64, of: u64) -> Proportion {
        assert!(hits <= of, "{hits} hits of {of} runs: each run is at most one");
        Proportion { hits, of }
    }

    /// The hits.
    pub fn hits(self) -> u64 {
        self.hits
    }

    /// The runs.
    pub fn runs(self) -> u64 {
        self.of
    }

    /// The share of hits; none without runs.
    pub fn estimate(self) -> Option<f64> {
        (self.of > 0).then(|| self.hits as f64 / self.of as f64)
    }

    /// Wilson's score interval (E. B. Wilson, JASA 22, 1927); none without runs.
    pub fn wilson(self, confidence: Confidence) -> Option<Interval> {
        let z = confidence.deviations();
        self.smaller_half_interval(|hits, of| wilson(hits as f64, of as f64, z))
    }

    /// Clopper and Pearson's exact interval (Biometrika 26, 1934); none without runs.
    pub fn exact(self, confidence: Confidence) -> Option<Interval> {
        let tail = confidence.miss() / 2.0;
        let z = confidence.deviations();
        self.smaller_half_interval(|hits, of| {
            let near = wilson(hits as f64, of as f64, z);
            let low = if hits == 0 { 0.0 } else { binomial::low_end(hits, of, tail, near.low) };
            Interval { low, high: binomial::high_end(hits, of, tail, near.high) }
        })
    }

    /// The bound that the truth is below with this confidence, one-sided and exact: the probability at which so few
    /// hits are seen only as often as the confidence misses. For no hits of n runs at 95 % it is near 3/n, the rule
    /// of three.
    pub fn upper_bound(self, confidence: Confidence) -> Option<f64> {
        if self.of == 0 {
            return None;
        }
        if self.hits == self.of {
            return Some(1.0);
        }
        let tail = confidence.miss();
        let z = confidence.deviations();
        if self.hits <= self.of / 2 {
            let near = wilson(self.hits as f64, self.of as f64, z).high;
            return Some(binomial::high_end(self.hits, self.of, tail, near));
        }
        let misses = self.of - self.hits;
        let near = wilson(misses as f64, self.of as f64, z).low;
        Some(1.0 - binomial::low_end(misses, self.of, tail, near))
    }

    /// An interval of a share of at most a half, or the mirror image of the misses': near one, one minus the value
    /// has the digits that matter.
    fn smaller_half_interval(self, interval: impl Fn(u64, u64) -> Interval) -> Option<Interval> {
        let Proportion { hits, of } = self;
        match of {
            0 => None,
            _ if hits <= of / 2 => Some(interval(hits, of)),
            _ => Some(interval(of - hits, of).complement()),
        }
    }
}

/// Wilson's interval. The low end is computed from the product of both, since their difference would cancel.
fn wilson(hits: f64, of: f64, z: f64) -> Interval {
    let square = z * z;
    let spread = z * (hits * (of - hits) / of + square / 4.0).sqrt();
    let high = (hits + square / 2.0 + spread) / (of + square);
    Interval { low: hits * hits / of / ((of + square) * high), high }
}
