//! A master and its replicas while nothing breaks: what is copied, what is refused, what WAIT promises.

use std::time::Duration;

use doublehold_sim_redis::core::CoreConfig;
use doublehold_sim_redis::{NodeConfig, Persistence};
use tokio::time::Instant;

use crate::world::{Client, Host, START_MS, World, info, pass, soon};

/// A configuration that follows `master`.
pub(crate) fn replica_of(master: &str) -> NodeConfig {
    NodeConfig {
        replica_of: Some((master.to_owned(), 1)),
        persistence: Persistence::AofNo,
        ..NodeConfig::default()
    }
}

/// A master and its replicas, all caught up.
pub(crate) async fn group(replicas: &[&str]) -> (World, Host, Vec<Host>) {
    let world = World::new();
    let master = world.host("m");
    master.boot(Persistence::None);
    let replicas: Vec<Host> = replicas.iter().map(|name| world.host(name)).collect();
    for replica in &replicas {
        replica.boot_with(replica_of("m"));
    }
    pass(1).await;
    (world, master, replicas)
}

#[tokio::test(start_paused = true)]
async fn a_replica_starts_with_the_data_and_follows_every_write() {
    let world = World::new();
    let master = world.host("m");
    master.boot(Persistence::None);
    let mut on_master = master.client().await;
    on_master.ask("SET before 1").await;
    on_master.ask("SELECT 2").await;
    on_master.ask("HSET h f v").await;
    let replica = world.host("r");
    replica.boot_with(replica_of("m"));
    pass(1).await;
    on_master.ask("INCR after").await;
    on_master.ask("MULTI").await;
    on_master.ask("INCR after").await;
    on_master.ask("SET other 1").await;
    assert_eq!(on_master.ask("EXEC").await, "[2 OK]");
    pass(1).await;
    let mut on_replica = replica.client().await;
    assert_eq!(on_replica.ask("GET before").await, "1");
    on_replica.ask("SELECT 2").await;
    assert_eq!(on_replica.ask("HGET h f").await, "v");
    assert_eq!(on_replica.ask("GET after").await, "2");
    assert_eq!(on_replica.ask("GET other").await, "1");
    assert_eq!(
        info(&mut on_replica, "master_repl_offset").await,
        info(&mut on_master, "master_repl_offset").await
    );
}

#[tokio::test(start_paused = true)]
async fn a_replica_refuses_writes() {
    let (_world, _master, replicas) = group(&["r"]).await;
    let reply = replicas[0].client().await.ask("SET k v").await;
    assert_eq!(reply, "READONLY You can't write against a read only replica.");
}

/// `REPLICAOF` of the master that a node follows changes nothing; of another address it does.
#[tokio::test(start_paused = true)]
async fn a_replica_is_told_of_its_own_master_in_vain() {
    let (_world, _master, replicas) = group(&["r"]).await;
    let mut client = replicas[0].client().await;
    assert_eq!(client.ask("REPLICAOF m 1").await, "OK Already connected to specified master");
    assert_eq!(client.ask("REPLICAOF m 2").await, "OK");
    assert_eq!(client.ask("REPLICAOF n 2").await, "OK");
}

#[tokio::test(start_paused = true)]
async fn role_and_info_name_both_ends() {
    let (_world, master, replicas) = group(&["r"]).await;
    let (mut on_master, mut on_replica) = (master.client().await, replicas[0].client().await);
    pass(1_100).await;
    let port = 7000 + u16::from(b'r');
    assert_eq!(on_master.ask("ROLE").await, format!("[master 0 [[r {port} 0]]]"));
    assert_eq!(on_replica.ask("ROLE").await, "[slave m 1 connected 0]");
    assert_eq!(info(&mut on_master, "connected_slaves").await, "1");
    assert_eq!(info(&mut on_replica, "master_link_status").await, "up");
    assert_eq!(info(&mut on_replica, "master_replid").await, info(&mut on_master, "master_replid").await);
}

#[tokio::test(start_paused = true)]
async fn a_lifetime_reaches_the_replica_as_an_absolute_time_of_the_masters_clock() {
    let (_world, master, replicas) = group(&["r"]).await;
    let replica = &replicas[0];
    // The replica's clock is 4 s ahead.
    replica.step_wall(4_000);
    let mut on_master = master.client().await;
    assert_eq!(on_master.ask("SET k v PX 10000").await, "OK");
    pass(1).await;
    let mut on_replica = replica.client().await;
    assert_eq!(on_replica.ask("PEXPIRETIME k").await, (START_MS + 10_001).to_string());
    pass(6_500).await;
    assert_eq!(on_replica.ask("GET k").await, "nil", "hidden by the replica's own clock");
    assert_eq!(on_replica.ask("DBSIZE").await, "1", "deleted only by the master's DEL");
    assert_eq!(on_master.ask("GET k").await, "v");
    pass(4_000).await;
    assert_eq!(on_replica.ask("DBSIZE").await, "0");
}

