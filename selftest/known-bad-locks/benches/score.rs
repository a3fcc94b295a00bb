//! The score: which bugs a search under weather finds, at which seed, and how long that takes.
//!
//! ```sh
//! cargo bench -p doublehold-known-bad-locks --bench score             # all
//! cargo bench -p doublehold-known-bad-locks --bench score -- wall     # those with `wall` in their name
//! ```
//!
//! Each control is run in the same worlds: a bug counts as found only where the code without it comes through. One
//! thread, so that seconds are those of one core.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]
#![expect(clippy::disallowed_methods, reason = "real time is what is measured, outside of any run")]

use std::collections::BTreeMap;
use std::time::Instant;

use doublehold::check::Predicate;
use doublehold_known_bad_locks::{BadLock, SearchError, all};

/// How many runs a search may take.
const BUDGET: u64 = 5_000;

/// How many runs each control is given.
const CONTROL: u64 = 1_000;

/// One or more of each family of bugs: what should be found in a minute together.
const STARTERS: [&str; 13] = [
    "quorum-of-reached",
    "drift-added",
    "expired-handed-out",
    "wall-clock",
    "resent-set-nx-is-foreign",
    "release-where-yes",
    "extension-true-when-differs",
    "extension-uncounted",
    "extension-sets-if-absent",
    "extension-overwrites",
    "watchdog-registered-late",
    "token-per-object",
    "wait-ignored",
];

/// What a search came to.
struct Row {
    bad_lock: BadLock,
    seed: Option<u64>,
    seconds: f64,
}

fn main() -> Result<(), SearchError> {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let is_wanted =
        |bad_lock: &BadLock| wanted.is_empty() || wanted.iter().any(|name| bad_lock.name.contains(name));
    let head = ["lock", "breaks", "seed", "seconds", "found by", "control", "source"];
    println!("{}", line(head.map(str::to_owned)));
    let (mut rows, mut controls) = (Vec::new(), BTreeMap::new());
    for bad_lock in all().into_iter().filter(is_wanted) {
        let began = Instant::now();
        let found = bad_lock.search(1..=BUDGET)?;
        let seconds = began.elapsed().as_secs_f64();
        let key = bad_lock.control_scenario()?;
        if !controls.contains_key(&key) {
            let control = bad_lock.search_control(1..=CONTROL)?;
            let words = control.map_or("holds".to_owned(), |found| format!("breaks at {}", found.seed));
            controls.insert(key.clone(), words);
        }
        let (seed, by) = match &found {
            Some(found) => (found.seed.to_string(), words(&found.predicates)),
            None => ("-".to_owned(), "-".to_owned()),
        };
        let (name, breaks, source) =
            (bad_lock.name.to_owned(), words(bad_lock.breaks), bad_lock.source.to_owned());
        println!(
            "{}",
            line([name, breaks, seed, format!("{seconds:.2}"), by, controls[&key].clone(), source])
        );
        rows.push(Row { bad_lock, seed: found.map(|found| found.seed), seconds });
    }
    sum_up(&rows);
    Ok(())
}

fn sum_up(rows: &[Row]) {
    let found = || rows.iter().filter(|row| row.seed.is_some());
    let seconds: f64 = found().map(|row| row.seconds).sum();
    println!("\n{} of {} found, in {seconds:.1} s together on one core", found().count(), rows.len());
    for Row { bad_lock, .. } in rows.iter().filter(|row| row.seed.is_none()) {
        println!(
            "not found in {BUDGET} runs: {}: {}",
            bad_lock.name,
            bad_lock.survives.unwrap_or("nobody knows why")
        );
    }
    let starters = || found().filter(|row| STARTERS.contains(&row.bad_lock.name));
    let seconds: f64 = starters().map(|row| row.seconds).sum();
    let count = starters().count();
    println!("of the {} to start with {count} found, in {seconds:.1} s together", STARTERS.len());
}

fn line(columns: [String; 7]) -> String {
    let [bad_lock, breaks, seed, seconds, by, control, source] = columns;
    format!("{bad_lock:<35}{breaks:<10}{seed:>5}{seconds:>9}  {by:<21}{control:<16}{source}")
}

fn words(predicates: &[Predicate]) -> String {
    predicates.iter().map(|predicate| predicate.as_str()).collect::<Vec<_>>().join(" ")
}
