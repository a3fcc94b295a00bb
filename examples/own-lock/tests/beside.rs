//! The lock as it went into review, beside its repair: what only the reviewed lock does, in worlds and weathers that
//! nobody has to think of. Begin here.

mod own;

use doublehold::check::{BesideOutcome, CheckedBeside, Predicate, World, check};

/// The lock that is given back this way, beside the one that is given back by the script, which is the default.
fn beside_the_repair(release: &'static str) -> CheckedBeside {
    let world = World::family().with(move |scenario| scenario.lock.switches.set("release", release));
    check(&world, own::lock()).beside(own::lock()).pairs(3_000).run().expect("both run in the same worlds")
}

/// What a failing test prints: the picture of what only this lock does, and the same plan with its repair.
#[test]
fn only_the_reviewed_lock_frees_the_next_holders_lock() {
    let found = beside_the_repair("get-then-delete");
    println!("{found}");
    assert_eq!(found.outcome(), BesideOutcome::Worse, "{found}");
    assert_eq!(found.worse().first(), Some(&Predicate::WR), "{found}");
}
