//! The README shows what the program prints: every line of its first picture is a line of the real output, and its
//! table of speeds has the rows of the benchmark.

use std::process::Command;

#[test]
fn the_readmes_picture_is_what_its_command_prints() {
    let readme = include_str!("../../README.md");
    let (_, block) =
        readme.split_once("$ cargo run --release -- run clock-jump\n").expect("the first command");
    let (shown, _) = block.split_once("```").expect("the end of the block");
    let output = Command::new(env!("CARGO_BIN_EXE_doublehold"))
        .args(["run", "clock-jump", "--color", "never"])
        .env("COLUMNS", "100")
        .env("LC_ALL", "C.UTF-8")
        .output()
        .expect("the binary starts");
    let printed = String::from_utf8(output.stdout).expect("the output is text");
    for line in shown.lines() {
        assert!(
            printed.lines().any(|real| real.trim_end() == line),
            "the README shows a line nobody prints: {line}"
        );
    }
    assert!(shown.lines().count() > 10, "the README shows a picture");
}

/// Numbers are of one machine and one day; which workloads they are of is not.
#[test]
fn the_readmes_speeds_are_of_the_workloads_that_the_benchmark_runs() {
    let (_, section) = include_str!("../../README.md").split_once("## Speed").expect("a section");
    let rows = section.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| |"));
    let named: Vec<&str> = rows.filter_map(|line| line.split('|').nth(1)).map(str::trim).collect();
    let bench = include_str!("../../scenarios/benches/speed.rs");
    let (_, list) = bench.split_once("const WORKLOADS: [&str; 6] =").expect("the benchmark's list");
    let (list, _) = list.split_once(';').expect("its end");
    let run: Vec<&str> = list.split('"').skip(1).step_by(2).collect();
    assert_eq!(named, run);
}

#[test]
fn the_readmes_world_is_that_of_the_example() {
    let (_, block) = include_str!("../../README.md").split_once("```rust\n").expect("a piece of Rust");
    let (shown, _) = block.split_once("```").expect("the end of the block");
    let example = include_str!("../../examples/own-lock/tests/pauses.rs");
    assert!(example.contains(shown), "the example has another world than the README:\n{shown}");
}
