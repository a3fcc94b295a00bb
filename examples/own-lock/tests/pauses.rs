//! The lock in a world in which the first client stops for longer than its lease, right after it began to give it back.

use std::time::Duration;

use doublehold::check::{
    Check, Client, Existing, Fault, Guard, Mark, MultiplexedConnection, Predicate, Wanted, When, World, check,
};
use own_lock::{Held, take};
use redis::RedisResult;

/// Two clients want the lock again and again; `c1` stops for 12 s (a garbage collection, a page fault) two
/// milliseconds into its release.
fn world() -> World {
    let pause = Fault::pause("c1").at(When::event("c1", Mark::Release).delayed(Duration::from_millis(2)));
    World::new("a pause while giving the lock back")
        .nodes(["redis"])
        .clients(2, ["acquire", "read", "work 1s..3s", "write", "release"])
        .rounds(5)
        .ttl(Duration::from_secs(10))
        .fault(pause.lasting(Duration::from_secs(12)))
}

/// As it went into review.
struct Reviewed(Held);

impl Guard for Reviewed {
    fn token(&self) -> Vec<u8> {
        self.0.token().into()
    }
    async fn release(self) -> RedisResult<bool> {
        self.0.release_if_ours().await
    }
}

/// As it is now.
struct Repaired(Held);

impl Guard for Repaired {
    fn token(&self) -> Vec<u8> {
        self.0.token().into()
    }
    async fn release(self) -> RedisResult<bool> {
        self.0.release().await
    }
}

fn with<G: Guard>(guard: fn(Held) -> G) -> Check {
    let lock = move |redis: MultiplexedConnection, client: Client, wanted: Wanted| async move {
        let held = take(redis, wanted.resource, wanted.ttl, client.token()).await?;
        Ok(held.map(guard))
    };
    check(&world(), Existing::on_one_node("own-lock", lock)).seeds(1..=1000)
}

#[test]
fn the_reviewed_lock_frees_the_next_holders_lock() {
    let checked = with(Reviewed).run().expect("the world makes sense");
    println!("{checked}");
    assert!(checked.count(Predicate::WR).violated > 100, "{checked}");
    let bad = checked.bad.expect("the first of them is shown");
    assert_eq!(bad.files.len(), 2, "its picture and its plan");
}

#[test]
fn the_repaired_lock_frees_its_own_only() {
    let checked = with(Repaired).run().expect("the world makes sense");
    println!("{checked}");
    checked.assert_holds(&[Predicate::WR, Predicate::P1, Predicate::P3, Predicate::P4]);
}
