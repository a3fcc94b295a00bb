//! What `doublehold check` reads and writes: what is refused before the first run, what is kept when a device is full,
//! and what is left alone.
#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::os::unix::fs::symlink;

use snapbox::str;

use crate::kit::{Answer, Ask, Folder, assert_text};

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
    folder.write("winds/none.toml", "");
    let refused: [&[&str]; 10] = [
        &["--junit", "x", "--markdown", "./x"],
        &["--junit", "winds"],
        &["--junit", "no/j.xml"],
        &["--markdown", "no/s.md"],
        &["--out", "file"],
        &["--out", "file/x"],
        &["--weather", "winds/none.toml"],
        &["--weather", "winds"],
        &["--weather", "."],
        &["--weather", "mine.toml", "--markdown", "mine.toml", "--out", "new/er"],
    ];
    let refused = refused.map(|more| [&["check", "set-ex"], more].concat());
    assert_text(
        folder.refusals(&refused),
        str![[r#"
$ doublehold check set-ex --junit x --markdown ./x
error: `--junit` and `--markdown` are both `./x`
hint: name another file

$ doublehold check set-ex --junit winds
error: cannot write the JUnit result to `winds`: it is a directory
hint: name a file in it

$ doublehold check set-ex --junit no/j.xml
error: cannot write the JUnit result to `no/j.xml`: No such file or directory (os error 2)
hint: name a file in a directory that exists and that you may write to

$ doublehold check set-ex --markdown no/s.md
error: cannot write the Markdown summary to `no/s.md`: No such file or directory (os error 2)
hint: name a file in a directory that exists and that you may write to

$ doublehold check set-ex --out file
error: cannot write counterexamples to `file`: it is a file
hint: name a folder that you may write to, or one that is not there yet

$ doublehold check set-ex --out file/x
error: cannot write counterexamples to `file/x`: Not a directory (os error 20)
hint: name a folder that you may write to, or one that is not there yet

$ doublehold check set-ex --weather winds/none.toml
error: cannot read weather `winds/none.toml`: it is empty
hint: start from one that comes with the program: `doublehold weather cloud` prints it

$ doublehold check set-ex --weather winds
error: `--weather winds` is a folder
hint: name a file in it, or one of the weathers that `doublehold weather` lists

$ doublehold check set-ex --weather .
error: `--weather .` is a folder
hint: name a file in it, or one of the weathers that `doublehold weather` lists

$ doublehold check set-ex --weather mine.toml --markdown mine.toml --out new/er
error: a result cannot be written over `mine.toml`, which is read
hint: name another file

"#]],
    );
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
    let quiet = include_str!("../../../../scenarios/catalog/one-node/quiet.toml");
    folder.write("größe.toml", quiet);
    let search = ["check", "größe.toml", "--weather", "calm", "--runs", "32", "--predicate", "P1"];
    let said = |more: &[&str]| folder.doublehold(&search).args(more).answer().stdout;
    assert!(said(&[]).contains("größe under calm: "));
    let ascii = said(&["--ascii"]);
    assert!(ascii.is_ascii(), "{ascii}");
    assert_text(
        ascii,
        str![[r#"
gr??e under calm: 1 node, 3 clients, 3 rounds each
32 runs, seeds 1 to 32, 288 grants

  rule                         holds  violated  inconclusive  first seed  rate (95 %)
  P1 claim overlap                32         0             0           -  at most 9 %
  P2 valid overlap, not asked     32         0             0           -  at most 9 %
  P3 stale effect, not asked      32         0             0           -  at most 9 %
  P4 data anomaly, not asked      32         0             0           -  at most 9 %
  WR wrong release, not asked     32         0             0           -  at most 9 %
  LV liveness, not asked          32         0             0           -  at most 9 %

  LV: the lock goes to who asks within 30 s (the scenario's bound)

no fault struck: there is none in the scenario and none in the weather

nothing found: P1 holds in all 32 runs

"#]],
    );
}
