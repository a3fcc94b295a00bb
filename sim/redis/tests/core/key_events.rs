//! Events of keys: which are told, when `expired` is, and where they stand in what a client reads.

use doublehold_sim_redis::core::Session;

use crate::support::{Node, check, words};

/// A node that tells of every event, and who hears them by `pattern`.
fn node_and_listener(pattern: &str) -> (Node, Session, Session) {
    let mut node = Node::new();
    let (mut client, mut listens) = (node.client(), node.client());
    check(&mut node, &mut client, &[("CONFIG SET notify-keyspace-events AKEmn", "+OK|")]);
    node.ask(&mut listens, &["PSUBSCRIBE", pattern]);
    (node, client, listens)
}

/// What was pushed since the last call: the last two words of each message.
fn heard(node: &mut Node, listens: &Session) -> Vec<String> {
    let mut bytes = Vec::new();
    node.core.take_pushed(listens.id(), &mut bytes);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let bulks: Vec<&str> = text.split("\r\n").filter(|line| !line.starts_with(['*', '$'])).collect();
    bulks.chunks_exact(4).map(|message| format!("{} {}", message[2], message[3])).collect()
}

#[test]
fn each_command_tells_of_what_it_did_in_the_order_in_which_redis_does() {
    let (mut node, mut client, listens) = node_and_listener("__keyevent@*");
    let table = [
        ("SET a 1", "new a; set a"),
        ("SET a 2 PX 100000", "set a; expire a"),
        ("SET a 3 KEEPTTL", "set a"),
        ("SET a 3 NX", ""),
        ("GET nokey", "keymiss nokey"),
        ("SET b 1 GET", "keymiss b; new b; set b"),
        ("APPEND b 2", "append b"),
        ("INCR b", "incrby b"),
        ("SETRANGE b 0 9", "setrange b"),
        ("GETEX b EX 100", "expire b"),
        ("GETEX b PERSIST", "persist b"),
        ("PERSIST b", ""),
        ("MSET b 1 c 2", "set b; new c; set c"),
        ("EXPIRE c 100", "expire c"),
        ("PEXPIRE c -1", "del c"),
        ("RENAME b c", "new c; rename_from b; rename_to c"),
        ("COPY c d", "new d; copy_to d"),
        ("HSET h f v", "new h; hset h"),
        ("HINCRBY h n 1", "hincrby h"),
        ("HDEL h f n", "hdel h; del h"),
        ("DEL a c d nokey", "del a; del c; del d"),
    ];
    for (command, events) in table {
        node.ask(&mut client, &words(command));
        let heard = heard(&mut node, &listens).join("; ").replace("__keyevent@0__:", "");
        assert_eq!(heard, events, "{command}");
    }
}

#[test]
fn a_key_that_moves_is_told_of_in_both_databases() {
    let (mut node, mut client, listens) = node_and_listener("__key*");
    node.ask(&mut client, &words("SET k v"));
    heard(&mut node, &listens);
    node.ask(&mut client, &words("MOVE k 3"));
    let expected = [
        "__keyspace@3__:k new",
        "__keyevent@3__:new k",
        "__keyspace@0__:k move_from",
        "__keyevent@0__:move_from k",
        "__keyspace@3__:k move_to",
        "__keyevent@3__:move_to k",
    ];
    assert_eq!(heard(&mut node, &listens), expected);
}

#[test]
fn expired_is_told_when_the_key_is_found_expired_and_not_when_its_time_is_up() {
    let (mut node, mut client, listens) = node_and_listener("__keyevent@0__:expired");
    node.ask(&mut client, &words("MSET found 1 swept 1 other 1"));
    node.ask(&mut client, &words("PEXPIRE found 10"));
    node.ask(&mut client, &words("PEXPIRE swept 10"));
    node.now_ms += 1_000;
    node.ask(&mut client, &words("GET other"));
    assert_eq!(heard(&mut node, &listens), [""; 0], "nobody has looked");
    node.ask(&mut client, &words("GET found"));
    assert_eq!(heard(&mut node, &listens), ["__keyevent@0__:expired found"]);
    let now = node.now();
    node.core.expire_cycle(now);
    assert_eq!(heard(&mut node, &listens), ["__keyevent@0__:expired swept"]);
}

