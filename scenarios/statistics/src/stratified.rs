//! Rare violations, from runs that were forced to have faults.
//!
//! Where a long pause strikes once in 10⁵ runs, counting plain runs finds nothing. Instead all runs are divided into
//! strata (no fault, one pause, two pauses, a pause and a failover, ...) whose probabilities are known exactly from
//! the rates of the faults, and each stratum is run on its own. The rate is the sum of weight times share of
//! violations.
//!
//! # The interval
//!
//! It is the score interval, as Wilson's is for one proportion and Tango's for pairs: all rates `r` for which the
//! estimate is no more than so many standard deviations away, where the deviation is that of the likeliest shares
//! whose weighted sum is `r` (A. Martín Andrés and others, Statistical Methods in Medical Research 20, 2011). For
//! one stratum it is Wilson's, for many alike it is Wilson's of all their runs together.
//!
//! MOVER, which adds the squares of the errors of each stratum's Wilson interval, was tried first. It is a closed
//! form, and too low and too narrow where many strata have few violations each: its 95 % interval held the truth in
//! 92.4 % with twelve strata of five expected violations each, and with one each in 83 % of what was
//! stated.
//!
//! **Strata without a violation** widen the high end, the more the heavier they are and the fewer their runs. The
//! likeliest shares are zero in all of them until the rate in question is so high that the one with the largest
//! weight per run is needed to explain it. So many silent strata do not add up to more doubt than there is: their
//! chances of silence multiply. Where no stratum has a violation, the bound is exact: the largest rate at which all
//! are silent only as often as the confidence misses, near `3 max(w / n)` at 95 %, the rule of three. A stratum in
//! which nothing can happen is to be said to be [`Part::Impossible`].
//!
//! **What was not run** can be violated never or always. Its whole weight goes to the high end. **Undecided runs** are
//! the same in their stratum: the low end counts them as if they held, the high end as if they were violated. The
//! number between is of those that decided, and is stated only where the others can hardly matter.
//!
//! # When there is no number
//!
//! [`Unsupported`] says why, and gives the bound that there is all the same. All limits are relative: a rate of
//! 10⁻¹² is as good as one of 1/2.

use std::fmt;

use doublehold_text::several;

use super::rates::{Scale, range_words};
use super::score::{self, Weighted};
use super::{Confidence, Interval, PartlyDecided, Proportion};

/// An interval must be as narrow as that of so many violations in plain runs. It then ends at less than six times
/// its low end. Below that even the order of magnitude is unknown, and Wilson's interval covers less than it says.
const FEWEST_VIOLATIONS: f64 = 5.0;

/// Strata that were not run may weigh a tenth of the estimate: as much as is lost in the two digits that are shown.
const MOST_UNEXPLORED: f64 = 0.1;

/// Undecided runs may be a tenth of those that are violated, or of those that hold if they are fewer: as much as what
/// was not run, and for the same reason. A share of all runs was rejected: one undecided run in a hundred is nothing
/// beside a rate of a half, and ten times a rate of one in a thousand.
const MOST_UNDECIDED: f64 = 0.1;

/// What is known of the runs of a stratum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Part {
    /// They were run: so many are violated, and so many undecided.
    Counted(PartlyDecided),
    /// They cannot be violated, whatever the seed: the predicate needs a fault, and there is none.
    Impossible,
}

/// Runs that have the same faults in number and kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stratum {
    /// The exact probability that a run is of this kind.
    pub weight: f64,
    /// What is known of them.
    pub part: Part,
}

/// All runs, divided.
///
/// ```
/// use doublehold_statistics::{Confidence, Part, PartlyDecided, Stratified, Stratum};
///
/// let runs = Stratified {
///     strata: vec![
///         Stratum { weight: 0.9998, part: Part::Impossible },
///         Stratum { weight: 1e-4, part: Part::Counted(PartlyDecided::new(300, 0, 10_000)) },
///         Stratum { weight: 1e-8, part: Part::Counted(PartlyDecided::new(900, 0, 1_000)) },
///     ],
///     unexplored: 1e-12,
/// };
/// let rate = runs.estimate(Confidence::P95).expect("there are violations enough");
/// assert!((rate.value - 3.009e-6).abs() < 1e-12);
/// assert!(rate.plain_runs > 9e7, "as good as a hundred million plain runs: {}", rate.plain_runs);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stratified {
    /// Those that were run or that need not be. One without a run counts as unexplored.
    pub strata: Vec<Stratum>,
    /// The probability of all others.
    pub unexplored: f64,
}

