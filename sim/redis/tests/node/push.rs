//! Connections that are sent what they did not ask for, and connections that others end.

use std::time::Duration;

use doublehold_sim_redis::Persistence;

use crate::replication::group;
use crate::world::{Client, START_MS, World, info, pass};

async fn connected(client: &mut Client) -> String {
    let text = client.ask("INFO clients").await;
    let field = text.lines().find_map(|line| line.strip_prefix("connected_clients:"));
    field.expect("INFO has it").to_owned()
}

/// The ids of all connections.
async fn ids(client: &mut Client) -> Vec<String> {
    let list = client.ask("CLIENT LIST").await;
    list.lines().filter_map(|line| Some(line.strip_prefix("id=")?.split(' ').next()?.to_owned())).collect()
}

#[tokio::test(start_paused = true)]
async fn who_monitors_sees_each_command_when_it_is_executed_and_asks_for_nothing() {
    let host = World::new().host("m");
    host.boot(Persistence::None);
    let (mut monitor, mut client) = (host.client().await, host.client().await);
    assert_eq!(monitor.ask("MONITOR").await, "OK");
    assert!(monitor.is_silent_for(60_000).await);
    // The wall clock, not how long the world runs.
    host.step_wall(-5_000);
    pass(1_250).await;
    assert_eq!(client.ask("SET k v").await, "OK");
    let seconds = (START_MS + 60_000 - 5_000 + 1_250) / 1_000;
    assert_eq!(monitor.reply().await, format!("{seconds}.250000 [0 m:40000] \"SET\" \"k\" \"v\""));
    // Its own commands show behind their replies.
    assert_eq!(monitor.ask("PING").await, "PONG");
    assert!(monitor.reply().await.ends_with("\"PING\""));
    assert_eq!(client.ask("CLIENT LIST").await.matches(" flags=O ").count(), 1);
    assert_eq!(monitor.ask("RESET").await, "RESET");
    client.ask("PING").await;
    assert!(monitor.is_silent_for(1_000).await);
}

#[tokio::test(start_paused = true)]
async fn what_is_pushed_waits_for_the_file_as_the_reply_does() {
    let host = World::new().host("m");
    host.boot(Persistence::AofAlways);
    host.set_fsync_time(Duration::from_millis(30));
    let (mut monitor, mut client) = (host.client().await, host.client().await);
    monitor.ask("MONITOR").await;
    client.send("SET k v").await;
    assert!(monitor.is_silent_for(20).await);
    assert!(monitor.reply().await.ends_with("\"SET\" \"k\" \"v\""));
}

#[tokio::test(start_paused = true)]
async fn a_replicas_monitor_sees_its_masters_stream() {
    let (_world, master, replicas) = group(&["a"]).await;
    let mut monitor = replicas[0].client().await;
    monitor.ask("MONITOR").await;
    master.client().await.ask("SET k v PX 5000").await;
    let line = monitor.reply().await;
    assert!(line.contains("[0 m:1] \"S"), "{line}");
    let line = if line.contains("SELECT") { monitor.reply().await } else { line };
    assert!(line.contains("[0 m:1] \"SET\" \"k\" \"v\" \"PXAT\""), "{line}");
}

#[tokio::test(start_paused = true)]
async fn who_monitors_and_does_not_read_is_closed_at_the_hard_limit() {
    let host = World::new().host("m");
    host.boot(Persistence::None);
    let (mut monitor, mut client) = (host.client().await, host.client().await);
    client.ask("CONFIG SET client-output-buffer-limit 'normal 1mb 0 0'").await;
    monitor.ask("MONITOR").await;
    let long = "x".repeat(100_000);
    for sent in 0..30 {
        assert_eq!(client.ask(&format!("ECHO {long}")).await, long);
        pass(1).await;
        if connected(&mut client).await == "1" {
            assert!((9..=13).contains(&sent), "the pipe holds some, and 1 MB waits: {sent}");
            return;
        }
    }
    panic!("it is still connected");
}

