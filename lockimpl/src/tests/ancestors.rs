//! The locks that articles still teach, and what is wrong with each, in the smallest world that shows it.

use std::time::Duration;

use futures_util::future::join;

use super::fake::{World, ms};
use crate::{
    Acquired, BoxLock, Env, Grant, Lock, MonotonicTime, NodeName, Refusal, Registry, Released, Switches,
};

const TTL: Duration = Duration::from_secs(10);
const REFUSED: Acquired = Acquired::Refused(Refusal::Taken);

fn lock(world: &World, name: &str) -> BoxLock {
    let nodes = vec![NodeName::new("a")];
    Registry::builtin().build(name, world.clone(), nodes, &Switches::new()).expect("it can be built")
}

fn granted(world: &World, lock: &mut BoxLock) -> Grant {
    match world.run(lock.acquire("stock", TTL)) {
        Acquired::Granted(grant) => grant,
        other => panic!("the lock is free: {other:?}"),
    }
}

/// What the key holds, and when it ends.
fn key(world: &World) -> (Vec<u8>, u64) {
    world.node("a", |node| (node.keys["stock"].value.clone(), node.keys["stock"].expires_at))
}

#[test]
fn a_key_set_by_setnx_never_ends() {
    let world = World::with_nodes(&["a"]);
    granted(&world, &mut lock(&world, "setnx"));
    world.sleep(TTL * 1000);
    assert_eq!(world.run(lock(&world, "setnx").acquire("stock", TTL)), REFUSED);
    assert_eq!(key(&world), (b"1".to_vec(), u64::MAX));
}

#[test]
fn between_setnx_and_expire_the_key_has_no_end() {
    let world = World::with_nodes(&["a"]);
    // The answer to SETNX is lost: the client does not come to EXPIRE.
    world.node("a", |node| node.replies = super::node::Replies::Vanish);
    let acquired = world.run(lock(&world, "setnx-expire").acquire("stock", TTL));
    assert!(matches!(acquired, Acquired::Unknown(_)), "{acquired:?}");
    assert_eq!(key(&world).1, u64::MAX);
}

#[test]
fn whoever_is_refused_by_the_transaction_prolongs_the_lease() {
    let world = World::with_nodes(&["a"]);
    let held = granted(&world, &mut lock(&world, "setnx-expire-multi"));
    let ends = key(&world).1;
    world.sleep(TTL - ms(100));
    assert_eq!(world.run(lock(&world, "setnx-expire-multi").acquire("stock", TTL)), REFUSED);
    let (value, prolonged) = key(&world);
    assert_eq!(value, held.token.as_bytes(), "it is still the first client's key");
    assert!(prolonged > ends + 9_000_000_000, "{ends} and then {prolonged}");
}

#[test]
fn the_loser_of_getset_moves_the_winners_time() {
    let world = World::with_nodes(&["a"]);
    granted(&world, &mut lock(&world, "setnx-getset"));
    world.sleep(TTL * 2);
    let (mut winner, mut loser) = (lock(&world, "setnx-getset"), lock(&world, "setnx-getset"));
    // A little later: both read the old time before either replaces it.
    let later = async {
        let now = world.monotonic().await;
        world.sleep_until(MonotonicTime(now.0 + 1_500_000)).await;
        loser.acquire("stock", TTL).await
    };
    let (won, lost) = world.run(join(winner.acquire("stock", TTL), later));
    let Acquired::Granted(grant) = won else { panic!("it came first: {won:?}") };
    assert_eq!(lost, REFUSED);
    let number = |bytes: &[u8]| String::from_utf8_lossy(bytes).parse::<i64>().expect("a time");
    assert!(number(&key(&world).0) > number(grant.token.as_bytes()), "the key holds the loser's time");
    assert_eq!(world.run(winner.release(&grant)), Released::Released);
}

#[test]
fn a_clock_that_is_ahead_takes_a_lock_that_is_held() {
    let world = World::with_nodes(&["a"]);
    granted(&world, &mut lock(&world, "setnx-getset"));
    assert_eq!(world.run(lock(&world, "setnx-getset").acquire("stock", TTL)), REFUSED);
    // One environment is one client's machine; its clock is stepped, which is another client's clock being ahead.
    world.state().wall_error = 11_000_000_000;
    granted(&world, &mut lock(&world, "setnx-getset"));
}

#[test]
fn without_nx_the_second_client_is_granted_the_lock_as_well_and_the_first_releases_nothing() {
    let world = World::with_nodes(&["a"]);
    let mut first = lock(&world, "set-ex");
    let held = granted(&world, &mut first);
    let stolen = granted(&world, &mut lock(&world, "set-ex"));
    assert_eq!(world.run(first.release(&held)), Released::NotOwner);
    assert_eq!(key(&world).0, stolen.token.as_bytes());
}
