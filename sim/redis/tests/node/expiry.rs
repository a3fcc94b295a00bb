//! Keys that go by themselves, and what waiting for them costs.

use doublehold_sim_redis::Persistence;

use crate::world::{START_MS, World, pass};

const DAY_MS: u64 = 86_400_000;

#[tokio::test(start_paused = true)]
async fn an_idle_node_starts_no_timer() {
    let host = World::new().host("a");
    host.boot(Persistence::AofEverysec);
    let mut client = host.client().await;
    assert_eq!(client.ask("PING").await, "PONG");
    pass(DAY_MS).await;
    assert_eq!(host.sleeps(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_key_that_lives_an_hour_costs_no_tick_but_its_own() {
    let host = World::new().host("a");
    let node = host.boot(Persistence::AofNo);
    let mut client = host.client().await;
    assert_eq!(client.ask("SET k v PX 3600000").await, "OK");
    pass(3_599_000).await;
    let before = host.sleeps();
    // The test's machine keeps the default `wall_reaches`, which looks at the clock every 100 ms.
    assert!(before <= 36_000, "{before} timers");
    pass(1_200).await;
    assert!(host.aof().ends_with("DEL\r\n$1\r\nk\r\n"), "the DEL is propagated: {}", host.aof());
    pass(DAY_MS).await;
    assert!(host.sleeps() <= before + 20, "an empty node waits for nothing");
    drop(node);
}

#[tokio::test(start_paused = true)]
async fn background_expiry_comes_with_the_first_tick_after_the_expiry() {
    let host = World::new().host("a");
    host.boot(Persistence::AofNo);
    let mut client = host.client().await;
    pass(30).await;
    assert_eq!(client.ask("SET k v PX 120").await, "OK");
    // It expires at 150 ms; the node's ticks are at every 100 ms since its start.
    pass(165).await;
    assert_eq!(client.ask("DBSIZE").await, "1", "expired, not yet deleted");
    pass(10).await;
    assert_eq!(client.ask("DBSIZE").await, "0");
}

#[tokio::test(start_paused = true)]
async fn a_node_that_tells_nobody_deletes_expired_keys_too() {
    let host = World::new().host("a");
    host.boot(Persistence::None);
    let mut client = host.client().await;
    assert_eq!(client.ask("SET k v PX 120").await, "OK");
    pass(300).await;
    assert_eq!(client.ask("DBSIZE").await, "0");
}

#[tokio::test(start_paused = true)]
async fn a_later_key_that_expires_earlier_is_not_forgotten() {
    let host = World::new().host("a");
    host.boot(Persistence::AofNo);
    let mut client = host.client().await;
    assert_eq!(client.ask("SET slow v PX 10000").await, "OK");
    assert_eq!(client.ask("SET quick v PX 1000").await, "OK");
    pass(1_200).await;
    assert_eq!(client.ask("DBSIZE").await, "1");
    pass(9_000).await;
    assert_eq!(client.ask("DBSIZE").await, "0");
}

#[tokio::test(start_paused = true)]
async fn a_jump_of_the_wall_clock_expires_keys_at_the_next_tick() {
    let host = World::new().host("a");
    host.boot(Persistence::AofNo);
    let mut client = host.client().await;
    assert_eq!(client.ask("SET k v PX 10000").await, "OK");
    assert!(host.aof().contains(&format!("PXAT\r\n$13\r\n{}", START_MS + 10_000)), "{}", host.aof());
    pass(1_000).await;
    host.step_wall(60_000);
    pass(250).await;
    assert_eq!(client.ask("DBSIZE").await, "0");
}
