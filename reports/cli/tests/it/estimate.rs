//! A sweep's estimate of its own time: of its runs, and of the examples that are made of what they show.

use std::process::Command;

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

/// The standard error of a command that succeeds.
fn told(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_doublehold")).args(arguments).output();
    let output = output.expect("the binary starts");
    let told = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {told}");
    told
}

/// Of a small study the examples take longer than the runs.
#[test]
fn what_the_examples_will_take_is_told_before_they_are_made() {
    let folder = std::env::temp_dir().join(format!("doublehold-estimate-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary directory");
    let path = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let study = path("study.toml");
    std::fs::write(&study, SMALL).expect("a file");
    let whole = told(&["sweep", &study, "--out", &path("out")]);
    let first = whole.lines().next().expect("a first line");
    assert!(first.contains(" a second, and about ") && first.ends_with(" for up to 6 examples"), "{whole}");
    let made = std::fs::read_to_string(path("out/examples.jsonl")).expect("examples").lines().count();
    assert!((1..=6).contains(&made), "{made} examples");
    let made = if made == 1 { "1 example".to_owned() } else { format!("{made} examples") };
    assert!(whole.contains(&format!("\nmaking {made}: ")), "{whole}");
    assert!(whole.contains(&format!("\n{made} in ")), "{whole}");
    let part = told(&["sweep", &study, "--out", &path("part"), "--shard", "1/2"]);
    assert!(!part.contains("example"), "examples are made of the whole study: {part}");
    std::fs::remove_dir_all(&folder).expect("it is there");
}
