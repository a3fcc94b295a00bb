//! `check LOCK --beside REFERENCE`: its exit status, what it prints and writes, and what it refuses.

use std::collections::BTreeSet;

use serde_json::Value;
use snapbox::str;

use crate::explained::{fields, section, words};
use crate::kit::{Ask, Folder, assert_text, json, unwrapped};

const PAGE: &str = include_str!("../../../JSON.md");

/// Two clients take a turn each, and pause now and then for longer than their lease.
const TURNS: &str = r#"
claim = "two turns"
lock = { algorithm = "single", ttl = "1s" }
nodes = { names = ["A"] }
network = { delay = "1ms" }
[[clients]]
name = "c1"
program = ["acquire", "read", "work 400ms", "check", "write", "release"]
retry = "50ms"
[[clients]]
name = "c2"
program = ["acquire", "read", "work 400ms", "check", "write", "release"]
retry = "50ms"
[weather]
for = "1s"
swarm = false
at_steps = "0/1"
[[weather.faults]]
kind = "pause"
host = "clients"
every = "700ms"
for = "2s"
source = "a test"
"#;

/// A lock that deletes whatever key is there, beside one that compares.
const WORSE: [&str; 7] =
    ["check", "turns.toml", "--set", "lock.release=plain-delete", "--beside", "single", "--runs=400"];
/// The same question the other way round.
const BETTER: [&str; 5] = ["check", "turns.toml", "--beside", "single release=plain-delete", "--runs=400"];
/// Two ways to compare and delete.
const NO_WORSE: [&str; 5] =
    ["check", "turns.toml", "--beside", "single release=get-then-delete", "--runs=500"];
/// Nobody extends there.
const NEVER: [&str; 5] = ["check", "turns.toml", "--beside", "single extend_by=plain", "--runs=100"];

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("turns.toml", TURNS);
    folder
}

/// The last line of what a comparison prints.
fn last(text: &str) -> &str {
    text.trim_end().rsplit('\n').next().unwrap_or(text)
}

#[test]
fn a_lock_that_is_worse_fails_with_an_example_that_can_be_replayed() {
    let folder = folder();
    let results = ["--junit", "j.xml", "--markdown", "m.md", "--out", "out"];
    let text = folder.doublehold(&WORSE).args(results).ends(1).stdout;
    let answer = "WORSE: mine breaks WR where the reference does not";
    assert_eq!(last(&text), answer, "{text}");
    assert!(text.contains("the same plan with single: WR holds"), "{text}");
    assert_eq!(
        folder.names_in("out"),
        [
            "kept",
            "turns-only-WR.plan",
            "turns-only-WR.reference.plan",
            "turns-only-WR.toml",
            "turns-only-WR.txt"
        ]
    );
    let (junit, markdown) = (folder.read("j.xml"), folder.read("m.md"));
    let message = "<failure message=\"WR is violated by mine and kept by the reference in ";
    assert!(junit.contains("failures=\"1\"") && junit.contains(message), "{junit}");
    assert!(junit.contains("replay: doublehold replay out/turns-only-WR.plan"), "{junit}");
    assert!(markdown.trim_end().ends_with(answer) && markdown.contains("| WR wrong release |"), "{markdown}");

    let replayed = folder.doublehold(&["replay", "out/turns-only-WR.plan", "--format", "json"]).answer();
    let replayed = json(&replayed.stdout);
    assert_eq!((&replayed["same_run"], &replayed["verdicts"]["WR"]), (&true.into(), &"violated".into()));
    let reference =
        folder.doublehold(&["replay", "out/turns-only-WR.reference.plan", "--format", "json"]).answer();
    let reference = json(&reference.stdout);
    assert_eq!((&reference["same_run"], &reference["verdicts"]["WR"]), (&true.into(), &"holds".into()));
    assert_eq!(replayed["faults"], reference["faults"], "the same plan");
}

#[test]
fn a_lock_that_is_better_or_no_worse_passes() {
    let folder = folder();
    let better = folder.doublehold(&BETTER).args(["--junit", "j.xml"]).ends(0).stdout;
    assert_eq!(last(&better), "better: the reference breaks WR more often than mine");
    assert!(folder.read("j.xml").contains("failures=\"0\""), "{}", folder.read("j.xml"));
    let no_worse = folder.doublehold(&NO_WORSE).ends(0).stdout;
    assert!(last(&no_worse).starts_with("no worse: "), "{no_worse}");
}

#[test]
fn what_was_never_reached_is_no_pass_and_says_what_nobody_met() {
    let folder = folder();
    let text = folder.doublehold(&NEVER).args(["--junit", "j.xml", "--markdown", "m.md"]).ends(3).stdout;
    let answer = "NEVER REACHED: both runs of all 100 pairs were the same; if the locks differ, no world here exercises it";
    assert!(unwrapped(&text).ends_with(answer), "{text}");
    assert!(unwrapped(&text).contains("neither lock met ") && text.contains("an extension"), "{text}");
    let junit = folder.read("j.xml");
    assert!(
        junit.contains("<skipped") && junit.contains("both runs of all 100 pairs were the same"),
        "{junit}"
    );
    assert!(unwrapped(&folder.read("m.md")).contains(answer));
}

