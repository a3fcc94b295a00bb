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
    /// use doublehold_sweeps::sweep::Durations;
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
        self.count = self.count.saturating_add(other.count);
        self.sum_us = self.sum_us.saturating_add(other.sum_us);
        self.max_ns = self.max_ns.max(other.max_ns);
        for (bucket, count) in &other.buckets {
            let all = self.buckets.entry(*bucket).or_default();
            *all = all.saturating_add(*count);
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// True if there can be such durations: the numbers agree with each other.
    pub fn can_be(&self) -> bool {
        let all = |of: fn(u64) -> u64| {
            let sums =
                self.buckets.iter().map(|(bucket, count)| u128::from(of(*bucket)) * u128::from(*count));
            sums.fold(0, u128::saturating_add)
        };
        let are_buckets =
            self.buckets.iter().all(|(bucket, count)| first_digits(*bucket) == *bucket && *count > 0);
        let sum = u128::from(self.sum_us);
        let longest = self.buckets.keys().next_back().copied();
        are_buckets
            && all(|_| 1) == u128::from(self.count)
            && (all(|bucket| bucket)..=all(bucket_end)).contains(&sum)
            && longest.map_or(self.max_ns == 0, |longest| first_digits(self.max_ns / 1_000) == longest)
    }
}

/// The longest of a bucket.
fn bucket_end(bucket: u64) -> u64 {
    let digits = u64::BITS - bucket.leading_zeros();
    bucket | ((1 << digits.saturating_sub(5)) - 1)
}

/// The number with all but its first five binary digits zero.
fn first_digits(number: u64) -> u64 {
    let digits = u64::BITS - number.leading_zeros();
    let rest = digits.saturating_sub(5);
    number >> rest << rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_that_were_added_can_be_and_others_cannot() {
        let mut durations = Durations::default();
        assert!(durations.can_be());
        for ns in [0, 999, 1_000, 31_999, 32_000, 1_000_000, 1_012_345, u64::MAX / 4] {
            durations.add(ns);
            assert!(durations.can_be(), "{ns}");
        }
        let spoilt: [fn(&mut Durations); 7] = [
            |it| it.count += 1,
            |it| it.sum_us *= 2,
            |it| it.sum_us /= 2,
            |it| it.max_ns *= 2,
            |it| it.max_ns = 0,
            |it| it.buckets.extend([(33_000_001, 1)]),
            |it| it.buckets.extend([(5, 0)]),
        ];
        for (number, spoil) in spoilt.into_iter().enumerate() {
            let mut other = durations.clone();
            spoil(&mut other);
            assert!(!other.can_be(), "number {number}");
        }
        assert!(!Durations { sum_us: 1, ..Durations::default() }.can_be());
    }
}
