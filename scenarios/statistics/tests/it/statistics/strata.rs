//! Weighted strata: identities, bounds where nothing was seen, and when there is no number.

use doublehold_statistics::{
    Confidence, Estimate, Interval, Part, PartlyDecided, Proportion, Reason, Stratified, Stratum, Unsupported,
};

use crate::statistics::assert_near;

fn counted(weight: f64, hits: u64, of: u64) -> Stratum {
    Stratum { weight, part: Part::Counted(PartlyDecided::new(hits, 0, of)) }
}

fn impossible(weight: f64) -> Stratum {
    Stratum { weight, part: Part::Impossible }
}

fn estimate(strata: &[Stratum], unexplored: f64) -> Result<Estimate, Unsupported> {
    Stratified { strata: strata.to_vec(), unexplored }.estimate(Confidence::P95)
}

fn stated(strata: &[Stratum], unexplored: f64) -> Estimate {
    estimate(strata, unexplored).expect("there are violations enough")
}

fn refused(strata: &[Stratum], unexplored: f64) -> Unsupported {
    estimate(strata, unexplored).expect_err("there is no number")
}

#[test]
fn one_stratum_that_is_everything_is_wilsons() {
    for (hits, of) in [(5, 10), (10, 10), (7, 1_000), (5, 1_000_000_000_000), (900_000, 1_000_000)] {
        let part = Proportion::new(hits, of);
        let plain =
            Stratified::from_proportion(part).estimate(Confidence::P95).expect("there are violations enough");
        let wilson = part.wilson(Confidence::P95).expect("there are runs");
        assert_near(plain.interval.low, wilson.low, "low");
        assert_near(plain.interval.high, wilson.high, "high");
        assert_near(plain.value, hits as f64 / of as f64, "value");
        assert!((plain.plain_runs / of as f64 - 1.0).abs() < 1e-6, "{hits} of {of}: {}", plain.plain_runs);
    }
}

/// Too few for a rate, and still none of the intervals begins at zero but that of no violation.
#[test]
fn around_one_violation_of_each_stratum_the_interval_does_not_begin_at_zero() {
    for (hits, count) in [(0, 1), (1, 1), (0, 3), (1, 3)] {
        let strata = vec![counted(1.0 / f64::from(count), hits, 1_000); count as usize];
        let between = Stratified { strata, unexplored: 0.0 }.rate_range(1.96).expect("there are runs");
        assert_eq!(between.interval.low > 0.0, hits > 0, "{hits} in each of {count}");
    }
}

#[test]
fn weights_scale_the_rate_and_its_interval_down_to_ten_to_the_minus_twelve() {
    let heavy = stated(&[counted(1.0, 30, 1_000)], 0.0);
    for weight in [0.5, 1e-4, 1e-10, 1e-100] {
        let light = stated(&[counted(weight, 30, 1_000), impossible(1.0 - weight)], 0.0);
        assert_near(light.value, heavy.value * weight, "value");
        assert_near(light.interval.low, heavy.interval.low * weight, "low");
        assert_near(light.interval.high, heavy.interval.high * weight, "high");
        assert!(
            light.plain_runs > heavy.plain_runs / weight,
            "it takes more plain runs to be as sure of less"
        );
    }
}

#[test]
fn where_all_are_violated_the_high_end_is_their_weight() {
    let all = stated(&[counted(0.3, 10, 10), impossible(0.7)], 0.0);
    assert_eq!((all.value, all.interval.high), (0.3, 0.3));
    // What is missing to one is as exact as a float near one can hold it.
    let nearly = Stratified::from_proportion(Proportion::new(1_000_000_000_000, 1_000_000_000_000))
        .estimate(Confidence::P95);
    let missing = (1.0 - nearly.expect("there are violations enough").interval.low) * 1e12;
    assert!((missing / 3.841_458_820_694_124 - 1.0).abs() < 1e-3, "{missing}");
}

