//! The lock on a replicated master, on a master `a` and a replica `b`. Replication is the test's: it
//! copies keys where it says so.

use std::time::Duration;

use super::fake::{World, ms};
use super::node::Replies;
use crate::parts::timing::Timing;
use crate::{
    Acquired, Doubt, Extended, Grant, Lock, NodeName, Refusal, Released, ReplicaWait, ReplicatedConfig,
    ReplicatedLock, SingleConfig, TooFewReplicas,
};

const TTL: Duration = ms(10_000);

fn world() -> World {
    let world = World::with_nodes(&["a", "b"]);
    world.node("b", |node| node.replica = true);
    world
}

fn lock(world: &World, config: ReplicatedConfig) -> ReplicatedLock<World> {
    ReplicatedLock::new(world.clone(), vec![NodeName::new("a"), NodeName::new("b")], config)
}

fn acquire(world: &World, lock: &mut ReplicatedLock<World>) -> Acquired {
    world.run(lock.acquire("stock", TTL))
}

fn granted(outcome: Acquired) -> Grant {
    match outcome {
        Acquired::Granted(grant) => grant,
        other => panic!("not granted: {other:?}"),
    }
}

fn has_key(world: &World, node: &str) -> bool {
    world.node(node, |node| node.keys.contains_key("stock"))
}

/// `b` becomes the master with whatever it has; `a`, if it lives, its replica.
fn promote(world: &World) {
    world.node("a", |node| node.replica = true);
    world.node("b", |node| node.replica = false);
}

#[test]
fn the_lock_is_taken_on_the_node_that_says_it_is_the_master() {
    for (master, replica) in [("a", "b"), ("b", "a")] {
        let world = world();
        if master == "b" {
            promote(&world);
        }
        granted(acquire(&world, &mut lock(&world, ReplicatedConfig::default())));
        assert!(has_key(&world, master) && !has_key(&world, replica));
    }
}

#[test]
fn a_client_follows_a_promotion_within_the_call_that_hears_readonly() {
    let world = world();
    let mut lock = lock(&world, ReplicatedConfig::default());
    let grant = granted(acquire(&world, &mut lock));
    assert_eq!(world.run(lock.release(&grant)), Released::Released);
    promote(&world);
    granted(acquire(&world, &mut lock));
    assert!(has_key(&world, "b") && !has_key(&world, "a"));
}

#[test]
fn a_lock_that_was_not_replicated_is_granted_again_after_a_failover() {
    let world = world();
    let (mut c1, mut c2) =
        (lock(&world, ReplicatedConfig::default()), lock(&world, ReplicatedConfig::default()));
    granted(acquire(&world, &mut c1));
    world.node("a", |node| node.refuses_connections = true);
    promote(&world);
    granted(acquire(&world, &mut c2));
    assert!(has_key(&world, "b"));
}

#[test]
fn a_lost_reply_is_not_repeated_and_the_next_call_looks_for_the_master() {
    let world = world();
    let mut lock = lock(&world, ReplicatedConfig::default());
    let grant = granted(acquire(&world, &mut lock));
    world.run(lock.release(&grant));
    world.node("a", |node| node.unreachable = true);
    world.node("b", |node| node.replica = false);
    assert_eq!(acquire(&world, &mut lock), Acquired::Unknown(Doubt::Timeout));
    assert!(!has_key(&world, "b"), "the claim may be on its way to `a`");
    let gave_up_at = world.now();
    granted(acquire(&world, &mut lock));
    assert!(world.now() - gave_up_at < ms(10), "the node that failed is asked last");
    assert!(has_key(&world, "b"));
}

#[test]
fn without_a_master_nothing_is_granted_and_nothing_loops() {
    let world = world();
    world.node("a", |node| node.replica = true);
    let mut lock = lock(&world, ReplicatedConfig::default());
    assert!(matches!(acquire(&world, &mut lock), Acquired::Refused(Refusal::Unreachable(_))));
    assert_eq!(world.node("a", |node| node.count("ROLE")), 1);
}

#[test]
fn an_extension_and_a_release_follow_the_promotion_too() {
    let world = world();
    let mut lock = lock(&world, ReplicatedConfig::default());
    let mut grant = granted(acquire(&world, &mut lock));
    let replicated = world.node("a", |node| node.keys.clone());
    world.node("b", |node| node.keys = replicated);
    promote(&world);
    world.node("a", |node| node.replies = Replies::Break);
    let lost = world.run(lock.extend(&mut grant, TTL));
    assert!(matches!(lost, Extended::Unknown(Doubt::ConnectionLost(_))), "{lost:?}");
    assert_eq!(world.run(lock.extend(&mut grant, TTL)), Extended::Extended { deadline: None });
    assert_eq!(world.run(lock.release(&grant)), Released::Released);
    assert!(!has_key(&world, "b"));
}

fn waiting(replicas: u64, timeout: Duration) -> ReplicatedConfig {
    let lock = SingleConfig { timing: Timing::checked(), ..SingleConfig::default() };
    ReplicatedConfig { lock, wait: Some(ReplicaWait { replicas, timeout }) }
}

#[test]
fn too_few_replicas_are_a_refusal_that_leaves_no_key() {
    let world = world();
    world.node("a", |node| node.acknowledging = 1);
    let mut lock = lock(&world, waiting(2, ms(100)));
    let refusal = Refusal::TooFewReplicas(TooFewReplicas { acknowledged: 1, wanted: 2 });
    assert_eq!(acquire(&world, &mut lock), Acquired::Refused(refusal));
    assert!(!has_key(&world, "a"));
    world.node("a", |node| node.acknowledging = 2);
    granted(acquire(&world, &mut lock));
    assert!(world.node("a", |node| node.log.iter().any(|(_, words)| words == "WAIT 2 100")));
}

#[test]
fn the_time_spent_waiting_for_replicas_is_part_of_the_lease() {
    for (timeout, in_time) in [(ms(9_000), true), (ms(9_900), false)] {
        let world = world();
        world.node("a", |node| node.acknowledging = 1);
        let outcome = acquire(&world, &mut lock(&world, waiting(1, timeout)));
        if in_time {
            granted(outcome);
        } else {
            assert!(matches!(outcome, Acquired::Refused(Refusal::TooLate { .. })), "{outcome:?}");
        }
    }
}

#[test]
fn an_extension_that_too_few_replicas_have_is_unknown() {
    let world = world();
    world.node("a", |node| node.acknowledging = 1);
    let mut lock = lock(&world, waiting(1, ms(100)));
    let mut grant = granted(acquire(&world, &mut lock));
    let promised = grant.deadline;
    world.node("a", |node| node.acknowledging = 0);
    let doubt = Doubt::TooFewReplicas(TooFewReplicas { acknowledged: 0, wanted: 1 });
    assert_eq!(world.run(lock.extend(&mut grant, TTL)), Extended::Unknown(doubt));
    assert_eq!(grant.deadline, promised);
}
