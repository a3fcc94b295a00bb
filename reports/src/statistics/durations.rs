//! Durations that were counted in buckets: what can be read from them.
//!
//! A bucket has the durations whose six highest binary digits are the same, and is named by the least of them. So
//! durations below 64 ns are exact, and all others are known to one in 32 (3.2 %) of themselves. How many, the sum
//! and the longest are exact. Buckets of several runs are added up, in any order, and say the same.

use std::collections::BTreeMap;

/// How many of the highest binary digits a bucket keeps.
const DIGITS: u32 = 6;

/// A count for each bucket, by the least duration in it, in nanoseconds.
///
/// ```
/// use std::collections::BTreeMap;
///
/// use doublehold::statistics::{Between, DurationBuckets};
///
/// // 100 ns three times and 5,000 ns once.
/// let counts = BTreeMap::from([(100, 3), (4_992, 1)]);
/// let durations = DurationBuckets { counts: &counts, sum: 5_300, longest: 5_000 };
/// assert_eq!(durations.median(), Some(Between { least: 100, most: 101 }));
/// assert_eq!(durations.p99(), Some(Between { least: 4_992, most: 5_000 }));
/// assert_eq!(durations.mean(), Some(1_325.0));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct DurationBuckets<'a> {
    /// How many durations each bucket has.
    pub counts: &'a BTreeMap<u64, u64>,
    /// Of all durations, exactly.
    pub sum: u128,
    /// The longest one, exactly.
    pub longest: u64,
}

/// A duration that is known as far as its bucket goes, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Between {
    /// It is no less.
    pub least: u64,
    /// It is no more.
    pub most: u64,
}

impl Between {
    /// The middle, which is at most 1.6 % from the duration.
    pub fn middle(self) -> u64 {
        self.least + (self.most - self.least) / 2
    }
}

impl DurationBuckets<'_> {
    /// How many durations there are.
    pub fn count(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Their mean, from the exact sum; none without durations.
    pub fn mean(&self) -> Option<f64> {
        let count = self.count();
        (count > 0).then(|| self.sum as f64 / count as f64)
    }

    /// The duration that half of them do not exceed.
    pub fn median(&self) -> Option<Between> {
        self.quantile(500)
    }

    /// The duration that 99 in 100 do not exceed.
    pub fn p99(&self) -> Option<Between> {
        self.quantile(990)
    }

    /// The least duration that so many in a thousand do not exceed; none without durations.
    ///
    /// # Panics
    /// If `per_thousand` is more than 1,000.
    pub fn quantile(&self, per_thousand: u64) -> Option<Between> {
        assert!(per_thousand <= 1_000, "{per_thousand} in a thousand is more than all");
        // In integers: 0.07 times 100 is more than 7 as a float.
        let rank = (u128::from(self.count()) * u128::from(per_thousand)).div_ceil(1_000).max(1);
        let mut seen = 0;
        let bucket = self.counts.iter().find(|(_, count)| {
            seen += u128::from(**count);
            seen >= rank
        });
        bucket.map(|(&least, _)| Between { least, most: last_of(least).min(self.longest).max(least) })
    }
}

/// The longest duration of a bucket.
fn last_of(least: u64) -> u64 {
    let digits = u64::BITS - least.leading_zeros();
    least | ((1_u64 << digits.saturating_sub(DIGITS)) - 1)
}