#[test]
fn the_same_number_of_pairs_prints_the_same_on_any_number_of_threads() {
    let folder = folder();
    let of = |jobs| folder.doublehold(&WORSE).args(["--jobs", jobs]).ends(1).stdout;
    let one = of("1");
    assert_eq!(one, of("1"));
    assert_eq!(one, of("2"));
}

#[test]
fn every_field_of_a_comparison_is_explained_and_every_row_is_a_field() {
    let folder = folder();
    let printed = json(&folder.doublehold(&WORSE).args(["--format", "json"]).ends(1).stdout);
    let written: BTreeSet<String> = fields(&printed).into_iter().filter(|it| it.len() > 2).collect();
    let page = section(PAGE, "## A lock beside a reference");
    let missing: Vec<&String> = written.iter().filter(|it| !words(page).contains(*it)).collect();
    let rules = ["margin", "left-key", "late-command"];
    assert!(missing.iter().all(|it| rules.contains(&it.as_str())), "the page does not say {missing:?}");
    let cells = page
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| line.split('|').nth(1).expect("a cell"));
    let unwritten: Vec<String> =
        cells.flat_map(|cell| words(&format!(" {cell}"))).filter(|it| !written.contains(it)).collect();
    assert!(unwritten.is_empty(), "nothing has {unwritten:?}");
    let wrong_release = &printed["predicates"]["WR"];
    let count = |name: &str| wrong_release[name].as_u64().expect("a count");
    let sum: u64 = ["only_mine", "only_theirs", "both", "neither"].map(count).iter().sum();
    assert!(
        printed["outcome"] == "worse" && printed["pairs"] == sum && count("only_mine") > 10,
        "{printed:#}"
    );
    assert!(printed["examples"][0]["separates"].as_u64() >= Some(18), "{printed:#}");
    let Value::Number(low) = &wrong_release["low"] else { panic!("{wrong_release}") };
    assert!(low.as_f64() > Some(0.0));
}

#[test]
fn a_world_runs_both_locks_and_its_own_weather() {
    let folder = folder();
    let lock = ["check", "single", "--set", "lock.release=plain-delete", "--beside", "single"];
    let text = folder.doublehold(&lock).args(["--world", "turns.toml", "--runs", "400"]).ends(1).stdout;
    assert!(unwrapped(&text).contains("pairs of runs in `turns`: the same seeds"), "one weather: {text}");
    assert_eq!(last(&text), "WORSE: mine breaks WR where the reference does not");
}

