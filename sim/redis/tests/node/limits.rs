//! What clients and masters can make a node hold: each limit, what happens at it, and who is left alone.

use doublehold_sim_redis::core::CoreConfig;
use doublehold_sim_redis::{NodeConfig, Persistence};
use tokio::time::Instant;

use crate::replication::replica_of;
use crate::world::{Client, Host, World, info, pass};

const OOM: &str = "OOM command not allowed when used memory > 'maxmemory'.";

/// A node, and a client that has set these limits.
async fn limited(settings: &[&str]) -> (Host, Client) {
    let host = World::new().host("m");
    host.boot(Persistence::None);
    let mut client = host.client().await;
    for setting in settings {
        assert_eq!(client.ask(&format!("CONFIG SET {setting}")).await, "OK", "{setting}");
    }
    (host, client)
}

fn request(words: &[&str]) -> Vec<u8> {
    let bulk = |word: &&str| format!("${}\r\n{word}\r\n", word.len());
    format!("*{}\r\n{}", words.len(), words.iter().map(bulk).collect::<String>()).into_bytes()
}

async fn store(client: &mut Client, key: &str, bytes: usize) -> String {
    client.send_raw(&request(&["SET", key, &"x".repeat(bytes)])).await;
    client.reply().await
}

#[tokio::test(start_paused = true)]
async fn one_connection_too_many_is_told_so_and_closed() {
    let (host, mut first) = limited(&["maxclients 2"]).await;
    let second = host.client().await;
    pass(1).await;
    let mut third = host.client().await;
    assert_eq!(third.reply().await, "ERR max number of clients reached");
    assert_eq!(third.reply().await, "closed");
    assert!(first.ask("INFO stats").await.contains("rejected_connections:1\r\n"));
    drop(second);
    pass(1).await;
    assert_eq!(host.client().await.ask("PING").await, "PONG");
}

#[tokio::test(start_paused = true)]
async fn a_full_node_refuses_what_would_take_more_and_does_everything_else() {
    let (_host, mut client) = limited(&["maxmemory 100kb"]).await;
    for key in ["big", "b", "c", "d"] {
        // As in Redis, the last one goes beyond the limit.
        assert_eq!(store(&mut client, key, 30_000).await, "OK", "{key}");
    }
    assert_eq!(client.ask("SET k v").await, OOM);
    assert_eq!(client.ask("HSET h f v").await, OOM);
    assert_eq!(client.ask("SCRIPT LOAD return").await, OOM);
    client.send_raw(&request(&["EVAL", "return 1", "0"])).await;
    assert_eq!(client.reply().await, "1", "a lock can be released on a full node");
    assert_eq!(
        client.ask("EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0").await,
        "NOSCRIPT No matching script. Please use EVAL.",
        "it was not kept"
    );
    assert_eq!(client.ask("STRLEN big").await, "30000");
    assert_eq!(client.ask("PEXPIRE big 100000").await, "1");
    assert_eq!(client.ask("MULTI").await, "OK");
    assert_eq!(client.ask("SET k v").await, OOM);
    assert_eq!(client.ask("EXEC").await, "EXECABORT Transaction discarded because of previous errors.");
    assert_eq!(client.ask("DEL big c").await, "2");
    assert_eq!(client.ask("SET k v").await, "OK");
    // What counts is what is held, however it came to be and went.
    for round in 0..20 {
        assert_eq!(store(&mut client, "b", 30_000 - round).await, "OK");
        client.send_raw(&request(&["HSET", "h", "f", &"x".repeat(20_000 - round), "g", "1"])).await;
        assert!(["2", "1"].contains(&client.reply().await.as_str()));
        assert_eq!(client.ask("HDEL h g").await, "1");
    }
    assert_eq!(client.ask("FLUSHALL").await, "OK");
    assert!(client.ask("INFO memory").await.contains("used_memory:0\r\n"));
}

