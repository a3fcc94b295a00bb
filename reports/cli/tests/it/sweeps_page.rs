//! SWEEPS.md explains every field of a sweep's records, and none that is not there.

use std::collections::{BTreeMap, BTreeSet};

use doublehold_history::Predicate;
use doublehold_scenarios::LeanEngine;
use doublehold_sweeps::records::{Example, Shrinkage, TimedSentence};
use doublehold_sweeps::study::Study;
use doublehold_sweeps::sweep::{Batch, Durations, PredicateCount, Shard, StudyHeader, Sums};
use serde_json::Value;

use crate::explained::{fields, section, words};

const PAGE: &str = include_str!("../../../SWEEPS.md");

/// Keys of maps that are no fields: a predicate, a kind of fault, lines of a weather, a bucket.
const DATA: [&str; 5] = ["P2", "pause", "pause[clients]", "pause[nodes]", "992"];

/// The section names every field of the value, and each row of its tables is of fields.
fn compare(title: &str, values: &[Value]) {
    let mut written: BTreeSet<String> = values.iter().flat_map(fields).collect();
    written.retain(|name| !DATA.contains(&name.as_str()));
    let page = section(PAGE, &format!("### {title}"));
    let missing: Vec<String> = written.difference(&words(page)).cloned().collect();
    assert!(missing.is_empty(), "{title}: the page does not say {missing:?}");
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    let rows: BTreeSet<String> =
        rows.flat_map(|line| words(line.split('|').nth(1).expect("a cell"))).collect();
    let other: Vec<String> = rows.difference(&written).cloned().collect();
    assert!(other.is_empty(), "{title}: these are no fields: {other:?}");
}

fn header(more: &str) -> Value {
    let text = format!(
        "question = \"?\"\nweather = \"pauses-only\"\n{more}\n[[designs]]\nname = \"a\"\nlock = \"single\"\n\
         [grid]\n\"lock.ttl\" = [\"1s\", \"2s\"]\n"
    );
    let study = Study::parse("example", "example.toml", &text).unwrap_or_else(|error| panic!("{error}"));
    let header =
        StudyHeader::new(&LeanEngine, &study, Shard::WHOLE).unwrap_or_else(|error| panic!("{error}"));
    serde_json::to_value(header).expect("it can be written")
}

#[test]
fn every_field_of_the_header_is_explained() {
    let precise =
        header("use = \"1 grant a day\"\nbusy = \"1/2\"\n[precision]\npredicate = \"P2\"\nwidth = \"1/100\"");
    let divided = header("[strata]\nfaults = 1\nquiet = \"holds\"\nby_weight = 10");
    assert_eq!(precise["sweep"], 2, "the page says which format this is");
    let mut partial = precise.clone();
    partial["partial"] = serde_json::json!({ "shards": [1], "of": 2 });
    partial["engine"] = "turmoil".into();
    compare("The header", &[precise, divided, partial]);
}

#[test]
fn every_field_of_a_batch_is_explained() {
    let sums = Sums { sum: 1, squares: 1 };
    let durations = Durations { count: 1, sum_us: 1, max_ns: 1, buckets: BTreeMap::from([(992, 1)]) };
    let outcome = PredicateCount {
        violated: 1,
        undecided: 1,
        incidents: sums,
        violations: "8".to_owned(),
        doubts: "4".to_owned(),
        seeds: Vec::new(),
    };
    // Every field is written out, so that a new one is not forgotten here.
    let batch = Batch {
        cell: 1,
        stratum: 1,
        batch: 1,
        weight: Some(0.5),
        beyond: Some(0.1),
        planned: Some(2),
        seed: 1,
        runs: 2,
        predicates: BTreeMap::from([(Predicate::P2, outcome)]),
        grants: sums,
        operated_ms: sums,
        obtained: durations.clone(),
        missed: 1,
        recovered: durations.clone(),
        applied: sums,
        refused: sums,
        given_up: sums,
        told_before: durations.clone(),
        told_after: durations.clone(),
        never_told: 1,
        overlaps: BTreeMap::from([(Predicate::P2, durations)]),
        faults: BTreeMap::from([("pause".to_owned(), 1)]),
        panicked: 1,
    };
    compare("A batch", &[serde_json::to_value(batch).expect("it can be written")]);
}

#[test]
fn every_field_of_an_example_is_explained() {
    let counts: BTreeMap<String, u64> =
        ["faults", "clients", "steps", "nodes"].map(|what| (what.to_owned(), 1)).into();
    let example = Example {
        cell: 1,
        predicate: Predicate::P2,
        seed: 1,
        design: String::new(),
        headline: String::new(),
        why: Some(String::new()),
        what_happened: Some(String::new()),
        real: true,
        others: [1, 1],
        size: Shrinkage { from: counts.clone(), to: counts },
        sentences: vec![TimedSentence { at: String::new(), words: String::new() }],
        svg: String::new(),
        scenario: String::new(),
        replay: String::new(),
        run: String::new(),
    };
    compare("Examples", &[serde_json::to_value(example).expect("it can be written")]);
}
