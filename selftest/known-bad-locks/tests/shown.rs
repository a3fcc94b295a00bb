//! Each known-bad lock breaks what it says, in a small world with the faults that show its bug; its control, the same
//! code without the bug, breaks none of that in the same world. So the bug is found, and not its family.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;

use doublehold::check::{Checked, Predicate, check};
use doublehold_known_bad_locks::{BadLock, Kind, all, canary};
use doublehold_scenarios::pool::each;

/// Small worlds whose faults wait for events: what shows, shows at once.
const SEEDS: u64 = 10;
/// A check lets half a second of real time pass, in which the processor is free for others.
const AT_ONCE: NonZeroUsize = NonZeroUsize::new(8).unwrap();

/// Counts alone: a check that looks for nothing explains nothing, which takes a hundred runs and more.
fn shown(bad_lock: &BadLock, lock: &Kind, seeds: u64) -> Checked {
    let checked = check(&bad_lock.shown, lock.clone()).seeds(1..=seeds).looking_for(&[]).no_files().run();
    checked.unwrap_or_else(|error| panic!("{}: {error}", bad_lock.name))
}

/// The ways in which a known-bad lock is not what it says.
fn wrongs(bad_lock: &BadLock) -> Vec<String> {
    let (broken, whole) = (shown(bad_lock, &bad_lock.lock, SEEDS), shown(bad_lock, &bad_lock.control, SEEDS));
    let of = |&predicate: &Predicate| {
        // What survives a search may be shown by hand all the same.
        let is_missed = broken.count(predicate).violated == 0 && bad_lock.survives.is_none();
        let is_common = whole.count(predicate).holds < SEEDS;
        let missed = is_missed.then(|| format!("{} never violates {predicate}:\n{broken}", bad_lock.name));
        let common = format!("{predicate} does not hold for the control of {}:\n{whole}", bad_lock.name);
        missed.into_iter().chain(is_common.then_some(common))
    };
    bad_lock.breaks.iter().flat_map(of).collect()
}

#[test]
fn each_known_bad_lock_breaks_what_it_says_and_its_control_does_not() {
    let only = std::env::var("KNOWN_BAD_LOCK").ok();
    let mut bad_locks = all();
    bad_locks.retain(|bad_lock| only.as_deref().is_none_or(|name| name == bad_lock.name));
    let wrong = each(&bad_locks, AT_ONCE, wrongs).concat();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn the_canary_is_found_within_the_first_three_seeds() {
    let broken = shown(&canary(), &canary().lock, 3);
    let found = broken.count(Predicate::P2).violated > 0;
    assert!(found, "the crudest bug there is was not found: this testbed finds nothing\n{broken}");
}

#[test]
fn no_two_known_bad_locks_have_one_name_or_one_meaning() {
    let bad_locks = all();
    let names: BTreeSet<&str> = bad_locks.iter().map(|bad_lock| bad_lock.name).collect();
    let meanings: BTreeSet<&str> = bad_locks.iter().map(|bad_lock| bad_lock.what).collect();
    assert_eq!((names.len(), meanings.len()), (bad_locks.len(), bad_locks.len()));
    assert!(bad_locks.iter().all(|bad_lock| !bad_lock.breaks.is_empty()), "each breaks something");
}