/// By a script with mpmath 1.3 that finds each share by bisection of the slope of its likelihood.
#[test]
fn the_interval_is_that_of_the_likelihood() {
    let rare = [counted(1e-4, 300, 1_000), counted(1e-6, 2, 100), counted(1e-3, 1, 5_000), impossible(0.99)];
    let silent = [counted(1e-6, 500, 1_000), counted(1e-2, 0, 100_000)];
    let frequent = [counted(0.2, 3, 10), counted(0.3, 9, 10), counted(0.1, 10, 10), counted(0.05, 0, 3)];
    let table = [
        (&rare[..], 3.022e-5, 2.74381606021577e-5, 3.3167166628844e-5),
        (&silent, 5e-7, 4.69069600368104e-7, 8.84131221864442e-7),
        (&frequent, 0.43, 0.328464146799318, 0.501254478615242),
    ];
    for (strata, value, low, high) in table {
        let got = stated(strata, 0.0);
        assert_near(got.value, value, "value");
        assert_near(got.interval.low, low, "low");
        assert_near(got.interval.high, high, "high");
    }
}

#[test]
fn alike_strata_are_one_stratum_of_all_their_runs() {
    let twelve: Vec<Stratum> =
        [5, 3, 9, 0, 1, 7, 4, 4, 6, 2, 8, 5].map(|hits| counted(1e-6, hits, 1_000_000)).to_vec();
    let one = stated(&[counted(12e-6, 54, 12_000_000)], 0.0);
    let got = stated(&twelve, 0.0);
    assert_near(got.value, one.value, "value");
    // Nearly: the shares of twelve vary more than that of one.
    assert!((got.interval.low / one.interval.low - 1.0).abs() < 1e-5, "{got:?} {one:?}");
    assert!((got.interval.high / one.interval.high - 1.0).abs() < 1e-5, "{got:?} {one:?}");
}

#[test]
fn strata_without_a_violation_widen_the_high_end_only_as_far_as_they_weigh() {
    let known = stated(&[counted(1e-6, 500, 1_000)], 0.0);
    let light = stated(&[counted(1e-6, 500, 1_000), counted(1e-6, 0, 100_000)], 0.0);
    let heavy = stated(&[counted(1e-6, 500, 1_000), counted(1e-2, 0, 100_000)], 0.0);
    assert_eq!(known.value, heavy.value);
    assert_near(heavy.interval.low, known.interval.low, "low");
    assert!(light.interval.high < known.interval.high * 1.0001, "{light:?}");
    assert!(heavy.interval.high > known.interval.high * 1.5, "{heavy:?}");
    assert!(heavy.plain_runs < light.plain_runs);
    let structural = stated(&[counted(1e-6, 500, 1_000), impossible(1e-2)], 0.0);
    assert_eq!(structural, known);
}

#[test]
fn without_any_violation_there_is_a_bound_and_no_rate() {
    let Unsupported { reason, at_most } = refused(&[counted(1.0, 0, 5_000)], 0.0);
    assert_eq!(reason, Reason::NoneSeen { runs: 5_000, undecided: 0 });
    let exact = Proportion::new(0, 5_000).upper_bound(Confidence::P95).expect("there are runs");
    assert_near(at_most.expect("there are runs"), exact, "the rule of three");
    let unexplored = refused(&[counted(1e-3, 0, 5_000), impossible(0.9)], 2e-9).at_most;
    assert_near(unexplored.expect("there are runs"), exact * 1e-3 + 2e-9, "and what was not run");
}

/// The bound of several silent strata is the most that any shares give which leave silence a chance of 1 in 20: here
/// by trying all ways to divide that chance among three strata.
#[test]
fn the_bound_of_silent_strata_is_the_largest_rate_that_silence_allows() {
    let worlds = [
        [(0.2, 50), (0.3, 70), (0.5, 90)],
        [(1e-4, 1_000), (1e-6, 1_000), (1e-8, 1_000)],
        [(0.1, 1), (0.2, 1), (0.3, 2)],
        [(1e-3, 100_000), (1e-4, 9_000), (1e-4, 11_000)],
    ];
    for world in worlds {
        let strata = world.map(|(weight, of)| counted(weight, 0, of));
        let bound = refused(&strata, 0.0).at_most.expect("there are runs");
        let mut most: f64 = 0.0;
        let steps = 400;
        for first in 0..=steps {
            for second in 0..=steps - first {
                let parts =
                    [first, second, steps - first - second].map(|part| f64::from(part) / f64::from(steps));
                let rate = world
                    .iter()
                    .zip(parts)
                    .map(|((weight, of), part)| -weight * (0.05_f64.ln() * part / *of as f64).exp_m1());
                most = most.max(rate.sum());
            }
        }
        assert!(
            most <= bound * (1.0 + 1e-12) && bound < most * 1.0001,
            "{world:?}: {bound:e}, tried {most:e}"
        );
    }
}

