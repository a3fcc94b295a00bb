//! Keys that are renamed, copied, read with a new lifetime and gone through: what others see of it.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use doublehold_sim_redis::core::{CoreConfig, KeyChange, Observer, Origin, Session};

use crate::support::{Node, change_text, check, words};

/// What each command of `table` makes replicas and the file hear.
fn propagates(node: &mut Node, client: &mut Session, table: &[(&str, &[&str])]) {
    for (command, expected) in table {
        node.ask(client, &words(command));
        assert_eq!(node.propagated(), *expected, "{command}");
    }
}

#[test]
fn getex_reaches_replicas_as_what_became_of_the_lifetime() {
    let mut node = Node::new();
    let mut client = node.client();
    node.ask(&mut client, &words("SET k v"));
    node.propagated();
    propagates(
        &mut node,
        &mut client,
        &[
            ("GETEX k", &[]),
            ("GETEX k PERSIST", &[]),
            ("GETEX k EX 5", &["PEXPIREAT k 1005000"]),
            ("GETEX k PX 700", &["PEXPIREAT k 1000700"]),
            ("GETEX k EXAT 2000", &["PEXPIREAT k 2000000"]),
            ("GETEX k persist", &["PERSIST k"]),
            ("GETEX k EX 0", &[]),
            ("GETEX nokey EX 5", &[]),
            ("GETEX k PXAT 999999", &["DEL k"]),
        ],
    );
}

#[test]
fn writes_reach_replicas_as_they_came_and_only_if_they_changed_something() {
    let mut node = Node::new();
    let mut client = node.client();
    propagates(
        &mut node,
        &mut client,
        &[
            ("APPEND k ab", &["SELECT 0", "APPEND k ab"]),
            ("SETRANGE k 1 xyz", &["SETRANGE k 1 xyz"]),
            ("SETRANGE k -1 x", &[]),
            ("GETRANGE k 0 -1", &[]),
            ("COPY k l", &["COPY k l"]),
            ("COPY k l", &[]),
            ("COPY k l DB 3 REPLACE", &["COPY k l DB 3 REPLACE"]),
            ("RENAME k k", &[]),
            ("RENAME k m", &["RENAME k m"]),
            ("RENAMENX m l", &[]),
            ("RENAMENX m n", &["RENAMENX m n"]),
            ("RENAME nokey n", &[]),
            ("MOVE n 3", &["MOVE n 3"]),
            ("MOVE n 3", &[]),
            ("TOUCH l n", &[]),
            ("SCAN 0", &[]),
            ("RANDOMKEY", &[]),
            ("HMSET h f v", &["HMSET h f v"]),
            ("HSCAN h 0", &[]),
        ],
    );
}

#[test]
fn a_key_that_expired_unseen_is_deleted_at_replicas_before_its_name_is_taken() {
    let mut node = Node::new();
    let mut client = node.client();
    for command in ["SET k v", "SET old v PX 5", "SELECT 3", "SET old v PX 5", "SELECT 0"] {
        node.ask(&mut client, &words(command));
    }
    node.propagated();
    node.now_ms += 10;
    propagates(
        &mut node,
        &mut client,
        &[
            ("COPY k old DB 3", &["MULTI", "DEL old", "SELECT 0", "COPY k old DB 3", "EXEC"]),
            ("RENAMENX k old", &["MULTI", "DEL old", "RENAMENX k old", "EXEC"]),
        ],
    );
}

#[derive(Default)]
struct Changes(Mutex<Vec<String>>);

impl Observer for Changes {
    fn changed(&self, _origin: Origin, change: &KeyChange<'_>) {
        self.0.lock().unwrap().push(change_text(change));
    }
}

#[test]
fn an_observer_sees_where_values_went() {
    let changes = Arc::new(Changes::default());
    let mut node =
        Node::with(CoreConfig { observer: Some(Arc::clone(&changes) as _), ..CoreConfig::default() });
    let mut client = node.client();
    for command in [
        "SET k a PX 500",
        "APPEND k b",
        "SETRANGE k 1 cd",
        "GETEX k PX 600",
        "GETEX k PERSIST",
        "COPY k l",
        "RENAME k l",
        "HSET h f v",
        "RENAME h l",
        "GETEX l",
        "SET m x",
        "MOVE m 1",
        "GETEX l PXAT 1",
        "APPEND n a",
        "SETRANGE n 1 b",
        "SETRANGE n 3 d",
    ] {
        node.ask(&mut client, &words(command));
    }
    let expected = [
        "SET k - -> a until 1000500",
        "APPEND k a -> ab until 1000500",
        "SETRANGE k ab -> acd until 1000500",
        "GETEX k acd -> acd until 1000600",
        "GETEX k acd -> acd until ever",
        "COPY l - -> acd until ever",
        "RENAME k acd -> - until ever",
        "RENAME l acd -> acd until ever",
        "HSET h - -> {\"f\": \"v\"} until ever",
        "RENAME h {\"f\": \"v\"} -> - until ever",
        "RENAME l acd -> {\"f\": \"v\"} until ever",
        "SET m - -> x until ever",
        "MOVE m x -> - until ever",
        "MOVE m - -> x until ever",
        "APPEND n - -> a until ever",
        "SETRANGE n a -> ab until ever",
        "SETRANGE n ab -> ab\0d until ever",
    ];
    assert_eq!(*changes.0.lock().unwrap(), expected);
}