/// A rate that can be stated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The rate.
    pub value: f64,
    /// Where the truth lies.
    pub interval: Interval,
    /// The effective sample size: how many plain runs would give an interval as narrow.
    pub plain_runs: f64,
}

/// A rate of which the ends are known: from as if all undecided runs held, to as if all were violated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Between {
    /// The rate at both ends.
    pub range: Interval,
    /// The interval around both ends: what chance leaves open below the one and above the other.
    pub interval: Interval,
}

impl Between {
    /// True if this rate is below another for certain, whatever undecided runs come to: the interval of the difference,
    /// by MOVER for differences (G. Y. Zou and A. Donner, Statistics in Medicine 27, 2008), is below zero. Both are
    /// taken as independent, which tells fewer apart where the same seeds make both higher or lower.
    pub fn is_below(&self, other: &Between) -> bool {
        let difference = other.range.low - self.range.high;
        let errors = (self.interval.high - self.range.high).hypot(other.range.low - other.interval.low);
        difference > errors
    }
}

/// Why there is no rate to state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unsupported {
    /// What is missing.
    pub reason: Reason,
    /// The upper bound of the rate, if anything was decided. If no violation was seen and nothing is undecided, it is
    /// an exact one-sided bound; else it is the high end of the interval.
    pub at_most: Option<f64>,
}

/// What is missing for a rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reason {
    /// No run decided.
    NothingDecided,
    /// No stratum shows a violation.
    NoneSeen {
        /// The number of runs that decided.
        runs: u64,
        /// The number of runs that did not, which count towards the bound.
        undecided: u64,
    },
    /// So many runs are undecided that the rate depends on what they would have come to.
    Undecided {
        /// The rate if all of them held, and if all were violated.
        range: Interval,
        /// The same with what chance leaves open.
        interval: Interval,
    },
    /// What was not run may weigh more than a tenth of what was found.
    Unexplored {
        /// Its weight, over the estimate.
        share: f64,
    },
    /// There are violations, and too few in strata that matter.
    TooUncertain {
        /// An interval as wide has so many violations in plain runs.
        violations: f64,
    },
    /// It is asked for per grant or per hour, and runs may have none.
    NoExposure,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reason {
            Reason::NothingDecided => f.write_str("no run decided whether it is violated"),
            Reason::NoneSeen { runs, undecided: 0 } => {
                let runs = several(runs, "run");
                write!(f, "no violation was seen in {runs}: there is only an upper bound; make more runs")
            }
            Reason::NoneSeen { runs, undecided } => {
                let (runs, more) = (several(runs, "run"), several(undecided, "more run"));
                write!(f, "no violation was seen in {runs}, and {more} may have one: there is only an upper bound")
            }
            Reason::Undecided { range, interval } => {
                let range = range_words(range, interval, Scale::Share);
                write!(f, "too many runs are undecided: it is {range}; give runs more time to decide")
            }
            Reason::Unexplored { share } if share >= 1.0 => {
                write!(f, "what was not run weighs {share:.1} times what was found: try more faults at once")
            }
            Reason::Unexplored { share } => write!(
                f,
                "what was not run weighs {:.0} % of what was found: try more faults at once",
                share * 100.0
            ),
            Reason::TooUncertain { violations } => write!(
                f,
                "as uncertain as {:.1} violations in plain runs, fewer than {FEWEST_VIOLATIONS}: make more runs",
                // Rounded down: 4.97 are not five.
                (violations * 10.0 + 1e-9).floor() / 10.0
            ),
            Reason::NoExposure => f.write_str(
                "what it is counted by is unknown in a hundredth of the runs or more, or may be zero: make more runs",
            ),
        }
    }
}

