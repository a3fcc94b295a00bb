//! Records whose runs are divided into strata: what a page says of them, and where there is no number.

use std::collections::BTreeMap;

use doublehold_history::Predicate;
use doublehold_statistics::{Confidence, Part, PartlyDecided, Scale, Stratified, Stratum, rate_words};
use doublehold_sweeps::sweep::{Batch, PartialHeader, StudyHeader};

use crate::kit::Folder;
use crate::report::example;
use crate::report::made::{batch, durations, header};
use crate::report::numbers::table;

/// The header of a study with so many strata: no fault, one pause, two pauses.
fn divided_into(strata: u32, designs: &[&str]) -> StudyHeader {
    let faults = |count: u32| match count {
        0 => BTreeMap::new(),
        count => BTreeMap::from([("pause".to_owned(), count)]),
    };
    StudyHeader { strata: (0..strata).map(faults).collect(), quiet_holds: true, ..header(designs, &[], 500) }
}

/// A batch of 500 runs of a stratum, some of which violate P2 or do not decide it.
fn part(stratum: u64, weight: f64, counts: (u64, u64)) -> Batch {
    let of = move |it| if it == Predicate::P2 { counts } else { (0, 0) };
    Batch { stratum, weight: Some(weight), ..batch(0, 500, of) }
}

/// Two designs: in how many of 500 runs with one pause each is violated.
fn divided(violated: [u64; 2]) -> Folder {
    let folder = Folder::new();
    let of_cell = |(cell, violated): (u64, u64)| {
        let quiet = Batch { beyond: Some(1e-12), ..part(0, 0.99, (0, 0)) };
        let parts = [quiet, part(1, 1e-3, (violated, 0)), part(2, 1e-6, (4 * violated, 0))];
        parts.map(|it| Batch { cell, ..it })
    };
    let batches: Vec<Batch> = (0..).zip(violated).flat_map(of_cell).collect();
    folder.records(&divided_into(3, &["a", "b"]), &batches);
    folder
}

#[test]
fn strata_give_a_rate_with_its_effective_sample_size() {
    let page = divided([100, 100]);
    let html = page.page();
    let strata = vec![
        Stratum { weight: 0.99, part: Part::Impossible },
        Stratum { weight: 1e-3, part: Part::Counted(PartlyDecided::new(100, 0, 500)) },
        Stratum { weight: 1e-6, part: Part::Counted(PartlyDecided::new(400, 0, 500)) },
    ];
    let rate = Stratified { strata, unexplored: 1e-12 }.estimate(Confidence::P95).expect("there is enough");
    let words = rate_words(rate.value, rate.interval, Scale::Share);
    let (value, interval) = words.split_once(" (").expect("an interval");
    assert!(html.contains(&format!("<strong>{value}</strong>")), "{value}");
    assert!(html.contains(interval.trim_end_matches(')')), "{interval}");
    for told in [
        "plain runs",
        "no fault",
        "1 pause",
        "2 pause",
        "more than these",
        "0, as taken for granted",
        "Which numbers are stated is decided by the runs",
        "100 of 500",
    ] {
        assert!(html.contains(told), "{told}");
    }
}

#[test]
fn strata_that_support_no_number_say_why() {
    let page = divided([2, 2]);
    let html = page.page();
    assert!(html.contains("No number is stated where it could not be supported:"));
    assert!(html.contains("fewer than 5: make more runs"), "too few violations");
    assert!(html.contains("was seen too seldom") && html.contains("No two designs are told apart."));
}

/// The runs without a fault, nearly all, are not made yet.
#[test]
fn what_was_not_seen_in_enough_runs_is_not_said_to_be_zero() {
    let folder = Folder::new();
    let of = |cell: u64| Batch { cell, recovered: durations(std::iter::empty()), ..part(1, 1e-3, (5, 0)) };
    let partial = Some(PartialHeader { shards: vec![2], of: 2 });
    let header = StudyHeader { partial, ..divided_into(2, &["a", "b"]) };
    folder.records(&header, &[of(0), of(1)]);
    let page = folder.page();
    assert!(page.contains("how much that is, was not seen in enough of the runs"));
    assert!(!page.contains("0 granted calls") && !page.contains(" 0 s"), "no zero that nobody measured");
    let recovery: Vec<String> = table(&folder.read("report.md"), "What each design costs")
        .into_iter()
        .filter_map(|row| row.get(5).cloned())
        .collect();
    assert_eq!(recovery, ["not seen", "not seen"], "of each design");
    assert!(page.contains("designs are not compared seed by seed"));
}