#[test]
fn a_replica_hears_of_the_del_and_finds_nothing_expired_by_itself() {
    let (mut node, mut client, listens) = node_and_listener("__keyevent@0__:*");
    let mut link = Session::master_link(99);
    node.become_replica();
    node.apply(&mut link, &words("SET k v PXAT 1000005"));
    assert_eq!(heard(&mut node, &listens).len(), 3);
    node.now_ms += 1_000;
    assert_eq!(node.ask(&mut client, &words("GET k")), "$-1|");
    assert_eq!(heard(&mut node, &listens), ["__keyevent@0__:keymiss k"]);
    node.apply(&mut link, &words("DEL k"));
    assert_eq!(heard(&mut node, &listens), ["__keyevent@0__:del k"]);
}

#[test]
fn scripts_and_transactions_tell_at_once() {
    let (mut node, mut client, listens) = node_and_listener("__keyevent@0__:[si]*");
    node.ask(&mut client, &["EVAL", "redis.call('set', 'k', 1); return redis.call('incr', 'k')", "0"]);
    assert_eq!(heard(&mut node, &listens), ["__keyevent@0__:set k", "__keyevent@0__:incrby k"]);
    for command in ["MULTI", "SET k 1", "INCR k"] {
        node.ask(&mut client, &words(command));
    }
    assert_eq!(heard(&mut node, &listens), [""; 0]);
    node.ask(&mut client, &["EXEC"]);
    assert_eq!(heard(&mut node, &listens), ["__keyevent@0__:set k", "__keyevent@0__:incrby k"]);
}

#[test]
fn who_hears_of_its_own_deeds_finds_them_where_redis_has_them() {
    let mut node = Node::new();
    let mut client = node.client();
    node.ask(&mut client, &["HELLO", "3"]);
    node.ask(&mut client, &words("CONFIG SET notify-keyspace-events Egxh$m"));
    node.ask(&mut client, &words("PSUBSCRIBE __keyevent@0__:*"));
    let event = |event: &str, key: &str| {
        let channel = format!("__keyevent@0__:{event}");
        let bulk = |text: &str| format!("${}|{text}|", text.len());
        format!(">4|$8|pmessage|$16|__keyevent@0__:*|{}{}", bulk(&channel), bulk(key))
    };
    let (set, hset, miss) = (event("set", "k"), event("hset", "h"), event("keymiss", "n"));
    assert_eq!(node.ask(&mut client, &words("SET k v")), format!("{set}+OK|"));
    assert_eq!(node.ask(&mut client, &words("HSET h f v")), format!(":1|{hset}"));
    assert_eq!(node.ask(&mut client, &words("GET n")), format!("{miss}_|"));
    node.ask(&mut client, &words("PEXPIRE k 5"));
    node.now_ms += 10;
    let (expired, miss) = (event("expired", "k"), event("keymiss", "k"));
    assert_eq!(node.ask(&mut client, &words("GET k")), format!("{expired}{miss}_|"));
}

#[test]
fn what_is_evicted_is_told_of() {
    let (mut node, mut client, listens) = node_and_listener("__keyevent@0__:*");
    node.ask(&mut client, &words("MSET a 1 b 1"));
    node.ask(&mut client, &words("PEXPIRE a 100000"));
    heard(&mut node, &listens);
    node.core.evict(true);
    assert_eq!(heard(&mut node, &listens), ["__keyevent@0__:evicted a"]);
}

#[test]
fn what_is_not_asked_for_is_not_told() {
    let (mut node, mut client, listens) = node_and_listener("__key*");
    for letters in ["", "A", "KE", "Kl", "Ex"] {
        node.ask(&mut client, &["CONFIG", "SET", "notify-keyspace-events", letters]);
        node.ask(&mut client, &words("SET k v"));
        assert_eq!(heard(&mut node, &listens), [""; 0], "{letters}");
    }
    let refused = node.ask(&mut client, &words("CONFIG SET notify-keyspace-events Kq"));
    assert!(refused.contains("Invalid event class character"), "{refused}");
}