#[test]
fn what_cannot_be_compared_is_refused_before_the_first_run() {
    let folder = folder();
    let refused: [&[&str]; 7] = [
        &["check", "single", "--beside", ""],
        &["check", "single", "--beside", "singel"],
        &["check", "single", "--beside", "single nonsense"],
        &["check", "single", "--beside", "single foo=1"],
        &["check", "single", "--beside", "single elapsed_check=maybe"],
        &["check", "single", "--beside", "single"],
        &["check", "single", "--beside", "single deadline_from=send"],
    ];
    assert_text(
        folder.refusals(&refused),
        str![[r#"
$ doublehold check single --beside ''
error: `--beside` names no lock
hint: name a lock with its switches, in quotes: `--beside 'single lock.elapsed_check=true'`

$ doublehold check single --beside singel
error: `singel` is neither a lock nor a scenario
hint: did you mean `single`?

$ doublehold check single --beside 'single nonsense'
error: `nonsense` in `--beside` is no switch of the reference
hint: write a switch, `=` and a value: `--beside 'single lock.elapsed_check=true'`

$ doublehold check single --beside 'single foo=1'
error: cannot read scenario `single`: `--set lock.foo=1`: unknown key `foo` in `lock`
hint: `doublehold locks NAME` shows what a lock takes

$ doublehold check single --beside 'single elapsed_check=maybe'
error: cannot read scenario `single`: `--set lock.elapsed_check=maybe`: `lock.elapsed_check` must be `true` or `false`, not `maybe`
hint: write it without quotes

$ doublehold check single --beside single
error: `single` stands beside itself: the same lock with the same switches
hint: set one of its switches otherwise, or name another lock

$ doublehold check single --beside 'single deadline_from=send'
error: `single` stands beside itself: the same lock with the same switches
hint: set one of its switches otherwise, or name another lock

"#]],
    );
}

#[test]
fn locks_that_fit_no_world_together_are_refused_before_the_first_run() {
    let folder = folder();
    let refused: [&[&str]; 6] = [
        &["check", "single", "--beside", "single lock.ttl=5s"],
        &["check", "single", "--set", "lock.ttl=5s", "--beside", "single fencing=true"],
        &["check", "single", "--beside", "redlock"],
        &["check", "single", "--beside", "set-ex", "--runs", "9"],
        &["check", "single", "--beside", "setnx", "--world", "famly"],
        &["check", "single", "--world", "family"],
    ];
    assert_text(
        folder.refusals(&refused),
        str![[r#"
$ doublehold check single --beside 'single lock.ttl=5s'
error: `lock.ttl=5s` changes more than the switches of `single`, and both locks run in the same worlds
hint: set it in a scenario file, and name that with `--world FILE`

$ doublehold check single --set 'lock.ttl=5s' --beside 'single fencing=true'
error: `lock.ttl=5s` changes more than the switches of `single`, and both locks run in the same worlds
hint: set it in a scenario file, and name that with `--world FILE`

$ doublehold check single --beside redlock
error: `single` runs on one node and `redlock` on independent nodes: no world fits both
hint: name a reference that runs on the same nodes

$ doublehold check single --beside set-ex --runs 9
error: the reference `set-ex` breaks P1 even without faults, in `world 0 of the family`: nothing can be held against it
hint: name a reference that keeps P1, or leave P1 out of what is asked

$ doublehold check single --beside setnx --world famly
error: `--world famly` is neither `family` nor `usual` nor a scenario
hint: run `doublehold list` for the catalogue; a file's name ends in `.toml`

$ doublehold check single --world family
error: the following required arguments were not provided:
  --beside <REFERENCE>

Usage: doublehold check --beside <REFERENCE> --world <WORLD> <LOCK|NAME|FILE>

For more information, try '--help'.

"#]],
    );
}

#[test]
fn options_that_mean_nothing_beside_a_reference_are_refused() {
    let folder = folder();
    let of = |more: &[&'static str]| [&["check", "single", "--beside", "setnx"], more].concat();
    let refused = [
        of(&["--shard", "1/2", "--runs", "9"]),
        of(&["--obtain-within", "5s"]),
        of(&["--engine", "turmoil"]),
        of(&["--rule", "margin"]),
        of(&["--keep-nodes"]),
        of(&["--runs", "9", "--for", "1s"]),
    ];
    assert_text(
        folder.refusals(&refused),
        str![[r#"
$ doublehold check single --beside setnx --shard 1/2 --runs 9
error: `--shard` and `--beside` do not go together
hint: leave it out

$ doublehold check single --beside setnx --obtain-within 5s
error: `--obtain-within` and `--beside` do not go together
hint: leave it out

$ doublehold check single --beside setnx --engine turmoil
error: `--engine` and `--beside` do not go together
hint: leave it out

$ doublehold check single --beside setnx --rule margin
error: `--rule` and `--beside` do not go together
hint: leave it out: beside a reference all white-box rules are asked

$ doublehold check single --beside setnx --keep-nodes
error: `--keep-nodes` and `--beside` do not go together
hint: leave it out: an example keeps the nodes of a quorum

$ doublehold check single --beside setnx --runs 9 --for 1s
error: the argument '--runs <N>' cannot be used with '--for <TIME>'

Usage: doublehold check --beside <REFERENCE> --runs <N> <LOCK|NAME|FILE>

For more information, try '--help'.

"#]],
    );
}

/// In a world of its own somebody may have written the program.
#[test]
fn a_program_that_extends_is_refused_to_a_lock_that_cannot() {
    let folder = Folder::new();
    folder.write("turns.toml", TURNS.replace("\"check\"", "\"extend\", \"check\""));
    let refused: [&[&str]; 2] = [
        &["check", "turns.toml", "--beside", "setnx", "--runs", "9"],
        &["check", "single", "--beside", "setnx", "--world", "turns.toml", "--runs", "9"],
    ];
    assert_text(
        folder.refusals(&refused),
        str![[r#"
$ doublehold check turns.toml --beside setnx --runs 9
error: the program has the step `extend`, and `setnx` cannot extend its lease
hint: leave the step out, or name a lock that can

$ doublehold check single --beside setnx --world turns.toml --runs 9
error: the program has the step `extend`, and `setnx` cannot extend its lease
hint: leave the step out, or name a lock that can

"#]],
    );
}

#[test]
fn what_a_reference_keeps_is_found_once_and_never_taken_for_another() {
    let folder = folder();
    let runs = |reference: &str, lock: &str| {
        let question = ["check", "turns.toml", "--set", lock, "--beside", reference, "--runs", "60"];
        let answer = folder.doublehold(&question).args(["--format", "json", "--out", "out"]).answer();
        let known = answer.stderr.contains("was known from a check before this one");
        let runs = json(&answer.stdout)["survey_runs"].as_u64().expect("a count");
        assert_eq!(known, runs == 0, "{}", answer.stderr);
        runs
    };
    assert_eq!(runs("single", "lock.extend_by=plain"), 16);
    assert_eq!(runs("single", "lock.extend_by=plain"), 0, "the same again");
    assert_eq!(runs("single", "lock.extend_adds=true"), 0, "another lock beside it");
    assert_eq!(runs("single elapsed_check=true", "lock.extend_by=plain"), 16, "another reference");
    let kept = folder.names_in("out/kept");
    assert_eq!(kept.len(), 2, "{kept:?}");
    kept.iter().for_each(|name| _ = folder.write(&format!("out/kept/{name}"), "{"));
    assert_eq!(runs("single", "lock.extend_by=plain"), 16, "what is broken is found anew");
    assert_eq!(runs("single", "lock.extend_by=plain"), 0);
}
