//! What `doublehold check` reads and writes: what is refused before the first run, what is kept when a device is full,
//! and what is left alone.
#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::os::unix::fs::symlink;

use crate::kit::{Answer, Ask, Folder};

/// A search that finds one thing, soon.
const SEARCH: [&str; 8] = ["check", "set-ex", "--weather", "calm", "--predicate", "P1", "--runs", "32"];

fn search(folder: &Folder, more: &[&str]) -> Answer {
    folder.doublehold(&SEARCH).args(more).answer()
}

#[test]
fn a_full_device_is_an_error_and_takes_nothing_else_with_it() {
    let folder = Folder::new();
    let found = |output: &Answer| {
        assert_eq!(output.status, Some(2), "{}", output.stderr);
        assert!(folder.at().join("doublehold-check/set-ex-P1.toml").is_file(), "{}", output.stderr);
    };
    let full = File::options().write(true).open("/dev/full").unwrap();
    let output = folder.doublehold(&SEARCH).stdout(full).answer();
    found(&output);
    assert!(output.stderr.contains("error: cannot write to standard output: "), "{output:?}");

    fs::remove_dir_all(folder.at().join("doublehold-check")).unwrap();
    let output = search(&folder, &["--junit", "/dev/full", "--markdown", "s.md"]);
    found(&output);
    assert!(output.stdout.contains("\nVIOLATED: P1\n"), "{output:?}");
    assert!(output.stderr.contains("error: cannot write the JUnit result to `/dev/full`: "), "{output:?}");
    assert!(folder.read("s.md").contains("VIOLATED: P1"));
}

/// Names that we choose are no place for somebody else's links.
#[test]
fn a_link_in_the_place_of_a_counterexample_is_replaced_and_not_followed() {
    let folder = Folder::new();
    folder.write("precious", "mine");
    fs::create_dir(folder.at().join("doublehold-check")).unwrap();
    let places = ["toml", "plan", "history.jsonl", "txt"]
        .map(|it| folder.at().join(format!("doublehold-check/set-ex-P1.{it}")));
    places.iter().for_each(|place| symlink("../precious", place).unwrap());
    let output = search(&folder, &[]);
    assert_eq!(output.status, Some(1), "{output:?}");
    assert_eq!(folder.read("precious"), "mine");
    assert!(places.iter().all(|place| place.is_file() && !place.is_symlink()), "{output:?}");
}

#[test]
fn a_plan_that_cannot_be_written_leaves_the_scenario_and_another_way_to_see_the_run() {
    let folder = Folder::new();
    fs::create_dir_all(folder.at().join("doublehold-check/set-ex-P1.plan")).unwrap();
    let output = search(&folder, &["--junit", "j.xml"]);
    assert_eq!(output.status, Some(2), "{output:?}");
    let said = output.stdout;
    assert!(said.contains("  file: doublehold-check/set-ex-P1.toml\n") && !said.contains(".plan"), "{said}");
    let again = "replay: doublehold check set-ex --weather calm --predicate P1 --seed ";
    assert!(said.contains(again) && said.contains("\nVIOLATED: P1\n"), "{said}");
    assert!(output.stderr.contains("cannot write the plan to `doublehold-check/set-ex-P1.plan`"));
    assert!(folder.read("j.xml").contains(again));
}

#[test]
fn files_that_cannot_be_or_are_something_else_are_refused_and_nothing_is_left_behind() {
    let folder = Folder::new();
    fs::create_dir(folder.at().join("winds")).unwrap();
    folder.write("file", "");
    let weather = "[[faults]]\nkind = \"pause\"\nhost = \"clients\"\nevery = \"9s\"\nfor = \"1s\"\n";
    folder.write("mine.toml", weather);
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
        let output = search(&folder, &[arguments, &["--seed", "1"]].concat());
        assert_eq!(output.status, Some(2), "{arguments:?}: {output:?}");
        assert!(output.stderr.contains(cause), "{arguments:?}: {}", output.stderr);
        assert!(output.stdout.is_empty() && !output.stderr.contains("runs in"), "{arguments:?}: {output:?}");
    }
    let run = |arguments: &[&str]| folder.doublehold(&["check", "set-ex"]).args(arguments).refused();
    folder.write("winds/none.toml", "");
    let empty = run(&["--weather", "winds/none.toml"]);
    assert!(
        empty.contains("it is empty\nhint: start from one that comes with the program: `doublehold weather")
    );
    assert!(run(&["--weather", "winds"]).contains("`--weather winds` is a folder\nhint: name a file in it"));
    assert!(run(&["--weather", "."]).contains("`--weather .` is a folder\nhint: name a file in it"));
    let over = run(&["--weather", "mine.toml", "--markdown", "mine.toml", "--out", "new/er"]);
    assert!(over.contains("a result cannot be written over `mine.toml`, which is read"), "{over}");
    assert_eq!(folder.names(), ["file", "mine.toml", "winds"]);
    assert_eq!(folder.read("mine.toml"), weather);
}

#[test]
fn files_of_earlier_searches_stay_and_are_named() {
    let folder = Folder::new();
    let out = folder.at().join("doublehold-check");
    fs::create_dir(&out).unwrap();
    for name in ["set-ex-P4.plan", "single-LV.history.jsonl", "notes.txt", "my-P4.md"] {
        fs::write(out.join(name), "mine").unwrap();
    }
    let output = search(&folder, &[]);
    assert_eq!(output.status, Some(1), "{output:?}");
    let said = "`doublehold-check` also has files of earlier searches, which say nothing about this one: \
                set-ex-P4.plan and single-LV.history.jsonl\n";
    assert!(output.stderr.ends_with(said), "{}", output.stderr);
    for name in ["set-ex-P4.plan", "single-LV.history.jsonl", "notes.txt", "my-P4.md"] {
        assert_eq!(fs::read_to_string(out.join(name)).unwrap(), "mine");
    }
}

/// Who runs the scenario as any other is shown the run that it is about.
#[test]
fn a_counterexample_is_run_from_its_own_seed_if_nobody_names_another() {
    let folder = Folder::new();
    search(&folder, &["--seed", "788"]);
    let run = |more: &[&str]| {
        folder.doublehold(&["run", "doublehold-check/set-ex-P1.toml"]).args(more).answer().stdout
    };
    assert!(run(&[]).contains("\n  seed 788, ") && run(&["--seed", "5"]).contains("\n  seed 5, "));
    let line = "replay: doublehold run doublehold-check/set-ex-P1.toml --seed 788\n";
    assert!(run(&[]).ends_with(line), "{}", run(&[]));
}

#[test]
fn ascii_is_ascii_to_the_last_line() {
    let folder = Folder::new();
    let quiet = include_str!("../../../../scenarios/catalog/quiet.toml");
    folder.write("größe.toml", quiet);
    let search = ["check", "größe.toml", "--weather", "calm", "--runs", "32", "--predicate", "P1"];
    let said = |more: &[&str]| folder.doublehold(&search).args(more).answer().stdout;
    assert!(said(&[]).contains("größe under calm: "));
    let ascii = said(&["--ascii"]);
    assert!(ascii.is_ascii() && ascii.contains("gr??e under calm: "), "{ascii}");
}
