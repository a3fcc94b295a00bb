//! How long things took, for many of them: counts of what is about as long, which add up in any order.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A distribution of durations. What is exact: how many there are, their sum, the longest. Of each only the first five
/// binary digits are kept, so that the middle of its bucket is at most 1 part in 32 off.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Durations {
    /// How many.
    pub count: u64,
    /// All together, in microseconds: in nanoseconds, the waits of a long sweep would not fit.
    pub sum_us: u64,
    /// The longest.
    pub max_ns: u64,
    /// How many microseconds begin with these five binary digits, all others being zero: how many there are of each.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub buckets: BTreeMap<u64, u64>,
}

impl Durations {
    /// Adds one.
    ///
    /// ```
    /// use doublehold_scenarios::sweep::Durations;
    ///
    /// let mut durations = Durations::default();
    /// durations.add(1_000_000);
    /// durations.add(1_012_345);
    /// assert_eq!(durations.buckets.into_iter().collect::<Vec<_>>(), [(992, 2)]);
    /// ```
    pub fn add(&mut self, ns: u64) {
        self.count += 1;
        self.sum_us += ns / 1_000;
        self.max_ns = self.max_ns.max(ns);
        *self.buckets.entry(first_digits(ns / 1_000)).or_default() += 1;
    }

    /// Adds all of another.
    pub fn merge(&mut self, other: &Durations) {
        self.count += other.count;
        self.sum_us += other.sum_us;
        self.max_ns = self.max_ns.max(other.max_ns);
        for (bucket, count) in &other.buckets {
            *self.buckets.entry(*bucket).or_default() += count;
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

/// The number with all but its first five binary digits zero.
fn first_digits(number: u64) -> u64 {
    let digits = u64::BITS - number.leading_zeros();
    let rest = digits.saturating_sub(5);
    number >> rest << rest
}
