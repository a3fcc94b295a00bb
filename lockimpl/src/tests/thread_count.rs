//! The count in the thread: whom it says yes to, and for how long.

use std::time::Duration;

use super::fake::{World, ms};
use crate::{Acquired, BoxLock, Grant, Lock, NodeName, Refusal, Registry, Released, Switches};

const TTL: Duration = ms(10_000);

fn lock(world: &World, expires: bool) -> BoxLock {
    let chosen = Switches::new().with("count_expires", expires);
    Registry::builtin()
        .build("thread-count", world.clone(), vec![NodeName::new("a")], &chosen)
        .expect("a lock")
}

fn granted(outcome: Acquired) -> Grant {
    match outcome {
        Acquired::Granted(grant) => grant,
        other => panic!("not granted: {other:?}"),
    }
}

#[test]
fn an_inner_acquire_asks_nobody_and_the_last_release_deletes_the_key() {
    let world = World::with_nodes(&["a"]);
    let mut lock = lock(&world, false);
    let outer = granted(world.run(lock.acquire("stock", TTL)));
    let inner = granted(world.run(lock.acquire("stock", TTL)));
    assert_eq!((world.node("a", |node| node.count("SET")), &outer.token), (1, &inner.token));
    assert_eq!(world.run(lock.release(&inner)), Released::Released);
    assert!(world.node("a", |node| node.keys.contains_key("stock")));
    assert_eq!(world.run(lock.release(&outer)), Released::Released);
    assert!(world.node("a", |node| node.keys.is_empty()));
}

#[test]
fn a_count_that_does_not_expire_says_yes_while_another_has_the_lock() {
    for (expires, is_granted) in [(false, true), (true, false)] {
        let world = World::with_nodes(&["a"]);
        let [mut first, mut second] = [(); 2].map(|()| lock(&world, expires));
        let outer = granted(world.run(first.acquire("stock", TTL)));
        world.sleep(TTL);
        granted(world.run(second.acquire("stock", TTL)));
        let inner = world.run(first.acquire("stock", TTL));
        assert_eq!(matches!(inner, Acquired::Granted(_)), is_granted);
        assert!(is_granted || inner == Acquired::Refused(Refusal::Taken));
        if let Acquired::Granted(inner) = inner {
            assert_eq!(world.run(first.release(&inner)), Released::Released);
        }
        assert_eq!(world.run(first.release(&outer)), Released::NotOwner);
    }
}

#[test]
fn a_count_that_expires_begins_anew_where_nobody_has_the_lock() {
    let world = World::with_nodes(&["a"]);
    let mut lock = lock(&world, true);
    let outer = granted(world.run(lock.acquire("stock", TTL)));
    world.sleep(TTL);
    let inner = granted(world.run(lock.acquire("stock", TTL)));
    assert_ne!(outer.token, inner.token);
    assert_eq!(world.run(lock.release(&inner)), Released::Released);
    assert_eq!(world.run(lock.release(&outer)), Released::NotOwner);
}
