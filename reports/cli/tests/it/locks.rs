//! `doublehold locks`: it shows what the descriptors say, and the scenario it offers runs as it is.

use doublehold_lockimpl::{Descriptor, Remedy, Switches, descriptors};
use doublehold_scenarios::{Engine, SimEngine, catalog};
use serde_json::Value;
use snapbox::str;

use crate::explained::{fields, section, words};
use crate::kit::{self, Ask, Folder, assert_text, doublehold};

fn printed(arguments: &[&str]) -> String {
    doublehold(arguments).env("COLUMNS", "80").prints(0)
}

fn json(arguments: &[&str]) -> Value {
    kit::json(&printed(&[arguments, &["--format", "json"]].concat()))
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
        for switch in lock.switches.iter() {
            let takes = switch.takes();
            let row = format!("{} {} {takes}; default ", switch.name, switch.meaning);
            assert!(words.contains(&row), "{row}: {page}");
        }
        assert_eq!(words.contains("No switches."), lock.switches.is_empty(), "{page}");
    }
    let page = printed(&["locks", "single"]);
    let (facts, _) = page.split_once("\n\n").expect("its switches follow");
    assert_text(
        facts,
        str![[r#"
single
  a key on one node: SET NX PX takes it, a script that compares the token gives
  it back
  source: Redis documentation, "Distributed Locks with Redis": a correct
          implementation with a single instance
  runs on: one node, or a master that other nodes replicate
  sends: SET, EVALSHA, SCRIPT
  sends to extend: EVALSHA, SCRIPT
  computes a deadline: with `elapsed_check = true`
  gives fencing numbers: with `fencing = true`
  can be extended: yes
  renews a lease by itself: no
  can be told how long to wait: with `wake = poll`
  admits its holder again: no
"#]],
    );
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
        for (shown, switch) in switches.iter().zip(lock.switches.iter()) {
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
        let folder = Folder::new();
        let file = folder.write("copy.toml", scenario);
        printed(&["run", &file]);
        let scenario = catalog::load(&file, &[]).unwrap_or_else(|error| panic!("{error}"));
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

#[test]
fn an_unknown_lock_is_refused_with_a_near_one() {
    let refused = |name: &str| doublehold(&["locks", name]).refused();
    assert_text(
        refused("redlok"),
        str![[r#"
error: unknown lock `redlok`
hint: did you mean `redlock` or `redlock-py`?

"#]],
    );
    assert_text(
        refused("zookeeper-recipe"),
        str![[r#"
error: unknown lock `zookeeper-recipe`
hint: `doublehold locks` lists those that there are

"#]],
    );
    assert!(!refused("x\u{1b}[31m").contains('\u{1b}'));
    assert!(refused(&"x".repeat(100_000)).len() < 1000);
}

#[test]
fn a_library_is_found_by_what_people_call_it() {
    let page = printed(&["locks", "bullmq"]);
    for typed in ["BullMQ", "LockManager"] {
        assert_eq!(printed(&["locks", typed]), page, "{typed}");
    }
    assert_text(
        doublehold(&["locks", "LokcManager"]).refused(),
        str![[r#"
error: unknown lock `LokcManager`
hint: did you mean `bullmq`?

"#]],
    );
}

#[test]
fn a_librarys_page_has_its_version_its_settings_and_a_command_for_each_flaw() {
    for lock in descriptors() {
        let Some((profile, engine)) = lock.profile else { continue };
        let page = printed(&["locks", lock.name]);
        let words = page.split_whitespace().collect::<Vec<_>>().join(" ");
        let has = |text: &str| assert!(words.contains(text), "{text}: {page}");
        has(&format!(
            "{} {} ({}), read on {}",
            profile.library, profile.version, profile.language, profile.read_on
        ));
        has(&format!("a setting of `{engine}`, with "));
        for (switch, value) in (profile.fixed)().iter() {
            has(&format!("{switch} = {value}"));
        }
        for flaw in profile.flaws {
            has(&format!("doublehold run {};", flaw.scenario));
            has(&format!("doublehold run {}", flaw.repaired));
            match flaw.remedy {
                Remedy::Option(option) => has(&format!("You can change it by the option `{option}`.")),
                Remedy::Code(code) => {
                    assert!(code.ends_with('.'), "{}: {code}", lock.name);
                    has(&format!("Your code can avoid it: {code}"));
                }
                Remedy::Authors => {}
            }
            for scenario in [flaw.scenario, flaw.repaired] {
                assert!(catalog::load(scenario, &[]).is_ok(), "{}: `{scenario}` is no scenario", lock.name);
            }
        }
        assert_eq!(json(&["locks", lock.name])["library"]["engine"], engine);
    }
}

#[test]
fn the_page_of_libraries_links_each_and_says_what_came_of_its_flaws() {
    let page = printed(&["locks", "--format", "md"]);
    for lock in descriptors() {
        let Some((profile, _)) = lock.profile else { continue };
        assert!(page.contains(&format!("[{}](#lock-{})", profile.library, lock.name)), "{page}");
        let section = printed(&["locks", lock.name, "--format", "md"]);
        assert!(page.contains(section.trim_end()), "{section}");
        for flaw in profile.flaws {
            let after = |scenario: &str| {
                let (_, rest) =
                    section.split_once(&format!("`doublehold run {scenario}`: ")).expect("its command");
                rest.lines().next().expect("what came of it").to_owned()
            };
            assert!(after(flaw.scenario).contains(")."), "{section}");
        }
    }
    let bullmq = printed(&["locks", "bullmq", "--format", "md"]);
    let seen = "`doublehold run stalled-job`: two hold the lock at once for 19.";
    let measured = " (P1, P2, P3 and P4). *Measured* in the library itself: two held it for 20.033 s.\n";
    assert!(bullmq.contains(seen) && bullmq.contains(measured), "{bullmq}");
    let changed = "`doublehold run stalled-job/repaired` shows the change: the lock lasts for 90 s, ";
    let changed = bullmq.lines().find(|line| line.contains(changed));
    assert!(changed.is_some_and(|line| line.ends_with(". Nothing goes wrong.")), "{bullmq}");
}

#[test]
fn the_page_of_libraries_says_of_each_flaw_who_can_change_it_and_whether_it_was_measured() {
    let flaw = |library: &str, scenario: &str| {
        let page = printed(&["locks", library, "--format", "md"]);
        let mut lines = page.lines();
        let shown =
            lines.find(|line| line.starts_with(&format!("  - Shown by `doublehold run {scenario}`: ")));
        (shown.expect("its command").to_owned(), lines.next().expect("who can change it").to_owned())
    };
    let (shown, change) = flaw("redlock-py", "redlock-py-late-clean-up");
    assert!(shown.ends_with(" *Measured* in the library itself: two held it for 1.501 s."), "{shown}");
    assert!(change.starts_with("  - **Your code can avoid it.** Set `retry_count=1`, "), "{change}");
    let (shown, change) = flaw("asynq", "asynq");
    assert!(!shown.contains("Measured"), "{shown}");
    assert!(change.starts_with("  - Only its authors can change it. "), "{change}");
    let (_, change) = flaw("redis-semaphore", "redis-semaphore");
    assert!(change.starts_with("  - **You can change it** by the option `commandTimeout`. "), "{change}");
}

#[test]
fn the_page_of_libraries_has_what_was_measured_beside_what_a_run_comes_to() {
    let page = printed(&["locks", "--format", "md"]);
    let row = page.lines().find(|line| line.starts_with("| [redlock-py](#lock-redlock-py) | "));
    assert!(row.is_some_and(|row| {
        row.contains(" | two held it for 1.501 s | 1.5 s | `doublehold run redlock-py-late-clean-up` |")
    }));
}

/// A flaw of a library may be one of its driver: the same library over another version behaves otherwise.
#[test]
fn the_page_of_libraries_names_the_driver_of_each_and_the_version_that_was_newest() {
    for lock in descriptors() {
        let Some((profile, _)) = lock.profile else { continue };
        let page = printed(&["locks", lock.name, "--format", "md"]);
        let driver = match profile.driver() {
            Some(driver) => format!(" Its driver here is `{}`, which ", driver.name),
            None => " Its driver here is none of those that the switch `driver` names. ".to_owned(),
        };
        assert!(page.contains(&driver), "{page}");
        let newest = match profile.newest {
            Some(newest) => {
                format!(" Newest version: {}, looked up on {}: ", newest.version, newest.looked_up_on)
            }
            None => " Newest version: not looked up. ".to_owned(),
        };
        assert!(page.contains(&newest), "{page}");
    }
    let pottery = printed(&["locks", "pottery"]);
    let pottery = pottery.split_whitespace().collect::<Vec<_>>().join(" ");
    let driver = "its driver: `redis-py-8`, which connects within 5 s, waits 5 s for a reply and sends a command again \
                  up to 10 times";
    assert!(pottery.contains(driver), "{pottery}");
}
