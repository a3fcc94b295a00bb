//! Quantiles of durations in buckets against those of the durations themselves.

use std::collections::BTreeMap;

use doublehold::statistics::{Between, DurationBuckets};
use doublehold_sim::{Seed, Stream};

/// The six highest binary digits.
fn bucket(duration: u64) -> u64 {
    let dropped = (64 - duration.leading_zeros()).saturating_sub(6);
    duration >> dropped << dropped
}

fn counted(durations: &[u64]) -> BTreeMap<u64, u64> {
    let mut counts = BTreeMap::new();
    for duration in durations {
        *counts.entry(bucket(*duration)).or_default() += 1;
    }
    counts
}

#[test]
fn a_quantile_lies_in_its_bucket_and_is_known_to_one_in_32() {
    let mut stream = Stream::new(Seed(8), "durations");
    for many in [1_u64, 2, 3, 10, 99, 100, 101, 5_000] {
        let mut durations: Vec<u64> = (0..many).map(|_| stream.next_u64() >> stream.below(60)).collect();
        durations.sort_unstable();
        let counts = counted(&durations);
        let sum = durations.iter().map(|duration| u128::from(*duration)).sum();
        let longest = durations[durations.len() - 1];
        let buckets = DurationBuckets { counts: &counts, sum, longest };
        for per_thousand in [0, 1, 70, 250, 500, 990, 999, 1_000] {
            let rank = (many * per_thousand).div_ceil(1_000).max(1);
            let exact = durations[rank as usize - 1];
            let got = buckets.quantile(per_thousand).expect("there are durations");
            assert!(got.least <= exact && exact <= got.most, "{exact}: {got:?}");
            assert!(exact >= 64 || got.least == got.most, "{got:?}");
            assert!((got.most - got.least) as f64 <= exact as f64 / 32.0, "{exact}: {got:?}");
            let off = got.middle().abs_diff(exact) as f64;
            assert!(off <= exact as f64 * 0.016, "{exact}: {got:?}");
        }
        assert_eq!(buckets.quantile(1_000).expect("there are durations").most, longest);
        assert_eq!(buckets.count(), many);
    }
}

#[test]
fn median_and_99th_percentile_are_ranks_and_not_means() {
    let hundred: Vec<u64> = (1..=50).collect();
    let counts = counted(&hundred);
    let buckets = DurationBuckets { counts: &counts, sum: 1_275, longest: 50 };
    assert_eq!(buckets.median(), Some(Between { least: 25, most: 25 }));
    assert_eq!(buckets.p99(), Some(Between { least: 50, most: 50 }));
    assert_eq!(buckets.quantile(20), Some(Between { least: 1, most: 1 }));
    assert_eq!(buckets.quantile(21), Some(Between { least: 2, most: 2 }));
    assert_eq!(buckets.mean(), Some(25.5));
}

#[test]
fn no_durations_have_no_quantile_and_no_mean() {
    let counts = BTreeMap::new();
    let buckets = DurationBuckets { counts: &counts, sum: 0, longest: 0 };
    assert_eq!((buckets.median(), buckets.mean(), buckets.count()), (None, None, 0));
}

#[test]
fn the_largest_and_smallest_durations_have_buckets() {
    let durations = [0, u64::MAX];
    let counts = counted(&durations);
    let buckets = DurationBuckets { counts: &counts, sum: u64::MAX.into(), longest: u64::MAX };
    assert_eq!(buckets.quantile(0), Some(Between { least: 0, most: 0 }));
    assert_eq!(buckets.quantile(1_000), Some(Between { least: 63 << 58, most: u64::MAX }));
}
