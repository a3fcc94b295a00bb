//! A sample against the law that it is to follow, for the tests beside this file.
//!
//! Samples come from fixed seeds: a law that holds once holds in every run of the tests.

use std::collections::BTreeMap;
use std::fmt::Debug;

/// How likely, or how often expected, each outcome is.
pub(super) type Law<K> = BTreeMap<K, f64>;

/// Pearson's chi-square of counts that are each by themselves as many as expected; eight deviations are taken for
/// chance. Nothing may be seen that the law does not have. What is expected less than ten times is one class.
pub(super) fn assert_follows<K: Ord + Debug>(expected: &Law<K>, seen: &[K], what: &str) {
    let mut counts: BTreeMap<&K, f64> = BTreeMap::new();
    for outcome in seen {
        assert!(expected.contains_key(outcome), "{what}: {outcome:?} is none of {:?}", expected.keys());
        *counts.entry(outcome).or_default() += 1.0;
    }
    let (mut classes, mut rest) = (Vec::new(), (0.0, 0.0));
    for (outcome, expected) in expected {
        let class = (counts.get(outcome).copied().unwrap_or(0.0), *expected);
        if *expected < 10.0 {
            rest = (rest.0 + class.0, rest.1 + class.1);
        } else {
            classes.push(class);
        }
    }
    if rest.1 < 10.0 {
        assert!(rest.0 < 30.0, "{what}: {} of what is expected {} times", rest.0, rest.1);
    } else {
        classes.push(rest);
    }
    let square: f64 = classes.iter().map(|(seen, expected)| (seen - expected).powi(2) / expected).sum();
    let freedom = classes.len() as f64;
    let most = freedom + 8.0 * (2.0 * freedom).sqrt();
    assert!(square <= most, "{what}: {square} with {freedom}, seen {counts:?} of {expected:?}");
}

/// Each chance times so many.
pub(super) fn times<K: Ord + Clone>(law: &Law<K>, count: f64) -> Law<K> {
    law.iter().map(|(outcome, chance)| (outcome.clone(), chance * count)).collect()
}

/// Adds so many of a law.
pub(super) fn add<K: Ord + Clone>(to: &mut Law<K>, law: &Law<K>, count: f64) {
    law.iter().for_each(|(outcome, chance)| *to.entry(outcome.clone()).or_default() += chance * count);
}
