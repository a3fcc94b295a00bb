//! What is said of verdicts that a scenario's file states, and of those that it does not: nobody expected the latter,
//! so they are never called expected.

use crate::kit::{Ask, Folder, json};

/// Work that outlives the lease: P1, P3 and P4 are violated, and so is LV, by the client that waits behind.
const SCENARIO: &str = r#"
claim = "Work that outlives its lease"
EXPECT
[lock]
algorithm = "single"
ttl = "2s"
[nodes]
names = ["A"]
[[clients]]
name = "c1"
program = ["acquire", "read", "work 6s", "write", "release"]
[[clients]]
name = "c2"
start = "c1's grant"
program = ["acquire", "read", "work 1s", "write", "release"]
[limits]
obtain_within = "1s"
"#;

/// Runs the scenario with these expectations; returns the status and what was said.
fn run(expect: &str, arguments: &[&str]) -> (Option<i32>, String) {
    let folder = Folder::new();
    folder.write("mine.toml", SCENARIO.replace("EXPECT", expect));
    let answer = folder.doublehold(&["run", "mine.toml"]).args(arguments).answer();
    (answer.status, answer.stdout)
}

#[test]
fn what_is_violated_and_not_stated_is_never_called_expected() {
    let (status, text) = run("[expect]\nP1 = \"violated\"", &[]);
    assert_eq!(status, Some(0));
    let says = "as expected in what is stated, P1; NOT STATED, and violated: P2, P3, P4 and LV\n";
    assert!(text.contains(says), "{text}");
    assert!(text.contains("LV  liveness        violated      NOT STATED"), "{text}");
    assert!(text.contains("WR  wrong release   holds         not stated"), "{text}");
    assert!(!text.contains("this run shows what the scenario says"), "{text}");
}

#[test]
fn what_is_violated_and_not_stated_stands_beside_a_contradiction() {
    let (status, text) = run("[expect]\nP1 = \"holds\"", &[]);
    assert_eq!(status, Some(1));
    let says = "NOT AS EXPECTED: P1 was to hold and is violated; NOT STATED, and violated: P2, P3, P4 and LV";
    assert!(text.replace("\n  ", " ").contains(says), "{text}");
}

#[test]
fn where_nothing_is_stated_the_violations_are_named() {
    let (status, text) = run("", &[]);
    assert_eq!(status, Some(0));
    let says = "states no expectation: nothing to compare; violated: P1, P2, P3, P4 and LV\n";
    assert!(text.contains(says), "{text}");
}

#[test]
fn a_line_for_a_variant_tells_what_is_stated_from_what_is_not() {
    let (status, text) = run("[expect]\nP1 = \"violated\"", &["--all-variants"]);
    assert_eq!(status, Some(0));
    let says = "mine  as expected: P1 violated; not stated: P2 P3 P4 LV violated; WR hold\n    replay: doublehold run ";
    assert!(text.contains(says), "{text}");
    let (status, text) = run("", &["--all-variants"]);
    assert_eq!(status, Some(0));
    assert!(text.contains("mine  nothing stated: P1 P2 P3 P4 LV violated; WR hold\n"), "{text}");
}

#[test]
fn a_program_reads_what_is_violated_and_not_stated() {
    let (_, text) = run("[expect]\nP1 = \"violated\"", &["--format", "json"]);
    let json = json(&text);
    assert_eq!(json["violated_unstated"], serde_json::json!(["P2", "P3", "P4", "LV"]));
    let (_, text) = run(
        "[expect]\nP1 = \"violated\"\nP2 = \"violated\"\nP3 = \"violated\"\nP4 = \"violated\"\nLV = \"violated\"",
        &[],
    );
    assert!(text.contains("as expected: this run shows what the scenario says it shows\n"), "{text}");
}
