//! Hits among runs of which some were never decided: the ends of what is known, and how often they hold the truth where
//! the runs that are missing are not missing at random.

use doublehold_sim::{Seed, Stream};
use doublehold_statistics::{Confidence, PartlyDecided, Proportion, Scale, range_words};

#[test]
fn where_all_runs_are_decided_it_is_a_proportion() {
    for (hits, of) in [(0, 1), (0, 300), (7, 300), (300, 300)] {
        let (partly, plain) = (PartlyDecided::new(hits, 0, of), Proportion::new(hits, of));
        assert_eq!(partly.exact(Confidence::P95), plain.exact(Confidence::P95));
        assert_eq!(partly.wilson(Confidence::P95), plain.wilson(Confidence::P95));
        assert_eq!(partly.upper_bound(Confidence::P95), plain.upper_bound(Confidence::P95));
        let range = partly.range().expect("there are runs");
        assert_eq!((Some(range.low), Some(range.high)), (plain.estimate(), plain.estimate()));
    }
    assert_eq!(PartlyDecided::new(0, 0, 0).range(), None);
    assert_eq!(PartlyDecided::new(0, 0, 0).upper_bound(Confidence::P95), None);
}

#[test]
fn undecided_runs_count_both_ways() {
    let counted = PartlyDecided::new(80, 30, 1_000);
    let interval = counted.exact(Confidence::P95).expect("there are runs");
    assert_eq!(interval.low, Proportion::new(80, 1_000).exact(Confidence::P95).expect("runs").low);
    assert_eq!(interval.high, Proportion::new(110, 1_000).exact(Confidence::P95).expect("runs").high);
    assert_eq!(
        counted.upper_bound(Confidence::P95),
        Proportion::new(110, 1_000).upper_bound(Confidence::P95)
    );
    assert!(PartlyDecided::new(0, 300, 300).upper_bound(Confidence::P95) == Some(1.0));
}

#[test]
fn one_run_in_a_hundred_may_be_undecided() {
    for (undecided, of, is_nearly_all) in
        [(0, 1, true), (1, 99, false), (1, 100, true), (2, 199, false), (276, 300, false), (3, 300, true)]
    {
        assert_eq!(
            PartlyDecided::new(0, undecided, of).is_nearly_all(),
            is_nearly_all,
            "{undecided} of {of}"
        );
    }
}

/// Half of the hits are what keeps a run from being decided, and few of the others. Counted both ways the interval
/// holds the truth; without the undecided runs it hardly ever does.
#[test]
fn the_interval_holds_the_truth_where_hits_are_what_is_missing() {
    const REPETITIONS: u64 = 300;
    let (mut held, mut held_without) = (0, 0);
    for repetition in 0..REPETITIONS {
        let mut stream = Stream::new(Seed(repetition), "censored");
        let mut percent = || stream.next_u64() % 100;
        let (mut hits, mut undecided) = (0, 0);
        for _ in 0..1_000 {
            match (percent() < 20, percent()) {
                (true, ..50) | (false, ..2) => undecided += 1,
                (true, _) => hits += 1,
                (false, _) => {}
            }
        }
        let both = PartlyDecided::new(hits, undecided, 1_000).exact(Confidence::P95).expect("runs");
        held += u64::from(both.contains(0.2));
        let without = Proportion::new(hits, 1_000 - undecided).exact(Confidence::P95).expect("runs");
        held_without += u64::from(without.contains(0.2));
    }
    assert_eq!(held, REPETITIONS, "both ways it holds the truth");
    assert!(held_without < REPETITIONS / 20, "without them it holds the truth in {held_without} of 300");
}

#[test]
fn the_ends_of_a_rate_and_the_interval_around_them_have_one_unit() {
    let table = [
        (80, 30, 1_000, "8 to 11 % (6 to 13 %)"),
        (100, 276, 400, "25 to 94 % (21 to 96 %)"),
        (12, 1, 100_000, "0.012 to 0.013 % (0.006 to 0.022 %)"),
        (0, 10, 10, "0 to 100 % (0 to 100 %)"),
    ];
    for (hits, undecided, of, words) in table {
        let counted = PartlyDecided::new(hits, undecided, of);
        let (range, interval) = counted.range().zip(counted.exact(Confidence::P95)).expect("there are runs");
        assert_eq!(range_words(range, interval, Scale::Share), words);
    }
}