#[tokio::test(start_paused = true)]
async fn the_reply_to_a_write_does_not_wait_for_a_replica() {
    let (_world, master, replicas) = group(&["r"]).await;
    replicas[0].set_command_time(Duration::from_secs(3));
    let mut client = master.client().await;
    let began = Instant::now();
    assert_eq!(client.ask("SET k v").await, "OK");
    assert_eq!(began.elapsed().as_millis(), 0);
}

#[tokio::test(start_paused = true)]
async fn wait_counts_the_replicas_that_acknowledged_this_connections_last_write() {
    let (_world, master, _replicas) = group(&["r", "s"]).await;
    let mut client = master.client().await;
    assert_eq!(client.ask("SET k v").await, "OK");
    let began = Instant::now();
    assert_eq!(client.ask("WAIT 2 0").await, "2");
    assert!(began.elapsed().as_millis() <= 1, "GETACK asks at once, not at the next second");
}

#[tokio::test(start_paused = true)]
async fn wait_gives_up_after_its_timeout_with_what_it_has() {
    let (_world, master, replicas) = group(&["r", "s"]).await;
    replicas[1].crash();
    pass(1).await;
    let mut client = master.client().await;
    assert_eq!(client.ask("SET k v").await, "OK");
    let began = Instant::now();
    assert_eq!(client.ask("WAIT 2 300").await, "1");
    assert_eq!(began.elapsed().as_millis(), 300);
    assert_eq!(client.ask("WAIT 1 0").await, "1");
}

#[tokio::test(start_paused = true)]
async fn a_replica_that_is_attached_and_has_not_acknowledged_the_write_does_not_count() {
    let (_world, master, replicas) = group(&["r", "s"]).await;
    let mut client = master.client().await;
    assert_eq!(client.ask("SET k old").await, "OK");
    assert_eq!(client.ask("WAIT 2 0").await, "2", "it has acknowledged another write");
    // It takes the write, and is busy with it for an hour.
    replicas[1].set_command_time(Duration::from_secs(3600));
    assert_eq!(client.ask("SET k v").await, "OK");
    let began = Instant::now();
    assert_eq!(client.ask("WAIT 2 300").await, "1");
    assert_eq!(began.elapsed().as_millis(), 300);
    assert_eq!(info(&mut client, "connected_slaves").await, "2");
}

#[tokio::test(start_paused = true)]
async fn a_wait_without_timeout_ends_when_the_replica_comes_back() {
    let (_world, master, replicas) = group(&["r"]).await;
    replicas[0].crash();
    pass(1).await;
    let mut client = master.client().await;
    client.ask("SET k v").await;
    client.send("WAIT 1 0").await;
    assert!(client.is_silent_for(100_000).await);
    replicas[0].boot_with(replica_of("m"));
    assert_eq!(client.reply().await, "1");
}

#[tokio::test(start_paused = true)]
async fn wait_on_a_replica_is_an_error() {
    let (_world, _master, replicas) = group(&["r"]).await;
    let reply = replicas[0].client().await.ask("WAIT 1 0").await;
    assert!(reply.starts_with("ERR WAIT cannot be used with replica instances."), "{reply}");
}

#[tokio::test(start_paused = true)]
async fn a_master_without_enough_good_replicas_refuses_writes() {
    let world = World::new();
    let master = world.host("m");
    let core = CoreConfig { min_replicas_to_write: 1, ..CoreConfig::default() };
    master.boot_with(NodeConfig { core, ..NodeConfig::default() });
    let mut client = master.client().await;
    assert_eq!(client.ask("SET k v").await, "NOREPLICAS Not enough good replicas to write.");
    let replica = world.host("r");
    replica.boot_with(replica_of("m"));
    pass(1).await;
    assert_eq!(client.ask("SET k v").await, "OK");
    // It does not acknowledge any more: after min-replicas-max-lag it no longer counts.
    replica.set_command_time(Duration::from_secs(3600));
    pass(9_000).await;
    assert_eq!(client.ask("SET k v").await, "OK");
    pass(12_000).await;
    assert_eq!(client.ask("SET k v").await, "NOREPLICAS Not enough good replicas to write.");
}

/// Looked at once a second from the master's start on, in whole seconds: the 11th look after the second of the last
/// acknowledgement is the first that finds it too old.
#[tokio::test(start_paused = true)]
async fn the_lag_of_replicas_is_looked_at_once_a_second_and_counts_whole_seconds() {
    let world = World::new();
    let (master, replica) = (world.host("m"), world.host("r"));
    let core = CoreConfig { min_replicas_to_write: 1, ..CoreConfig::default() };
    master.boot_with(NodeConfig { core, ..NodeConfig::default() });
    pass(300).await;
    replica.boot_with(replica_of("m"));
    let mut client = master.client().await;
    pass(5_200).await;
    // It acknowledged last after 5.3 s, and will not again.
    replica.set_command_time(Duration::from_secs(3600));
    assert_eq!(client.ask("SET k v").await, "OK");
    for (at_ms, expected) in [
        (15_990, "OK"),
        (16_010, "NOREPLICAS Not enough good replicas to write."),
        (16_990, "NOREPLICAS Not enough good replicas to write."),
    ] {
        let now = world.elapsed_ms();
        pass(at_ms - now).await;
        assert_eq!(client.ask("SET k v").await, expected, "at {at_ms} ms");
    }
    // A lag of zero switches it off.
    assert_eq!(client.ask("CONFIG SET min-replicas-max-lag 0").await, "OK");
    assert_eq!(client.ask("SET k v").await, "OK");
}

