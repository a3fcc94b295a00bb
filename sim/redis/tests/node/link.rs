//! The replication link byte by byte: the test plays the master of a real replica, or the replica of a real master.

use doublehold_sim_redis::Persistence;
use doublehold_sim_redis::core::ScriptLimit;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::Instant;

use crate::replication::replica_of;
use crate::world::{Client, Host, World, pass};

const ID: &str = "00112233445566778899aabbccddeeff00112233";
const SET_A: &str = "*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\n1\r\n";
const SET_B: &str = "*3\r\n$3\r\nSET\r\n$1\r\nb\r\n$1\r\n2\r\n";
const MULTI: &str = "*1\r\n$5\r\nMULTI\r\n";
const EXEC: &str = "*1\r\n$4\r\nEXEC\r\n";
const GETACK: &str = "*3\r\n$8\r\nREPLCONF\r\n$6\r\nGETACK\r\n$1\r\n*\r\n";

/// A replica whose master is played by the test.
fn replica() -> (Host, UnboundedReceiver<Client>) {
    let world = World::new();
    let links = world.host("m").impersonate();
    let replica = world.host("r");
    replica.boot_with(replica_of("m"));
    (replica, links)
}

/// Answers a replica's handshake up to PSYNC and returns what it asked for.
async fn greet(link: &mut Client) -> String {
    assert_eq!(link.reply().await, "[PING]");
    link.send("+PONG").await;
    assert_eq!(link.reply().await, "[REPLCONF listening-port 7114]");
    link.send("+OK").await;
    assert_eq!(link.reply().await, "[REPLCONF capa eof capa psync2 capa doublehold-commands]");
    link.send("+OK").await;
    link.reply().await
}

async fn start_over(link: &mut Client, offset: u64) {
    assert_eq!(greet(link).await, "[PSYNC ? -1]");
    // An empty line says that the master is still busy.
    link.send_raw(format!("\n+FULLRESYNC {ID} {offset}\r\n${}\r\n{SET_A}", SET_A.len()).as_bytes()).await;
    assert_eq!(link.reply().await, format!("[REPLCONF ACK {offset}]"));
}

#[tokio::test(start_paused = true)]
async fn a_replica_acknowledges_every_second_and_when_asked() {
    let (replica, mut links) = replica();
    let mut link = links.recv().await.expect("it connects");
    start_over(&mut link, 1000).await;
    assert_eq!(replica.client().await.ask("GET a").await, "1");
    link.send_raw(SET_B.as_bytes()).await;
    let began = Instant::now();
    assert_eq!(link.reply().await, format!("[REPLCONF ACK {}]", 1000 + SET_B.len()));
    assert_eq!(began.elapsed().as_secs(), 1);
    // The request itself is not yet part of what it acknowledges.
    link.send_raw(GETACK.as_bytes()).await;
    assert_eq!(link.reply().await, format!("[REPLCONF ACK {}]", 1000 + SET_B.len()));
    assert!(began.elapsed().as_millis() <= 1_002);
    let moved = 1000 + SET_B.len() + GETACK.len();
    assert_eq!(link.reply().await, format!("[REPLCONF ACK {moved}]"));
}

#[tokio::test(start_paused = true)]
async fn a_replica_goes_on_after_the_last_whole_transaction() {
    let (replica, mut links) = replica();
    let mut link = links.recv().await.expect("it connects");
    start_over(&mut link, 1000).await;
    link.send_raw(format!("{SET_A}{MULTI}{SET_B}").as_bytes()).await;
    pass(5_000).await;
    let mut client = replica.client().await;
    assert_eq!(client.ask("GET b").await, "nil");
    assert!(!replica.aof().contains("MULTI"));
    drop(link);
    let mut link = links.recv().await.expect("it connects again");
    let missing = 1000 + SET_A.len() + 1;
    assert_eq!(greet(&mut link).await, format!("[PSYNC {ID} {missing}]"));
    link.send_raw(format!("+CONTINUE\r\n{MULTI}{SET_B}{EXEC}").as_bytes()).await;
    pass(1).await;
    assert_eq!(client.ask("GET b").await, "2");
    assert!(replica.aof().ends_with(EXEC), "{}", replica.aof());
}

#[tokio::test(start_paused = true)]
async fn a_transaction_shows_on_the_replica_only_when_it_is_whole() {
    let (replica, mut links) = replica();
    let mut link = links.recv().await.expect("it connects");
    start_over(&mut link, 0).await;
    let mut client = replica.client().await;
    link.send_raw(format!("{MULTI}{SET_B}").as_bytes()).await;
    pass(1).await;
    assert_eq!(client.ask("GET b").await, "nil");
    link.send_raw(EXEC.as_bytes()).await;
    pass(1).await;
    assert_eq!(client.ask("GET b").await, "2");
}

