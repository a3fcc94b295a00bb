//! The lock in a world in which the first client stops for longer than its lease, right after it began to give it back.

mod own;

use std::time::Duration;

use doublehold::check::{Checked, Fault, Mark, Predicate, When, World, check};

/// Two clients want the lock again and again; `c1` stops for 12 s (a garbage collection, a page fault) two
/// milliseconds into its release.
fn world() -> World {
    let pause = Fault::pause("c1").at(When::event("c1", Mark::Release).delay_by(Duration::from_millis(2)));
    World::new("a pause while giving the lock back")
        .nodes(["redis"])
        .clients(2, ["acquire", "read", "work 1s..3s", "write", "release"])
        .rounds(5)
        .ttl(Duration::from_secs(10))
        .fault(pause.lasting(Duration::from_secs(12)))
}

fn checked(release: &'static str) -> Checked {
    let world = world().with(move |scenario| scenario.lock.switches.set("release", release));
    check(&world, own::lock()).seeds(1..=300).run().expect("the world makes sense")
}

#[test]
fn the_reviewed_lock_frees_the_next_holders_lock() {
    let checked = checked("get-then-delete");
    println!("{checked}");
    assert!(checked.count(Predicate::WR).violated > 30, "{checked}");
    let bad = checked.bad.expect("the first of them is shown");
    assert_eq!(bad.files.len(), 2, "its picture and its plan");
}

#[test]
fn the_repaired_lock_frees_its_own_only() {
    let checked = checked("script");
    println!("{checked}");
    checked.assert_holds(&[Predicate::WR, Predicate::P1, Predicate::P3, Predicate::P4]);
}
