//! WAITAOF, as of Redis 7.2: when a write is in the node's own file, and in those of its replicas.
//!
//! Each test names the one of Redis' own (`tests/unit/wait.tcl` at 7.2) that says so, or the function.

use std::time::Duration;

use doublehold_sim_redis::core::{CoreConfig, Version};
use doublehold_sim_redis::{NodeConfig, Persistence};
use tokio::time::Instant;

use crate::world::{Host, World, pass};

fn config(persistence: Persistence) -> NodeConfig {
    let core = CoreConfig { version: Version::V8_4, ..CoreConfig::default() };
    NodeConfig { core, persistence, ..NodeConfig::default() }
}

/// A master and a replica that are caught up, with these files.
async fn pair(master: Persistence, replica: Persistence) -> (World, Host, Host) {
    let world = World::new();
    let (m, r) = (world.host("m"), world.host("r"));
    m.boot_with(config(master));
    r.boot_with(NodeConfig { replica_of: Some(("m".to_owned(), 1)), ..config(replica) });
    pass(1_500).await;
    (world, m, r)
}

#[tokio::test(start_paused = true)]
async fn a_local_copy_is_waited_for_as_the_policy_fsyncs() {
    for (persistence, title, wanted, at_most) in [
        (Persistence::AofNo, "local copy before fsync", "[0 0]", 50),
        (Persistence::AofEverysec, "local copy everysec", "[1 0]", 1_100),
        (Persistence::AofAlways, "local copy with appendfsync always", "[1 0]", 20),
    ] {
        let host = World::new().host("a");
        host.set_fsync_time(Duration::from_millis(10));
        host.boot_with(config(persistence));
        let mut client = host.client().await;
        // The first write after a quiet second is fsynced at once, the second one is not.
        client.ask("INCR foo").await;
        pass(20).await;
        client.ask("INCR foo").await;
        let began = Instant::now();
        let timeout = if persistence == Persistence::AofNo { 50 } else { 0 };
        assert_eq!(client.ask(&format!("WAITAOF 1 0 {timeout}")).await, wanted, "{title}");
        assert!(began.elapsed() <= Duration::from_millis(at_most), "{title}: {:?}", began.elapsed());
        let again = client.ask("WAITAOF 1 0 50").await;
        assert_eq!(again, wanted, "{title}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_answered_is_there_after_a_power_loss() {
    let host = World::new().host("a");
    host.boot_with(config(Persistence::AofEverysec));
    let mut client = host.client().await;
    client.ask("SET k 0").await;
    pass(20).await;
    client.ask("SET k 1").await;
    assert_eq!(client.ask("WAITAOF 1 0 10").await, "[0 0]", "it waits for the second to be over");
    assert_eq!(client.ask("WAITAOF 1 0 0").await, "[1 0]");
    host.lose_power();
    host.boot_with(config(Persistence::AofEverysec));
    assert_eq!(host.client().await.ask("GET k").await, "1");
}

#[tokio::test(start_paused = true)]
async fn without_a_file_only_replicas_can_be_waited_for() {
    let (_world, master, _replica) = pair(Persistence::None, Persistence::AofEverysec).await;
    let mut client = master.client().await;
    client.ask("INCR foo").await;
    assert_eq!(client.ask("WAITAOF 0 1 0").await, "[0 1]", "master isn't configured to do AOF");
    let refused = client.ask("WAITAOF 1 0 0").await;
    assert_eq!(
        refused, "ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled.",
        "local on server with aof disabled"
    );
}

#[tokio::test(start_paused = true)]
async fn a_replica_counts_once_its_file_has_it() {
    for (persistence, title, wanted) in [
        (Persistence::AofNo, "replica copy before fsync", "[1 0]"),
        (Persistence::AofEverysec, "replica copy everysec", "[1 1]"),
        (Persistence::AofAlways, "replica copy appendfsync always", "[1 1]"),
        (Persistence::None, "replica isn't configured to do AOF", "[1 0]"),
    ] {
        let (_world, master, _replica) = pair(Persistence::AofEverysec, persistence).await;
        let mut client = master.client().await;
        client.ask("INCR foo").await;
        assert_eq!(client.ask("WAITAOF 0 1 3000").await, wanted, "{title}");
        assert_eq!(client.ask("WAIT 1 0").await, "1", "it has the write all the same");
    }
}

#[tokio::test(start_paused = true)]
async fn a_ping_after_the_last_write_is_in_no_file_and_waited_for_by_nobody() {
    let (_world, master, _replica) = pair(Persistence::AofEverysec, Persistence::AofEverysec).await;
    let mut client = master.client().await;
    client.ask("INCR foo").await;
    pass(11_000).await;
    client.ask("GET foo").await;
    assert_eq!(client.ask("WAITAOF 1 1 0").await, "[1 1]", "master sends PING after last write");
    let mut fresh = master.client().await;
    assert_eq!(fresh.ask("WAITAOF 1 1 0").await, "[1 1]", "master client didn't send any command");
}

#[tokio::test(start_paused = true)]
async fn a_demoted_master_unblocks_who_waits() {
    let (_world, master, _replica) = pair(Persistence::AofEverysec, Persistence::None).await;
    let mut client = master.client().await;
    client.ask("INCR foo").await;
    client.send("WAITAOF 0 1 0").await;
    pass(10).await;
    assert_eq!(master.client().await.ask("REPLICAOF r 1").await, "OK");
    let told = client.reply().await;
    assert!(
        told.starts_with("UNBLOCKED force unblock"),
        "on demoted master gets unblocked with an error: {told}"
    );
}
