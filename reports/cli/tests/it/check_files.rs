//! What `doublehold check` reads and writes: what is refused before the first run, what is kept when a device is full,
//! and what is left alone.
#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// A search that finds one thing, soon.
const SEARCH: [&str; 8] = ["check", "set-ex", "--weather", "calm", "--predicate", "P1", "--runs", "32"];

fn to(folder: &Path, stdout: Stdio, more: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_doublehold"));
    command.args(SEARCH).args(more).current_dir(folder).env("LANG", "C.UTF-8");
    command.stdout(stdout).stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap()
}

fn search(folder: &Path, more: &[&str]) -> Output {
    to(folder, Stdio::piped(), more)
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

#[test]
fn a_full_device_is_an_error_and_takes_nothing_else_with_it() {
    let folder = folder();
    let found = |output: &Output| {
        assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
        assert!(folder.path().join("doublehold-check/set-ex-P1.toml").is_file(), "{}", text(&output.stderr));
    };
    let full = File::options().write(true).open("/dev/full").unwrap();
    let output = to(folder.path(), full.into(), &[]);
    found(&output);
    assert!(text(&output.stderr).contains("error: cannot write to standard output: "), "{output:?}");

    fs::remove_dir_all(folder.path().join("doublehold-check")).unwrap();
    let output = search(folder.path(), &["--junit", "/dev/full", "--markdown", "s.md"]);
    found(&output);
    assert!(text(&output.stdout).contains("\nVIOLATED: P1\n"), "{output:?}");
    assert!(
        text(&output.stderr).contains("error: cannot write the JUnit result to `/dev/full`: "),
        "{output:?}"
    );
    assert!(fs::read_to_string(folder.path().join("s.md")).unwrap().contains("VIOLATED: P1"));
}

/// Names that we choose are no place for somebody else's links.
#[test]
fn a_link_in_the_place_of_a_counterexample_is_replaced_and_not_followed() {
    let folder = folder();
    fs::write(folder.path().join("precious"), "mine").unwrap();
    fs::create_dir(folder.path().join("doublehold-check")).unwrap();
    let places = ["toml", "plan", "history.jsonl", "txt"]
        .map(|it| folder.path().join(format!("doublehold-check/set-ex-P1.{it}")));
    places.iter().for_each(|place| symlink("../precious", place).unwrap());
    let output = search(folder.path(), &[]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert_eq!(fs::read_to_string(folder.path().join("precious")).unwrap(), "mine");
    assert!(places.iter().all(|place| place.is_file() && !place.is_symlink()), "{output:?}");
}

#[test]
fn a_plan_that_cannot_be_written_leaves_the_scenario_and_another_way_to_see_the_run() {
    let folder = folder();
    fs::create_dir_all(folder.path().join("doublehold-check/set-ex-P1.plan")).unwrap();
    let output = search(folder.path(), &["--junit", "j.xml"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let said = text(&output.stdout);
    assert!(said.contains("  file: doublehold-check/set-ex-P1.toml\n") && !said.contains(".plan"), "{said}");
    let again = "replay: doublehold check set-ex --weather calm --predicate P1 --seed ";
    assert!(said.contains(again) && said.contains("\nVIOLATED: P1\n"), "{said}");
    assert!(text(&output.stderr).contains("cannot write the plan to `doublehold-check/set-ex-P1.plan`"));
    assert!(fs::read_to_string(folder.path().join("j.xml")).unwrap().contains(again));
}

#[test]
fn files_that_cannot_be_or_are_something_else_are_refused_and_nothing_is_left_behind() {
    let folder = folder();
    fs::create_dir(folder.path().join("winds")).unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    let weather = "[[faults]]\nkind = \"pause\"\nhost = \"clients\"\nevery = \"9s\"\nfor = \"1s\"\n";
    fs::write(folder.path().join("mine.toml"), weather).unwrap();
    let refused: [(&[&str], &str); 6] = [
        (
            &["--junit", "x", "--markdown", "./x"],
            "`--junit` and `--markdown` are both `./x`\nhint: name another",
        ),
        (&["--junit", "winds"], "cannot write the JUnit result to `winds`: it is a directory"),
        (&["--junit", "no/j.xml"], "cannot write the JUnit result to `no/j.xml`"),
        (&["--markdown", "no/s.md"], "cannot write the Markdown summary to `no/s.md`"),
        (&["--out", "file"], "cannot write counterexamples to `file`: it is a file\nhint: name a folder"),
        (&["--out", "file/x"], "cannot write counterexamples to `file/x`: "),
    ];
    for (arguments, cause) in refused {
        let output = search(folder.path(), &[arguments, &["--seed", "1"]].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
        assert!(text(&output.stderr).contains(cause), "{arguments:?}: {}", text(&output.stderr));
        assert!(
            output.stdout.is_empty() && !text(&output.stderr).contains("runs in"),
            "{arguments:?}: {output:?}"
        );
    }
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_doublehold"));
        let output =
            command.args(["check", "set-ex"]).args(arguments).current_dir(folder.path()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
        text(&output.stderr).to_owned()
    };
    fs::write(folder.path().join("winds/none.toml"), "").unwrap();
    let empty = run(&["--weather", "winds/none.toml"]);
    assert!(
        empty.contains("it is empty\nhint: start from one that comes with the program: `doublehold weather")
    );
    assert!(run(&["--weather", "winds"]).contains("`--weather winds` is a folder\nhint: name a file in it"));
    assert!(run(&["--weather", "."]).contains("`--weather .` is a folder\nhint: name a file in it"));
    let over = run(&["--weather", "mine.toml", "--markdown", "mine.toml", "--out", "new/er"]);
    assert!(over.contains("a result cannot be written over `mine.toml`, which is read"), "{over}");
    let mut left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|it| it.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["file", "mine.toml", "winds"]);
    assert_eq!(fs::read_to_string(folder.path().join("mine.toml")).unwrap(), weather);
}

#[test]
fn files_of_earlier_searches_stay_and_are_named() {
    let folder = folder();
    let out = folder.path().join("doublehold-check");
    fs::create_dir(&out).unwrap();
    for name in ["set-ex-P4.plan", "single-LV.history.jsonl", "notes.txt", "my-P4.md"] {
        fs::write(out.join(name), "mine").unwrap();
    }
    let output = search(folder.path(), &[]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = "`doublehold-check` also has files of earlier searches, which say nothing about this one: \
                set-ex-P4.plan and single-LV.history.jsonl\n";
    assert!(text(&output.stderr).ends_with(said), "{}", text(&output.stderr));
    for name in ["set-ex-P4.plan", "single-LV.history.jsonl", "notes.txt", "my-P4.md"] {
        assert_eq!(fs::read_to_string(out.join(name)).unwrap(), "mine");
    }
}

/// Who runs the scenario as any other is shown the run that it is about.
#[test]
fn a_counterexample_is_run_from_its_own_seed_if_nobody_names_another() {
    let folder = folder();
    search(folder.path(), &["--seed", "788"]);
    let run = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_doublehold"));
        command.args(["run", "doublehold-check/set-ex-P1.toml"]).args(more).current_dir(folder.path());
        text(&command.output().unwrap().stdout).to_owned()
    };
    assert!(run(&[]).contains("\n  seed 788, ") && run(&["--seed", "5"]).contains("\n  seed 5, "));
    let line = "replay: doublehold run doublehold-check/set-ex-P1.toml --seed 788\n";
    assert!(run(&[]).ends_with(line), "{}", run(&[]));
}

#[test]
fn ascii_is_ascii_to_the_last_line() {
    let folder = folder();
    let quiet = include_str!("../../../../scenarios/catalog/quiet.toml");
    fs::write(folder.path().join("größe.toml"), quiet).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_doublehold"));
    command
        .args(["check", "größe.toml", "--weather", "calm", "--runs", "32", "--predicate", "P1"])
        .current_dir(folder.path());
    let mut said =
        |more: &[&str]| text(&command.args(more).env("LANG", "C.UTF-8").output().unwrap().stdout).to_owned();
    assert!(said(&[]).contains("größe under calm: "));
    let ascii = said(&["--ascii"]);
    assert!(ascii.is_ascii() && ascii.contains("gr??e under calm: "), "{ascii}");
}