#[tokio::test(start_paused = true)]
async fn a_transaction_that_fills_the_node_is_refused_its_next_write_and_does_the_rest() {
    // What is queued behind a change of role is refused too.
    for before in ["PING", "REPLICAOF 127.0.0.1 1"] {
        let (host, mut client) = limited(&["maxmemory 1mb"]).await;
        store(&mut client, "a", 300_000).await;
        assert_eq!(client.ask("MULTI").await, "OK");
        let copies = (0..100).map(|copy| format!("COPY a copy{copy}"));
        let others = ["STRLEN a".to_owned(), "EVAL 'return 7' 0".to_owned(), "DEL a copy0".to_owned()];
        let queue: Vec<String> = [before.to_owned()].into_iter().chain(copies).chain(others).collect();
        for command in &queue {
            assert_eq!(client.ask(command).await, "QUEUED");
        }
        let reply = client.ask("EXEC").await;
        let oom = [OOM; 97].join(" ");
        let done = if before == "PING" { "PONG" } else { "OK" };
        assert_eq!(reply, format!("[{done} 1 1 1 {oom} 300000 7 2]"));
        assert_eq!(host.client().await.ask("DBSIZE").await, "2");
    }
}

#[tokio::test(start_paused = true)]
async fn a_script_that_fills_the_node_is_refused_the_next_write() {
    let (_host, mut client) = limited(&["maxmemory 1mb"]).await;
    let script = "for i = 1, 100 do redis.call('SET', i, string.rep('x', 100000)) end";
    client.send_raw(&request(&["EVAL", script, "0"])).await;
    let reply = client.reply().await;
    assert!(reply.starts_with("OOM command not allowed when used memory > 'maxmemory'."), "{reply}");
    let keys: usize = client.ask("DBSIZE").await.parse().expect("a number");
    assert!((10..=12).contains(&keys), "{keys}");
}

#[tokio::test(start_paused = true)]
async fn a_few_bytes_that_ask_for_gigabytes_close_their_connection_only() {
    let (host, mut client) = limited(&["client-output-buffer-limit 'normal 1mb 0 0'"]).await;
    store(&mut client, "k", 1 << 20).await;
    store(&mut client, "small", 500_000).await;
    client.send_raw(&request(&["HSET", "h", "f", &"x".repeat(500_000)])).await;
    client.reply().await;
    // Ten gigabytes, if anybody wrote them.
    let keys = vec!["k"; 10_000];
    let greedy: [Vec<u8>; 6] = [
        request(&[&["MGET"], keys.as_slice()].concat()),
        request(&[&["HMGET", "h"], vec!["f"; 20_000].as_slice()].concat()),
        request(&[&["COMMAND", "DOCS"], vec!["set"; 20_000].as_slice()].concat()),
        request(&[&["COMMAND", "INFO"], vec!["set"; 20_000].as_slice()].concat()),
        request(&["GET", "k"]),
        [request(&["MULTI"]), request(&["GET", "small"]).repeat(2_000), request(&["EXEC"])].concat(),
    ];
    for request in greedy {
        let mut greedy = host.client().await;
        greedy.send_raw(&request).await;
        let mut last = String::new();
        while ["", "OK", "QUEUED"].contains(&last.as_str()) {
            last = greedy.reply().await;
        }
        assert_eq!(last, "closed");
        assert_eq!(client.ask("PING").await, "PONG");
    }
    assert_eq!(client.ask("STRLEN k").await, (1 << 20).to_string());
}

#[tokio::test(start_paused = true)]
async fn a_script_is_told_that_a_reply_is_too_long() {
    let (_host, mut client) = limited(&["client-output-buffer-limit 'normal 1mb 0 0'"]).await;
    store(&mut client, "k", 500_000).await;
    let script = "local keys = {} for i = 1, 100 do keys[i] = 'k' end \
                  return #redis.pcall('MGET', unpack(keys)).err";
    client.send_raw(&request(&["EVAL", script, "0"])).await;
    assert!(client.reply().await.parse::<u32>().is_ok_and(|length| length > 10));
}

#[tokio::test(start_paused = true)]
async fn replies_that_nobody_reads_end_the_connection_after_the_soft_limits_time() {
    let (host, mut client) = limited(&["client-output-buffer-limit 'normal 0 100kb 30'"]).await;
    store(&mut client, "k", 200_000).await;
    let mut idle = host.client().await;
    idle.send("GET k").await;
    pass(29_000).await;
    assert!(client.ask("INFO clients").await.contains("connected_clients:2\r\n"));
    pass(2_000).await;
    assert!(client.ask("INFO clients").await.contains("connected_clients:1\r\n"));
}

#[tokio::test(start_paused = true)]
async fn an_unfinished_request_beyond_the_limit_closes_its_connection() {
    let (host, mut client) = limited(&["client-query-buffer-limit 1mb"]).await;
    let mut endless = host.client().await;
    endless.send_raw(b"*2\r\n$3\r\nGET\r\n$400000000\r\n").await;
    endless.flood(&vec![b'x'; 4 << 20], 1_000).await;
    assert_eq!(endless.reply().await, "closed");
    assert_eq!(store(&mut client, "k", 1 << 19).await, "OK", "half of it is allowed");
}

