//! Records that are odd: unfinished, torn, in shards, of another version; designs without runs or without decisions;
//! strata that support a number and strata that do not.

use std::collections::BTreeMap;
use std::fs;

use doublehold::statistics::{Confidence, Part, Proportion, Scale, Stratified, Stratum, rate_words};
use doublehold_history::Predicate;
use doublehold_scenarios::sweep::Batch;

use crate::made::{Folder, batch, durations, header, stderr};

#[test]
fn a_torn_last_line_is_left_out_with_a_note() {
    let folder = Folder::new();
    folder.records(&header(&["a", "b"], &[], 500), &[batch(0, 500, |_| (5, 0))]);
    let mut text = folder.read("runs.jsonl");
    text += "{\"cell\":1,\"batch\":0,\"ru";
    fs::write(folder.file("runs.jsonl"), text).expect("the folder is ours");
    let output = folder.report(&[]);
    assert!(output.status.success());
    assert!(
        stderr(&output).contains("end in the middle of a line, which was left out"),
        "{}",
        stderr(&output)
    );
    let page = folder.read("report.html");
    assert!(page.contains("end in the middle of a line"), "the page says it too");
    assert!(page.contains("The sweep is not finished: these are 500 runs of the 1,000 that were planned."));
}

#[test]
fn shards_are_to_be_merged_first() {
    let folder = Folder::new();
    let mut header = header(&["a"], &[], 500);
    header.shard = [1, 2];
    folder.records(&header, &[batch(0, 500, |_| (5, 0))]);
    // Even under the name of a whole, and under its own.
    for _ in 0..2 {
        let output = folder.report(&[]);
        assert_eq!(output.status.code(), Some(2));
        let told = stderr(&output);
        assert!(
            told.contains("only shards") && told.contains("merge them first: doublehold merge"),
            "{told}"
        );
        let _ignored = fs::rename(folder.file("runs.jsonl"), folder.file("runs.1-of-2.jsonl"));
    }
    assert!(!folder.file("report.html").exists());
}

