//! Drivers that send again and connect anew.

use super::fake::{World, ms};
use super::node::Replies;
use crate::{
    Acquired, Env, Lock, MonotonicTime, NodeName, Reconnect, Refusal, SingleConfig, SingleLock, Transport,
};

const TTL: std::time::Duration = ms(10_000);

fn lock(world: &World, retries: u32, reconnect: Reconnect) -> SingleLock<World> {
    let config = SingleConfig {
        transport: Transport { retries, reconnect },
        request_timeout: None,
        ..SingleConfig::default()
    };
    SingleLock::new(world.clone(), NodeName::new("a"), config)
}

#[test]
fn a_claim_that_is_sent_again_finds_its_own_token() {
    for (retries, refused) in [(0, false), (1, true)] {
        let world = World::with_nodes(&["a"]);
        world.node("a", |node| node.replies = Replies::Break);
        world.at(ms(2), |state| state.nodes.values_mut().for_each(|node| node.replies = Replies::Arrive));
        let outcome = world.run(lock(&world, retries, Reconnect::AtOnce).acquire("stock", TTL));
        assert_eq!(outcome == Acquired::Refused(Refusal::Taken), refused, "{outcome:?}");
        let key = world.node("a", |node| node.keys.contains_key("stock"));
        assert_eq!(key, refused, "its own key locks everybody out");
    }
}

#[test]
fn ioredis_5_gives_a_dead_node_up_after_twenty_reconnections() {
    let world = World::with_nodes(&["a"]);
    world.node("a", |node| node.refuses_connections = true);
    let mut lock = lock(&world, 20, Reconnect::Ioredis5);
    let refused = |outcome| matches!(outcome, Acquired::Refused(Refusal::Unreachable(_)));
    assert!(refused(world.run(lock.acquire("stock", TTL))));
    assert_eq!(world.now(), ms(10_500));
    // Whoever asks later waits for the same moment: the driver counts, and not the request.
    world.run(world.sleep_until(MonotonicTime(30_500_000_000)));
    assert!(refused(world.run(lock.acquire("stock", TTL))));
    assert_eq!(world.now(), ms(43_000));
}

#[test]
fn bull_gives_a_dead_node_up_after_four_minutes_or_as_soon_as_it_is_told_to() {
    for (retries, given_up) in [(20, 232_813), (3, 29), (0, 0)] {
        let world = World::with_nodes(&["a"]);
        world.node("a", |node| node.refuses_connections = true);
        let outcome = world.run(lock(&world, retries, Reconnect::Bull4).acquire("stock", TTL));
        assert!(matches!(outcome, Acquired::Refused(Refusal::Unreachable(_))), "{outcome:?}");
        assert_eq!(world.now(), ms(given_up), "{retries}");
    }
}
