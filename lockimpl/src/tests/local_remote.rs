//! The lock in two stages: who waits at the mutex, whose id the key holds, and what the script does, once more in Rust.

use std::time::Duration;

use redis::Value;

use super::fake::{World, ms, nanos};
use super::node::Node;
use crate::locks::local_remote::{ASK, FAIL};
use crate::{Acquired, BoxLock, Doubt, Grant, Lock, NodeName, Refusal, Registry, Released, Switches};

const TTL: Duration = ms(10_000);
const A_YEAR: &str = "31536000000";

/// Runs a script of this lock; nothing if it is none.
pub(super) fn run_script(node: &mut Node, args: &[Vec<u8>], words: &[String], now: u64) -> Option<Value> {
    let (hash, key) = (words[1].as_str(), words[3].as_str());
    if hash != ASK.hash() && hash != FAIL.hash() {
        return None;
    }
    let owner = node.keys.get(key).map(|key| key.value.clone());
    Some(match owner {
        Some(owner) if owner != args[4] => Value::Int(0),
        None if hash == FAIL.hash() => {
            node.set(key, &args[4], A_YEAR, now);
            redis::parse_redis_value(b"-ERR Wrong number of args\r\n").expect("an error reply parses")
        }
        _ => {
            node.set(key, &args[4], &words[5], now);
            Value::Int(1)
        }
    })
}

fn world() -> World {
    let world = World::with_nodes(&["a"]);
    world.node("a", |node| node.scripts.extend([&ASK, &FAIL].map(|script| script.hash().to_owned())));
    world.node("a", Node::learn_scripts);
    world
}

fn lock(world: &World, chosen: &Switches) -> BoxLock {
    Registry::builtin()
        .build("local-remote", world.clone(), vec![NodeName::new("a")], chosen)
        .expect("a lock")
}

fn granted(outcome: Acquired) -> Grant {
    match outcome {
        Acquired::Granted(grant) => grant,
        other => panic!("not granted: {other:?}"),
    }
}

#[test]
fn two_objects_of_one_process_are_let_in_unless_they_share_a_mutex_or_have_an_id_each() {
    for (chosen, both) in [
        (Switches::new().with("local", "object"), true),
        (Switches::new(), false),
        (Switches::new().with("local", "object").with("client_id", "lock"), false),
    ] {
        let world = world();
        let [mut first, mut second] = [(); 2].map(|()| lock(&world, &chosen));
        granted(world.run(first.acquire("stock", TTL)));
        let second = world.run(second.acquire("stock", TTL));
        assert_eq!(matches!(second, Acquired::Granted(_)), both, "{chosen:?}: {second:?}");
    }
}

#[test]
fn a_thread_that_has_the_lock_takes_it_again_and_gives_the_key_back_last() {
    let world = world();
    let mut lock = lock(&world, &Switches::new().with("local", "process"));
    let outer = granted(world.run(lock.acquire("stock", TTL)));
    world.sleep(ms(6_000));
    let inner = granted(world.run(lock.acquire("stock", TTL)));
    // The inner one has made the lease long again.
    world.sleep(ms(6_000));
    assert_eq!(world.run(lock.release(&inner)), Released::Released);
    assert!(world.node("a", |node| node.keys.contains_key("stock")));
    assert_eq!(world.run(lock.release(&outer)), Released::Released);
    assert!(world.node("a", |node| node.keys.is_empty()));
}

#[test]
fn a_limit_is_waited_for_by_both_stages_together_or_by_each() {
    for (wait, least, most) in [("once", 3_000, 3_200), ("twice", 5_000, 5_200)] {
        let world = world();
        let chosen = Switches::new().with("local", "process").with("wait", wait);
        let [mut first, mut second] = [(); 2].map(|()| lock(&world, &chosen));
        let grant = granted(world.run(first.acquire("stock", TTL)));
        let waited = world.run(async {
            // The first gives its mutex back after 2 s, and another process has the key by then.
            let patient = second.acquire_within("stock", TTL, ms(3_000));
            let gives_back = async {
                crate::Env::sleep_until(&world, crate::MonotonicTime(2_000_000_000)).await;
                world.node("a", |node| node.set("stock", b"another", A_YEAR, 0));
                first.release(&grant).await
            };
            futures_util::future::join(patient, gives_back).await.0
        });
        assert_eq!(waited, Acquired::Refused(Refusal::Taken));
        assert!((ms(least)..ms(most)).contains(&world.now()), "{wait}: {:?}", world.now());
    }
}

#[test]
fn a_script_that_fails_halfway_leaves_its_key_there() {
    let world = world();
    let mut lock = lock(&world, &Switches::new().with("script", "fails-halfway"));
    assert!(matches!(world.run(lock.acquire("stock", TTL)), Acquired::Refused(Refusal::ErrorReply(_))));
    world.sleep(TTL * 10);
    assert!(world.node("a", |node| node.keys.contains_key("stock")));
}

#[test]
fn a_yes_that_is_taken_for_text_leaves_its_key_for_a_lease() {
    let world = world();
    let mut lock = lock(&world, &Switches::new().with("script", "read-as-text"));
    assert_eq!(world.run(lock.acquire("stock", TTL)), Acquired::Unknown(Doubt::Misread));
    let end = world.node("a", |node| node.keys["stock"].expires_at);
    assert!(end <= nanos(world.now() + TTL));
}
