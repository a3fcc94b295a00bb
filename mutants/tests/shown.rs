//! Every mutant breaks what it says, in a small world with the faults that show its bug; its control, the same code
//! without the bug, breaks none of that in the same world. So what is found is the bug and not its family.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;

use doublehold::check::{Checked, Predicate, check};
use doublehold_mutants::{Kind, Mutant, all, canary};
use doublehold_scenarios::pool::each;

/// Small worlds whose faults wait for events: what shows, shows at once.
const SEEDS: u64 = 10;
/// A check lets half a second of real time pass, in which the processor is free for others.
const AT_ONCE: NonZeroUsize = NonZeroUsize::new(8).unwrap();

fn shown(mutant: &Mutant, lock: &Kind, seeds: u64) -> Checked {
    let checked = check(&mutant.shown, lock.clone()).seeds(1..=seeds).no_files().run();
    checked.unwrap_or_else(|error| panic!("{}: {error}", mutant.name))
}

/// The ways in which a mutant is not what it says.
fn wrongs(mutant: &Mutant) -> Vec<String> {
    let (broken, whole) = (shown(mutant, &mutant.lock, SEEDS), shown(mutant, &mutant.control, SEEDS));
    let of = |&predicate: &Predicate| {
        // What survives a search may be shown by hand all the same.
        let is_missed = broken.count(predicate).violated == 0 && mutant.survives.is_none();
        let is_common = whole.count(predicate).holds < SEEDS;
        let missed = is_missed.then(|| format!("{} never violates {predicate}:\n{broken}", mutant.name));
        let common = format!("{predicate} does not hold for the control of {}:\n{whole}", mutant.name);
        missed.into_iter().chain(is_common.then_some(common))
    };
    mutant.breaks.iter().flat_map(of).collect()
}

#[test]
fn each_mutant_breaks_what_it_says_and_its_control_does_not() {
    let only = std::env::var("MUTANT").ok();
    let mut mutants = all();
    mutants.retain(|mutant| only.as_deref().is_none_or(|name| name == mutant.name));
    let wrong = each(&mutants, AT_ONCE, wrongs).concat();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn the_canary_is_found_within_the_first_three_seeds() {
    let broken = shown(&canary(), &canary().lock, 3);
    let found = broken.count(Predicate::P2).violated > 0;
    assert!(found, "the crudest bug there is was not found: this testbed finds nothing\n{broken}");
}

#[test]
fn no_two_mutants_have_one_name_or_one_meaning() {
    let mutants = all();
    let names: BTreeSet<&str> = mutants.iter().map(|mutant| mutant.name).collect();
    let meanings: BTreeSet<&str> = mutants.iter().map(|mutant| mutant.what).collect();
    assert_eq!((names.len(), meanings.len()), (mutants.len(), mutants.len()));
    assert!(mutants.iter().all(|mutant| !mutant.breaks.is_empty()), "each breaks something");
}
