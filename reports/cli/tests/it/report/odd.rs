//! Records that are odd: unfinished, torn, in shards, of another version, changed by hand; designs without runs or
//! without decisions.

use std::collections::BTreeMap;
use std::fs;

use doublehold_statistics::{Confidence, Proportion, Scale, rate_words};
use doublehold_sweeps::sweep::Batch;

use crate::kit::Folder;
use crate::report::made::{batch, header};

#[test]
fn a_torn_last_line_is_left_out_with_a_note() {
    let folder = Folder::new();
    folder.records(&header(&["a", "b"], &[], 500), &[batch(0, 500, |_| (5, 0))]);
    let mut text = folder.read("runs.jsonl");
    text += "{\"cell\":1,\"batch\":0,\"ru";
    folder.write("runs.jsonl", text);
    let output = folder.report(&[]);
    assert_eq!(output.status, Some(0));
    assert!(output.stderr.contains("end in the middle of a line, which was left out"), "{}", output.stderr);
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
        assert_eq!(output.status, Some(2));
        let told = output.stderr;
        assert!(
            told.contains("only shards") && told.contains("merge them first: doublehold merge"),
            "{told}"
        );
        let _ignored = fs::rename(folder.path("runs.jsonl"), folder.path("runs.1-of-2.jsonl"));
    }
    assert!(!folder.has("report.html"));
}

#[test]
fn what_is_no_record_is_refused() {
    let folder = Folder::new();
    let output = folder.report(&[]);
    assert_eq!(output.status, Some(2));
    assert!(output.stderr.contains("has no `runs.jsonl`"), "{}", output.stderr);
    let other = serde_json::to_string(&header(&["a"], &[], 500)).expect("JSON");
    for (text, told) in [
        (String::new(), "has no header"),
        ("{}\n".to_owned(), "is not the header of a sweep"),
        (other.replace("{\"sweep\":2", "{\"sweep\":999") + "\n", "format 999"),
        (other.clone() + "\nnonsense\n{}\n", "line 2 is no batch"),
    ] {
        folder.write("runs.jsonl", text);
        let output = folder.report(&[]);
        assert_eq!(output.status, Some(2), "{told}");
        assert!(output.stderr.contains(told), "{}", output.stderr);
    }
    assert!(!folder.has("report.html"));
}

#[test]
fn a_sweep_that_has_just_begun_has_a_page() {
    let folder = Folder::new();
    folder.records(&header(&["a", "b"], &[("lock.ttl", &["1s", "2s"])], 500), &[]);
    let page = folder.page();
    assert!(page.contains("There are no runs yet.") && page.contains("these are 0 runs of the 2,000"));
    assert!(folder.read("report.md").contains("## Ranking with `lock.ttl = 1s`"), "the first point");
    folder.records(&header(&["a", "b"], &[("lock.ttl", &["1s", "2s"])], 500), &[batch(0, 500, |_| (1, 0))]);
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
        assert_eq!(output.status, Some(2), "{told}: {}", output.stderr);
        assert!(output.stderr.contains(told), "{told}: {}", output.stderr);
        assert!(!folder.has("report.html"));
    }
}

/// Names and values of records are anybody's, and a spreadsheet runs what begins as a formula does.
#[test]
fn no_cell_of_the_comma_separated_values_begins_as_a_formula_does() {
    let folder = Folder::new();
    let mut header = header(&["=1+1", "@b"], &[("+key", &["-1ms", "=2"])], 100);
    header.study = "=study".to_owned();
    let batches: Vec<Batch> = (0..4).map(|cell| batch(cell, 100, |_| (3, 1))).collect();
    folder.records(&header, &batches).page();
    let mut reader = csv::Reader::from_path(folder.path("cells.csv")).expect("it was written");
    let heading = reader.headers().expect("a heading").clone();
    let rows: Vec<csv::StringRecord> = reader.records().map(|row| row.expect("a row")).collect();
    assert_eq!(rows.len(), 4);
    for cell in heading.iter().chain(rows.iter().flatten()) {
        assert!(!cell.starts_with(['=', '+', '-', '@']) || cell.parse::<f64>().is_ok(), "{cell}");
    }
    assert!(
        heading.iter().any(|it| it == "'+key") && rows[0].iter().any(|it| it == "'=1+1"),
        "they are shown"
    );
}
