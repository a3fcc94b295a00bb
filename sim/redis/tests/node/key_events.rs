//! Events of keys on a node's own time: `expired` waits for the background cycle, or for whoever looks.

use doublehold_sim_redis::Persistence;

use crate::replication::group;
use crate::world::{Client, Host, World, pass};

async fn listener(host: &Host, pattern: &str) -> Client {
    let mut client = host.client().await;
    assert_eq!(client.ask("CONFIG SET notify-keyspace-events KEA").await, "OK");
    assert!(client.ask(&format!("PSUBSCRIBE {pattern}")).await.contains("psubscribe"));
    client
}

#[tokio::test(start_paused = true)]
async fn expired_comes_with_the_tick_after_the_expiry_and_no_earlier() {
    let host = World::new().host("a");
    host.boot(Persistence::None);
    let (mut listens, mut client) = (listener(&host, "__keyevent@0__:expired").await, host.client().await);
    pass(30).await;
    assert_eq!(client.ask("SET k v PX 120").await, "OK");
    // It expires at 150 ms; the node's ticks are at every 100 ms since its start.
    assert!(listens.is_silent_for(165).await, "its time is up, and nobody has noticed");
    pass(10).await;
    assert_eq!(listens.reply().await, "[pmessage __keyevent@0__:expired __keyevent@0__:expired k]");
}

#[tokio::test(start_paused = true)]
async fn who_finds_a_key_expired_makes_it_known_at_once() {
    let host = World::new().host("a");
    host.boot(Persistence::None);
    let (mut listens, mut client) = (listener(&host, "__keyevent@0__:expired").await, host.client().await);
    pass(30).await;
    assert_eq!(client.ask("SET k v PX 20").await, "OK");
    assert!(listens.is_silent_for(25).await);
    assert_eq!(client.ask("SET k w NX").await, "OK");
    assert!(!listens.is_silent_for(1).await, "it was taken over, so it was found expired");
}

#[tokio::test(start_paused = true)]
async fn nothing_is_told_to_have_expired_while_clients_are_paused() {
    let host = World::new().host("a");
    host.boot(Persistence::None);
    let (mut listens, mut client) = (listener(&host, "__keyevent@0__:expired").await, host.client().await);
    client.ask("SET k v PX 50").await;
    assert_eq!(client.ask("CLIENT PAUSE 3000 WRITE").await, "OK");
    assert!(listens.is_silent_for(2_900).await);
    assert!(!listens.is_silent_for(400).await);
}

#[tokio::test(start_paused = true)]
async fn a_replica_tells_of_its_masters_del() {
    let (_world, master, replicas) = group(&["a"]).await;
    let mut there = listener(&replicas[0], "__keyevent@0__:*").await;
    let mut client = master.client().await;
    assert_eq!(client.ask("SET k v PX 50").await, "OK");
    pass(1).await;
    assert!(there.reply().await.ends_with(":set k]"));
    assert!(there.reply().await.ends_with(":expire k]"));
    assert!(there.reply().await.ends_with(":del k]"));
}
