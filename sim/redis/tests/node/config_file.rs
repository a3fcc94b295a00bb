//! CONFIG REWRITE: which role and settings a node has after a restart.

use std::time::Duration;

use doublehold_sim_redis::core::{CoreConfig, KeyEvents};
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

/// What CONFIG GET says after a loss of power, of a node that was told `commands` and to rewrite its file.
async fn kept_of(commands: &[&str], name: &str) -> String {
    let host = World::new().host("r");
    host.boot_with(with_file());
    let mut client = host.client().await;
    for command in commands {
        assert_eq!(client.ask(command).await, "OK", "{command}");
    }
    host.lose_power();
    host.boot_with(with_file());
    host.client().await.ask(&format!("CONFIG GET {name}")).await
}

#[tokio::test(start_paused = true)]
async fn rewritten_settings_are_kept_whether_the_node_obeys_them_or_not() {
    for (name, value) in [
        ("min-replicas-to-write", "3"),
        ("maxmemory", "1048576"),
        ("client-output-buffer-limit", "normal 0 0 0 slave 9 8 7 pubsub 1 2 3"),
        ("repl-backlog-size", "65536"),
        ("repl-ping-replica-period", "3"),
        ("slowlog-max-len", "7"),
        ("key-load-delay", "5"),
    ] {
        let set = format!("CONFIG SET {name} \"{value}\"");
        assert_eq!(kept_of(&[&set, "CONFIG REWRITE"], name).await, format!("[{name} {value}]"));
        assert_ne!(kept_of(&[&set], name).await, format!("[{name} {value}]"), "{name} was only typed");
    }
    let events = "notify-keyspace-events";
    let none = ["CONFIG SET notify-keyspace-events KEA", "CONFIG REWRITE"];
    assert_eq!(kept_of(&none, events).await, format!("[{events} AKE]"));
}

#[tokio::test(start_paused = true)]
async fn what_was_set_back_or_emptied_before_a_rewrite_is_so_after_it() {
    let back = [
        "CONFIG SET min-replicas-max-lag 20",
        "CONFIG REWRITE",
        "CONFIG SET min-replicas-max-lag 10",
        "CONFIG REWRITE",
    ];
    assert_eq!(kept_of(&back, "min-replicas-max-lag").await, "[min-replicas-max-lag 10]");
    let twice = [
        "CONFIG SET min-replicas-max-lag 20",
        "CONFIG REWRITE",
        "CONFIG SET maxmemory 1mb",
        "CONFIG REWRITE",
    ];
    assert_eq!(kept_of(&twice, "min-replicas-max-lag").await, "[min-replicas-max-lag 20]");
    // Nothing is a value too, where the node starts with another.
    let host = World::new().host("r");
    let told = || {
        let key_events = KeyEvents::parse(b"KEA").expect("letters that there are");
        NodeConfig { core: CoreConfig { key_events, ..with_file().core }, ..NodeConfig::default() }
    };
    host.boot_with(told());
    let mut client = host.client().await;
    assert_eq!(client.ask("CONFIG SET notify-keyspace-events \"\"").await, "OK");
    assert_eq!(client.ask("CONFIG REWRITE").await, "OK");
    host.crash();
    assert_eq!(host.file("redis.conf"), "port 7114\nnotify-keyspace-events \"\"\n");
    host.boot_with(told());
    let events = host.client().await.ask("CONFIG GET notify-keyspace-events").await;
    assert_eq!(events, "[notify-keyspace-events ]");
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
    for bad in ["replicaof s", "bind 127.0.0.1", "hz many", "hz"] {
        host.write_file("redis.conf", format!("port 1\n{bad}\n").as_bytes());
        let refused = Node::boot(host.clone(), with_file()).err();
        assert!(matches!(refused, Some(BootError::BadConfig(line)) if line == bad), "{bad}");
    }
}
