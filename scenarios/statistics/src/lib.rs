//! How sure a sweep can be of what it counted: rates, what lies between their ends, and when there is no number to
//! give.
//!
//! Pure: numbers out of counts, without simulation, files, clocks or randomness. Two runs on one machine give the
//! same bits; on another machine the last bits of logarithms may differ, so that whoever prints a number rounds it.
//!
//! # Map, in reading order
//!
//! - [`Proportion`]: hits among independent runs, with Wilson's interval and Clopper and Pearson's exact one
//! - [`PartlyDecided`]: the same where some runs were never decided, counted both ways
//! - [`Paired`], [`PartlyPaired`]: two designs that ran from the same seeds
//! - [`holm`], [`simultaneous`]: which of many comparisons are told apart
//! - [`letters`]: which of many are told apart, pair by pair, as readers see it
//! - [`chance_of_difference`]: two shares of runs that have nothing in common
//! - [`Stratified`], [`Between`]: rare violations, from runs that were forced to have faults, weighted by how likely
//!   those are
//! - [`MeanPerRun`], [`Exposure`]: from a rate per run to one per grant or per hour
//! - [`rate_words`], [`range_words`], [`bound_words`], [`estimate_words`]: all of it for readers
//!
//! # What is not modelled
//!
//! Runs are independent and alike: each has its own seed. Grants within a run are neither, which is why all rates are
//! counted by run and made rates per grant afterwards. The decision which designs are told apart is corrected for the
//! number of comparisons. Intervals are not: of a hundred 95 % intervals, five miss. Neither is ending a sweep once its
//! interval is narrow enough, which makes lucky draws end first.
//!
//! ```
//! use doublehold_statistics::{Confidence, Proportion};
//!
//! let interval = Proportion::new(10, 1_000).wilson(Confidence::P95).expect("there were runs");
//! assert_eq!(format!("{:.4} to {:.4}", interval.low, interval.high), "0.0054 to 0.0183");
//! ```
//!
//! Decision: "`statistics` is a crate below `sweeps` and `doublehold`" (docs/decisions/crates.md).

mod binomial;
mod exposure;
mod family;
mod letters;
mod paired;
mod proportion;
mod rates;
mod score;
mod stratified;
mod two_samples;
mod undecided;

pub use self::exposure::{Exposure, MeanPerRun};
pub use self::family::{Comparison, holm, simultaneous};
pub use self::letters::letters;
pub use self::paired::{Paired, PartlyPaired};
pub use self::proportion::Proportion;
pub use self::rates::{Scale, bound_words, estimate_words, range_words, rate_words};
pub use self::rates::{range_parts, rate_parts};
pub use self::stratified::undecided_matter;
pub use self::stratified::{Between, Estimate, Part, Reason, Stratified, Stratum, Unsupported};
pub use self::two_samples::chance_of_difference;
pub use self::undecided::PartlyDecided;

/// How often an interval that is computed this way holds the truth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confidence {
    /// Nine times in ten.
    P90,
    /// Nineteen times in twenty: what all reports use.
    P95,
    /// Ninety-nine times in a hundred.
    P99,
}

impl Confidence {
    /// How often it misses: 0.05 for 95 %.
    pub fn miss(self) -> f64 {
        match self {
            Confidence::P90 => 0.10,
            Confidence::P95 => 0.05,
            Confidence::P99 => 0.01,
        }
    }

    /// How many standard deviations of the normal distribution lie on each side.
    pub fn deviations(self) -> f64 {
        // Three constants, instead of a crate for the normal distribution's quantile.
        match self {
            Confidence::P90 => 1.644_853_626_951_472_7,
            Confidence::P95 => 1.959_963_984_540_054,
            Confidence::P99 => 2.575_829_303_548_900_4,
        }
    }
}

/// From `low` to `high`, both included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The low end.
    pub low: f64,
    /// The high end.
    pub high: f64,
}

impl Interval {
    /// Whether a value lies in it.
    pub fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// From one end to the other.
    pub fn width(&self) -> f64 {
        self.high - self.low
    }

    /// The interval of one minus the value.
    fn complement(self) -> Interval {
        Interval { low: 1.0 - self.high, high: 1.0 - self.low }
    }
}