#[tokio::test(start_paused = true)]
async fn who_monitors_and_reads_slowly_is_closed_after_the_soft_limits_time() {
    let host = World::new().host("m");
    host.boot(Persistence::None);
    let (mut monitor, mut client) = (host.client().await, host.client().await);
    client.ask("CONFIG SET client-output-buffer-limit 'normal 0 300kb 10'").await;
    monitor.ask("MONITOR").await;
    let long = "x".repeat(100_000);
    for _ in 0..8 {
        client.ask(&format!("ECHO {long}")).await;
    }
    // More of it does not begin the time anew.
    for _ in 0..9 {
        pass(1_000).await;
        client.ask("PING").await;
    }
    assert_eq!(connected(&mut client).await, "2");
    pass(2_000).await;
    assert_eq!(connected(&mut client).await, "1");
    // Who reads again in time stays.
    let mut monitor = host.client().await;
    monitor.ask("MONITOR").await;
    for _ in 0..8 {
        client.ask(&format!("ECHO {long}")).await;
    }
    pass(5_000).await;
    for _ in 0..8 {
        assert!(monitor.reply().await.contains("ECHO"));
    }
    pass(20_000).await;
    assert_eq!(connected(&mut client).await, "2");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_is_killed_is_closed_wherever_it_waits_and_executes_nothing_more() {
    let host = World::new().host("m");
    host.boot(Persistence::None);
    let mut killer = host.client().await;
    killer.ask("PING").await;
    for waits_in in ["PING", "WAIT 1 0", "MULTI", "GET k"] {
        let mut client = host.client().await;
        if waits_in == "GET k" {
            killer.ask("EVAL \"redis.call('SET', 'k', string.rep('x', 400000))\" 0").await;
        }
        client.send(waits_in).await;
        pass(1).await;
        let id = ids(&mut killer).await.pop().expect("the client");
        assert_eq!(killer.ask(&format!("CLIENT KILL ID {id}")).await, "1", "{waits_in}");
        assert_eq!(connected(&mut killer).await, "1", "it is gone at once");
        assert_eq!(killer.ask(&format!("CLIENT KILL ID {id}")).await, "0");
        pass(1).await;
        client.flood(b"SET unheard 1\r\nEXEC\r\n", 10).await;
        assert_eq!(killer.ask("EXISTS unheard").await, "0", "{waits_in}");
    }
    assert_eq!(ids(&mut killer).await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_pipeline_ends_where_its_connection_is_killed() {
    let host = World::new().host("m");
    host.boot(Persistence::None);
    host.set_command_time(Duration::from_millis(10));
    let (mut client, mut killer) = (host.client().await, host.client().await);
    killer.ask("PING").await;
    let id = ids(&mut killer).await.remove(0);
    // The two take turns: the node executes one connection's commands until it has to read again.
    client.send("SET a 1").await;
    killer.send(&format!("CLIENT KILL ID {id}")).await;
    pass(5).await;
    client.send("SET b 1").await;
    assert_eq!(killer.reply().await, "1");
    assert_eq!(killer.ask("EXISTS a").await, "1");
    assert_eq!(killer.ask("EXISTS b").await, "0");
    // Who kills itself is answered, and that is all.
    assert_eq!(killer.ask("CLIENT KILL SKIPME no").await, "1");
    assert_eq!(killer.reply().await, "closed");
}

#[tokio::test(start_paused = true)]
async fn a_replica_that_is_killed_comes_back_and_goes_on() {
    let (_world, master, replicas) = group(&["a"]).await;
    let mut client = master.client().await;
    client.ask("SET k v").await;
    pass(10).await;
    assert_eq!(info(&mut client, "connected_slaves").await, "1");
    assert_eq!(client.ask("CLIENT KILL TYPE replica").await, "1");
    assert_eq!(info(&mut client, "connected_slaves").await, "0");
    pass(5_000).await;
    assert_eq!(info(&mut client, "connected_slaves").await, "1");
    client.ask("SET k w").await;
    pass(10).await;
    assert_eq!(replicas[0].client().await.ask("GET k").await, "w");
}
