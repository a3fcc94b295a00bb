//! A sweep's estimate of its own time: of its runs, and of the examples that are made of what they show.

use crate::kit::{Ask, Folder};

/// Two designs at two points, both of which are overtaken.
const SMALL: &str = r#"
question = "how often is a lease too short?"
weather = "pauses-only"
runs = 1100

[set]
"clients.count" = 2
"clients.rounds" = 1

[[designs]]
name = "single"
lock = "single"

[[designs]]
name = "checked"
lock = "single"
set = { "lock.elapsed_check" = true }

[grid]
"lock.ttl" = ["1s", "4s"]
"#;

/// Of a small study the examples take longer than the runs.
#[test]
fn what_the_examples_will_take_is_told_before_they_are_made() {
    let folder = Folder::new();
    folder.write("study.toml", SMALL);
    let whole = folder.doublehold(&["sweep", "study.toml", "--out", "out"]).ends(0).stderr;
    let first = whole.lines().next().expect("a first line");
    assert!(first.contains(" a second, and about ") && first.ends_with(" for up to 6 examples"), "{whole}");
    let made = folder.read("out/examples.jsonl").lines().count();
    assert!((1..=6).contains(&made), "{made} examples");
    let made = if made == 1 { "1 example".to_owned() } else { format!("{made} examples") };
    assert!(whole.contains(&format!("\nmaking {made}: ")), "{whole}");
    assert!(whole.contains(&format!("\n{made} in ")), "{whole}");
    let part = folder.doublehold(&["sweep", "study.toml", "--out", "part", "--shard", "1/2"]).ends(0).stderr;
    assert!(!part.contains("example"), "examples are made of the whole study: {part}");
}