#[tokio::test(start_paused = true)]
async fn all_connections_together_may_hold_so_much() {
    let (host, mut client) = limited(&["maxmemory-clients 10mb"]).await;
    let mut open = Vec::new();
    for _ in 0..20 {
        let mut connection = host.client().await;
        connection.send_raw(b"*2\r\n$3\r\nGET\r\n$400000000\r\n").await;
        connection.flood(&vec![b'x'; 1 << 20], 1_000).await;
        open.push(connection);
    }
    pass(1).await;
    let text = client.ask("INFO clients").await;
    let left: usize =
        text.lines().find_map(|line| line.strip_prefix("connected_clients:")?.parse().ok()).unwrap();
    assert!((5..=11).contains(&left), "{left}");
    // What it held is given back.
    drop(open);
    pass(1).await;
    assert_eq!(store(&mut client, "k", 1 << 20).await, "OK");
}

#[tokio::test(start_paused = true)]
async fn a_replica_that_does_not_read_is_dropped_at_the_hard_limit_or_after_the_soft_ones_time() {
    for (limit, waits) in [("1mb 0 0", 0), ("0 1mb 20", 21_000)] {
        let (host, mut client) = limited(&[&format!("client-output-buffer-limit 'replica {limit}'")]).await;
        let mut replica = host.client().await;
        replica.send("PSYNC ? -1").await;
        pass(1).await;
        assert_eq!(info(&mut client, "connected_slaves").await, "1");
        store(&mut client, "k", 2 << 20).await;
        store(&mut client, "l", 1).await;
        assert_eq!(info(&mut client, "connected_slaves").await, if waits > 0 { "1" } else { "0" });
        pass(waits).await;
        store(&mut client, "l", 1).await;
        assert_eq!(info(&mut client, "connected_slaves").await, "0", "{limit}");
    }
}

#[tokio::test(start_paused = true)]
async fn masters_on_other_machines_are_refused_where_they_are_not_allowed() {
    let host = World::new().host("m");
    let core = CoreConfig { remote_masters: false, ..CoreConfig::default() };
    host.boot_with(NodeConfig { core, ..NodeConfig::default() });
    let mut client = host.client().await;
    for remote in ["192.0.2.1", "::2", "example.test", "127.0.0.1.example.test", "0.0.0.0"] {
        for command in ["REPLICAOF", "SLAVEOF"] {
            let reply = client.ask(&format!("{command} {remote} 6379")).await;
            assert!(reply.starts_with("ERR this node replicates this machine"), "{remote}: {reply}");
        }
    }
    assert_eq!(client.ask("ROLE").await, "[master 0 []]");
    for near in ["127.0.0.1", "127.9.9.9", "::1", "localhost"] {
        assert_eq!(client.ask(&format!("REPLICAOF {near} 6379")).await, "OK", "{near}");
    }
}

/// A replica with 1 MB of `maxmemory`, and a link on which the test plays its master.
async fn small_replica() -> (Host, tokio::sync::mpsc::UnboundedReceiver<Client>) {
    let world = World::new();
    let links = world.host("m").impersonate();
    let replica = world.host("r");
    let mut config = replica_of("m");
    config.core.limits.max_memory = 1 << 20;
    config.core.limits.query_buffer = 1 << 20;
    replica.boot_with(config);
    (replica, links)
}

/// Answers a replica's handshake up to `+FULLRESYNC`, and announces a payload.
async fn resync(link: &mut Client, payload: u64) {
    for _ in 0..3 {
        link.reply().await;
        link.send("+OK").await;
    }
    link.reply().await;
    link.send(&format!("+FULLRESYNC {} 0\r\n${payload}", "0".repeat(40))).await;
}

#[tokio::test(start_paused = true)]
async fn a_payload_larger_than_the_replica_may_hold_is_not_taken() {
    let (_replica, mut links) = small_replica().await;
    let mut link = links.recv().await.expect("it connects");
    let began = Instant::now();
    resync(&mut link, 1 << 40).await;
    assert_eq!(link.reply().await, "closed");
    assert!(began.elapsed().as_secs() < 1, "not only after a minute of silence");
}

