//! One fault in the small world of each library's lock: in how many placements it breaks what, as it was when somebody
//! last looked.
//!
//! A number here changes with a profile, with its engine, and with whatever a search places; a change of none of them
//! changes no number. `UPDATE_GOLDEN=1 cargo test -p doublehold-search --test it libraries` writes the file anew; look
//! at the difference. Which placements these are, `doublehold explore NAME --faults 1` says.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use doublehold_lockimpl::{Descriptor, descriptors};
use doublehold_search::explore::{CLIENTS, Exploration, Kinds, Place, TriedPlacement, small_world};
use doublehold_search::shrink::Target;

const GOLDEN: &str = "libraries.txt";
const HEAD: &str = "# Of each library: placements of one fault, and in how many of them what is violated.\n";

/// A library's line: `redlock-py: 3102 placements, P1 12, P2 12`.
fn line(lock: &Descriptor, locks: &[Descriptor]) -> String {
    let name = lock.name;
    let scenario = small_world(lock, CLIENTS, 1).scenario(name, locks.to_vec());
    let scenario = scenario.unwrap_or_else(|error| panic!("{name}: {error}"));
    let exploration = Exploration::new(&scenario, &Kinds::applicable_words(&scenario), 1, 1);
    let exploration = exploration.unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut violated: BTreeMap<Target, u64> = BTreeMap::new();
    let each = |places: &[Place], tried: &TriedPlacement| {
        assert!(
            !places.is_empty() || tried.findings.is_empty(),
            "{name} without a fault: {:?}",
            tried.findings
        );
        tried.findings.iter().for_each(|finding| *violated.entry(*finding).or_default() += 1);
    };
    let threads = NonZeroUsize::new(2).expect("not zero");
    let found = exploration.run(exploration.begin(), threads, || false, each);
    assert!(found.complete, "{name}");
    let counts = violated.iter().map(|(finding, count)| match finding {
        Target::Violates(predicate) => format!(", {predicate} {count}"),
        Target::Panics => panic!("{name} panics in {count} placements"),
    });
    format!("{name}: {} placements{}\n", found.placements(), counts.collect::<String>())
}

#[test]
fn one_fault_breaks_a_library_in_as_many_places_as_before() {
    let locks = descriptors();
    let libraries = locks.iter().filter(|lock| lock.profile.is_some());
    let lines: String = libraries.map(|lock| line(lock, &locks)).collect();
    let actual = format!("{HEAD}{lines}");
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests", "golden", GOLDEN].iter().collect();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &actual).expect("the golden file can be written");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    let is_known = |line: &&str| expected.lines().any(|known| known == *line);
    let other: Vec<&str> = actual.lines().filter(|line| !is_known(line)).collect();
    assert!(expected == actual, "{GOLDEN} differs (UPDATE_GOLDEN=1 accepts); new or other lines: {other:#?}");
}
