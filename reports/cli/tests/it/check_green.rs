//! The promises of a green `check`: enough was decided, by bounds that somebody stated, and other violations are told.

use std::collections::BTreeSet;

use serde_json::Value;
use snapbox::str;

use crate::explained::{fields, section, words};
use crate::kit::{Ask, Folder, assert_text, json, unwrapped};

const PAGE: &str = include_str!("../../../JSON.md");

/// A client whose request is lost waits for ever: it is cut off, and the run's time is up before LV's bound is.
const UNDECIDED: &str = r#"
claim = "informative censoring"
lock = { algorithm = "single", ttl = "2s", request_timeout = "none" }
nodes = { names = ["A"] }
network = { delay = "1ms" }
[[clients]]
name = "c1"
program = ["acquire", "work 1s", "release"]
[[clients]]
name = "c2"
program = ["acquire", "work 1s", "release"]
retry = "100ms"
[limits]
time = "6s"
obtain_within = "4500ms"
[weather]
for = "5s"
swarm = false
at_steps = "0/1"
[[weather.faults]]
kind = "cut"
from = "c1"
to = "A"
every = "400ms"
for = { median = "2s", sigma = "1/1" }
source = "x"
"#;

/// Two that take turns of 70 s, and nothing about how long that may take.
const UNBOUNDED: &str = r#"
claim = "long work in turn"
lock = { algorithm = "single", ttl = "200s" }
nodes = { names = ["A"] }
[[clients]]
name = "c1"
program = ["acquire", "read", "work 70s", "write", "release"]
[[clients]]
name = "c2"
program = ["acquire", "read", "work 70s", "write", "release"]
"#;

/// A folder with both.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("undecided.toml", UNDECIDED);
    folder.write("unbounded.toml", UNBOUNDED);
    folder
}

/// The status of a check, and all that it said.
fn check(folder: &Folder, arguments: &[&str]) -> (i32, String) {
    let answer = folder.doublehold(&["check"]).args(arguments).answer();
    (answer.status.expect("no signal"), answer.stdout + &answer.stderr)
}

fn checked(folder: &Folder, arguments: &[&str]) -> Value {
    json(&folder.doublehold(&["check", "--format", "json"]).args(arguments).answer().stdout)
}

#[test]
fn where_most_runs_are_undecided_nothing_passes() {
    let folder = folder();
    let args = ["undecided.toml", "--runs", "300", "--predicate", "P1"];
    let search = checked(&folder, &args);
    let undecided = search["predicates"]["P1"]["undecided"].as_u64().expect("a count");
    assert!((100..300).contains(&undecided) && search["conclusion"] == "inconclusive", "{search:#}");
    let (status, text) = check(&folder, &[&args[..], &["--junit", "j.xml"]].concat());
    assert_eq!(status, 3, "{text}");
    let why = format!(
        "P1 was not decided in {undecided} of 300 runs, and a pass leaves at most 1 in 100 undecided; from seed 1: the run \
         used up its budget of true time (raise `limits.time`, or let less happen)"
    );
    assert!(unwrapped(&text).contains(&why), "{text}");
    let again = "that run again: doublehold check undecided.toml --predicate P1 --seed 1 --runs 1";
    assert!(text.lines().any(|line| line.trim() == again), "it can be pasted: {text}");
    let junit = folder.read("j.xml");
    assert!(junit.contains(&format!("<skipped message=\"inconclusive: {why}; {again}\"/>")), "{junit}");

    // LV is what is missing: it is violated in many of the runs that came to an end.
    let waits = &search["predicates"]["LV"];
    let of = |name: &str| waits[name].as_f64().expect("a number");
    assert_eq!(of("violated") + of("undecided") + of("holds"), 300.0, "{waits}");
    assert!(of("low") < of("rate_from") && of("rate_to") < of("high"), "{waits}");
    assert!((of("rate_to") - of("rate_from") - of("undecided") / 300.0).abs() < 1e-9, "{waits}");
}

