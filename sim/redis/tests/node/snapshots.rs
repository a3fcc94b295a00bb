//! What a node remembers that takes snapshots in place of an append-only file.

use std::time::Duration;

use doublehold_sim_redis::{Node, NodeConfig, Persistence};

use crate::world::{Host, World, pass};

/// A node that takes a snapshot every so many seconds.
fn boot(host: &Host, seconds: u64) -> Node<Host> {
    let snapshot_interval = Duration::from_secs(seconds);
    host.boot_with(NodeConfig { persistence: Persistence::Rdb, snapshot_interval, ..NodeConfig::default() })
}

#[tokio::test(start_paused = true)]
async fn a_restart_finds_the_last_snapshot_and_nothing_since() {
    for dies in [Host::crash, Host::lose_power] {
        let host = World::new().host("a");
        boot(&host, 5);
        let mut client = host.client().await;
        assert_eq!(client.ask("SET k 1 PX 60000").await, "OK");
        assert_eq!(client.ask("HSET h f 1").await, "1");
        // More than 5 whole seconds on the wall clock: at the first tick of the sixth.
        pass(6_050).await;
        assert_eq!(host.file("dump.rdb"), "");
        pass(60).await;
        let first = host.file("dump.rdb");
        assert!(first.contains("SET\r\n$1\r\nk\r\n$1\r\n1") && first.contains("PEXPIREAT"), "{first}");
        assert_eq!(client.ask("SET k 2 KEEPTTL").await, "OK");
        assert_eq!(client.ask("SET later 1").await, "OK");
        dies(&host);
        boot(&host, 5);
        let mut client = host.client().await;
        assert_eq!(client.ask("GET k").await, "1");
        assert_eq!(client.ask("HGET h f").await, "1");
        assert_eq!(client.ask("GET later").await, "nil");
        assert_eq!(client.ask("CONFIG GET save").await, "[save 5 1]");
        assert_eq!(client.ask("CONFIG GET appendonly").await, "[appendonly no]");
    }
}

#[tokio::test(start_paused = true)]
async fn a_snapshot_that_was_under_way_leaves_the_one_before() {
    for (dies, after_ms, expected) in [
        (Host::crash as fn(&Host), 60, "old"),
        (Host::crash, 160, "new"),
        (Host::lose_power, 60, "old"),
        // Renamed, and the rename is not on the disk yet.
        (Host::lose_power, 160, "old"),
        (Host::lose_power, 310, "new"),
    ] {
        let host = World::new().host("a");
        boot(&host, 1);
        let mut client = host.client().await;
        assert_eq!(client.ask("SET k old").await, "OK");
        pass(3_000).await;
        host.set_fsync_time(Duration::from_millis(100));
        pass(50).await;
        assert_eq!(client.ask("SET k new").await, "OK");
        pass(1_050 + after_ms).await;
        dies(&host);
        boot(&host, 1);
        assert_eq!(host.client().await.ask("GET k").await, expected, "{after_ms} ms");
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_read_or_expires_is_no_reason_for_a_snapshot_and_an_idle_node_has_no_timer() {
    let host = World::new().host("a");
    boot(&host, 1);
    let mut client = host.client().await;
    assert_eq!(client.ask("SET k v PX 4000").await, "OK");
    pass(3_000).await;
    let (kept, fsyncs) = (host.file("dump.rdb"), host.fsyncs());
    assert!(kept.contains("PEXPIREAT") && fsyncs == 2, "{kept} after {fsyncs}");
    pass(3_000).await;
    assert_eq!(client.ask("GET k").await, "nil");
    let sleeps = host.sleeps();
    pass(3_600_000).await;
    assert_eq!((host.file("dump.rdb"), host.fsyncs(), host.sleeps()), (kept, fsyncs, sleeps));
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_was_set_back_puts_the_next_snapshot_off() {
    let host = World::new().host("a");
    boot(&host, 5);
    let mut client = host.client().await;
    assert_eq!(client.ask("SET k v").await, "OK");
    pass(1_000).await;
    host.step_wall(-60_000);
    pass(60_000).await;
    assert_eq!(host.file("dump.rdb"), "");
    pass(7_000).await;
    assert!(host.file("dump.rdb").contains("SET"));
}

#[tokio::test(start_paused = true)]
async fn shutdown_takes_one_more_unless_it_says_nosave() {
    for (command, left) in [("SHUTDOWN", "v"), ("SHUTDOWN SAVE", "v"), ("SHUTDOWN NOSAVE", "nil")] {
        let host = World::new().host("a");
        let node = boot(&host, 3_600);
        let mut client = host.client().await;
        assert_eq!(client.ask("SET k v").await, "OK");
        client.send(command).await;
        node.closed().await;
        host.lose_power();
        boot(&host, 3_600);
        assert_eq!(host.client().await.ask("GET k").await, left, "{command}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_replica_takes_snapshots_of_what_its_master_tells_it() {
    let world = World::new();
    let (master, replica) = (world.host("m"), world.host("r"));
    master.boot(Persistence::None);
    let snapshot_interval = Duration::from_secs(1);
    let config = NodeConfig { persistence: Persistence::Rdb, snapshot_interval, ..NodeConfig::default() };
    replica.boot_with(NodeConfig { replica_of: Some(("m".into(), 6379)), ..config });
    pass(2_000).await;
    assert_eq!(master.client().await.ask("SET k v").await, "OK");
    pass(4_000).await;
    assert!(replica.file("dump.rdb").contains("SET"), "{}", replica.file("dump.rdb"));
}
