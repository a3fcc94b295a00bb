//! One proportion: tables, mirror images, monotonicity, and how often the intervals hold the truth.

use doublehold_statistics::{Confidence, Interval, Proportion};

use crate::statistics::assert_near;
use crate::statistics::tables::INTERVALS;

const ALL: [Confidence; 3] = [Confidence::P90, Confidence::P95, Confidence::P99];

fn wilson(hits: u64, of: u64) -> Interval {
    Proportion::new(hits, of).wilson(Confidence::P95).expect("there are runs")
}

fn exact(hits: u64, of: u64) -> Interval {
    Proportion::new(hits, of).exact(Confidence::P95).expect("there are runs")
}

#[test]
fn intervals_are_the_tabulated_ones() {
    for (hits, of, [wilson_low, wilson_high], [exact_low, exact_high], at_most) in INTERVALS {
        let what = format!("{hits} of {of}");
        assert_near(wilson(hits, of).low, wilson_low, &what);
        assert_near(wilson(hits, of).high, wilson_high, &what);
        assert_near(exact(hits, of).low, exact_low, &what);
        assert_near(exact(hits, of).high, exact_high, &what);
        let bound = Proportion::new(hits, of).upper_bound(Confidence::P95).expect("there are runs");
        assert_near(bound, at_most, &what);
    }
}

/// `norm.isf` of scipy 1.17.1, through Wilson's bound for no hits: `z² / (n + z²)`.
#[test]
fn each_confidence_has_its_deviations() {
    let deviations = [1.644_853_626_951_472_2, 1.959_963_984_540_054, 2.575_829_303_548_900_4];
    for (confidence, z) in ALL.into_iter().zip(deviations) {
        let high = Proportion::new(0, 1).wilson(confidence).expect("a run").high;
        assert_near((high / (1.0 - high)).sqrt(), z, "deviations");
    }
}

#[test]
fn without_runs_there_is_nothing_to_say() {
    let none = Proportion::new(0, 0);
    assert_eq!((none.estimate(), none.upper_bound(Confidence::P95)), (None, None));
    assert_eq!((none.wilson(Confidence::P95), none.exact(Confidence::P95)), (None, None));
}

#[test]
fn misses_have_the_mirror_image_of_the_hits_interval() {
    for of in [1, 2, 7, 60, 1_000] {
        for hits in 0..=of {
            for (one, other) in
                [(wilson(hits, of), wilson(of - hits, of)), (exact(hits, of), exact(of - hits, of))]
            {
                assert!((one.low - (1.0 - other.high)).abs() < 1e-12, "{hits} of {of}");
                assert!((one.high - (1.0 - other.low)).abs() < 1e-12, "{hits} of {of}");
            }
        }
    }
}

#[test]
fn more_hits_raise_both_ends_and_more_runs_narrow() {
    for of in [1, 2, 3, 10, 61, 500] {
        for hits in 0..of {
            for (less, more) in
                [(wilson(hits, of), wilson(hits + 1, of)), (exact(hits, of), exact(hits + 1, of))]
            {
                assert!(less.low < more.low && less.high < more.high, "{hits} of {of}");
            }
            for (few, many) in
                [(wilson(hits, of), wilson(hits * 2, of * 2)), (exact(hits, of), exact(hits * 2, of * 2))]
            {
                assert!(many.width() < few.width(), "{hits} of {of}");
            }
        }
    }
}

#[test]
fn ends_are_ordered_and_the_estimate_lies_between() {
    for exponent in 0..=12 {
        let of = 10_u64.pow(exponent);
        for hits in [0, 1, 2, 3, 5, 9, 16, 1_000, 100_000, of / 3, of]
            .into_iter()
            .filter(|hits| *hits <= of.min(10_000_000))
        {
            for confidence in ALL {
                let part = Proportion::new(hits, of);
                let share = part.estimate().expect("there are runs");
                let at_most = part.upper_bound(confidence).expect("there are runs");
                for interval in
                    [part.wilson(confidence), part.exact(confidence)].map(|it| it.expect("there are runs"))
                {
                    let Interval { low, high } = interval;
                    assert!(
                        0.0 <= low && low <= share && share <= high && high <= 1.0,
                        "{hits} of {of}: {interval:?}"
                    );
                    assert!(low < high, "{hits} of {of}: {interval:?}");
                }
                let high = part.exact(confidence).expect("there are runs").high;
                assert!(share <= at_most && at_most <= high, "{hits} of {of}: {at_most} {high}");
            }
        }
    }
}

#[test]
fn no_hits_have_the_rule_of_three() {
    for of in [100, 5_000, 1_000_000, 1_000_000_000_000] {
        let bound = Proportion::new(0, of).upper_bound(Confidence::P95).expect("there are runs");
        assert_near(bound, -(0.05_f64.ln() / of as f64).exp_m1(), "1 - 0.05^(1/n)");
        assert!((bound * of as f64 / 3.0 - 1.0).abs() < 0.02, "{of}: {bound}");
    }
}

/// How often the interval of `of` runs holds `truth`: the sum of the chances of all counts whose interval does. The
/// chances come from the ratio of neighbours, and not from the code under test.
fn coverage(of: u64, truth: f64, interval: fn(u64, u64) -> Interval) -> f64 {
    let mut chance = (1.0 - truth).powi(of as i32);
    let mut covered = 0.0;
    for hits in 0..=of {
        if interval(hits, of).contains(truth) {
            covered += chance;
        }
        chance *= (of - hits) as f64 / (hits + 1) as f64 * truth / (1.0 - truth);
    }
    covered
}

#[test]
fn the_exact_interval_never_covers_less_than_it_says_and_wilsons_does_on_average() {
    let (mut least_exact, mut sum, mut count): (f64, f64, f64) = (1.0, 0.0, 0.0);
    for of in 1..=60 {
        for step in 1..200 {
            let truth = f64::from(step) / 200.0 + 1e-9;
            least_exact = least_exact.min(coverage(of, truth, exact));
            if of >= 10 {
                sum += coverage(of, truth, wilson);
                count += 1.0;
            }
        }
    }
    let mean_wilson = sum / count;
    assert!(least_exact >= 0.95, "exact: {least_exact}");
    assert!((0.945..0.96).contains(&mean_wilson), "Wilson on average: {mean_wilson}");
}
