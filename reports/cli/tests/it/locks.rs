//! `doublehold locks`: it shows what the descriptors say, and the scenario it offers runs as it is.

use std::path::PathBuf;
use std::process::{Command, Output};

use doublehold_lockimpl::{Descriptor, Switches, descriptors};
use doublehold_scenarios::{Engine, SimEngine, catalog};
use serde_json::Value;

use crate::explained::{fields, section, words};

fn doublehold(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_doublehold"))
        .args(arguments)
        .env("LC_ALL", "C.UTF-8")
        .env("COLUMNS", "80")
        .output()
        .expect("the binary starts")
}

fn printed(arguments: &[&str]) -> String {
    let output = doublehold(arguments);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), said.as_str()), (Some(0), ""), "{arguments:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&printed(&[arguments, &["--format", "json"]].concat())).expect("JSON")
}

#[test]
fn every_lock_is_listed_with_what_it_is() {
    let list = printed(&["locks"]);
    let words: Vec<&str> = list.split_whitespace().collect();
    for lock in descriptors() {
        assert!(list.lines().any(|line| line.split(' ').next() == Some(lock.name)), "{}: {list}", lock.name);
        let meaning: Vec<&str> = lock.meaning.split_whitespace().collect();
        assert!(words.windows(meaning.len()).any(|some| some == meaning), "{}: {list}", lock.name);
    }
    assert!(list.lines().all(|line| line.chars().count() <= 80), "{list}");
}

#[test]
fn a_locks_page_has_its_source_and_every_switch() {
    for lock in descriptors() {
        let page = printed(&["locks", lock.name]);
        let words = page.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(&format!("source: {}", lock.source)), "{page}");
        for switch in &lock.switches {
            let takes = switch.takes();
            let row = format!("{} {} {takes}; default ", switch.name, switch.meaning);
            assert!(words.contains(&row), "{row}: {page}");
        }
        assert_eq!(words.contains("No switches."), lock.switches.is_empty(), "{page}");
    }
    let page = printed(&["locks", "single"]);
    for fact in [
        "runs on: one node\n",
        "sends: SET, EVALSHA, SCRIPT\n",
        "computes a deadline: with `elapsed_check = true`\n",
        "gives fencing numbers: with `fencing = true`\n",
        "can be extended: yes\n",
    ] {
        assert!(page.contains(fact), "{fact}: {page}");
    }
}

#[test]
fn the_json_says_all_that_the_descriptor_does() {
    let all = json(&["locks"]);
    let all = all.as_array().expect("an array");
    assert_eq!(all.len(), descriptors().len());
    for (shown, lock) in all.iter().zip(descriptors()) {
        assert_eq!(*shown, json(&["locks", lock.name]));
        assert_eq!(shown["name"], lock.name);
        assert_eq!(shown["meaning"], lock.meaning);
        assert_eq!(shown["source"], lock.source);
        says_the_facts(shown, &lock);
        let switches = shown["switches"].as_array().expect("an array");
        assert_eq!(switches.len(), lock.switches.len(), "{}", lock.name);
        for (shown, switch) in switches.iter().zip(&lock.switches) {
            assert_eq!(shown["name"], switch.name);
            assert_eq!(shown["meaning"], switch.meaning);
            assert_eq!(shown["takes"], switch.takes());
            let default = switch.default.as_ref().map(ToString::to_string);
            assert_eq!(shown["default"].as_str(), default.as_deref(), "{}", switch.name);
            assert_eq!(shown["needs"].as_str(), switch.needs, "{}", switch.name);
        }
    }
}

#[test]
fn the_page_on_json_explains_every_field() {
    let explained = words(section(include_str!("../../../JSON.md"), "## The locks"));
    let written = fields(&json(&["locks"]));
    let missing: Vec<&String> = written.difference(&explained).collect();
    assert!(missing.is_empty(), "the page does not say {missing:?}");
}

fn says_the_facts(shown: &Value, lock: &Descriptor) {
    let facts = lock.facts(&Switches::new());
    let said = &shown["facts"];
    assert_eq!(said["deadline"], facts.deadline, "{}", lock.name);
    assert_eq!(said["fencing"], facts.fencing, "{}", lock.name);
    assert_eq!(said["extends"], facts.extends, "{}", lock.name);
    let sends = facts.sends.expect("our locks know what they send");
    assert_eq!(said["sends"]["to_hold"], Value::from(sends.to_hold), "{}", lock.name);
    assert_eq!(said["sends"]["to_extend"], Value::from(sends.to_extend), "{}", lock.name);
}

#[test]
fn the_scenario_to_copy_runs_for_every_lock() {
    for lock in descriptors() {
        let page = printed(&["locks", lock.name]);
        let (_, scenario) = page.split_once("A scenario to copy:\n\n").expect("there is one");
        assert_eq!(json(&["locks", lock.name])["scenario"], scenario);
        let file = Copy::of(lock.name, scenario);
        printed(&["run", file.path()]);
        let scenario = catalog::load(file.path(), &[]).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(scenario.lock.algorithm, lock.name);
        let report = SimEngine.run(&scenario, 1);
        let grants = report
            .history
            .events()
            .iter()
            .filter(|event| matches!(event.what, doublehold_history::EventKind::Granted { .. }));
        assert_eq!(grants.count(), 2, "{}: both get the lock", lock.name);
    }
}

/// A file that is gone when the test ends.
struct Copy(PathBuf);

impl Copy {
    fn of(lock: &str, scenario: &str) -> Copy {
        let path = std::env::temp_dir().join(format!("doublehold-locks-{}-{lock}.toml", std::process::id()));
        std::fs::write(&path, scenario).expect("a temporary file");
        Copy(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().expect("a path in UTF-8")
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        let _gone = std::fs::remove_file(&self.0);
    }
}

#[test]
fn an_unknown_lock_is_refused_with_a_near_one() {
    let refused = |name: &str| {
        let output = doublehold(&["locks", name]);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{name}");
        String::from_utf8(output.stderr).expect("UTF-8")
    };
    assert_eq!(refused("redlok"), "error: unknown lock `redlok`\nhint: did you mean `redlock`?\n");
    let nothing_near = refused("zookeeper-recipe");
    assert!(nothing_near.contains("hint: known are `single`, `replicated`, `redlock`"), "{nothing_near}");
    assert!(!refused("x\u{1b}[31m").contains('\u{1b}'));
    assert!(refused(&"x".repeat(100_000)).len() < 1000);
}
