//! Two designs that ran from the same seeds. Each seed is a pair: what one design met, the other met too.
//!
//! Pairing is what makes small differences visible: seeds in which both designs fail, or neither, say nothing of the
//! difference and add nothing to its spread. A pair of which one half was never decided has no place in the table.
//! [`PartlyPaired`] counts those beside it, and gives the two tables between which the truth lies.
//!
//! The test is McNemar's, exactly: of two designs that are the same, each seed that tells them apart takes the one side
//! or the other with the chance of a coin. Four seeds on one side and none on the other come with 1 in 8. The
//! asymptotic test, and whether zero is in the interval below, would call that a difference.
//!
//! The interval is Tango's (T. Tango, Statistics in Medicine 17, 1998): the differences that a score test does not
//! reject. Newcombe's method 10 (Statistics in Medicine 17, 1998) is a closed form, and about as good with many
//! differing pairs. It estimates the correlation from the table, which has no say where counts are near zero, and
//! that is where sweeps are. Tango's has a width for (0, 0), and agrees with McNemar's asymptotic test on whether
//! zero is in it.

use std::cmp::Ordering;

use super::{Confidence, Interval, binomial};

/// In how many seeds the designs were violated: both, one of them, neither.
///
/// ```
/// use doublehold_statistics::{Confidence, Paired};
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
    pub fn swap_designs(self) -> Paired {
        Paired { only_first: self.only_second, only_second: self.only_first, ..self }
    }

    /// The first design's rate less the second's; none without pairs.
    pub fn difference(&self) -> Option<f64> {
        let difference = self.only_first as f64 - self.only_second as f64;
        (self.pairs() > 0).then(|| difference / self.pairs() as f64)
    }

    /// The p-value: how often designs that are the same differ in one direction or the other at least as much as these
    /// do. McNemar's exact test, two-sided; 1 if no seed tells them apart.
    pub fn p_value(&self) -> f64 {
        let fewer = self.only_first.min(self.only_second);
        (2.0 * binomial::lower_tail(fewer, self.only_first + self.only_second)).min(1.0)
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

/// Two designs on the same seeds, where some runs were never decided.
///
/// ```
/// use std::cmp::Ordering;
/// use doublehold_statistics::{Paired, PartlyPaired};
///
/// let decided = Paired { both: 0, only_first: 12, only_second: 1, neither: 487 };
/// let pairs = PartlyPaired { decided, ..PartlyPaired::default() };
/// let (which, p_value) = pairs.evidence();
/// assert_eq!(which, Ordering::Greater);
/// assert!((p_value - 28.0 / 8192.0).abs() < 1e-12);
/// // Four runs of the second more may have been violated as well.
/// let pairs = PartlyPaired { held_undecided: 4, ..pairs };
/// assert!(pairs.evidence().1 > 0.1);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartlyPaired {
    /// Seeds that both decided.
    pub decided: Paired,
    /// Seeds in which the first was violated, and the second is undecided.
    pub violated_undecided: u64,
    /// The first held, the second is undecided.
    pub held_undecided: u64,
    /// The first is undecided, the second was violated.
    pub undecided_violated: u64,
    /// The first is undecided, the second held.
    pub undecided_held: u64,
    /// Neither was decided.
    pub both_undecided: u64,
}

impl PartlyPaired {
    /// All pairs, decided or not.
    pub fn pairs(&self) -> u64 {
        self.as_if_lower().pairs()
    }

    /// The same with the second design as the first.
    #[must_use]
    pub fn swap_designs(self) -> PartlyPaired {
        PartlyPaired {
            decided: self.decided.swap_designs(),
            violated_undecided: self.undecided_violated,
            held_undecided: self.undecided_held,
            undecided_violated: self.violated_undecided,
            undecided_held: self.held_undecided,
            both_undecided: self.both_undecided,
        }
    }

    /// As if the first design held in all its undecided runs, and the second was violated in all of its own.
    pub fn as_if_lower(&self) -> Paired {
        Paired {
            both: self.decided.both + self.violated_undecided,
            only_first: self.decided.only_first,
            only_second: self.decided.only_second
                + self.held_undecided
                + self.undecided_violated
                + self.both_undecided,
            neither: self.decided.neither + self.undecided_held,
        }
    }

    /// As if the first design was violated in all its undecided runs, and the second held in all of its own.
    pub fn as_if_higher(&self) -> Paired {
        self.swap_designs().as_if_lower().swap_designs()
    }

    /// In how many seeds the designs may differ.
    pub fn discordant(&self) -> u64 {
        let pairs = self.decided;
        self.pairs() - pairs.both - pairs.neither
    }

    /// The evidence for a difference: greater if the first design is violated more often, and the p-value, whatever the
    /// undecided runs would have come to.
    pub fn evidence(&self) -> (Ordering, f64) {
        let (lower, higher) = (self.as_if_lower(), self.as_if_higher());
        if lower.only_first > lower.only_second {
            (Ordering::Greater, lower.p_value())
        } else if higher.only_first < higher.only_second {
            (Ordering::Less, higher.p_value())
        } else {
            (Ordering::Equal, 1.0)
        }
    }

    /// The difference of the rates, from the low end as if the first design were as low as it may be, to the high end
    /// as if it were as high; none without pairs.
    pub fn interval(&self, confidence: Confidence) -> Option<Interval> {
        let (lower, higher) = (self.as_if_lower(), self.as_if_higher());
        let (low, high) = lower.interval(confidence).zip(higher.interval(confidence))?;
        Some(Interval { low: low.low, high: high.high })
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
