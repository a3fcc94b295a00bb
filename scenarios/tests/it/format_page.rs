//! The page that explains the format shows a file that is one, names every word of the format, and lists the locks and
//! their switches as they are. That list is written by the test itself:
//! `BLESS=1 cargo test -p doublehold-scenarios --test it format_page`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use doublehold_lockimpl::{Descriptor, Nodes, Switch, Value, descriptors};
use doublehold_scenarios::format::{Key, vocabulary};
use doublehold_scenarios::report::Judgement;
use doublehold_scenarios::{Engine, SimEngine, catalog};

#[test]
fn the_example_of_the_format_page_is_a_scenario() {
    let page = include_str!("../../FORMAT.md");
    let (_, block) = page.split_once("```toml\n").expect("the page has an example");
    let (example, _) = block.split_once("```").expect("the example ends");
    let path = std::env::temp_dir().join(format!("doublehold-format-{}.toml", std::process::id()));
    std::fs::write(&path, example).expect("a temporary file");
    let path = path.to_str().expect("a temporary path is text");
    for name in [path.to_owned(), format!("{path}/again")] {
        let scenario = catalog::load(&name, &[]).unwrap_or_else(|error| panic!("{error}"));
        let judged: Vec<Judgement> =
            (1..=10).map(|seed| SimEngine.run(&scenario, seed).judgement()).collect();
        // Its weather may keep c1 from the check at which its own fault waits, and nothing is decided then.
        assert!(!judged.contains(&Judgement::Contradicted), "{name}: {judged:?}");
        let as_expected = judged.iter().filter(|it| **it == Judgement::AsExpected).count();
        assert!(as_expected >= 8, "{name}: {judged:?}");
    }
    std::fs::remove_file(path).expect("it was written above");
}

#[test]
fn the_format_page_names_every_word_of_the_format() {
    let page = include_str!("../../FORMAT.md");
    let part_of_a_word = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
    let mut named: BTreeSet<&str> = page.split(|letter| !part_of_a_word(letter)).collect();
    // A version has a dot in it, which between other words is the end of one.
    named.extend(page.split(|letter| !part_of_a_word(letter) && letter != '.'));
    let last_part = |Key { path, word }: Key| match word {
        Some(word) => word,
        None => path.rsplit('.').next().unwrap_or_default().to_owned(),
    };
    let words = vocabulary().into_iter().map(last_part);
    let missing: BTreeSet<String> =
        words.filter(|word| !word.split(' ').all(|part| named.contains(part))).collect();
    assert!(missing.is_empty(), "the page does not say {missing:?}");
}

/// The locks as rows of a table.
fn lock_rows(locks: &[Descriptor]) -> String {
    let mut rows = String::from("| lock | what it is | nodes |\n|---|---|---|\n");
    for lock in locks {
        let nodes = match lock.nodes {
            Nodes::One => "one",
            Nodes::Replicated => "a `master` and its replicas",
            Nodes::Independent => "any number, alone",
        };
        writeln!(rows, "| `{}` | {} | {nodes} |", lock.name, lock.meaning)
            .expect("a string takes everything");
    }
    rows
}

/// The libraries as rows of a table: what is said of their engines is not said again.
fn library_rows(locks: &[Descriptor]) -> String {
    let mut rows = String::from("| library | setting of | what it leaves open |\n|---|---|---|\n");
    for lock in locks {
        let Some((_, engine)) = lock.profile else { continue };
        let open: Vec<String> = lock.switches.iter().map(|switch| format!("`{}`", switch.name)).collect();
        writeln!(rows, "| `{}` | `{engine}` | {} |", lock.name, open.join(", "))
            .expect("a string takes everything");
    }
    rows
}

/// The switches of all locks as rows of a table, each once.
fn switch_rows(locks: &[Descriptor]) -> String {
    let mut rows = String::from("| switch | what it is | takes | default |\n|---|---|---|---|\n");
    let mut seen: Vec<&Switch> = Vec::new();
    for switch in locks.iter().flat_map(|lock| lock.switches.iter()) {
        if seen.iter().any(|known| known.name == switch.name) {
            continue;
        }
        seen.push(switch);
        let defaults = defaults(locks, switch);
        writeln!(rows, "| `{}` | {} | {} | {defaults} |", switch.name, switch.meaning, switch.takes())
            .expect("a string takes everything");
    }
    rows
}

/// What a switch is where nothing is said, and for which locks: those with the same default together.
fn defaults(locks: &[Descriptor], switch: &Switch) -> String {
    let mut groups: Vec<(Option<&Value>, Vec<String>)> = Vec::new();
    for lock in locks {
        let Some(own) = lock.switch(switch.name) else { continue };
        let name = format!("`{}`", lock.name);
        match groups.iter_mut().find(|(default, _)| *default == own.default.as_ref()) {
            Some((_, names)) => names.push(name),
            None => groups.push((own.default.as_ref(), vec![name])),
        }
    }
    let words = groups.into_iter().map(|(default, names)| {
        let default = default.map_or("none".to_owned(), Value::to_string);
        format!("{default}: {}", names.join(", "))
    });
    words.collect::<Vec<_>>().join("; ")
}

#[test]
fn the_format_page_lists_the_locks_and_their_switches_as_they_are() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("FORMAT.md");
    let page = std::fs::read_to_string(&path).expect("the page is there");
    let (libraries, engines): (Vec<Descriptor>, Vec<Descriptor>) =
        descriptors().into_iter().partition(|lock| lock.profile.is_some());
    let list =
        format!("\n{}\n{}\n{}\n", lock_rows(&engines), switch_rows(&engines), library_rows(&libraries));
    let (before, rest) = page.split_once("<!-- locks:").expect("the list has a beginning");
    let (command, rest) = rest.split_once("-->\n").expect("which says how it is written");
    let (listed, after) = rest.split_once("<!-- end of locks -->").expect("and an end");
    if std::env::var_os("BLESS").is_some() {
        let page = format!("{before}<!-- locks:{command}-->\n{list}<!-- end of locks -->{after}");
        std::fs::write(&path, page).expect("the page can be written");
        return;
    }
    assert_eq!(
        listed, list,
        "write it anew with `BLESS=1 cargo test -p doublehold-scenarios --test it format_page`"
    );
}

#[test]
fn what_the_page_says_of_a_switch_is_one_thing_for_all_locks_that_have_it() {
    let locks = descriptors();
    for switch in locks.iter().flat_map(|lock| lock.switches.iter()) {
        for other in locks.iter().filter_map(|lock| lock.switch(switch.name)) {
            let (own, other) = ((switch.meaning, switch.takes()), (other.meaning, other.takes()));
            assert_eq!(own, other, "`{}` is a switch of several locks", switch.name);
        }
    }
}