#[test]
fn a_replica_shows_what_lives_and_deletes_nothing() {
    let mut node = Node::new();
    let mut client = node.client();
    for command in ["SET k v PX 5", "SET l v"] {
        node.ask(&mut client, &words(command));
    }
    node.become_replica();
    node.now_ms += 10;
    check(
        &mut node,
        &mut client,
        &[
            ("SCAN 0 COUNT 100", "*2|$1|0|*1|$1|l|"),
            ("RANDOMKEY", "$1|l|"),
            ("TOUCH k l", ":1|"),
            ("DBSIZE", ":2|"),
            ("GETEX l", "-READONLY You can't write against a read only replica.|"),
            ("RENAME l m", "-READONLY You can't write against a read only replica.|"),
            ("COPY l m", "-READONLY You can't write against a read only replica.|"),
            ("APPEND l x", "-READONLY You can't write against a read only replica.|"),
        ],
    );
}

#[test]
fn a_master_deletes_what_a_round_finds_expired() {
    let mut node = Node::new();
    let mut client = node.client();
    for command in ["SET k v PX 5", "SET l v PX 5", "SET m v"] {
        node.ask(&mut client, &words(command));
    }
    node.propagated();
    node.now_ms += 10;
    propagates(
        &mut node,
        &mut client,
        &[("SCAN 0 MATCH k", &["DEL k"]), ("SCAN 0 TYPE hash", &["DEL l"]), ("SCAN 0", &[])],
    );
    check(&mut node, &mut client, &[("DBSIZE", ":1|")]);
}

/// One page: its next cursor and its keys.
fn page(node: &mut Node, client: &mut Session, cursor: &str) -> (String, Vec<String>) {
    let reply = node.ask(client, &["SCAN", cursor, "COUNT", "3"]);
    let texts: Vec<&str> = reply.split('|').filter(|part| !part.starts_with(['*', '$'])).collect();
    (
        texts[0].to_owned(),
        texts[1..].iter().filter(|key| !key.is_empty()).map(|key| key.to_string()).collect(),
    )
}

#[test]
fn a_round_shows_every_key_that_is_there_all_the_time_whatever_comes_and_goes() {
    let mut node = Node::new();
    let mut client = node.client();
    let staying: BTreeSet<String> = (0..100).map(|number| format!("stays:{number}")).collect();
    for key in &staying {
        node.ask(&mut client, &["SET", key, "v"]);
    }
    for number in 0..50 {
        node.ask(&mut client, &["SET", &format!("goes:{number}"), "v"]);
    }
    let (mut cursor, mut seen, mut pages) = ("0".to_owned(), BTreeSet::new(), 0);
    loop {
        let (next, keys) = page(&mut node, &mut client, &cursor);
        for key in keys {
            assert!(seen.insert(key.clone()) || !staying.contains(&key), "{key} came twice");
        }
        node.ask(&mut client, &["DEL", &format!("goes:{pages}")]);
        node.ask(&mut client, &["SET", &format!("comes:{pages}"), "v"]);
        node.ask(&mut client, &["RENAME", &format!("comes:{pages}"), &format!("came:{pages}")]);
        (cursor, pages) = (next, pages + 1);
        assert!(pages < 200, "a round ends");
        if cursor == "0" {
            break;
        }
    }
    assert!(staying.is_subset(&seen), "missing: {:?}", staying.difference(&seen));
    assert!(pages > 30, "pages of three keys, not {pages} pages");
}

#[test]
fn a_later_round_knows_what_came_and_went_since_the_first() {
    let mut node = Node::new();
    let mut client = node.client();
    let filled: Vec<String> = (0..100).map(|number| format!("SET old:{number} v")).collect();
    filled.iter().for_each(|command| drop(node.ask(&mut client, &words(command))));
    node.ask(&mut client, &words("SCAN 0"));
    for number in 0..100 {
        node.ask(&mut client, &words(&format!("DEL old:{number}")));
    }
    node.ask(&mut client, &words("SET new v"));
    node.ask(&mut client, &words("HSET hash f v"));
    let (cursor, mut keys) = page(&mut node, &mut client, "0");
    keys.sort();
    assert_eq!((cursor.as_str(), keys), ("0", vec!["hash".to_owned(), "new".to_owned()]), "one page, not 34");
    node.ask(&mut client, &["FLUSHALL"]);
    filled.iter().for_each(|command| drop(node.ask(&mut client, &words(command))));
    node.ask(&mut client, &["FLUSHALL"]);
    node.ask(&mut client, &words("SET new v"));
    check(&mut node, &mut client, &[("SCAN 0 COUNT 1", "*2|$1|0|*1|$3|new|")]);
}

#[test]
fn the_random_key_is_any_key_and_the_same_one_in_the_same_run() {
    let draw = || {
        let mut node = Node::new();
        let mut client = node.client();
        node.ask(&mut client, &words("MSET a 1 b 2 c 3 d 4"));
        (0..40).map(|_| node.ask(&mut client, &["RANDOMKEY"])).collect::<Vec<_>>()
    };
    let drawn = draw();
    assert_eq!(draw(), drawn);
    assert_eq!(drawn.iter().collect::<BTreeSet<_>>().len(), 4, "{drawn:?}");
}

#[test]
fn what_is_small_is_scanned_whole_and_in_the_order_in_which_it_is_kept() {
    let mut node = Node::new();
    let mut client = node.client();
    for line in ["ZADD z 3 c 1 a 2 b", "SADD n 10 9 -5", "HSET h c 1 a 2"] {
        node.ask(&mut client, &words(line));
    }
    let table = [
        ("ZSCAN z 7 COUNT 1", "*2|$1|0|*6|$1|a|$1|1|$1|b|$1|2|$1|c|$1|3|"),
        ("SSCAN n 7 COUNT 1", "*2|$1|0|*3|$2|-5|$1|9|$2|10|"),
        ("HSCAN h 7 COUNT 1", "*2|$1|0|*4|$1|c|$1|1|$1|a|$1|2|"),
    ];
    check(&mut node, &mut client, &table);
}
