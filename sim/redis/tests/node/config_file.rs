//! CONFIG REWRITE: which role a node has after a restart.

use std::time::Duration;

use doublehold_sim_redis::core::CoreConfig;
use doublehold_sim_redis::{BootError, Node, NodeConfig};
use tokio::time::Instant;

use crate::replication::replica_of;
use crate::world::{Host, World, pass};

/// A configuration with a file, that follows `m` unless the file says otherwise.
fn with_file() -> NodeConfig {
    let core = CoreConfig { config_file: true, ..CoreConfig::default() };
    NodeConfig { core, ..replica_of("m") }
}

/// A node that follows `m`, and what ROLE says there after `command` and a restart.
async fn role_after(command: &[&str], restart: impl Fn(&Host)) -> String {
    let host = World::new().host("r");
    host.boot_with(with_file());
    let mut client = host.client().await;
    for command in command {
        client.ask(command).await;
    }
    restart(&host);
    host.boot_with(with_file());
    let role = host.client().await.ask("ROLE").await;
    role.split(' ').take(3).collect::<Vec<_>>().join(" ")
}

#[tokio::test(start_paused = true)]
async fn a_role_that_was_only_typed_is_forgotten() {
    assert_eq!(role_after(&["REPLICAOF NO ONE"], Host::crash).await, "[slave m 1");
    assert_eq!(role_after(&["REPLICAOF s 2"], Host::crash).await, "[slave m 1");
}

#[tokio::test(start_paused = true)]
async fn a_rewritten_role_is_kept_through_a_crash_and_a_loss_of_power() {
    for restart in [Host::crash, Host::lose_power] {
        let promoted = ["REPLICAOF NO ONE", "CONFIG REWRITE"];
        assert_eq!(role_after(&promoted, restart).await, "[master 0 []]");
        let moved = ["REPLICAOF s 2", "CONFIG REWRITE"];
        assert_eq!(role_after(&moved, restart).await, "[slave s 2");
        // As Sentinel sends it.
        let at_once = ["MULTI", "REPLICAOF s 2", "CONFIG REWRITE", "EXEC"];
        assert_eq!(role_after(&at_once, restart).await, "[slave s 2");
        let twice = ["REPLICAOF NO ONE", "CONFIG REWRITE", "REPLICAOF s 2", "CONFIG REWRITE"];
        assert_eq!(role_after(&twice, restart).await, "[slave s 2");
    }
}

#[tokio::test(start_paused = true)]
async fn the_reply_leaves_after_the_fsync_and_nobody_is_served_meanwhile() {
    let host = World::new().host("r");
    host.set_fsync_time(Duration::from_millis(30));
    host.boot_with(with_file());
    let (mut operator, mut other) = (host.client().await, host.client().await);
    let began = Instant::now();
    operator.send("CONFIG REWRITE").await;
    pass(1).await;
    assert_eq!(other.ask("PING").await, "PONG");
    assert_eq!(began.elapsed().as_millis(), 30);
    assert_eq!(operator.reply().await, "OK");
    assert_eq!(began.elapsed().as_millis(), 30);
}

#[tokio::test(start_paused = true)]
async fn a_node_without_a_file_says_so() {
    let host = World::new().host("r");
    host.boot_with(NodeConfig::default());
    let reply = host.client().await.ask("CONFIG REWRITE").await;
    assert_eq!(reply, "ERR The server is running without a config file");
}

#[tokio::test(start_paused = true)]
async fn a_file_that_no_rewrite_wrote_is_refused_with_its_line() {
    let host = World::new().host("r");
    host.write_file("redis.conf", b"port 1\nreplicaof s\n");
    let refused = Node::boot(host, with_file()).err();
    assert!(matches!(refused, Some(BootError::BadConfig(line)) if line == "replicaof s"));
}
