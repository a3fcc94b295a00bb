//! Records that are odd: unfinished, torn, in shards, of another version, changed by hand; designs without runs or
//! without decisions.

use std::collections::BTreeMap;
use std::fs;

use doublehold_statistics::{Confidence, Proportion, Scale, rate_words};
use doublehold_sweeps::sweep::Batch;
use snapbox::str;

use crate::kit::{Folder, assert_text};
use crate::report::made::{batch, header};

/// What is said of records of which no page is made.
#[track_caller]
fn refused(folder: &Folder) -> String {
    let answer = folder.report(&[]);
    assert_eq!(answer.status, Some(2), "{}", answer.stderr);
    assert!(!folder.has("report.html"));
    folder.hidden(&answer.stderr)
}

#[test]
fn a_torn_last_line_is_left_out_with_a_note() {
    let folder = Folder::new();
    folder.records(&header(&["a", "b"], &[], 500), &[batch(0, 500, |_| (5, 0))]);
    let mut text = folder.read("runs.jsonl");
    text += "{\"cell\":1,\"batch\":0,\"ru";
    folder.write("runs.jsonl", text);
    let output = folder.report(&[]);
    assert_eq!(output.status, Some(0));
    assert_text(
        folder.hidden(&output.stderr),
        str![[r#"
The records in `[FOLDER]` end in the middle of a line, which was left out. Sweep again to go on.
The sweep is not finished: these are 500 runs of the 1,000 that were planned.

"#]],
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
    let as_whole = refused(&folder);
    fs::rename(folder.path("runs.jsonl"), folder.path("runs.1-of-2.jsonl")).expect("it is there");
    assert_text(
        [as_whole, refused(&folder)].join("\n"),
        str![[r#"
error: `[FOLDER]` has only shards of a sweep
hint: merge them first: doublehold merge [FOLDER]

error: `[FOLDER]` has only shards of a sweep
hint: merge them first: doublehold merge [FOLDER]

"#]],
    );
    assert!(!folder.has("report.html"));
}

#[test]
fn what_is_no_record_is_refused() {
    let folder = Folder::new();
    let nothing = refused(&folder);
    let other = serde_json::to_string(&header(&["a"], &[], 500)).expect("JSON");
    let spoilt = [
        String::new(),
        "{}\n".to_owned(),
        other.replace("{\"sweep\":2", "{\"sweep\":999") + "\n",
        other.clone() + "\nnonsense\n{}\n",
    ];
    let of = |text: String| {
        folder.write("runs.jsonl", text);
        refused(&folder)
    };
    assert_text(
        nothing + "\n" + &spoilt.map(of).join("\n"),
        str![[r#"
error: cannot use the records `[FOLDER]`: it has no `runs.jsonl`
hint: name a folder that `doublehold sweep` wrote to

error: cannot use the records `[FOLDER]/runs.jsonl`: it has no header
hint: sweep the study again

error: cannot use the records `[FOLDER]/runs.jsonl`: its first line is not the header of a sweep
hint: name a folder that `doublehold sweep` wrote to

error: cannot use the records `[FOLDER]/runs.jsonl`: it was written by doublehold 0.0.0 as format 999 of records, and this program reads formats 1 to 2
hint: use that version, or sweep again into another folder

error: cannot use the records `[FOLDER]/runs.jsonl`: line 2 is no batch: expected ident at line 1 column 2
hint: the file was changed: cut it off before that line and sweep again, or begin anew in another folder

"#]],
    );
    assert!(!folder.has("report.html"));
}

#[test]
fn a_sweep_that_has_just_begun_has_a_page() {
    let folder = Folder::new();
    folder.records(&header(&["a", "b"], &[("lock.ttl", &["1s", "2s"])], 500), &[]);
    let page = folder.page();
    assert!(page.contains("There are no runs yet.") && page.contains("these are 0 runs of the 2,000"));
    assert!(folder.read("report.md").contains("### With `lock.ttl = 1s`"), "the first point");
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
    assert!(page.contains("at a rate that nobody knows") && page.contains("500 undecided"));
    assert!(page.contains("nothing to compare"));
}

#[test]
fn one_design_and_one_cell_have_a_page_without_comparisons() {
    let folder = Folder::new();
    folder.records(&header(&["a"], &[], 500), &[batch(0, 500, |_| (5, 0))]);
    let page = folder.page();
    assert!(!page.contains("Which designs are told apart"));
    let interval = Proportion::new(5, 500).wilson(Confidence::P95).expect("there were runs");
    let words = rate_words(0.01, interval, Scale::Share);
    let rate = words.split(" (").next().expect("a rate");
    assert!(page.contains(&format!("before its holder's deadline in {rate} of runs")), "{rate}");
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
    let told = [
        (divided(), vec![of(0, Some(0.9)), of(1, Some(0.2))]),
        (divided(), vec![of(0, None)]),
        (divided(), vec![of(0, Some(-0.5))]),
        (divided(), vec![of(2, Some(0.5))]),
        (header(&["a"], &[], 500), vec![Batch { cell: 1, ..one.clone() }]),
        (header(&["a"], &[], 500), vec![Batch { runs: u64::MAX, ..one.clone() }]),
        (header(&["a"], &[], 500), vec![more]),
        (header(&[], &[], 500), vec![one.clone()]),
        (header(&["a"], &[("lock.ttl", &[])], 500), vec![one]),
    ]
    .map(|(header, batches)| refused(Folder::new().records(&header, &batches)));
    assert_text(
        told.join("\n"),
        str![[r#"
error: cannot use the records `[FOLDER]/runs.jsonl`: line 3: the strata of cell 0 weigh more than all runs do
hint: the file was changed: sweep again into another folder

error: cannot use the records `[FOLDER]/runs.jsonl`: line 2: the batch 0 of cell 0 does not say how likely its stratum is
hint: the file was changed: cut it off before that line and sweep again, or sweep into another folder

error: cannot use the records `[FOLDER]/runs.jsonl`: line 2: the batch 0 of cell 0 does not say how likely its stratum is
hint: the file was changed: cut it off before that line and sweep again, or sweep into another folder

error: cannot use the records `[FOLDER]/runs.jsonl`: line 2: the batch 0 of cell 0 is of a stratum that the study does not have
hint: the file was changed: cut it off before that line and sweep again, or sweep into another folder

error: cannot use the records `[FOLDER]/runs.jsonl`: line 2: the batch 0 of cell 1 is of a cell that the study does not have
hint: the file was changed: cut it off before that line and sweep again, or sweep into another folder

error: cannot use the records `[FOLDER]/runs.jsonl`: line 2: the batch 0 of cell 0 has more runs than batches have
hint: the file was changed: cut it off before that line and sweep again, or sweep into another folder

error: cannot use the records `[FOLDER]/runs.jsonl`: line 2: the batch 0 of cell 0 counts more runs than it has (P1)
hint: the file was changed: cut it off before that line and sweep again, or sweep into another folder

error: cannot use the records `[FOLDER]/runs.jsonl`: line 1: the study has no designs
hint: the file was changed: sweep again into another folder

error: cannot use the records `[FOLDER]/runs.jsonl`: line 1: the axis `lock.ttl` has no values
hint: the file was changed: sweep again into another folder

"#]],
    );
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
