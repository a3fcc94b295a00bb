//! Drivers that send again and connect anew.

use super::fake::{World, ms};
use super::node::Replies;
use crate::{
    Acquired, BoxLock, ConfigError, Doubt, Env, Lock, MonotonicTime, NodeName, Reconnect, Refusal, Registry,
    SingleConfig, SingleLock, Switches, Transport,
};

const TTL: std::time::Duration = ms(10_000);

fn lock(world: &World, retries: u32, reconnect: Reconnect) -> SingleLock<World> {
    let config = SingleConfig {
        transport: Transport { retries, reconnect, ..Transport::default() },
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

/// The lock on one node with this driver, and what is set beside it.
fn driven(world: &World, driver: &str, set: &Switches) -> Result<BoxLock, ConfigError> {
    let chosen = Switches::new().with("driver", driver).overlaid(set);
    Registry::builtin().build("single", world.clone(), vec![NodeName::new("a")], &chosen)
}

fn refused(outcome: &Acquired) -> bool {
    matches!(outcome, Acquired::Refused(Refusal::Unreachable(_)))
}

/// Ten pauses: 20, 40, 80, 160, 320 and 640 ms, and four times 1 s.
const PAUSES_MAX: std::time::Duration = ms(5_260);

#[test]
fn redis_py_8_gives_a_node_that_refuses_up_after_ten_pauses_and_redis_py_5_at_once() {
    let given_up = |driver| {
        let world = World::with_nodes(&["a"]);
        world.node("a", |node| node.refuses_connections = true);
        let mut lock = driven(&world, driver, &Switches::new()).expect("a lock");
        assert!(refused(&world.run(lock.acquire("stock", TTL))));
        world.now()
    };
    assert_eq!(given_up("redis-py-5"), ms(0));
    let given_up = given_up("redis-py-8");
    assert!(given_up > ms(0) && given_up <= PAUSES_MAX, "{given_up:?}");
}

/// Its pool makes eleven tries of 5 s, and asks for nothing.
#[test]
fn redis_py_8_gives_a_node_whose_packets_vanish_up_after_eleven_times_five_seconds() {
    let world = World::with_nodes(&["a"]);
    world.node("a", |node| node.loses_connections = true);
    let mut lock = driven(&world, "redis-py-8", &Switches::new()).expect("a lock");
    assert!(refused(&world.run(lock.acquire("stock", TTL))));
    assert!(world.now() > ms(55_000) && world.now() <= ms(55_000) + PAUSES_MAX, "{:?}", world.now());
}

/// The reply is waited for once, and each of the ten tries that follow connects eleven times.
#[test]
fn a_request_of_redis_py_8_under_way_when_packets_begin_to_vanish_takes_ten_minutes() {
    let world = World::with_nodes(&["a"]);
    world.node("a", |node| node.replies = Replies::Vanish);
    world.at(ms(2), |state| state.nodes.values_mut().for_each(|node| node.loses_connections = true));
    let set = Switches::new().with("release_on_failure", false);
    let mut lock = driven(&world, "redis-py-8", &set).expect("a lock");
    let outcome = world.run(lock.acquire("stock", TTL));
    assert_eq!(outcome, Acquired::Unknown(Doubt::Timeout), "the first one was sent");
    let (least, most) = (ms(5_000 + 10 * 55_000), ms(5_000 + 10 * 55_000) + PAUSES_MAX * 11);
    assert!(world.now() > least && world.now() <= most, "{:?}", world.now());
}

#[test]
fn what_is_set_beside_a_driver_comes_before_its_defaults() {
    let world = World::with_nodes(&["a"]);
    world.node("a", |node| node.loses_connections = true);
    let set = Switches::new().with("connect_timeout", ms(100)).with("transport_retries", 0_u64);
    let mut lock = driven(&world, "redis-py-8", &set).expect("a lock");
    assert!(refused(&world.run(lock.acquire("stock", TTL))));
    assert_eq!(world.now(), ms(100));
}

#[test]
fn a_driver_that_nobody_read_is_refused_with_those_that_are_known() {
    let error = driven(&World::default(), "redis-py-7", &Switches::new()).err().expect("it is refused");
    let known = "the switch `driver` cannot be `redis-py-7`: use redis-py-5, redis-py-8";
    assert!(error.to_string().starts_with(known), "{error}");
}

/// A driver's default that its own switch refuses would stand for nothing.
#[test]
fn what_a_driver_sets_by_default_is_something_that_its_switches_take() {
    let descriptors = crate::descriptors();
    let single = descriptors.iter().find(|lock| lock.name == "single").expect("it is there");
    let driver = single.switch("driver").expect("it has one");
    for name in &driver.words {
        let chosen = Switches::new().with("driver", *name);
        let set = single.effective_switches(&chosen);
        let world = World::with_nodes(&["a"]);
        assert!(driven(&world, name, &set).is_ok(), "{name}");
        assert!(single.unfit(&set, TTL).is_none(), "{name}");
    }
}
