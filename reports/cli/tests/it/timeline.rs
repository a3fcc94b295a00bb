//! `--timeline` of the binary: what it writes, under which names, and what it leaves alone.

use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_doublehold"));
    command.args(arguments).stdin(Stdio::null()).env("LANG", "C.UTF-8").output().expect("the binary starts")
}

/// Runs and expects refusal; returns what was said.
fn refused(arguments: &[&str]) -> String {
    let output = run(arguments);
    let said = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
    said
}

struct Folder(TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().expect("a folder"))
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().expect("a path in UTF-8").to_owned()
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.path().join(name)).expect("the file is there")
    }

    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).expect("the folder");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

#[test]
fn the_ending_of_the_name_says_what_is_written_and_the_run_is_the_same() {
    let folder = Folder::new();
    let plain = run(&["run", "quiet", "--seed", "3"]);
    for (name, begins) in [("a.svg", "<svg "), ("b.html", "<!DOCTYPE html>"), ("C.HTML", "<!DOCTYPE html>")] {
        let drawn = run(&["run", "quiet", "--seed", "3", "--timeline", &folder.path(name)]);
        assert_eq!(drawn.status.code(), Some(0), "{drawn:?}");
        assert_eq!(drawn.stdout, plain.stdout, "{name}: the text is that of the same run");
        assert!(folder.read(name).starts_with(begins), "{name}");
    }
}

#[test]
fn a_plan_is_drawn_as_its_run_was() {
    let folder = Folder::new();
    let (plan, first, again) = (folder.path("a.plan"), folder.path("first.svg"), folder.path("again.svg"));
    let all = ["run", "lease-pause", "--plan", &plan, "--trace", &folder.path("trace"), "--timeline", &first];
    assert_eq!(run(&all).status.code(), Some(0));
    assert_eq!(run(&["replay", &plan, "--timeline", &again]).status.code(), Some(0));
    assert_eq!(folder.read("first.svg"), folder.read("again.svg"));
    // With a figure the trace is that of a run without one.
    run(&["run", "lease-pause", "--trace", &folder.path("alone")]);
    assert_eq!(folder.read("trace"), folder.read("alone"));
}

#[test]
fn another_ending_is_refused_before_anything_is_written() {
    let folder = Folder::new();
    for name in ["a.pdf", "a", "svg", ".svg", "a.svg.gz"] {
        let said = refused(&["run", "quiet", "--timeline", &folder.path(name)]);
        assert!(said.contains("names no form of picture"), "{name}: {said}");
        assert!(said.contains("end the file's name with `.svg`, `.png` or `.html`"), "{name}: {said}");
    }
    assert_eq!(folder.names(), [] as [&str; 0]);
}

#[test]
fn a_figure_is_not_written_over_a_scenario_a_plan_or_another_result() {
    let folder = Folder::new();
    let scenario = folder.path("mine.svg");
    std::fs::write(&scenario, include_str!("../../../../scenarios/catalog/quiet.toml")).expect("a scenario");
    let before = folder.read("mine.svg");
    let said = refused(&["run", &scenario, "--timeline", &scenario]);
    assert!(said.contains("a result cannot be written over the scenario"), "{said}");
    assert_eq!(folder.read("mine.svg"), before);

    let plan = folder.path("plan.svg");
    assert_eq!(run(&["run", "quiet", "--plan", &plan]).status.code(), Some(0));
    let before = folder.read("plan.svg");
    let said = refused(&["replay", &plan, "--timeline", &plan]);
    assert!(said.contains("a result cannot be written over the plan"), "{said}");
    assert_eq!(folder.read("plan.svg"), before);

    let both = folder.path("both.svg");
    let said = refused(&["run", "quiet", "--history", &both, "--timeline", &both]);
    assert!(said.contains("two results cannot both be written to"), "{said}");
    assert_eq!(folder.names(), ["mine.svg", "plan.svg"]);
}

#[test]
fn one_figure_is_of_one_run() {
    let folder = Folder::new();
    let said = refused(&["run", "quiet", "--all-variants", "--timeline", &folder.path("a.svg")]);
    assert!(said.contains("cannot be used with"), "{said}");
    assert_eq!(folder.names(), [] as [&str; 0]);
}

#[test]
fn a_place_that_cannot_be_written_to_is_refused_before_the_run() {
    let folder = Folder::new();
    let said = refused(&["run", "quiet", "--timeline", &folder.path("none/a.svg")]);
    assert!(said.contains("the timeline"), "{said}");
}
