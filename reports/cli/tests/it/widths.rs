//! Text fits the terminal that it is for, whatever command wrote it, and uses the room there is. Commands to be pasted
//! and what files hold are left as they are.

use crate::kit::{Ask, Folder};

/// Requests are lost, so that some runs decide nothing.
const UNDECIDED: &str = r#"
claim = "cut off"
lock = { algorithm = "single", ttl = "2s", request_timeout = "none" }
nodes = { names = ["A"] }
network = { delay = "1ms" }
clients = [{ name = "c1", program = ["acquire", "work 1s", "release"] }]
limits = { time = "6s", obtain_within = "4500ms" }
[weather]
for = "5s"
[[weather.faults]]
kind = "cut"
from = "c1"
to = "A"
every = "400ms"
for = { median = "2s", sigma = "1/1" }
source = "x"
"#;

/// Not text of ours: what is to be pasted, and the names of files.
const PASTED: [&str; 4] = [": doublehold ", "      doublehold run ", "file: ", "again: "];

#[test]
fn no_line_is_wider_than_the_terminal_but_commands_and_files() {
    let folder = Folder::new();
    folder.write("undecided.toml", UNDECIDED);
    let doublehold = |columns: usize, arguments: &[&str]| {
        folder.doublehold(arguments).env("COLUMNS", columns.to_string()).answer().stdout
    };
    doublehold(80, &["run", "clock-jump", "--history", "jump.jsonl"]);
    let commands: [&[&str]; 12] = [
        &["check", "redlock", "--runs", "64", "--predicate", "WR"],
        &["check", "get-then-delete", "--weather", "pauses-only", "--runs", "32", "--predicate", "P1"],
        &["check", "undecided.toml", "--runs", "64"],
        &["explore", "setnx-then-expire", "--faults", "1", "--kinds", "suspend"],
        &["judge", "jump.jsonl"],
        &["run", "clock-jump"],
        &["list", "--all"],
        &["list", "clock-jump"],
        &["locks"],
        &["locks", "redlock"],
        &["weather"],
        &["studies"],
    ];
    for columns in [60, 80, 120] {
        for arguments in commands {
            let text = doublehold(columns, arguments);
            let is_pasted = |line: &str| PASTED.iter().any(|it| line.contains(it));
            let of_text = text.lines().filter(|line| !is_pasted(line));
            let widest = of_text.max_by_key(|line| line.chars().count()).expect("lines");
            let width = widest.chars().count();
            assert!(width <= columns, "{arguments:?} takes {width} columns of {columns}: `{widest}`");
            assert!(width > columns - 25, "{arguments:?} takes {width} columns of {columns}: `{widest}`");
        }
    }
}