impl std::error::Error for Unsupported {}

impl Stratified {
    /// Plain runs: one stratum that is everything.
    pub fn from_proportion(part: Proportion) -> Stratified {
        let part = Part::Counted(PartlyDecided::new(part.hits(), 0, part.runs()));
        Stratified { strata: vec![Stratum { weight: 1.0, part }], unexplored: 0.0 }
    }

    /// The rate and its interval.
    ///
    /// # Errors
    /// [`Unsupported`] if there are too few violations for one, or if too much was not run or not decided.
    ///
    /// # Panics
    /// If weights are no probabilities, or come to more than one.
    pub fn estimate(&self, confidence: Confidence) -> Result<Estimate, Unsupported> {
        self.assert_weights();
        let unsupported = |reason, at_most| Err(Unsupported { reason, at_most });
        let decided = self.weigh_parts(PartlyDecided::decided_part);
        let sum = |of: fn(PartlyDecided) -> u64| self.parts().map(|(_, part)| of(part)).sum::<u64>();
        let (runs, undecided) = (sum(|part| part.decided_part().runs()), sum(PartlyDecided::undecided_runs));
        let unexplored = self.unexplored_weight();
        if runs == 0 {
            return unsupported(Reason::NothingDecided, None);
        }
        let z = confidence.deviations();
        if decided.iter().all(|stratum| stratum.part.hits() == 0) {
            let bound = match undecided {
                0 => silent_bound(&decided, confidence),
                _ => score::interval(&self.weigh_parts(PartlyDecided::as_if_hits), z).1.high,
            };
            return unsupported(Reason::NoneSeen { runs, undecided }, Some((bound + unexplored).min(1.0)));
        }
        let (value, of_decided) = score::interval(&decided, z);
        let (range, of_runs) = self.both_ways(z);
        let interval = Interval { high: (of_runs.high + unexplored).min(1.0), ..of_runs };
        // Five of so many plain runs are five: the way back is right to twelve digits.
        let is_enough = |plain: f64| value * plain >= FEWEST_VIOLATIONS * (1.0 - 1e-9);
        let too_few =
            |plain: f64| unsupported(Reason::TooUncertain { violations: value * plain }, Some(interval.high));
        // Before what was not run or not decided is blamed: without it these runs would be as uncertain.
        let of_decided = plain_runs(value, of_decided, z);
        if !is_enough(of_decided) {
            return too_few(of_decided);
        }
        if undecided_matter(range) {
            let range = Interval { high: (range.high + unexplored).min(1.0), ..range };
            return unsupported(Reason::Undecided { range, interval }, Some(interval.high));
        }
        if unexplored > MOST_UNEXPLORED * value {
            return unsupported(Reason::Unexplored { share: unexplored / value }, Some(interval.high));
        }
        let plain_runs = plain_runs(value, interval, z);
        if !is_enough(plain_runs) {
            return too_few(plain_runs);
        }
        Ok(Estimate { value, interval, plain_runs })
    }

    /// The ends of the rate, also if no number can be stated: as if all undecided runs held, and as if they were
    /// violated and all that was not run too. None without a run that decided.
    pub fn rate_range(&self, deviations: f64) -> Option<Between> {
        self.parts().any(|(_, part)| part.decided_part().runs() > 0).then(|| {
            let unexplored = self.unexplored_weight();
            let further = |it: Interval| Interval { high: (it.high + unexplored).min(1.0), ..it };
            let (range, interval) = self.both_ways(deviations);
            Between { range: further(range), interval: further(interval) }
        })
    }

    /// The rate as if all undecided runs held and as if all were violated, and the interval around both.
    fn both_ways(&self, z: f64) -> (Interval, Interval) {
        let (low, around_low) = score::interval(&self.weigh_parts(PartlyDecided::as_if_misses), z);
        let (high, around_high) = score::interval(&self.weigh_parts(PartlyDecided::as_if_hits), z);
        (Interval { low, high }, Interval { low: around_low.low, high: around_high.high })
    }

