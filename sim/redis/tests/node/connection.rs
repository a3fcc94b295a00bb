//! One client's connection, and the end of a node.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use doublehold_sim_redis::core::{CoreConfig, Observer, Origin};
use doublehold_sim_redis::{NodeConfig, Persistence};
use tokio::time::Instant;

use crate::world::{World, pass, soon};

#[tokio::test(start_paused = true)]
async fn pipelined_commands_are_answered_in_order() {
    let host = World::new().host("a");
    host.boot(Persistence::None);
    let mut client = host.client().await;
    client.send("SET k 1\r\nINCR k\r\nGET k").await;
    assert_eq!(client.reply().await, "OK");
    assert_eq!(client.reply().await, "2");
    assert_eq!(client.reply().await, "2");
}

#[tokio::test(start_paused = true)]
async fn a_request_that_comes_in_single_bytes_is_one_request() {
    let host = World::new().host("a");
    host.boot(Persistence::None);
    let mut client = host.client().await;
    for byte in b"*2\r\n$4\r\nECHO\r\n$5\r\nh\r\nlo\r\n" {
        client.send_raw(&[*byte]).await;
        pass(1).await;
    }
    assert_eq!(client.reply().await, "h\r\nlo");
}

#[tokio::test(start_paused = true)]
async fn a_malformed_frame_is_answered_after_earlier_replies_and_closes() {
    let host = World::new().host("a");
    host.boot(Persistence::None);
    for (frame, error) in [
        ("*1\r\n+PING\r\n", "ERR Protocol error: expected '$', got '+'"),
        ("*abc\r\n", "ERR Protocol error: invalid multibulk length"),
        ("*1\r\n$9999999999\r\n", "ERR Protocol error: invalid bulk length"),
        ("GET \"k\r\n", "ERR Protocol error: unbalanced quotes in request"),
    ] {
        let mut client = host.client().await;
        client.send_raw(format!("PING\r\n{frame}").as_bytes()).await;
        assert_eq!(client.reply().await, "PONG");
        assert_eq!(client.reply().await, error);
        assert_eq!(client.reply().await, "closed");
    }
}

#[derive(Default)]
struct Executed(AtomicUsize);

impl Observer for Executed {
    fn executed(&self, _: Origin, _: &'static str) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_never_reads_its_replies_is_not_executed_any_further() {
    let executed = Arc::new(Executed::default());
    let host = World::new().host("a");
    let core = CoreConfig { observer: Some(executed.clone()), ..CoreConfig::default() };
    host.boot_with(NodeConfig { core, ..NodeConfig::default() });
    let mut client = host.client().await;
    let value = "x".repeat(100_000);
    assert_eq!(client.ask(&format!("SET big {value}")).await, "OK");
    // Ten thousand requests for a gigabyte of replies; the pipes hold 128 KiB.
    let requests = "GET big\r\n".repeat(10_000);
    client.try_send_raw(requests.as_bytes(), 1000).await;
    let executed = executed.0.load(Ordering::Relaxed);
    assert!((2..10).contains(&executed), "{executed} commands were executed");
}

#[tokio::test(start_paused = true)]
async fn a_node_does_one_thing_at_a_time() {
    let host = World::new().host("a");
    host.boot(Persistence::None);
    host.set_command_time(Duration::from_millis(10));
    let began = Instant::now();
    let mut clients = [host.client().await, host.client().await, host.client().await];
    for client in &mut clients {
        client.send("INCR k").await;
    }
    let mut ends = Vec::new();
    for (n, client) in clients.iter_mut().enumerate() {
        assert_eq!(client.reply().await, (n + 1).to_string());
        ends.push(began.elapsed().as_millis());
    }
    assert_eq!(ends, [10, 20, 30]);
}

#[tokio::test(start_paused = true)]
async fn shutdown_closes_every_connection_and_loses_nothing_to_a_power_loss() {
    let host = World::new().host("a");
    let node = host.boot(Persistence::AofNo);
    let (mut one, mut other) = (host.client().await, host.client().await);
    assert_eq!(other.ask("SET k v").await, "OK");
    assert_eq!(one.ask("SHUTDOWN").await, "closed");
    assert_eq!(other.reply().await, "closed");
    node.closed().await;
    host.lose_power();
    host.boot(Persistence::AofNo);
    assert_eq!(host.client().await.ask("GET k").await, "v");
}

#[tokio::test(start_paused = true)]
async fn an_endless_script_makes_others_wait_then_busy_until_it_is_killed() {
    let host = World::new().host("a");
    host.boot(Persistence::None);
    let (mut looping, mut other) = (host.client().await, host.client().await);
    let began = Instant::now();
    looping.send("EVAL \"while true do end\" 0").await;
    pass(1).await;
    let busy = other.ask("GET k").await;
    assert!(busy.starts_with("BUSY Redis is busy running a script."), "{busy}");
    assert_eq!(began.elapsed().as_secs(), 5, "busy-reply-threshold");
    assert_eq!(other.ask("SCRIPT KILL").await, "OK");
    let killed = looping.reply().await;
    assert!(
        killed.starts_with("ERR Error running script") || killed.contains("Script killed by user"),
        "{killed}"
    );
    assert_eq!(other.ask("GET k").await, "nil");
    assert_eq!(looping.ask("PING").await, "PONG");
}

#[tokio::test(start_paused = true)]
async fn a_request_held_by_a_script_is_executed_when_the_script_is_killed() {
    let host = World::new().host("a");
    host.boot(Persistence::None);
    let (mut looping, mut held, mut killer) = (host.client().await, host.client().await, host.client().await);
    looping.send("EVAL \"while true do end\" 0").await;
    pass(4_999).await;
    // The killer arrives first and is held like everybody; at 5 s it is let through, before the other is told BUSY or
    // after.
    killer.send("SCRIPT KILL").await;
    pass(1).await;
    held.send("SET k v").await;
    assert_eq!(killer.reply().await, "OK");
    assert_eq!(held.reply().await, "OK");
    assert!(looping.reply().await.contains("killed"));
}

#[tokio::test(start_paused = true)]
async fn a_node_that_drains_answers_what_has_arrived_and_closes() {
    let host = World::new().host("m");
    let node = host.boot(Persistence::None);
    host.set_command_time(Duration::from_millis(100));
    let (mut idle, mut busy, mut waiting) = (host.client().await, host.client().await, host.client().await);
    waiting.send("WAIT 1 0").await;
    pass(200).await;
    busy.send_raw(&b"INCR n\r\n".repeat(5)).await;
    pass(50).await;
    node.drain();
    assert_eq!(idle.reply().await, "closed");
    assert_eq!(waiting.reply().await, "closed");
    for answered in 1..=5 {
        assert_eq!(busy.reply().await, answered.to_string());
    }
    assert_eq!(busy.reply().await, "closed");
    soon(node.closed()).await;
}

#[tokio::test(start_paused = true)]
async fn a_node_without_clients_is_drained_at_once() {
    let host = World::new().host("m");
    let node = host.boot(Persistence::None);
    node.drain();
    soon(node.closed()).await;
}
