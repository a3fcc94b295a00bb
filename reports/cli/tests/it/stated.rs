//! What is said of verdicts that a scenario's file states, and of those that it does not: nobody expected the latter,
//! so they are never called expected.

use snapbox::str;

use crate::kit::{Ask, Folder, assert_text, conclusion, json, verdicts};

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
    assert_text(
        verdicts(&text),
        str![[r#"
  rule                came out      expected            violated means
  P1  claim overlap   violated      violated            two clients both believed they held the lock
        c1 and c2 both held "stock" for 1.009 s of true time, from 2.090 s to 3.099 s; on c1's
        monotonic clock from 2.090 s to 3.099 s; on c2's monotonic clock from 2.090 s to 3.099 s
  P2  valid overlap   violated      NOT STATED          as P1, before either's own deadline
        c1 and c2 both validly held "stock" for 1.009 s of true time, from 2.090 s to 3.099 s; on
        c1's monotonic clock from 2.090 s to 3.099 s; on c2's monotonic clock from 2.090 s to
        3.099 s
  P3  stale effect    violated      NOT STATED          a write was applied after a later grant
        c1's write of "stock" (version 2) was applied at 6.028 s, 3.937 s after c2 had been granted
        "stock" at 2.090 s; c1 wrote under its grant of 0.017 s
  P4  data anomaly    violated      NOT STATED          the data is what no turn-taking would leave
        lost update on "stock": c1 (grant 1) read version 0, c2 (grant 24) wrote version 1, and c1
        overwrote it with version 2 without having seen it
  WR  wrong release   holds         not stated          a command changed another grant's key
  LV  liveness        violated      NOT STATED          a wait was longer than its bound
        c2 waited 2.073 s for "stock", while c1 held it: it asked at 0.017 s and was granted at
        2.090 s; the bound for any wait is 1 s
  a grant has the number of its acquire call in the run; refused calls are counted, too

as expected in what is stated, P1; NOT STATED, and violated: P2, P3, P4 and LV
replay: doublehold run mine.toml --seed 1

"#]],
    );
}

#[test]
fn what_is_violated_and_not_stated_stands_beside_a_contradiction() {
    let (status, text) = run("[expect]\nP1 = \"holds\"", &[]);
    assert_eq!(status, Some(1));
    assert_text(
        conclusion(&text),
        str![[r#"
NOT AS EXPECTED: P1 was to hold and is violated; NOT STATED, and violated: P2, P3, P4 and LV
replay: doublehold run mine.toml --seed 1

"#]],
    );
}

#[test]
fn where_nothing_is_stated_the_violations_are_named() {
    let (status, text) = run("", &[]);
    assert_eq!(status, Some(0));
    assert_text(
        conclusion(&text),
        str![[r#"
the scenario states no expectation: nothing to compare; violated: P1, P2, P3, P4 and LV
replay: doublehold run mine.toml --seed 1

"#]],
    );
}

#[test]
fn a_line_for_a_variant_tells_what_is_stated_from_what_is_not() {
    let (status, text) = run("[expect]\nP1 = \"violated\"", &["--all-variants"]);
    assert_eq!(status, Some(0));
    assert_text(
        text,
        str![[r#"
mine  as expected: P1 violated; not stated: P2 P3 P4 LV violated; WR hold
    replay: doublehold run mine.toml --seed 1

"#]],
    );
    let (status, text) = run("", &["--all-variants"]);
    assert_eq!(status, Some(0));
    assert_text(
        text,
        str![[r#"
mine  nothing stated: P1 P2 P3 P4 LV violated; WR hold
    replay: doublehold run mine.toml --seed 1

"#]],
    );
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
    assert_text(
        conclusion(&text),
        str![[r#"
as expected: this run shows what the scenario says it shows
replay: doublehold run mine.toml --seed 1

"#]],
    );
}