    /// The weights and counts of strata that were run.
    fn parts(&self) -> impl Iterator<Item = (f64, PartlyDecided)> {
        self.strata.iter().filter_map(|stratum| match stratum.part {
            Part::Counted(part) if stratum.weight > 0.0 => Some((stratum.weight, part)),
            _ => None,
        })
    }

    /// The same with undecided runs counted in one of the ways; without strata that then have no run.
    fn weigh_parts(&self, of: fn(PartlyDecided) -> Proportion) -> Vec<Weighted> {
        let weighted = self.parts().map(|(weight, part)| Weighted { weight, part: of(part) });
        weighted.filter(|stratum| stratum.part.runs() > 0).collect()
    }

    /// The weight of all that could be violated and was not run.
    fn unexplored_weight(&self) -> f64 {
        let silent = |stratum: &&Stratum| match stratum.part {
            Part::Counted(part) => part.as_if_misses().runs() == 0,
            _ => false,
        };
        self.unexplored + self.strata.iter().filter(silent).map(|stratum| stratum.weight).sum::<f64>()
    }

    fn assert_weights(&self) {
        let weights = self.strata.iter().map(|stratum| stratum.weight).chain([self.unexplored]);
        let mut sum = 0.0;
        for weight in weights {
            assert!(
                (0.0..=1.0 + 1e-9).contains(&weight),
                "a stratum's weight is a probability, and not {weight}"
            );
            sum += weight;
        }
        assert!(sum <= 1.0 + 1e-9, "the strata's weights come to {sum}, more than one: some overlap");
    }
}

/// True if the undecided runs are too many for a number that leaves them out; given the rate as if all of them held,
/// and as if all were violated.
pub fn undecided_matter(range: Interval) -> bool {
    // A tenth is a tenth, also where the last bit of a float is off.
    range.width() > MOST_UNDECIDED * range.low.min(1.0 - range.high) * (1.0 + 1e-9)
}

/// The largest rate at which all strata are silent as often as the confidence misses, or more often.
///
/// Of all shares `p` with `Σ n ln(1 - p) ≥ ln(miss)` those that make `Σ w p` largest: by Lagrange all that are above
/// zero have the same `(1 - p) n / w`, so that strata are taken in the order of `n / w`, until the next has no share
/// left.
fn silent_bound(counted: &[Weighted], confidence: Confidence) -> f64 {
    let mut strata: Vec<(f64, f64)> = counted.iter().map(|it| (it.weight, it.part.runs() as f64)).collect();
    strata.sort_by(|(w1, n1), (w2, n2)| (n1 / w1).total_cmp(&(n2 / w2)));
    let Some(&(first_weight, first_runs)) = strata.first() else { return 0.0 };
    // -ln(1 - p) of the first stratum is `level`, and of each other that much less.
    let less = |&(weight, runs): &(f64, f64)| (runs / weight / (first_runs / first_weight)).ln();
    let (mut budget, mut runs, mut level) = (-confidence.miss().ln(), 0.0, f64::INFINITY);
    for stratum in &strata {
        if less(stratum) >= level {
            break;
        }
        budget += stratum.1 * less(stratum);
        runs += stratum.1;
        level = budget / runs;
    }
    let share = |stratum: &(f64, f64)| -(-(level - less(stratum)).max(0.0)).exp_m1();
    strata.iter().map(|stratum| stratum.0 * share(stratum)).sum()
}

/// How many plain runs give Wilson's interval the same width at this rate: with `y = 1 / runs` and half the width in
/// deviations `h`, the positive root of `h² (1 + z² y)² = p (1 - p) y + z² y² / 4`.
fn plain_runs(value: f64, interval: Interval, z: f64) -> f64 {
    let square = z * z;
    let half = (interval.width() / (2.0 * z)).powi(2);
    let a = half * square * square - square / 4.0;
    let b = 2.0 * half * square - value * (1.0 - value);
    ((b * b - 4.0 * a * half).max(0.0).sqrt() - b) / (2.0 * half)
}
