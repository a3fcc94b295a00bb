//! What a restarted node remembers, and when a reply may leave.

use std::time::Duration;

use doublehold_sim_redis::{BootError, Node, NodeConfig, Persistence};
use tokio::time::Instant;

use crate::world::{START_MS, World, pass};

const EVERY_AOF: [Persistence; 3] = [Persistence::AofNo, Persistence::AofEverysec, Persistence::AofAlways];

#[tokio::test(start_paused = true)]
async fn a_process_crash_loses_nothing_that_was_answered_under_any_aof_policy() {
    for persistence in EVERY_AOF {
        let host = World::new().host("a");
        host.boot(persistence);
        let mut client = host.client().await;
        pass(1).await;
        assert_eq!(client.ask("SET k v PX 5000").await, "OK");
        assert_eq!(client.ask("HSET h f 1").await, "1");
        assert_eq!(client.ask("SELECT 3").await, "OK");
        assert_eq!(client.ask("INCR n").await, "1");
        host.crash();
        host.boot(persistence);
        let mut client = host.client().await;
        assert_eq!(client.ask("GET k").await, "v", "{persistence:?}");
        assert_eq!(client.ask("PEXPIRETIME k").await, (START_MS + 5_001).to_string());
        assert_eq!(client.ask("HGET h f").await, "1");
        client.ask("SELECT 3").await;
        assert_eq!(client.ask("GET n").await, "1");
        // The file ended in database 3; what comes next must not land there.
        client.ask("SELECT 0").await;
        assert_eq!(client.ask("SET later v").await, "OK");
        host.crash();
        host.boot(persistence);
        assert_eq!(host.client().await.ask("GET later").await, "v");
    }
}

#[tokio::test(start_paused = true)]
async fn a_node_without_persistence_forgets_everything() {
    let host = World::new().host("a");
    host.boot(Persistence::None);
    assert_eq!(host.client().await.ask("SET k v").await, "OK");
    host.crash();
    host.boot(Persistence::None);
    assert_eq!(host.client().await.ask("GET k").await, "nil");
}

#[tokio::test(start_paused = true)]
async fn loading_drops_keys_that_have_expired_meanwhile() {
    let host = World::new().host("a");
    host.boot(Persistence::AofAlways);
    let mut client = host.client().await;
    assert_eq!(client.ask("SET k v PX 1000").await, "OK");
    host.crash();
    pass(1_001).await;
    host.boot(Persistence::AofAlways);
    assert_eq!(host.client().await.ask("DBSIZE").await, "0");
}

#[tokio::test(start_paused = true)]
async fn a_torn_command_at_the_end_is_cut_off() {
    let host = World::new().host("a");
    let whole = "*2\r\n$6\r\nSELECT\r\n$1\r\n0\r\n*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\n1\r\n";
    let torn = "*3\r\n$3\r\nSET\r\n$1\r\nb\r\n$1";
    host.write_aof(format!("{whole}{torn}").as_bytes());
    host.boot(Persistence::AofNo);
    assert_eq!(host.aof(), whole);
    let mut client = host.client().await;
    assert_eq!(client.ask("GET a").await, "1");
    assert_eq!(client.ask("GET b").await, "nil");
    assert_eq!(client.ask("SET c 3").await, "OK");
    host.crash();
    host.boot(Persistence::AofNo);
    assert_eq!(host.client().await.ask("GET c").await, "3", "what was appended after the cut can be read");
}

#[tokio::test(start_paused = true)]
async fn a_torn_transaction_leaves_nothing_of_it() {
    let host = World::new().host("a");
    let whole = "*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\n1\r\n";
    let torn = "*1\r\n$5\r\nMULTI\r\n*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\n2\r\n";
    host.write_aof(format!("{whole}{torn}").as_bytes());
    host.boot(Persistence::AofNo);
    assert_eq!(host.client().await.ask("GET a").await, "1");
    assert_eq!(host.aof(), whole);
}

