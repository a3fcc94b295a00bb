//! Several locks at once: how many it takes, and what its last step is worth.

use std::time::Duration;

use super::fake::{World, ms};
use crate::locks::hash::{ACQUIRE, EXTEND, RELEASE};
use crate::{Acquired, BoxLock, Lock, NodeName, Refusal, Registry, Released, Switches};

const TTL: Duration = ms(10_000);
const NODES: [&str; 3] = ["a", "b", "c"];

fn world() -> World {
    let world = World::with_nodes(&NODES);
    for node in NODES {
        world.node(node, |node| {
            node.scripts.extend([&ACQUIRE, &RELEASE, &EXTEND].map(|script| script.hash().to_owned()));
        });
    }
    world
}

fn lock(world: &World, chosen: &Switches) -> BoxLock {
    let nodes = NODES.map(NodeName::new).to_vec();
    Registry::builtin().build("multi-lock", world.clone(), nodes, chosen).expect("a lock")
}

fn taken(world: &World) -> usize {
    NODES.iter().filter(|name| world.node(name, |node| node.keys.contains_key("stock"))).count()
}

#[test]
fn all_or_a_majority_has_to_be_taken_and_what_is_not_enough_is_given_back() {
    for (members, is_granted) in [("all", false), ("majority", true)] {
        let world = world();
        world.node("c", |node| node.set("stock", b"another=1", "60000", 0));
        let mut lock = lock(&world, &Switches::new().with("members", members));
        match world.run(lock.acquire("stock", TTL)) {
            Acquired::Granted(grant) => {
                assert!(is_granted);
                assert_eq!(taken(&world), 3);
                assert_eq!(world.run(lock.release(&grant)), Released::Released);
            }
            other => {
                assert_eq!(other, Acquired::Refused(Refusal::TooFewVotes { votes: 2, needed: 3 }));
                assert!(!is_granted);
            }
        }
        assert_eq!(taken(&world), 1, "what is another's stays");
    }
}

#[test]
fn a_last_step_that_looks_at_nothing_takes_a_lock_that_has_ended() {
    for (last, checks, is_granted) in
        [("unchecked", false, true), ("checked", false, false), ("unchecked", true, false)]
    {
        let world = world();
        NODES.iter().for_each(|name| world.node(name, |node| node.reply_delay = ms(4_000)));
        let chosen = Switches::new().with("final_expire", last).with("elapsed_check", checks);
        let mut lock = lock(&world, &chosen.with("request_timeout", "none"));
        let acquired = world.run(lock.acquire("stock", ms(3_000)));
        assert_eq!(matches!(acquired, Acquired::Granted(_)), is_granted, "{last}, {checks}: {acquired:?}");
    }
}

#[test]
fn a_lease_that_comes_of_the_wait_is_twice_as_long_until_the_last_step() {
    for (from, lease) in [("wait", 1_000), ("lease", 10_000)] {
        let world = world();
        let chosen = Switches::new().with("lease_from", from).with("wake", "pubsub");
        let mut lock = lock(&world, &chosen);
        assert!(matches!(world.run(lock.acquire_within("stock", TTL, ms(500))), Acquired::Granted(_)));
        let asked = world.node("a", |node| node.log[0].1.clone());
        assert!(asked.ends_with(&format!(" {lease}")), "{asked}");
    }
}