#[test]
fn from_ten_runs_on_the_interval_of_silent_strata_is_never_tighter_than_the_exact_bound() {
    // With one violation in a stratum of no weight to speak of, the score interval is that of silence.
    for strata in [
        vec![(1e-4, 1_000)],
        vec![(1e-4, 1_000); 12],
        vec![(1e-2, 10); 30],
        vec![(1e-4, 10), (1e-5, 100), (1e-3, 10)],
    ] {
        let silent: Vec<Stratum> = strata.iter().map(|(weight, of)| counted(*weight, 0, *of)).collect();
        let exact = refused(&silent, 0.0).at_most.expect("there are runs");
        let mut almost = silent;
        almost.push(counted(1e-30, 1, 10));
        let score = refused(&almost, 0.0).at_most.expect("there are runs");
        assert!(exact <= score, "{strata:?}: {exact:e} {score:e}");
    }
}

/// One violation beside a heavy stratum without any, and a little that was not run: more faults at once would leave the
/// rate as uncertain as it is.
#[test]
fn what_was_not_run_is_not_blamed_for_what_too_few_runs_leave_open() {
    let strata = [counted(1e-3, 0, 1_000), counted(1e-9, 1, 10), impossible(0.9)];
    let Unsupported { reason, .. } = refused(&strata, 1e-9);
    assert!(matches!(reason, Reason::TooUncertain { .. }), "{reason:?}");
}

#[test]
fn what_was_not_run_goes_to_the_high_end_and_too_much_of_it_is_refused() {
    let strata = [counted(1e-6, 400, 1_000), impossible(0.9)];
    let (known, some) = (stated(&strata, 0.0), stated(&strata, 3.9e-8));
    assert_near(some.interval.high - known.interval.high, 3.9e-8, "the unexplored weight");
    assert_eq!((some.value, some.interval.low), (known.value, known.interval.low));
    let Unsupported { reason, at_most } = refused(&strata, 1e-7);
    assert_eq!(reason, Reason::Unexplored { share: 0.25 });
    assert_near(at_most.expect("there are runs"), known.interval.high + 1e-7, "all of it violated");
}

#[test]
fn a_stratum_without_a_run_that_decided_is_unexplored() {
    let strata = [counted(1e-6, 400, 1_000), counted(3e-8, 0, 0)];
    assert_eq!(stated(&strata, 0.0), stated(&strata[..1], 3e-8));
    let nothing = refused(&[counted(0.5, 0, 0), impossible(0.5)], 0.0);
    assert_eq!(nothing, Unsupported { reason: Reason::NothingDecided, at_most: None });
}

fn partly(weight: f64, hits: u64, undecided: u64, of: u64) -> Stratum {
    Stratum { weight, part: Part::Counted(PartlyDecided::new(hits, undecided, of)) }
}

/// The ends are those of the same runs if all that are undecided held, and if all were violated; the number between is
/// of those that decided.
#[test]
fn undecided_runs_of_each_stratum_count_both_ways() {
    let strata = [partly(1e-3, 300, 20, 1_000), partly(1e-5, 700, 50, 1_000), impossible(0.9)];
    let few = stated(&[counted(1e-3, 300, 1_000), counted(1e-5, 700, 1_000), impossible(0.9)], 0.0);
    let many = stated(&[counted(1e-3, 320, 1_000), counted(1e-5, 750, 1_000), impossible(0.9)], 0.0);
    let got = stated(&strata, 0.0);
    assert_near(got.interval.low, few.interval.low, "low");
    assert_near(got.interval.high, many.interval.high, "high");
    assert_near(got.value, 1e-3 * 300.0 / 980.0 + 1e-5 * 700.0 / 950.0, "of those that decided");
    assert!(got.plain_runs < few.plain_runs, "an interval that is wider is worth fewer runs");
    let unexplored = stated(&strata, 1e-6);
    assert_near(unexplored.interval.high, many.interval.high + 1e-6, "and what was not run");
}