#[tokio::test(start_paused = true)]
async fn a_file_with_a_string_that_no_node_may_hold_refuses_to_start() {
    let host = World::new().host("a");
    let good = "*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\n1\r\n";
    for offset in ["9223372036854775806", "10000000000000", "536870912"] {
        let length = offset.len();
        let damage = format!("*4\r\n$8\r\nSETRANGE\r\n$1\r\na\r\n${length}\r\n{offset}\r\n$1\r\nx\r\n");
        host.write_aof(format!("{good}{damage}").as_bytes());
        let config = NodeConfig { persistence: Persistence::AofNo, ..NodeConfig::default() };
        let refused = Node::boot(host.clone(), config).err().map(|error| error.to_string());
        let expected = format!(
            "bad file format in `appendonly.aof` at byte {}: a string longer than 512 MB (proto-max-bulk-len); \
             cut the file there or remove it, then start again",
            good.len()
        );
        assert_eq!(refused.as_deref(), Some(expected.as_str()), "{offset}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_damaged_file_refuses_to_start_and_says_where() {
    let host = World::new().host("a");
    let good = "*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\n1\r\n";
    for damage in ["SET a 1\r\n", "*1\r\n+PING\r\n"] {
        host.write_aof(format!("{good}{damage}").as_bytes());
        let config = NodeConfig { persistence: Persistence::AofNo, ..NodeConfig::default() };
        match Node::boot(host.clone(), config) {
            Err(BootError::BadData { offset, .. }) => assert_eq!(offset, good.len() as u64),
            Err(other) => panic!("another error: {other}"),
            Ok(_) => panic!("started from {damage:?}"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn always_answers_after_the_fsync_and_survives_a_power_loss() {
    let host = World::new().host("a");
    host.boot(Persistence::AofAlways);
    host.set_fsync_time(Duration::from_millis(20));
    let (mut writer, mut reader) = (host.client().await, host.client().await);
    pass(1).await;
    let began = Instant::now();
    writer.send("SET k v").await;
    pass(5).await;
    // The node has executed the write; nobody may learn of it before it is durable.
    reader.send("GET k").await;
    assert_eq!(writer.reply().await, "OK");
    assert_eq!(began.elapsed().as_millis(), 20);
    assert_eq!(reader.reply().await, "v");
    host.lose_power();
    host.boot(Persistence::AofAlways);
    assert_eq!(host.client().await.ask("GET k").await, "v");
}

#[tokio::test(start_paused = true)]
async fn always_loses_a_write_whose_fsync_had_not_ended_and_nobody_was_told() {
    let host = World::new().host("a");
    host.boot(Persistence::AofAlways);
    host.set_fsync_time(Duration::from_millis(20));
    let mut writer = host.client().await;
    writer.send("SET k v").await;
    pass(10).await;
    host.lose_power();
    assert_eq!(writer.reply().await, "closed");
    host.boot(Persistence::AofAlways);
    assert_eq!(host.client().await.ask("GET k").await, "nil");
}

#[tokio::test(start_paused = true)]
async fn a_node_that_fsyncs_always_executes_nothing_meanwhile() {
    let host = World::new().host("a");
    host.boot(Persistence::AofAlways);
    host.set_fsync_time(Duration::from_millis(20));
    let (mut writer, mut other) = (host.client().await, host.client().await);
    assert_eq!(writer.ask("SET short v PX 30").await, "OK");
    // Executed at once it would still find the key; after the next fsync the key has expired.
    writer.send("SET k v").await;
    pass(5).await;
    assert_eq!(other.ask("EXISTS short").await, "0");
}

#[tokio::test(start_paused = true)]
async fn writes_that_wait_for_one_fsync_share_the_next() {
    let host = World::new().host("a");
    host.boot(Persistence::AofAlways);
    host.set_fsync_time(Duration::from_millis(20));
    let mut clients = Vec::new();
    for _ in 0..5 {
        clients.push(host.client().await);
    }
    let began = Instant::now();
    for client in &mut clients {
        client.send("INCR n").await;
        pass(2).await;
    }
    for client in &mut clients {
        client.reply().await;
    }
    assert_eq!(host.fsyncs(), 2);
    assert_eq!(began.elapsed().as_millis(), 40);
}

#[tokio::test(start_paused = true)]
async fn everysec_answers_at_once_and_fsyncs_the_first_write_of_a_second_in_the_background() {
    let host = World::new().host("a");
    host.boot(Persistence::AofEverysec);
    host.set_fsync_time(Duration::from_millis(20));
    pass(1_500).await;
    let mut client = host.client().await;
    let began = Instant::now();
    assert_eq!(client.ask("SET k v").await, "OK");
    assert_eq!(began.elapsed().as_millis(), 0);
    pass(30).await;
    host.lose_power();
    host.boot(Persistence::AofEverysec);
    assert_eq!(host.client().await.ask("GET k").await, "v");
}

#[tokio::test(start_paused = true)]
async fn everysec_loses_what_follows_within_the_second_to_a_power_loss_but_not_to_a_crash() {
    for (power_loss, expected) in [(true, "nil"), (false, "v")] {
        let host = World::new().host("a");
        host.boot(Persistence::AofEverysec);
        pass(1_500).await;
        let mut client = host.client().await;
        assert_eq!(client.ask("SET first v").await, "OK");
        pass(100).await;
        assert_eq!(client.ask("SET k v").await, "OK");
        pass(100).await;
        if power_loss {
            host.lose_power()
        } else {
            host.crash()
        }
        host.boot(Persistence::AofEverysec);
        let mut client = host.client().await;
        assert_eq!(client.ask("GET first").await, "v");
        assert_eq!(client.ask("GET k").await, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn everysec_fsyncs_once_per_second_and_only_while_something_is_dirty() {
    let host = World::new().host("a");
    host.boot(Persistence::AofEverysec);
    pass(1_500).await;
    let mut client = host.client().await;
    for _ in 0..30 {
        client.ask("INCR n").await;
        pass(100).await;
    }
    // From 1.5 s to 4.4 s: at once, then at 2 s, 3 s and 4 s.
    assert_eq!(host.fsyncs(), 4);
    pass(3_600_000).await;
    assert_eq!(host.fsyncs(), 5, "what was left at 4.4 s, and then nothing");
}

#[tokio::test(start_paused = true)]
async fn everysec_keeps_bytes_in_the_process_while_an_fsync_runs() {
    let host = World::new().host("a");
    host.boot(Persistence::AofEverysec);
    host.set_fsync_time(Duration::from_millis(500));
    pass(1_100).await;
    let mut client = host.client().await;
    assert_eq!(client.ask("SET first v").await, "OK");
    pass(100).await;
    assert_eq!(client.ask("SET postponed v").await, "OK");
    assert!(!host.aof().contains("postponed"), "Redis waits for the fsync before it writes again");
    pass(500).await;
    assert!(host.aof().contains("postponed"));
}