/// `a` has fewer violations, too few for a rate, and `b` a few more: nobody can say which is lower, and a bound is not
/// a rate that could be the lower one or the higher one.
#[test]
fn a_bound_is_not_ranked_as_a_rate() {
    let page = divided([4, 6]);
    page.page();
    let answer = page.read("report.md");
    let told =
        "- another client gets the lock before its holder's deadline in up to 1.2 × 10⁻⁵ of runs (as seen)";
    assert!(answer.contains(told) && answer.contains("No two designs are told apart."), "{answer}");
    // With many more runs than it takes for a rate, they are.
    let page = divided([4, 120]);
    page.page();
    let answer = page.read("report.md");
    assert!(answer.contains("Worse by no rule: `a`."), "{answer}");
    let rows: Vec<&str> = answer.lines().skip_while(|line| *line != "## All rates").collect();
    let cells: Vec<&str> =
        rows.iter().filter_map(|row| row.strip_prefix("| `")?.split(" | ").nth(2)).take(2).collect();
    assert!(cells.len() == 2 && cells.iter().all(|cell| cell.contains("× 10⁻")), "one unit: {cells:?}");
}

/// A run without a fault that violates P1 says nothing of P2: only for P1 do such runs then count.
#[test]
fn a_quiet_run_that_violates_a_predicate_shows_that_quiet_runs_do_not_hold_for_it() {
    let header = divided_into(2, &["a"]);
    let quiet = |p1: u64| Batch {
        stratum: 0,
        weight: Some(0.999),
        beyond: Some(0.0),
        ..batch(0, 500, move |it| if it == Predicate::P1 { (p1, 0) } else { (0, 0) })
    };
    let told = |quiet: Batch| {
        let folder = Folder::new();
        folder.records(&header, &[quiet, part(1, 0.001, (40, 0))]).page()
    };
    let (loud, silent) = (told(quiet(1)), told(quiet(0)));
    assert!(
        loud.contains("Of P1 that is not so with a, whose few runs")
            && !loud.contains("Of P2 that is not so")
    );
    assert!(
        !silent.contains("that is not so")
            && silent.contains("500 runs without one were made of each design")
    );
    for page in [&loud, &silent] {
        assert!(
            page.contains("before its holder's deadline in 8.0 × 10⁻⁵ of runs"),
            "P2 needs a fault all the same"
        );
    }

    // The same where an example of P2, made small, turns out to need no fault.
    let folder = Folder::new();
    let mut example = example(0, "a");
    example.size.to.insert("faults".to_owned(), 0);
    folder.records(&header, &[quiet(0), part(1, 0.001, (40, 0))]).examples(&[example]);
    assert!(folder.page().contains("Of P2 that is not so with a, whose few runs"));
}

/// Two strata of two cells, of which one has begun: what it gets is known, and of the other what a cell gets at most.
#[test]
fn what_is_planned_counts_what_is_shared_out() {
    let header = StudyHeader { by_weight: 1_000, ..divided_into(2, &["a", "b"]) };
    let planned = |stratum: u64, planned: u64| Batch { planned: Some(planned), ..part(stratum, 0.5, (0, 0)) };
    let folder = Folder::new();
    let page = folder.records(&header, &[planned(0, 500), planned(1, 1_499)]).page();
    assert!(page.contains("1,000 runs of the 3,999 that were planned"));
    let page = folder.records(&header, &[planned(0, 500)]).page();
    assert!(page.contains("500 runs of the 4,000 that were planned"));
}

/// A map of two by two: of the first cell too little was seen, and the second one's rate can be stated.
#[test]
fn a_rate_that_cannot_be_stated_is_not_known_on_a_map() {
    let axes: [(&str, &[&str]); 2] = [("lock.ttl", &["1s", "2s"]), ("clients.retry", &["1s", "2s"])];
    let strata = divided_into(2, &["a"]).strata;
    let header = StudyHeader { strata, quiet_holds: true, ..header(&["a"], &axes, 500) };
    let of = |number: u64, violated: u64| {
        let of = |batch: Batch| Batch { cell: number, beyond: (batch.stratum == 0).then_some(0.0), ..batch };
        [of(part(0, 0.9, (0, 0))), of(part(1, 0.1, (violated, 0)))]
    };
    let folder = Folder::new();
    let batches = [of(0, 2), of(1, 250), of(2, 250), of(3, 250)].concat();
    let page = folder.records(&header, &batches).page();
    let written = |word: &str| page.split(word).count() - 1;
    assert_eq!(written(">?</text>"), 1, "of one cell it is not known");
}

/// Pauses come by a guess. Of P1 there are rates; that P4 was not seen is no number, and no bar ends there.
#[test]
fn a_guess_that_may_be_wrong_has_a_bar_under_each_rule_that_has_rates() {
    let of = |(stratum, weight, violated): (u64, f64, u64)| Batch {
        stratum,
        weight: Some(weight),
        beyond: (stratum == 0).then_some(1e-12),
        ..batch(0, 500, move |it| if it == Predicate::P1 { (violated, 0) } else { (0, 0) })
    };
    let folder = Folder::new();
    let strata = [(0, 0.99, 0), (1, 1e-3, 100), (2, 1e-6, 400)].map(of);
    let page = folder.records(&divided_into(3, &["a"]), &strata).page();
    assert_eq!(page.matches(">pauses</text>").count(), 1, "a bar for pauses");
    assert!(page.contains(
        "If a guess is wrong, for <code>a</code>: bars are hollow towards the fault that comes 5 times less"
    ));
}