#[test]
fn too_many_undecided_runs_make_a_range_of_a_rate() {
    let strata = [partly(1e-3, 300, 40, 1_000), impossible(0.9)];
    let Unsupported { reason, at_most } = refused(&strata, 1e-6);
    let Reason::Undecided { range, interval } = reason else { panic!("{reason:?}") };
    assert_near(range.low, 3e-4, "as if they held");
    assert_near(range.high, 3.4e-4 + 1e-6, "as if they were violated, and what was not run");
    let around = |hits| stated(&[counted(1e-3, hits, 1_000), impossible(0.9)], 0.0).interval;
    let Interval { low, high } = Interval { low: around(300).low, high: around(340).high + 1e-6 };
    assert_near(interval.low, low, "low");
    assert_near(interval.high, high, "high");
    assert_eq!(at_most, Some(interval.high));
    // Near one it is the runs that hold which count: of twenty, ten more are half as many.
    assert!(estimate(&[partly(1.0, 970, 10, 1_000)], 0.0).is_err());
    assert!(estimate(&[partly(1.0, 870, 10, 1_000)], 0.0).is_ok());
    // Few violations are told before undecided runs are.
    let scarce = refused(&[partly(1e-3, 2, 40, 1_000), impossible(0.9)], 0.0).reason;
    assert!(matches!(scarce, Reason::TooUncertain { .. }), "{scarce:?}");
}

#[test]
fn a_bound_counts_undecided_runs_as_violated() {
    let Unsupported { reason, at_most } = refused(&[partly(1e-3, 0, 40, 1_000), impossible(0.9)], 0.0);
    assert_eq!(reason, Reason::NoneSeen { runs: 960, undecided: 40 });
    let high = stated(&[counted(1e-3, 40, 1_000), impossible(0.9)], 0.0).interval.high;
    assert_near(at_most.expect("there are runs"), high, "as if all were violated");
}

#[test]
fn a_number_that_is_stated_has_its_order_of_magnitude() {
    let mut stated = 0;
    for hits in 0..=20 {
        for quiet in [0.0, 1e-3, 1e-2, 1e-1, 0.5] {
            for unexplored in [0.0, 1e-6, 1e-5, 1e-4] {
                let strata = [counted(0.4, hits, 10_000), counted(quiet, 0, 10_000)];
                let Ok(got) = estimate(&strata, unexplored) else { continue };
                assert!(hits >= 5, "{hits} hits are too few");
                assert!(got.interval.high < 6.0 * got.interval.low, "{got:?}");
                stated += 1;
            }
        }
    }
    assert!(stated > 100, "{stated}");
    assert!(estimate(&[counted(0.4, 5, 10_000)], 0.0).is_ok());
}

#[test]
fn a_refusal_says_what_to_do() {
    let cases = [
        (refused(&[counted(0.5, 0, 0)], 0.0), "no run decided whether it is violated"),
        (
            refused(&[counted(0.5, 0, 12_000)], 0.0),
            "no violation was seen in 12,000 runs: there is only an upper bound; make more runs",
        ),
        (
            refused(&[counted(1e-6, 400, 1_000)], 1e-7),
            "what was not run weighs 25 % of what was found: try more faults at once",
        ),
        (
            refused(&[counted(1e-6, 400, 1_000)], 1e-6),
            "what was not run weighs 2.5 times what was found: try more faults at once",
        ),
        (
            refused(&[counted(1.0, 3, 1_000)], 0.0),
            "as uncertain as 3.0 violations in plain runs, fewer than 5: make more runs",
        ),
        (
            refused(&[partly(1.0, 0, 1, 1_001)], 0.0),
            "no violation was seen in 1,000 runs, and 1 more run may have one: there is only an upper bound",
        ),
        (
            refused(&[partly(1.0, 450, 470, 1_000)], 0.0),
            "too many runs are undecided: it is 45 to 92 % (42 to 94 %); give runs more time to decide",
        ),
    ];
    for (refusal, words) in cases {
        assert_eq!(refusal.to_string(), words);
    }
}

#[test]
#[should_panic(expected = "more than one: some overlap")]
fn weights_that_overlap_are_our_bug() {
    let _ignored = estimate(&[counted(0.7, 1, 10), counted(0.4, 1, 10)], 0.0);
}
