//! The lock in random weather: processes pause at any moment, and nobody has to guess which moment is the wrong one.

mod own;

use std::time::Duration;

use doublehold::check::{Check, Predicate, World, check};

fn tried(release: &'static str) -> Check {
    let world = World::new("two in turn")
        .nodes(["redis"])
        .clients(2, ["acquire", "work 50ms..1s", "release"])
        .rounds(2)
        .ttl(Duration::from_secs(2))
        .weather("pauses-only")
        .with(move |scenario| scenario.lock.switches.set("release", release));
    check(&world, own::lock()).looking_for(&[Predicate::WR])
}

#[test]
fn the_repaired_lock_frees_its_own_only() {
    tried("script").seeds(1..=500).run().expect("the world makes sense").assert_holds(&[Predicate::WR]);
}

/// A lock that nobody overtakes before its deadline may still lose data: a holder can pause between its last look and
/// its write. So both are asked, and here it is the data's version that keeps the second.
#[test]
fn the_repaired_lock_is_not_overtaken_and_a_version_check_loses_no_update() {
    let world = World::new("two that write")
        .nodes(["redis"])
        .clients(2, ["acquire", "read", "work 50ms..1s", "check", "write", "release"])
        .rounds(2)
        .ttl(Duration::from_secs(2))
        .weather("pauses-only")
        .with(|scenario| scenario.resource.rules.version_check = true);
    let checked = check(&world, own::lock()).seeds(1..=500).run().expect("the world makes sense");
    checked.assert_holds(&[Predicate::P2, Predicate::P4]);
}

/// Prints, as a failing test does, the least that is enough to break the lock. A release that comes late deletes the
/// key of whoever has the lock by then, and be it the same client's next one.
#[test]
fn the_reviewed_lock_needs_one_pause_to_free_a_later_grant() {
    let checked = tried("get-then-delete").seeds(1..=500).run().expect("the world makes sense");
    println!("{checked}");
    let shown = checked.to_string();
    assert!(shown.contains("WR is violated, first from seed "), "{shown}");
    assert!(shown.contains("to     1 fault, 1 client,"), "{shown}");
}
