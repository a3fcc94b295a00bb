//! JSON.md names every field that is written, and no field that is not; numbers are small enough for every reader.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use doublehold_diagnosis::{Explained, explain};
use doublehold_history::judge;
use doublehold_render::json;
use doublehold_scenarios::report::Replay;
use doublehold_scenarios::{Engine, Prepared, SimEngine, catalog};
use serde_json::Value;

use crate::explained::{fields, section, words};

const PAGE: &str = include_str!("../../../JSON.md");

/// Runs that together have everything a run can have, and the lines of each one's trace.
fn runs() -> Vec<(Explained, Vec<Value>)> {
    let runs = [
        ("clock-jump", 1),
        ("crash-restart/always/power-loss/at-once", 1),
        ("failover-before-replication", 1),
        ("fencing-33-34", u64::MAX),
        ("suspend-in-flight", 2),
        ("setnx-no-expiry", 1),
    ];
    let mut runs: Vec<(Explained, Vec<Value>)> = runs.iter().map(|(name, seed)| run(name, *seed)).collect();
    Arc::make_mut(&mut runs[0].0.report.scenario).id = "SHOP-12".to_owned();
    runs[0].0.report.replays = Some(Replay::Same);
    runs[1].0.report.replays = Some(Replay::OtherVerdicts { verdicts: Vec::new() });
    runs
}

fn run(name: &str, seed: u64) -> (Explained, Vec<Value>) {
    let scenario = catalog::load(name, &[]).expect("in the catalogue");
    let prepared = SimEngine.prepare(&scenario).expect("it can be run");
    let (report, trace) = prepared.run_traced(seed);
    // One with causes will do: each takes a hundred runs.
    let run = if name == "clock-jump" { explain(&prepared, report) } else { report.into() };
    let mut written = Vec::new();
    json::write_trace(&run.report, &trace, &mut written).expect("a buffer takes everything");
    let lines = written.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    (run, lines.map(|line| serde_json::from_slice(line).expect("JSON")).collect())
}

fn parsed(text: serde_json::Result<String>) -> Value {
    serde_json::from_str(&text.expect("it can be written")).expect("JSON")
}

#[test]
fn every_field_of_a_run_is_explained_and_every_row_is_a_field() {
    let written: BTreeSet<String> = runs()
        .iter()
        .flat_map(|(run, _)| fields(&parsed(json::render_run(run, "doublehold run x"))))
        .collect();
    let page = section(PAGE, "## A run");
    let missing: Vec<String> = written.difference(&words(page)).cloned().collect();
    assert!(missing.is_empty(), "the page does not say {missing:?}");
    let rows = page
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| line.split('|').nth(1).expect("a cell"));
    let unwritten: Vec<String> =
        rows.flat_map(|cell| words(&format!(" {cell}"))).filter(|name| !written.contains(name)).collect();
    assert!(unwritten.is_empty(), "no run has {unwritten:?}");
}

/// In c2's round nothing is read or written, and a program that counts rounds sees why.
#[test]
fn what_a_client_left_out_is_data() {
    let (explained, _) = run("setnx-no-expiry", 1);
    let left_out = &parsed(json::render_run(&explained, ""))["left_out"];
    let [only] = left_out.as_array().expect("a list").as_slice() else { panic!("{left_out:#}") };
    let steps = serde_json::json!(["read", "work 1s", "write"]);
    assert_eq!((&only["client"], &only["lock"], &only["steps"]), (&"c2".into(), &"stock".into(), &steps));
    assert!(only["at_ns"].as_u64().is_some_and(|at| at > 60_000_000_000), "{only}");
}

#[test]
fn every_field_of_the_list_and_of_a_judged_history_is_explained() {
    let listed = fields(&parsed(json::list(&catalog::entries_of("quiet").expect("in the catalogue"))));
    let mut judged = BTreeSet::new();
    for (run, _) in runs() {
        let history = &run.report.history;
        let value = parsed(json::history(history, &judge(history), &[]));
        judged.extend(value.as_object().expect("an object").keys().cloned());
    }
    let predicates = words(section(PAGE, "## A run"));
    let missing: Vec<&String> = listed
        .iter()
        .filter(|name| {
            !words(section(PAGE, "## The catalogue")).contains(*name) && !predicates.contains(*name)
        })
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
    let missing: Vec<String> =
        judged.difference(&words(section(PAGE, "## A history's verdicts"))).cloned().collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn every_event_of_a_trace_has_a_row_with_its_fields() {
    let page = section(PAGE, "## A trace");
    let rows: BTreeMap<String, BTreeSet<String>> = page
        .lines()
        .filter(|line| line.starts_with("| `") && !line.starts_with("| `event` "))
        .map(|line| line.split('|').collect::<Vec<_>>())
        .map(|row| (row[1].trim().trim_matches('`').to_owned(), words(&format!(" {}", row[2]))))
        .collect();
    let mut seen = BTreeSet::new();
    for (_, trace) in runs() {
        let (header, events) = trace.split_first().expect("a header");
        let named = words(page);
        assert!(header.as_object().expect("an object").keys().all(|name| named.contains(name)), "{header}");
        for event in events {
            let Value::Object(mut event) = event.clone() else { panic!("an object") };
            let name = event.remove("event").expect("a kind");
            let name = name.as_str().expect("a text").to_owned();
            event.remove("at").expect("a time");
            assert_eq!(rows.get(&name), Some(&event.keys().cloned().collect()), "{name}");
            seen.insert(name);
        }
    }
    assert_eq!(seen, rows.keys().cloned().collect(), "a row for an event that no run has");
}

/// Readers that keep numbers as doubles lose what is beyond 2^53.
#[test]
fn no_number_is_too_large_for_a_double_but_readings_of_wall_clocks() {
    fn check(value: &Value, path: &str) {
        match value {
            Value::Object(map) => {
                map.iter().for_each(|(name, value)| check(value, &format!("{path}.{name}")))
            }
            Value::Array(values) => values.iter().for_each(|value| check(value, path)),
            Value::Number(number) => {
                let large = number.as_i64().is_none_or(|number| number.unsigned_abs() > 1 << 53);
                assert!(!large || path == ".reading", "{path}: {number}");
            }
            _ => {}
        }
    }
    for (run, trace) in runs() {
        check(&parsed(json::render_run(&run, "")), "");
        let history = &run.report.history;
        check(&parsed(json::history(history, &judge(history), &[])), "");
        trace.iter().for_each(|line| check(line, ""));
    }
}

#[test]
fn the_pages_example_is_what_the_command_prints() {
    let (explained, _) = run("clock-jump", 1);
    let run = parsed(json::render_run(&explained, ""));
    let shown = serde_json::json!([run["judgement"], run["verdicts"]["P1"], run["overlaps"][0]["clients"]]);
    assert!(PAGE.contains(&format!("\n{shown}\n```")), "{shown}");
}
