//! Two designs that ran from the same seeds. Each seed is a pair: what one design met, the other met too.
//!
//! Pairing is what makes small differences visible: seeds in which both designs fail, or neither, say nothing of the
//! difference and add nothing to its spread. Only the seeds in which **both** runs decided the predicate are
//! counted; a run that was inconclusive takes its partner with it, since a pair with one half has no place in the
//! table.
//!
//! The interval is Tango's (T. Tango, Statistics in Medicine 17, 1998): the differences that a score test does not
//! reject. Newcombe's method 10 (Statistics in Medicine 17, 1998) is a closed form, and about as good with many
//! differing pairs. It estimates the correlation from the table, which has no say where counts are near zero, and
//! that is where sweeps are. Tango's has a width for (0, 0), and agrees with McNemar's asymptotic test on whether
//! zero is in it.

use super::{Confidence, Interval};

/// In how many seeds the designs were violated: both, one of them, neither.
///
/// ```
/// use doublehold::statistics::{Confidence, Paired};
///
/// // Without fencing 40 of 1,000 seeds lose a write, with it 10, in 8 of which both do.
/// let designs = Paired { both: 8, only_first: 32, only_second: 2, neither: 958 };
/// let difference = designs.difference().expect("there were pairs");
/// let interval = designs.interval(Confidence::P95).expect("there were pairs");
/// assert_eq!(difference, 0.03);
/// assert!(interval.low > 0.018 && interval.high < 0.044, "{interval:?}");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Paired {
    /// Seeds in which both were violated.
    pub both: u64,
    /// Seeds in which only the first was.
    pub only_first: u64,
    /// Seeds in which only the second was.
    pub only_second: u64,
    /// Seeds in which neither was.
    pub neither: u64,
}

impl Paired {
    /// All pairs.
    pub fn pairs(&self) -> u64 {
        self.both + self.only_first + self.only_second + self.neither
    }

    /// The same with the second design as the first.
    #[must_use]
    pub fn swapped(self) -> Paired {
        Paired { only_first: self.only_second, only_second: self.only_first, ..self }
    }

    /// The first design's rate less the second's; none without pairs.
    pub fn difference(&self) -> Option<f64> {
        let difference = self.only_first as f64 - self.only_second as f64;
        (self.pairs() > 0).then(|| difference / self.pairs() as f64)
    }

    /// Tango's score interval of the difference; none without pairs.
    pub fn interval(&self, confidence: Confidence) -> Option<Interval> {
        let pairs = self.pairs() as f64;
        let (first, second) = (self.only_first as f64, self.only_second as f64);
        let z = confidence.deviations();
        (self.pairs() > 0).then(|| Interval {
            low: -tango_high(second, first, pairs, z),
            high: tango_high(first, second, pairs, z),
        })
    }
}

/// The largest difference that the score test does not reject, by bisection: the statistic falls as the difference
/// grows.
fn tango_high(first: f64, second: f64, pairs: f64, z: f64) -> f64 {
    let is_rejected = |difference: f64| {
        let spread = pairs
            * (2.0 * only_second_given(difference, first, second, pairs) + difference * (1.0 - difference));
        pairs * difference - (first - second) > z * spread.max(0.0).sqrt()
    };
    let (mut low, mut high) = ((first - second) / pairs, 1.0);
    // Far more halvings than it takes to get from one to 10⁻¹² and through a float's digits.
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if is_rejected(middle) { high = middle } else { low = middle }
    }
    high
}

/// The likeliest probability of "only the second" if the rates differ by `difference`: the positive root of a
/// quadratic.
fn only_second_given(difference: f64, first: f64, second: f64, pairs: f64) -> f64 {
    let a = 2.0 * pairs;
    let b = -first - second + (a - first + second) * difference;
    let c = -second * difference * (1.0 - difference);
    let root = (b * b - 4.0 * a * c).max(0.0).sqrt();
    ((root - b) / (2.0 * a)).max(0.0).max(-difference)
}