#[tokio::test(start_paused = true)]
async fn a_transaction_without_end_in_the_stream_ends_the_link() {
    // What is queued counts, and so does what is refused in a transaction, or passed over.
    for command in [&["SET", "k", &"x".repeat(1000)][..], &["MULTI"], &["PING"]] {
        let (replica, mut links) = small_replica().await;
        let mut link = links.recv().await.expect("it connects");
        resync(&mut link, 0).await;
        link.send("*1\r\n$5\r\nMULTI").await;
        let command = request(command);
        link.flood(&command.repeat(3_000_000 / command.len()), 500).await;
        let began = Instant::now();
        let mut last = link.reply().await;
        while last.contains("REPLCONF ACK") {
            last = link.reply().await;
        }
        assert_eq!(last, "closed");
        assert!(began.elapsed().as_secs() < 1, "not only after a minute of silence");
        assert_eq!(replica.client().await.ask("PING").await, "PONG");
    }
}

async fn used_memory(client: &mut Client) -> u64 {
    let text = client.ask("INFO memory").await;
    let value = text.lines().find_map(|line| line.strip_prefix("used_memory:"));
    value.and_then(|value| value.parse().ok()).expect("INFO shows a number")
}

/// Whether a replica follows its master once that has sent this, and what it holds by then.
async fn after_stream(stream: &[u8]) -> (bool, u64) {
    let (replica, mut links) = small_replica().await;
    let mut link = links.recv().await.expect("it connects");
    resync(&mut link, 0).await;
    link.flood(stream, 100).await;
    pass(1).await;
    let mut client = replica.client().await;
    let follows = client.ask("ROLE").await.contains("connected");
    (follows, used_memory(&mut client).await)
}