#[tokio::test(start_paused = true)]
async fn a_replica_of_a_replica_follows_the_same_history() {
    let (world, master, _replicas) = group(&["r"]).await;
    let last = world.host("s");
    last.boot_with(replica_of("r"));
    pass(2_000).await;
    let mut on_master = master.client().await;
    on_master.ask("SELECT 5").await;
    on_master.ask("SET k v").await;
    pass(1).await;
    let mut on_last = last.client().await;
    on_last.ask("SELECT 5").await;
    assert_eq!(on_last.ask("GET k").await, "v");
    assert_eq!(
        info(&mut on_last, "master_repl_offset").await,
        info(&mut on_master, "master_repl_offset").await
    );
}

#[tokio::test(start_paused = true)]
async fn a_silent_replica_is_dropped_after_the_timeout() {
    let (_world, master, replicas) = group(&["r"]).await;
    let mut client = master.client().await;
    replicas[0].set_command_time(Duration::from_secs(3600));
    client.ask("SET k v").await;
    pass(55_000).await;
    assert_eq!(info(&mut client, "connected_slaves").await, "1");
    pass(10_000).await;
    assert_eq!(info(&mut client, "connected_slaves").await, "0");
}

#[tokio::test(start_paused = true)]
async fn a_replica_keeps_its_own_append_only_file() {
    let (_world, master, replicas) = group(&["r"]).await;
    let mut client = master.client().await;
    client.ask("SET k v PX 100000").await;
    // PINGs and GETACKs are no data.
    client.ask("WAIT 1 0").await;
    pass(30_000).await;
    assert!(!replicas[0].aof().contains("PING") && !replicas[0].aof().contains("GETACK"));
    replicas[0].crash();
    master.crash();
    replicas[0].boot(Persistence::AofNo);
    assert_eq!(replicas[0].client().await.ask("GET k").await, "v");
}

#[tokio::test(start_paused = true)]
async fn a_failover_that_a_redis_would_begin_is_refused_with_what_to_send_instead() {
    let (_world, master, replicas) = group(&["r"]).await;
    let (mut on_master, mut on_replica) = (master.client().await, replicas[0].client().await);
    let port = 7000 + u16::from(b'r');
    for command in [
        "FAILOVER".to_owned(),
        format!("FAILOVER TO r {port} TIMEOUT 10"),
        format!("failover to R {port} force timeout 5"),
    ] {
        let reply = on_master.ask(&command).await;
        assert!(reply.starts_with("ERR this node of doublehold has no FAILOVER: "), "{command}: {reply}");
    }
    assert_eq!(on_master.ask("FAILOVER ABORT").await, "ERR No failover in progress.");
    let reply = on_replica.ask("FAILOVER").await;
    assert_eq!(reply, "ERR FAILOVER is not valid when server is a replica.");
}

/// What a Redis 7.0.15 sends after PING when it is told to be a replica.
async fn introduce_as_redis(host: &Host, port: u16) -> Client {
    let mut redis = host.client().await;
    assert_eq!(redis.ask(&format!("REPLCONF listening-port {port}")).await, "OK");
    assert_eq!(redis.ask("REPLCONF capa eof capa psync2").await, "OK");
    redis
}

#[tokio::test(start_paused = true)]
async fn a_redis_that_asks_to_be_a_replica_is_refused_and_told_of_once() {
    let world = World::new();
    let master = world.host("m");
    let node = master.boot(Persistence::None);
    for port in [6390, 6390, 6391] {
        let mut redis = introduce_as_redis(&master, port).await;
        for command in ["PSYNC ? -1", "SYNC"] {
            redis.send(command).await;
            assert!(redis.is_silent_for(900).await, "it would come back at once");
            let reply = redis.reply().await;
            assert!(
                reply.starts_with("ERR this master is a node of `doublehold serve`"),
                "{command}: {reply}"
            );
            assert!(reply.len() < 250, "a Redis reads no more of a line: {reply}");
        }
    }
    assert_eq!(soon(node.refused_replica()).await, "m:6390");
    assert_eq!(soon(node.refused_replica()).await, "m:6391");
    let more = tokio::time::timeout(Duration::from_secs(60), node.refused_replica()).await;
    assert!(more.is_err(), "{more:?}");
    assert_eq!(info(&mut master.client().await, "connected_slaves").await, "0");
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_asks_for_the_stream_by_hand_gets_it() {
    let (_world, master, _) = group(&[]).await;
    let mut tool = master.client().await;
    assert_eq!(tool.ask("REPLCONF capa eof").await, "OK");
    assert_eq!(tool.ask("SYNC").await, "", "the data set of a node without data");
}