#[test]
fn without_a_bound_there_is_no_verdict_on_waits_as_in_a_run() {
    let folder = folder();
    let calm = ["unbounded.toml", "--weather", "calm", "--runs", "20"];
    assert_text(
        folder.doublehold(&["check"]).args(calm).ends(0).stdout,
        str![[r#"
unbounded under calm: 1 node, 2 clients, 1 round each
20 runs, seeds 1 to 20, 40 grants

  rule                   holds  violated  inconclusive  first seed   rate (95 %)
  P1 claim overlap          20         0             0           -  at most 14 %
  P2 valid overlap          20         0             0           -  at most 14 %
  P3 stale effect           20         0             0           -  at most 14 %
  P4 data anomaly           20         0             0           -  at most 14 %
  WR wrong release          20         0             0           -  at most 14 %
  LV liveness, no bound      0         0            20           -             -

  LV: no bound stated, so that no wait is too long; `--obtain-within 60s` states one

  rate -: violated in fewer than ten runs, which says little beyond that it happens, or never
  decided

no fault struck: there is none in the scenario and none in the weather

nothing found: P1, P2, P3, P4 and WR hold in all 20 runs

"#]],
    );
    let run = json(&folder.doublehold(&["run", "unbounded.toml", "--format", "json"]).answer().stdout);
    assert_eq!(run["verdicts"]["LV"], "inconclusive", "{run:#}");

    let refused = [["--predicate", "LV"], ["--obtain-within", "0s"]];
    let refused = refused.map(|more| [&["check"], &calm[..], &more].concat());
    assert_text(
        folder.refusals(&refused),
        str![[r#"
$ doublehold check unbounded.toml --weather calm --runs 20 --predicate LV
error: `--predicate LV` asks about waits, and no bound is stated: no wait is too long
hint: state one with `--obtain-within 60s`, or as `limits.obtain_within` in the scenario

$ doublehold check unbounded.toml --weather calm --runs 20 --obtain-within 0s
error: invalid value '0s' for '--obtain-within <TIME>': every wait is longer than that: use something such as `60s`

For more information, try '--help'.

"#]],
    );
}

#[test]
fn a_bound_that_is_asked_for_is_named_and_is_in_the_command_that_repeats_a_run() {
    let folder = folder();
    let calm = ["unbounded.toml", "--weather", "calm", "--runs", "20", "--obtain-within", "60s"];
    let (status, text) = check(&folder, &calm);
    assert_eq!(status, 1, "{text}");
    let named =
        "LV: the lock goes to who asks within 60 s, counted from the last fault (as `--obtain-within` says)";
    assert!(unwrapped(&text).contains(named) && text.contains("VIOLATED: LV"), "{text}");
    let search = checked(&folder, &calm);
    assert_eq!(search["liveness_bound"]["obtain_within_ns"], 60_000_000_000_u64, "{search:#}");
    assert_eq!(search["command"], "doublehold check unbounded.toml --weather calm --obtain-within 60s");
    // The usual world of a lock has a bound of its own, which is shown.
    let usual = ["check", "single", "--weather", "calm", "--runs", "32", "--predicate", "LV"];
    assert_text(
        folder.doublehold(&usual).ends(0).stdout,
        str![[r#"
single under calm: 1 node, 3 clients, 2 rounds each
32 runs, seeds 1 to 32, 192 grants

  rule                         holds  violated  inconclusive  first seed  rate (95 %)
  P1 claim overlap, not asked     32         0             0           -  at most 9 %
  P2 valid overlap, not asked     32         0             0           -  at most 9 %
  P3 stale effect, not asked      32         0             0           -  at most 9 %
  P4 data anomaly, not asked      32         0             0           -  at most 9 %
  WR wrong release, not asked     32         0             0           -  at most 9 %
  LV liveness                     32         0             0           -  at most 9 %

  LV: the lock goes to who asks within 60 s, counted from the last fault (the bound of a lock's
  usual world)

no fault struck: there is none in the scenario and none in the weather

nothing found: LV holds in all 32 runs

"#]],
    );
}

#[test]
fn what_is_violated_and_was_not_asked_about_is_in_the_last_line_and_in_both_files() {
    let folder = folder();
    let args = ["set-ex", "--weather", "calm", "--predicate", "WR", "--runs", "32"];
    let (status, text) = check(&folder, &[&args[..], &["--junit", "j.xml", "--markdown", "s.md"]].concat());
    assert_eq!(status, 0, "{text}");
    let (before, last) =
        text.split_once("\nnot asked about, and violated in 32 runs: P1 (").expect("it is said");
    assert!(before.ends_with("nothing found: WR holds in all 32 runs"), "{text}");
    assert!(last.contains(" times, first from seed "), "{text}");
    let junit = folder.read("j.xml");
    assert!(
        junit.contains("failures=\"0\"")
            && junit.contains("<system-out>not asked about, and violated in 32 runs: P1 ("),
        "{junit}"
    );
    let summary = folder.read("s.md");
    assert!(
        summary
            .lines()
            .last()
            .is_some_and(|line| line.starts_with("not asked about, and violated in 32 runs: P1 (")),
        "{summary}"
    );
}

/// The names of fields: without those of predicates and of steps, which are data.
fn named(mut search: Value) -> BTreeSet<String> {
    let predicates = search["predicates"].as_object().map(|all| all.values().cloned().collect());
    predicates.into_iter().for_each(|all| search["predicates"] = Value::Array(all));
    let coverage = search["coverage"].as_array_mut();
    coverage.into_iter().flatten().for_each(|kind| kind["at"] = Value::Null);
    fields(&search)
}

#[test]
fn every_field_of_a_search_is_explained_and_every_row_is_a_field() {
    let folder = folder();
    let found = checked(&folder, &["setnx", "--seed", "900", "--runs", "400", "--predicate", "P1"]);
    assert_eq!((&found["conclusion"], &found["found"][0]["what"]), (&"violated".into(), &"P1".into()));
    assert_eq!(found["found"][0]["files"].as_array().map(Vec::len), Some(4), "{found:#}");
    let undecided = checked(&folder, &["undecided.toml", "--runs", "64", "--predicate", "P1"]);
    let part = ["undecided.toml", "--runs", "64", "--predicate", "P1", "--shard", "1/2"];
    let part = checked(&folder, &part);
    let sign = r#"{ "part": { "nondeterminism": { "sign": "waits", "seed": "1" } } }"#;
    let sign = serde_json::from_str(sign).expect("JSON: none of our locks waits");
    let refused = r#"{ "refused": { "first_seed": "1", "why": "unreachable" } }"#;
    let refused = serde_json::from_str(refused).expect("JSON: both searches are granted the lock");
    let panicked = r#"{ "panicked": { "runs": 1, "first_seed": "1" } }"#;
    let panicked = serde_json::from_str(panicked).expect("JSON: none of our locks panics");
    let written: BTreeSet<String> =
        [found, undecided, part, sign, refused, panicked].into_iter().flat_map(named).collect();
    let page = words(section(PAGE, "## A search"));
    let missing: Vec<&String> = written.iter().filter(|name| !page.contains(*name)).collect();
    assert!(missing.is_empty(), "the page does not say {missing:?}");
    let rows = section(PAGE, "## A search").lines().filter(|line| line.starts_with("| `"));
    let named = rows.flat_map(|row| words(&format!(" {}", row.split('|').nth(1).expect("a cell"))));
    let unwritten: Vec<String> = named.filter(|name| !written.contains(name)).collect();
    assert!(unwritten.is_empty(), "no search has {unwritten:?}");
}

/// Two that take turns, and neither reads nor writes. Some runs end before they are decided.
const UNREAD: &str = r#"
claim = "turns without a resource"
lock = { algorithm = "single", ttl = "10s" }
nodes = { names = ["A"] }
[[clients]]
name = "c1"
program = ["acquire", "work 1s", "release"]
[[clients]]
name = "c2"
program = ["acquire", "work 1s", "release"]
[limits]
time = "1m"
"#;

#[test]
fn what_no_run_saw_is_skipped_beside_runs_that_are_undecided() {
    let folder = Folder::new();
    folder.write("unread.toml", UNREAD);
    let runs = ["unread.toml", "--weather", "calm", "--runs", "400", "--set", "limits.events=345"];
    let search = checked(&folder, &runs);
    let counted = &search["predicates"]["P3"];
    assert!(
        counted["undecided"].as_u64() > Some(0) && counted["violated"] == 0,
        "some are undecided: {counted}"
    );
    let (status, text) = check(&folder, &runs);
    assert!(text.contains("P3 is skipped: nothing was read or written"), "{text}");
    assert_eq!(status, 0, "{text}");
}

#[test]
fn what_a_scenario_states_as_not_seen_is_skipped() {
    let folder = Folder::new();
    folder.write("stated.toml", format!("expect = {{ P3 = \"not-seen\", P4 = \"not-seen\" }}\n{UNREAD}"));
    let (status, text) = check(&folder, &["stated.toml", "--weather", "calm", "--runs", "20"]);
    assert_eq!(status, 0, "{text}");
    folder.write("wanted.toml", format!("expect = {{ P3 = \"holds\" }}\n{UNREAD}"));
    let (status, text) = check(&folder, &["wanted.toml", "--weather", "calm", "--runs", "20"]);
    assert_eq!(status, 3, "{text}");
}