#[tokio::test(start_paused = true)]
async fn a_replica_drops_a_master_that_is_silent_for_a_minute_and_reconnects_every_second() {
    let (_replica, mut links) = replica();
    let mut link = links.recv().await.expect("it connects");
    start_over(&mut link, 0).await;
    let began = Instant::now();
    let mut again = links.recv().await.expect("it connects again");
    assert_eq!(began.elapsed().as_secs(), 61);
    assert_eq!(greet(&mut again).await, format!("[PSYNC {ID} 1]"));
    // A master that cannot help: the next attempts come a second apart.
    for _ in 0..3 {
        again.send("-LOADING Redis is loading the dataset in memory").await;
        let began = Instant::now();
        again = links.recv().await.expect("it tries again");
        assert_eq!(began.elapsed().as_millis(), 1_000);
        greet(&mut again).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_master_that_never_answers_is_given_up_after_the_timeout() {
    let (replica, mut links) = replica();
    let began = Instant::now();
    let silent = links.recv().await.expect("it connects");
    let _again = links.recv().await.expect("it connects again");
    assert_eq!(began.elapsed().as_secs(), 60);
    drop(silent);
    assert_eq!(replica.client().await.ask("ROLE").await, "[slave m 1 handshake -1]");
}

#[tokio::test(start_paused = true)]
async fn a_master_streams_whole_commands_and_pings_every_ten_seconds() {
    let world = World::new();
    let master = world.host("m");
    master.boot(Persistence::None);
    let mut writer = master.client().await;
    writer.ask("SET a 1").await;
    let mut link = master.client().await;
    assert_eq!(link.ask("REPLCONF capa psync2").await, "OK");
    let reply = link.ask("PSYNC ? -1").await;
    let words: Vec<&str> = reply.split(' ').collect();
    assert_eq!((words[0], words[2]), ("FULLRESYNC", "0"), "{reply}");
    // The payload is commands, without a line end of its own.
    let payload = format!("*2\r\n$6\r\nSELECT\r\n$1\r\n0\r\n{SET_A}");
    assert_eq!(link.raw(payload.len() + 5).await, format!("${}\r\n{payload}", payload.len()));
    writer.ask("SET b 2").await;
    assert_eq!(link.reply().await, "[SELECT 0]");
    assert_eq!(link.reply().await, "[SET b 2]");
    let began = Instant::now();
    assert_eq!(link.reply().await, "[PING]");
    assert_eq!(link.reply().await, "[PING]");
    assert_eq!(began.elapsed().as_secs(), 20);
}

#[tokio::test(start_paused = true)]
async fn a_promoted_node_goes_on_with_its_old_masters_history_up_to_its_last_byte_and_not_beyond() {
    let (promoted, mut links) = replica();
    start_over(&mut links.recv().await.expect("it connects"), 1000).await;
    let mut client = promoted.client().await;
    client.ask("REPLICAOF NO ONE").await;
    client.ask("SET own 1").await;
    // The next byte a sister asks for is the first it is missing: 1001 is the first that is not the old master's.
    for (first_missing, answer) in [(1001, "CONTINUE"), (1002, "FULLRESYNC")] {
        let reply = promoted.client().await.ask(&format!("PSYNC {ID} {first_missing}")).await;
        assert_eq!(reply.split(' ').next(), Some(answer), "{first_missing}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_data_set_that_comes_while_a_script_runs_waits_for_its_end() {
    let world = World::new();
    let mut links = world.host("m").impersonate();
    let replica = world.host("r");
    let mut config = replica_of("m");
    config.core.script_limit = ScriptLimit::Instructions(1_000);
    replica.boot_with(config);
    let mut scripted = replica.client().await;
    scripted.send("EVAL 'while true do end' 0").await;
    pass(10).await;
    let mut link = links.recv().await.expect("it connects");
    assert_eq!(greet(&mut link).await, "[PSYNC ? -1]");
    link.send_raw(format!("+FULLRESYNC {ID} 0\r\n${}\r\n{SET_A}", SET_A.len()).as_bytes()).await;
    pass(6_000).await;
    let mut client = replica.client().await;
    assert_eq!(client.ask("SCRIPT KILL").await, "OK");
    let reply = scripted.reply().await;
    assert!(reply.contains("Script killed by user"), "{reply}");
    pass(10).await;
    assert_eq!(client.ask("GET a").await, "1");
}