#[tokio::test(start_paused = true)]
async fn a_string_that_no_node_may_hold_ends_the_link_to_the_master_that_asks_for_it() {
    assert!(after_stream(&request(&["SETRANGE", "k", "100", "x"])).await.0, "that much it may");
    for offset in ["9223372036854775806", "10000000000000", "536870912"] {
        let follows_and_holds = after_stream(&request(&["SETRANGE", "k", offset, "x"])).await;
        assert_eq!(follows_and_holds, (false, 0), "{offset}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_master_that_sends_without_end_loses_its_replica() {
    let (replica, mut links) = small_replica().await;
    let mut link = links.recv().await.expect("it connects");
    resync(&mut link, 0).await;
    let mut key = 0;
    loop {
        key += 1;
        assert!(key < 100, "it takes everything");
        link.flood(&request(&["SET", &key.to_string(), &"x".repeat(100_000)]), 100).await;
        pass(1).await;
        if !replica.client().await.ask("ROLE").await.contains("connected") {
            break;
        }
    }
    // Twice its maxmemory: a master with the same limit goes beyond it by one command at most.
    assert!((20..=23).contains(&key), "{key}");
}

/// Whether a replica follows a master that sends this as its data set, and what it holds by then.
async fn after_payload(payload: &[u8]) -> (bool, u64) {
    let (replica, mut links) = small_replica().await;
    let mut link = links.recv().await.expect("it connects");
    resync(&mut link, payload.len() as u64).await;
    link.flood(payload, 100).await;
    pass(1).await;
    let mut client = replica.client().await;
    (client.ask("ROLE").await.contains("connected"), used_memory(&mut client).await)
}

/// A key of 100 kB and many copies of it.
fn copies(count: usize) -> Vec<u8> {
    let mut commands = request(&["SET", "a", &"x".repeat(100_000)]);
    (0..count).for_each(|copy| commands.extend(request(&["COPY", "a", &format!("copy{copy}")])));
    commands
}

#[tokio::test(start_paused = true)]
async fn a_few_bytes_of_a_stream_that_become_gigabytes_end_the_link() {
    let multi = |commands: &[u8]| [&request(&["MULTI"]), commands, &request(&["EXEC"])].concat();
    let script = "redis.call('SET', 'a', string.rep('x', 100000)) \
                  for i = 1, 1000 do redis.call('COPY', 'a', i) end";
    let script = request(&["EVAL", script, "0"]);
    for stream in [copies(1000), multi(&copies(1000)), script.clone(), multi(&script)] {
        let (follows, holds) = after_stream(&stream).await;
        assert!(!follows);
        // Twice its maxmemory, and one command more.
        assert!((2 << 20..(2 << 20) + 200_000).contains(&holds), "{holds}");
    }
    assert!(after_stream(&multi(&copies(10))).await.0, "that much it may");
}

#[tokio::test(start_paused = true)]
async fn what_a_masters_reply_would_have_been_closes_no_client() {
    let (replica, mut links) = small_replica().await;
    let mut client = replica.client().await;
    assert_eq!(client.ask("CONFIG SET client-output-buffer-limit 'normal 1mb 0 0'").await, "OK");
    let mut link = links.recv().await.expect("it connects");
    resync(&mut link, 0).await;
    link.flood(&request(&["SET", "a", &"x".repeat(100_000)]), 100).await;
    let many = request(&[&["MGET"], vec!["a"; 100].as_slice()].concat());
    let queued = [request(&["MULTI"]), request(&["GET", "a"]).repeat(100), request(&["EXEC"])].concat();
    for read in [many, queued] {
        link.flood(&read, 100).await;
        pass(1).await;
        assert_eq!(client.ask("STRLEN a").await, "100000");
    }
}

#[tokio::test(start_paused = true)]
async fn a_master_that_speaks_like_an_operator_or_a_client_loses_its_replica() {
    let commands: [&[&str]; 4] = [
        // There would be no limit any more.
        &["CONFIG", "SET", "maxmemory", "0"],
        &["REPLICAOF", "NO", "ONE"],
        &["SHUTDOWN"],
        // What is watched stays when the link ends.
        &["WATCH", "k"],
    ];
    for command in commands {
        for stream in [request(command), [request(&["MULTI"]), request(command)].concat()] {
            let (replica, mut links) = small_replica().await;
            let mut link = links.recv().await.expect("it connects");
            resync(&mut link, 0).await;
            link.flood(&stream, 100).await;
            pass(1).await;
            let mut client = replica.client().await;
            assert_eq!(client.ask("ROLE").await, "[slave m 1 connect -1]", "{command:?}");
            assert!(client.ask("CONFIG GET maxmemory").await.contains("1048576"), "{command:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_payload_is_data_and_nothing_else_and_half_of_one_is_not_kept() {
    let set = request(&["SET", "a", "1"]);
    let data = [
        &request(&["SELECT", "3"]) as &[u8],
        &set,
        &request(&["PEXPIREAT", "a", "99999999999999"]),
        &request(&["HSET", "h", "f", "v"]),
    ];
    assert!(after_payload(&data.concat()).await.0);
    let endless = request(&["EVAL", "while true do end", "0"]);
    let pings = [request(&["MULTI"]), request(&["PING"]).repeat(10_000)].concat();
    for other in [endless, pings, request(&["FLUSHALL"]), copies(1000)] {
        assert_eq!(after_payload(&[set.clone(), other].concat()).await, (false, 0));
    }
}

#[tokio::test(start_paused = true)]
async fn a_payload_that_takes_more_than_the_replica_may_hold_is_not_kept() {
    // A few bytes of payload for each key, and many more of memory.
    let keys: String = (0..60_000).map(|key| format!("SET {key} x\r\n")).collect();
    assert_eq!(after_payload(keys.as_bytes()).await, (false, 0));
}

#[tokio::test(start_paused = true)]
async fn a_full_replica_keeps_no_more_scripts_of_its_clients() {
    let (replica, mut links) = small_replica().await;
    let mut link = links.recv().await.expect("it connects");
    resync(&mut link, 0).await;
    let mut client = replica.client().await;
    client.send_raw(&request(&["SCRIPT", "LOAD", "return 1"])).await;
    assert_eq!(client.reply().await, "e0e1f9fabfc9d4800c877a703b823ac0578ff8db");
    link.flood(&copies(15), 100).await;
    pass(1).await;
    client.send_raw(&request(&["SCRIPT", "LOAD", "return 2"])).await;
    assert_eq!(client.reply().await, OOM);
}

#[tokio::test(start_paused = true)]
async fn replicas_that_start_over_together_get_no_more_copies_than_clients_may_hold() {
    let (host, mut client) = limited(&["maxmemory-clients 1mb"]).await;
    store(&mut client, "k", 400_000).await;
    let mut waiting = Vec::new();
    for _ in 0..3 {
        let mut replica = host.client().await;
        replica.send("PSYNC ? -1").await;
        pass(1).await;
        waiting.push(replica);
    }
    assert!(waiting[0].reply().await.starts_with("FULLRESYNC"));
    assert!(waiting[1].reply().await.starts_with("FULLRESYNC"));
    assert!(waiting[2].reply().await.starts_with("ERR too many replicas"));
    assert_eq!(waiting[2].reply().await, "closed");
}
