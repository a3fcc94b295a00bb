//! Every mutant breaks what it says, in a small world with the faults that show its bug; its control, the same code
//! without the bug, breaks none of that in the same world. So what is found is the bug and not its family.

use std::collections::BTreeSet;

use doublehold::check::{Count, Predicate, check};
use doublehold_mutants::{Kind, Mutant, all, canary};

/// Small worlds whose faults wait for events: what shows, shows at once.
const SEEDS: u64 = 20;

fn count(mutant: &Mutant, lock: &Kind, predicate: Predicate, seeds: u64) -> (Count, String) {
    let checked = check(&mutant.shown, lock.clone()).seeds(1..=seeds).no_files().run();
    let checked = checked.unwrap_or_else(|error| panic!("{}: {error}", mutant.name));
    (checked.count(predicate), checked.to_string())
}

#[test]
fn each_mutant_breaks_what_it_says_and_its_control_does_not() {
    let only = std::env::var("MUTANT").ok();
    let mut wrong = Vec::new();
    for mutant in all().into_iter().filter(|mutant| only.as_deref().is_none_or(|name| name == mutant.name)) {
        for &predicate in mutant.breaks {
            let (broken, shown) = count(&mutant, &mutant.lock, predicate, SEEDS);
            if broken.violated == 0 {
                wrong.push(format!("{} never violates {predicate}:\n{shown}", mutant.name));
            }
            let (whole, shown) = count(&mutant, &mutant.control, predicate, SEEDS);
            if whole.holds < SEEDS {
                wrong.push(format!("the control of {} violates {predicate}:\n{shown}", mutant.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn the_canary_is_found_within_the_first_three_seeds() {
    let (broken, shown) = count(&canary(), &canary().lock, Predicate::P2, 3);
    assert!(
        broken.violated > 0,
        "the crudest bug there is was not found: this testbed finds nothing\n{shown}"
    );
}

#[test]
fn no_two_mutants_have_one_name_or_one_meaning() {
    let mutants = all();
    let names: BTreeSet<&str> = mutants.iter().map(|mutant| mutant.name).collect();
    let meanings: BTreeSet<&str> = mutants.iter().map(|mutant| mutant.what).collect();
    assert_eq!((names.len(), meanings.len()), (mutants.len(), mutants.len()));
    assert!(mutants.iter().all(|mutant| !mutant.breaks.is_empty()), "each breaks something");
}
