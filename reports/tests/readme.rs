//! The README shows what the program prints: every line of its first picture is a line of the real output.

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
