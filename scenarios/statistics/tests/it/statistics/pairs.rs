//! Two designs on the same seeds: published examples, mirror images, tiny rates, and how often the interval holds the
//! truth.

use std::cmp::Ordering;

use doublehold_statistics::{Confidence, Interval, Paired, PartlyPaired, Proportion, chance_of_difference};

use crate::statistics::assert_near;

fn pairs(only_first: u64, only_second: u64, of: u64) -> Paired {
    Paired { both: 0, only_first, only_second, neither: of - only_first - only_second }
}

fn interval(of: Paired) -> Interval {
    of.interval(Confidence::P95).expect("there are pairs")
}

/// From chapter 8 of M. W. Fagerland, S. Lydersen, P. Laake, "Statistical Analysis of Contingency Tables", 2017,
/// whose R package `contingencytables` tests the second: the airway hyper-responsiveness of Bentur and others (2009)
/// and the responses of Cavo and others (2012).
#[test]
fn published_examples_come_out() {
    let bentur = Paired { both: 1, only_first: 1, only_second: 7, neither: 12 };
    let cavo = Paired { both: 59, only_first: 6, only_second: 16, neither: 80 };
    for (example, difference, low, high) in
        [(bentur, "-0.286", "-0.517", "-0.026"), (cavo, "-0.062", "-0.124", "-0.005")]
    {
        let Interval { low: got_low, high: got_high } = interval(example);
        let got = [example.difference().expect("there are pairs"), got_low, got_high];
        assert_eq!(got.map(|number| format!("{number:.3}")), [difference, low, high]);
    }
}

/// Only the first, only the second, all pairs, and Tango's interval: by a script with mpmath 1.3 that maximises the
/// likelihood by bisection of its slope, and knows no quadratic.
#[test]
fn the_interval_is_that_of_the_likelihood() {
    let table = [
        (6, 16, 161, -0.124023432464068, -0.00543339573167708),
        (1, 7, 21, -0.517232276421377, -0.0260030324808685),
        (40, 20, 160, 0.0308645331330867, 0.218064244166825),
        (0, 0, 50, -0.0713475991333587, 0.0713475991333587),
        (5, 0, 20, 0.0485935524339758, 0.468700877618744),
        (0, 7, 10, -0.892208732593699, -0.228194240233088),
        (32, 2, 1_000, 0.0199779769476407, 0.0430369966329435),
        (5, 1, 1_000_000, -1.1277976141898e-6, 1.08164742330934e-5),
        (0, 3, 1_000_000_000, -8.82118805401164e-9, 8.41458817461697e-10),
        (9, 4, 1_000_000_000_000, -2.39739438600091e-12, 1.35623057055068e-11),
    ];
    for (first, second, of, low, high) in table {
        let what = format!("{first} and {second} of {of}");
        assert_near(interval(pairs(first, second, of)).low, low, &what);
        assert_near(interval(pairs(first, second, of)).high, high, &what);
    }
}

#[test]
fn the_other_way_round_the_interval_is_mirrored_and_equal_designs_have_zero_in_it() {
    for of in [1, 5, 40, 1_000_000] {
        for first in 0..=of.min(20) {
            for second in 0..=(of - first).min(20) {
                let (one, other) = (interval(pairs(first, second, of)), interval(pairs(second, first, of)));
                assert_eq!((one.low, one.high), (-other.high, -other.low), "{first}, {second} of {of}");
                assert!(one.contains(pairs(first, second, of).difference().expect("there are pairs")));
                assert!(-1.0 <= one.low && one.low < one.high && one.high <= 1.0, "{one:?}");
                // Where the asymptotic test does not tell them apart, the interval does not either.
                let (f, s) = (first as f64, second as f64);
                let is_different = (f - s).abs() > 1.959_963_984_540_054 * (f + s).sqrt();
                assert_eq!(one.contains(0.0), !is_different, "{first}, {second} of {of}");
            }
        }
    }
}

#[test]
fn seeds_in_which_both_do_the_same_only_count() {
    let counted = Paired { both: 30, only_first: 4, only_second: 9, neither: 57 };
    assert_eq!(interval(counted), interval(pairs(4, 9, 100)));
    assert_eq!((Paired::default().difference(), Paired::default().interval(Confidence::P95)), (None, None));
}

/// The chance of each table of `of` pairs, from the ratios of neighbours, and whether its interval holds the truth.
fn coverage(of: u64, first: f64, second: f64) -> f64 {
    let same = 1.0 - first - second;
    let mut covered = 0.0;
    let mut column = same.powi(of as i32);
    for b in 0..=of {
        let mut chance = column;
        for c in 0..=of - b {
            if interval(pairs(b, c, of)).contains(first - second) {
                covered += chance;
            }
            chance *= (of - b - c) as f64 / (c + 1) as f64 * second / same;
        }
        column *= (of - b) as f64 / (b + 1) as f64 * first / same;
    }
    covered
}

#[test]
fn the_interval_holds_the_truth_in_about_95_of_100() {
    let mut sum = 0.0;
    let truths = [(0.05, 0.05), (0.1, 0.02), (0.3, 0.1), (0.2, 0.2), (0.4, 0.05), (0.03, 0.25)];
    for (first, second) in truths {
        let coverage = coverage(60, first, second);
        assert!((0.93..0.985).contains(&coverage), "{first}, {second}: {coverage}");
        sum += coverage;
    }
    let mean = sum / truths.len() as f64;
    assert!((0.94..0.97).contains(&mean), "on average {mean}");
}

/// Fisher's test by all tables with these sums: those that are no likelier count.
#[test]
fn a_difference_of_two_shares_is_as_likely_as_all_tables_say() {
    fn choices(of: u64, some: u64) -> f64 {
        (0..some).map(|it| (of - it) as f64 / (it + 1) as f64).product()
    }
    for (one, other) in (0..=5).flat_map(|one| (0..=6).map(move |other| (one, other))) {
        for (mine, its) in (0..=one).flat_map(|mine| (0..=other).map(move |its| (mine, its))) {
            let hits = mine + its;
            let likely =
                |mine: u64| choices(one, mine) * choices(other, hits - mine) / choices(one + other, hits);
            let tables = hits.saturating_sub(other)..=hits.min(one);
            let as_far = tables.map(likely).filter(|chance| *chance <= likely(mine) * (1.0 + 1e-9));
            let told = chance_of_difference(Proportion::new(mine, one), Proportion::new(its, other));
            assert_near(told, as_far.sum(), &format!("{mine} of {one} and {its} of {other}"));
        }
    }
}

#[test]
fn as_many_seeds_that_differ_one_way_as_the_other_are_no_evidence() {
    let evidence = |first, second| {
        PartlyPaired { decided: pairs(first, second, 40), ..PartlyPaired::default() }.evidence()
    };
    assert_eq!(evidence(4, 4), (Ordering::Equal, 1.0));
    assert_eq!((evidence(5, 4).0, evidence(4, 5).0), (Ordering::Greater, Ordering::Less));
}

#[test]
fn seeds_that_both_decided_alike_are_not_discordant() {
    let decided = Paired { both: 3, only_first: 2, only_second: 1, neither: 9 };
    let counted = PartlyPaired { decided, held_undecided: 4, both_undecided: 5, ..PartlyPaired::default() };
    assert_eq!(counted.discordant(), 2 + 1 + 4 + 5);
}