#[test]
fn what_is_no_record_is_refused() {
    let folder = Folder::new();
    let output = folder.report(&[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("has no `runs.jsonl`"), "{}", stderr(&output));
    let other = serde_json::to_string(&header(&["a"], &[], 500)).expect("JSON");
    for (text, told) in [
        (String::new(), "has no header"),
        ("{}\n".to_owned(), "is not the header of a sweep"),
        (other.replace("{\"sweep\":1", "{\"sweep\":999") + "\n", "format 999"),
        (other.clone() + "\nnonsense\n{}\n", "line 2 is no batch"),
    ] {
        fs::write(folder.file("runs.jsonl"), text).expect("the folder is ours");
        let output = folder.report(&[]);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(stderr(&output).contains(told), "{}", stderr(&output));
    }
    assert!(!folder.file("report.html").exists());
}

#[test]
fn a_sweep_that_has_just_begun_has_a_page() {
    let folder = Folder::new();
    folder.records(&header(&["a", "b"], &[("lock.ttl", &["1s", "2s"])], 500), &[]);
    let page = folder.page();
    assert!(page.contains("There are no runs yet.") && page.contains("these are 0 runs of the 2,000"));
    folder.records(&header(&["a", "b"], &[("lock.ttl", &["1s", "2s"])], 500), &[batch(2, 500, |_| (1, 0))]);
    let page = folder.page();
    assert!(page.contains("not decided"), "design b has no runs");
}

#[test]
fn runs_that_decide_nothing_have_no_rate() {
    let folder = Folder::new();
    let batches = [batch(0, 500, |_| (0, 500)), batch(1, 500, |_| (0, 500))];
    folder.records(&header(&["a", "b"], &[], 500), &batches);
    let page = folder.page();
    assert!(page.contains("no run decided it.") && page.contains("500 undecided"));
    assert!(page.contains("nothing to compare"));
}

#[test]
fn one_design_and_one_cell_have_a_page_without_comparisons() {
    let folder = Folder::new();
    folder.records(&header(&["a"], &[], 500), &[batch(0, 500, |_| (5, 0))]);
    let page = folder.page();
    assert!(!page.contains("Which designs are told apart") && !page.contains("The whole grid</h2>"));
    let interval = Proportion::new(5, 500).wilson(Confidence::P95).expect("there were runs");
    let words = rate_words(0.01, interval, Scale::Share);
    let rate = words.split(" (").next().expect("a rate");
    assert!(page.contains(&format!("P2, valid overlap: </strong>{rate} of runs.")), "{rate}");
}

#[test]
fn a_panic_is_named() {
    let folder = Folder::new();
    let panicked = Batch { panicked: 7, ..batch(0, 500, |_| (5, 0)) };
    folder.records(&header(&["a"], &[], 500), &[panicked]);
    assert!(folder.page().contains("panicked in 7 runs"));
}

#[test]
fn what_no_sweep_writes_is_refused() {
    let divided = || {
        let mut header = header(&["a"], &[], 500);
        header.strata = vec![BTreeMap::new(), BTreeMap::from([("pause".to_owned(), 1)])];
        header
    };
    let of = |stratum, weight| Batch { stratum, weight, ..batch(0, 500, |_| (1, 0)) };
    let one = batch(0, 500, |_| (1, 0));
    let more = batch(0, 500, |_| (1, 500));
    for (header, batches, told) in [
        (divided(), vec![of(0, Some(0.9)), of(1, Some(0.2))], "the strata of cell 0 weigh more than all"),
        (divided(), vec![of(0, None)], "does not say how likely its stratum is"),
        (divided(), vec![of(0, Some(-0.5))], "does not say how likely its stratum is"),
        (divided(), vec![of(2, Some(0.5))], "is of a stratum that the study does not have"),
        (header(&["a"], &[], 500), vec![Batch { cell: 1, ..one.clone() }], "is of a cell that the study"),
        (header(&["a"], &[], 500), vec![Batch { runs: u64::MAX, ..one.clone() }], "has more runs than"),
        (header(&["a"], &[], 500), vec![more], "the batch 0 of cell 0 counts more runs than it has"),
        (header(&[], &[], 500), vec![one.clone()], "the study has no designs"),
        (header(&["a"], &[("lock.ttl", &[])], 500), vec![one], "the axis `lock.ttl` has no values"),
    ] {
        let folder = Folder::new();
        let output = folder.records(&header, &batches).report(&[]);
        assert_eq!(output.status.code(), Some(2), "{told}: {}", stderr(&output));
        assert!(stderr(&output).contains(told), "{told}: {}", stderr(&output));
        assert!(!folder.file("report.html").exists());
    }
}

/// Three strata: no fault, one pause, two pauses.
fn divided(violated: [u64; 2]) -> Folder {
    let folder = Folder::new();
    let mut header = header(&["a", "b"], &[], 500);
    let faults = |count: u32| BTreeMap::from([("pause".to_owned(), count)]);
    header.strata = vec![BTreeMap::new(), faults(1), faults(2)];
    header.quiet_holds = true;
    let of = |cell: u64, stratum: u64, weight: f64, violated: u64| Batch {
        stratum,
        weight: Some(weight),
        beyond: (stratum == 0).then_some(1e-12),
        ..batch(cell, 500, move |it| if it == Predicate::P2 { (violated, 0) } else { (0, 0) })
    };
    let of_cell = |cell: u64, violated: u64| {
        [of(cell, 0, 0.99, 0), of(cell, 1, 1e-3, violated), of(cell, 2, 1e-6, 4 * violated)]
    };
    folder.records(&header, &[of_cell(0, violated[0]), of_cell(1, violated[1])].concat());
    folder
}

#[test]
fn strata_give_a_rate_with_its_effective_sample_size() {
    let page = divided([100, 100]);
    let html = page.page();
    let strata = vec![
        Stratum { weight: 0.99, part: Part::Impossible },
        Stratum { weight: 1e-3, part: Part::Counted(Proportion::new(100, 500)) },
        Stratum { weight: 1e-6, part: Part::Counted(Proportion::new(400, 500)) },
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
    assert!(html.contains("no rate can be stated for any design"));
}

/// `a` has fewer violations, too few for a rate: it may be as high as its bound, which is above the rate of `b`.
#[test]
fn a_rate_that_cannot_be_stated_ranks_by_its_bound() {
    let page = divided([4, 6]);
    page.page();
    let answer = page.read("report.md");
    assert!(answer.contains("**P2, valid overlap:** lowest with `b` (1 × 10⁻⁵ of runs)"), "{answer}");
    assert!(answer.contains("`a` (at most 2.1 × 10⁻⁵ of runs) is not told apart"), "{answer}");
}

/// The runs without a fault, nearly all, are not made yet.
#[test]
fn what_was_not_seen_in_enough_runs_is_not_said_to_be_zero() {
    let folder = Folder::new();
    let mut header = header(&["a", "b"], &[], 500);
    header.strata = vec![BTreeMap::new(), BTreeMap::from([("pause".to_owned(), 1)])];
    let of = |cell: u64| Batch {
        stratum: 1,
        weight: Some(1e-3),
        recovered: durations(std::iter::empty()),
        ..batch(cell, 500, |_| (5, 0))
    };
    folder.records(&header, &[of(0), of(1)]);
    let page = folder.page();
    assert!(page.contains("how much that is, was not seen in enough of the runs"));
    assert!(!page.contains("0 granted calls") && !page.contains(" 0 s"), "no zero that nobody measured");
    assert_eq!(page.matches("not seen</td>").count(), 2, "recovery, of each design");
    assert!(page.contains("designs are not compared seed by seed"));
}
