//! PairWorlds in which two different locks never differ: what is said of them, and what neither lock met there.

use doublehold_beside::{BesideComparison, BesideOutcome, Inside};

use crate::kit::{budget, compare, count, in_world};

/// Two clients, one node, no faults but those that a test adds.
const WORLD: &str = r#"
claim = "two clients"
lock = { algorithm = "single", ttl = "4s" }
nodes = { names = ["A"] }
network = { delay = "1ms..5ms" }
"#;

fn clients(program: &str, retry: &str) -> String {
    let client =
        |name| format!("[[clients]]\nname = \"{name}\"\nprogram = [{program}]\nretry = \"{retry}\"\n");
    format!("{}{}", client("c1"), client("c2"))
}

/// A weather of one line that strikes about once in a run.
fn weather(line: &str) -> String {
    format!(
        "[weather]\nfor = \"6s\"\nswarm = false\n[[weather.faults]]\n{line}\nevery = \"6s\"\nsource = \"a test\"\n"
    )
}

#[track_caller]
fn compared(mine: &str, theirs: &str, world: &str) -> (BesideComparison, Inside) {
    let beside = in_world(mine, theirs, world).expect("they go together");
    let budget = budget(60, 2);
    let both = count(&beside, &budget);
    (compare(&both), both.1.inside())
}

#[track_caller]
fn assert_never_reached((comparison, inside): (BesideComparison, Inside), unmet: &[&str]) {
    assert_eq!((comparison.pairs, comparison.same), (60, 60));
    assert_eq!(comparison.outcome(), BesideOutcome::NeverReached);
    let said = inside.unmet();
    let missing: Vec<&&str> = unmet.iter().filter(|words| !said.contains(words)).collect();
    assert!(missing.is_empty(), "{missing:?} are not among {said:?}");
}

#[test]
fn where_nobody_extends_it_is_all_the_same_how_a_lock_extends() {
    let line = "kind = \"pause\"\nhost = \"clients\"\nfor = \"5s\"";
    let program = "\"acquire\", \"read\", \"work 500ms..2s\", \"check\", \"write\", \"release\"";
    let world = format!("{WORLD}{}{}", clients(program, "100ms"), weather(line));
    let (comparison, inside) = compared("single extend_by=plain", "single", &world);
    assert!(!inside.unmet().contains(&"a call that was refused"), "clients meet here: {:?}", inside.unmet());
    assert_never_reached((comparison, inside), &["an extension", "an extension of a lock that was lost"]);
}

#[test]
fn where_nobody_gives_back_it_is_all_the_same_how_a_lock_is_given_back() {
    let line = "kind = \"pause\"\nhost = \"clients\"\nfor = \"1s\"";
    let world = format!("{WORLD}{}{}", clients("\"acquire\", \"work 500ms\"", "700ms"), weather(line));
    let found = compared(
        "single release=plain-delete release_on_failure=false",
        "single release_on_failure=false",
        &world,
    );
    assert_never_reached(found, &["a release of a lock that was lost", "a release without an answer"]);
}

#[test]
fn where_every_reply_comes_it_is_all_the_same_what_a_timeout_does() {
    let line = "kind = \"clock-step\"\nhost = \"clients\"\nby = \"2s\"";
    let program = "\"acquire\", \"work 500ms..2s\", \"extend\", \"work 500ms..2s\", \"release\"";
    let world = format!("{WORLD}{}{}", clients(program, "100ms"), weather(line));
    let found = compared("single on_timeout=keep", "single", &world);
    assert_never_reached(found, &["a call without an answer", "a client that died"]);
}

#[test]
fn where_runs_differ_no_verdict_has_to() {
    let line = "kind = \"pause\"\nhost = \"clients\"\nfor = \"100ms\"";
    let program = "\"acquire\", \"work 500ms\", \"release\"";
    let world = format!("{WORLD}{}{}", clients(program, "100ms"), weather(line));
    let (comparison, _) = compared("single release=plain-delete", "single", &world);
    assert_eq!(
        (comparison.same, comparison.outcome()),
        (0, BesideOutcome::NotToldApart),
        "60 pairs are too few for more"
    );
}
