//! Messages between connections, through replicas, past the file, and to who does not read.

use std::time::Duration;

use doublehold_sim_redis::{NodeConfig, Persistence};

use crate::replication::{group, replica_of};
use crate::world::{Client, Host, World, info, pass};

async fn subscriber(host: &Host, command: &str) -> Client {
    let mut client = host.client().await;
    assert!(client.ask(command).await.contains("subscribe"));
    client
}

async fn heard_by(client: &mut Client, channel: &str) -> String {
    client.ask(&format!("PUBLISH {channel} x")).await
}

#[tokio::test(start_paused = true)]
async fn a_message_reaches_who_waits_for_it_and_asks_for_nothing() {
    let host = World::new().host("m");
    host.boot(Persistence::None);
    let (mut listens, mut client) = (subscriber(&host, "SUBSCRIBE news").await, host.client().await);
    assert!(listens.is_silent_for(3_600_000).await);
    assert_eq!(client.ask("PUBLISH news hello").await, "1");
    assert_eq!(listens.reply().await, "[message news hello]");
    assert_eq!(listens.ask("PING").await, "[pong ]");
    assert!(listens.ask("GET k").await.contains("only (P|S)SUBSCRIBE"));
    assert_eq!(listens.ask("UNSUBSCRIBE").await, "[unsubscribe news 0]");
    assert_eq!(client.ask("PUBLISH news gone").await, "0");
    assert!(listens.is_silent_for(1_000).await);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_waits_for_replicas_is_told_meanwhile() {
    let host = World::new().host("m");
    host.boot(Persistence::None);
    let (mut waits, mut client) = (host.client().await, host.client().await);
    waits.send_raw(b"CLIENT REPLY SKIP\r\nHELLO 3\r\nSUBSCRIBE news\r\nWAIT 1 5000\r\n").await;
    let confirmed = ">3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n";
    assert_eq!(waits.raw(confirmed.len()).await, confirmed);
    assert_eq!(client.ask("PUBLISH news hello").await, "1");
    let message = ">3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$5\r\nhello\r\n";
    assert_eq!(waits.raw(message.len()).await, message);
    assert_eq!(waits.reply().await, "0");
}

#[tokio::test(start_paused = true)]
async fn what_a_master_is_told_its_replicas_subscribers_hear_and_not_the_other_way_round() {
    let (_world, master, replicas) = group(&["a", "b"]).await;
    let mut everywhere = Vec::new();
    for host in [&master, &replicas[0], &replicas[1]] {
        everywhere.push(subscriber(host, "PSUBSCRIBE n*").await);
    }
    let mut client = master.client().await;
    client.ask("SET k v").await;
    assert_eq!(client.ask("PUBLISH news hello").await, "1", "it counts its own");
    pass(10).await;
    for listens in &mut everywhere {
        assert_eq!(listens.reply().await, "[pmessage n* news hello]");
    }
    let mut on_replica = replicas[0].client().await;
    assert_eq!(on_replica.ask("PUBLISH news local").await, "1");
    assert_eq!(everywhere[1].reply().await, "[pmessage n* news local]");
    for elsewhere in [0, 2] {
        assert!(everywhere[elsewhere].is_silent_for(1_000).await);
    }
    let offset = info(&mut client, "master_repl_offset").await;
    assert_eq!(info(&mut on_replica, "master_repl_offset").await, offset);
}

#[tokio::test(start_paused = true)]
async fn a_replica_of_a_replica_is_told_too() {
    let (world, master, _replicas) = group(&["a"]).await;
    let last = world.host("c");
    last.boot_with(replica_of("a"));
    pass(1).await;
    let mut listens = subscriber(&last, "SUBSCRIBE news").await;
    assert_eq!(heard_by(&mut master.client().await, "news").await, "0");
    assert_eq!(listens.reply().await, "[message news x]");
}

#[tokio::test(start_paused = true)]
async fn no_file_has_messages_and_writes_around_them_are_whole() {
    let world = World::new();
    let (master, replica) = (world.host("m"), world.host("r"));
    master.boot(Persistence::AofNo);
    replica.boot_with(replica_of("m"));
    pass(1).await;
    let mut client = master.client().await;
    let mut listens = subscriber(&replica, "SUBSCRIBE news").await;
    for command in [
        "SET a 1",
        "PUBLISH news one",
        "SET b 2",
        "MULTI",
        "SET c 3",
        "PUBLISH news two",
        "SPUBLISH news three",
        "SET d 4",
        "EXEC",
        "SELECT 2",
        "PUBLISH news four",
        "EVAL \"redis.call('PUBLISH', 'news', 'five') return redis.call('SET', 'e', 5)\" 0",
        "SELECT 3",
        "SET f 6",
    ] {
        client.ask(command).await;
    }
    for said in ["one", "two", "four", "five"] {
        assert_eq!(listens.reply().await, format!("[message news {said}]"));
    }
    pass(10).await;
    for host in [&master, &replica] {
        assert!(!host.aof().contains("news"), "{}", host.aof());
        host.crash();
    }
    for host in [&master, &replica] {
        host.boot(Persistence::AofNo);
        let mut client = host.client().await;
        assert_eq!(client.ask("MGET a b c d e f").await, "[1 2 3 4 nil nil]");
        for (database, key, value) in [(2, "e", "5"), (3, "f", "6")] {
            client.ask(&format!("SELECT {database}")).await;
            assert_eq!(client.ask(&format!("GET {key}")).await, value);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_waits_for_the_file_that_has_what_was_written_before_it() {
    let host = World::new().host("m");
    host.boot(Persistence::AofAlways);
    host.set_fsync_time(Duration::from_millis(30));
    let (mut listens, mut client) = (subscriber(&host, "SUBSCRIBE news").await, host.client().await);
    client.send("EVAL \"redis.call('SET', 'k', 'v') return redis.call('PUBLISH', 'news', 'set')\" 0").await;
    assert!(listens.is_silent_for(20).await);
    assert_eq!(listens.reply().await, "[message news set]");
}

#[tokio::test(start_paused = true)]
async fn who_is_killed_or_cut_off_or_restarted_is_not_counted_and_hears_nothing_more() {
    let host = World::new().host("m");
    host.boot(Persistence::None);
    let mut client = host.client().await;
    let mut killed = subscriber(&host, "SUBSCRIBE news").await;
    assert_eq!(heard_by(&mut client, "news").await, "1");
    assert_eq!(client.ask("CLIENT KILL TYPE pubsub").await, "1");
    assert_eq!(heard_by(&mut client, "news").await, "0");
    assert_eq!(killed.reply().await, "[message news x]", "it was said before");
    assert_eq!(killed.reply().await, "closed");
    let gone = subscriber(&host, "PSUBSCRIBE n*").await;
    assert_eq!(heard_by(&mut client, "news").await, "1");
    drop(gone);
    pass(1).await;
    assert_eq!(heard_by(&mut client, "news").await, "0");
    let mut survives = subscriber(&host, "SUBSCRIBE news").await;
    host.crash();
    host.boot(Persistence::None);
    assert_eq!(heard_by(&mut host.client().await, "news").await, "0");
    assert_eq!(survives.reply().await, "closed");
}

#[tokio::test(start_paused = true)]
async fn who_does_not_read_is_closed_at_the_limit_of_subscribers_and_not_at_that_of_others() {
    let host = World::new().host("m");
    host.boot(Persistence::None);
    let mut client = host.client().await;
    client.ask("CONFIG SET client-output-buffer-limit 'normal 1mb 0 0 pubsub 2mb 0 0'").await;
    let _deaf = subscriber(&host, "SUBSCRIBE news").await;
    let long = "x".repeat(100_000);
    let mut told = 0;
    while client.ask(&format!("PUBLISH news {long}")).await == "1" {
        told += 1;
        assert!(told < 40, "it is still there");
        pass(1).await;
    }
    assert!((20..=24).contains(&told), "the pipe holds some, and 2 MB wait: {told}");
}

#[tokio::test(start_paused = true)]
async fn the_limit_of_subscribers_is_that_of_the_first_message_already() {
    let host = World::new().host("m");
    host.boot(Persistence::None);
    let mut client = host.client().await;
    client.ask("CONFIG SET client-output-buffer-limit 'normal 10kb 0 0 pubsub 1mb 0 0'").await;
    let mut listens = subscriber(&host, "SUBSCRIBE news").await;
    let long = "x".repeat(20_000);
    client.ask(&format!("PUBLISH news {long}")).await;
    assert_eq!(listens.reply().await, format!("[message news {long}]"));
}

#[tokio::test(start_paused = true)]
async fn who_reads_slowly_is_closed_after_the_soft_limits_time() {
    let host = World::new().host("m");
    host.boot(Persistence::None);
    let mut client = host.client().await;
    client.ask("CONFIG SET client-output-buffer-limit 'pubsub 0 300kb 10'").await;
    let _deaf = subscriber(&host, "SUBSCRIBE news").await;
    let long = "x".repeat(100_000);
    for _ in 0..8 {
        client.ask(&format!("PUBLISH news {long}")).await;
    }
    pass(9_000).await;
    assert_eq!(client.ask("PUBSUB NUMSUB news").await, "[news 1]");
    pass(2_000).await;
    assert_eq!(client.ask("PUBSUB NUMSUB news").await, "[news 0]");
}

#[tokio::test(start_paused = true)]
async fn what_a_client_has_subscribed_to_counts_as_what_it_holds() {
    let host = World::new().host("m");
    let mut config = NodeConfig::default();
    config.core.limits.max_memory_clients = 1 << 20;
    host.boot_with(config);
    let (mut greedy, mut client) = (host.client().await, host.client().await);
    for number in 0..10_000 {
        client.ask(&format!("SUBSCRIBE {number}")).await;
        assert_eq!(
            client.ask("UNSUBSCRIBE").await,
            format!("[unsubscribe {number} 0]"),
            "who leaves holds nothing"
        );
    }
    for number in 0..10_000 {
        greedy.flood(format!("PSUBSCRIBE {number}\r\n").as_bytes(), 10).await;
        if greedy.reply().await == "closed" {
            assert!((2_000..6_000).contains(&number), "{number}");
            assert_eq!(client.ask("PUBSUB NUMPAT").await, "0");
            return;
        }
    }
    panic!("it is still connected");
}
