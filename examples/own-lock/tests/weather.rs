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

/// What a failing test prints: the least that is enough to break the lock.
#[test]
fn the_reviewed_lock_needs_one_pause_to_free_the_next_holders_lock() {
    let checked = tried("get-then-delete").seeds(1..=500).run().expect("the world makes sense");
    println!("{checked}");
    let shown = checked.to_string();
    assert!(shown.contains("WR is violated, first from seed "), "{shown}");
    assert!(shown.contains("1 fault, 2 clients"), "{shown}");
}
