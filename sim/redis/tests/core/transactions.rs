//! MULTI, EXEC, WATCH: when a transaction happens, and what it leaves behind.

use doublehold_sim_redis::core::CoreConfig;

use crate::support::{Node, check, words};

/// Watches `k` on one session, lets another do `meanwhile`, and says whether EXEC succeeded.
fn survives(node: &mut Node, meanwhile: &[&str]) -> bool {
    let (mut watcher, mut other) = (node.client(), node.client());
    node.ask(&mut watcher, &["WATCH", "k"]);
    for command in meanwhile {
        node.ask(&mut other, &words(command));
    }
    node.ask(&mut watcher, &["MULTI"]);
    node.ask(&mut watcher, &["PING"]);
    match node.ask(&mut watcher, &["EXEC"]).as_str() {
        "*1|+PONG|" => true,
        "*-1|" => false,
        other => panic!("unexpected reply {other}"),
    }
}

#[test]
fn a_change_of_a_watched_key_makes_exec_fail() {
    for change in ["SET k v", "SET k w", "PEXPIRE k 100", "DEL k", "FLUSHALL", "FLUSHDB"] {
        let mut node = Node::new();
        let mut setup = node.client();
        node.ask(&mut setup, &["SET", "k", "v"]);
        assert!(!survives(&mut node, &[change]), "{change}");
    }
}

#[test]
fn a_command_that_changes_nothing_leaves_exec_alone() {
    for command in ["GET k", "SET k w NX", "DEL absent", "SET other v", "PERSIST k", "EXPIRE k 1 XX"] {
        let mut node = Node::new();
        let mut setup = node.client();
        node.ask(&mut setup, &["SET", "k", "v"]);
        assert!(survives(&mut node, &[command]), "{command}");
    }
    assert!(survives(&mut Node::new(), &["FLUSHALL"]), "the watched key was not there");
}

#[test]
fn a_key_that_expires_after_watch_makes_exec_fail() {
    let mut node = Node::new();
    let mut client = node.client();
    node.ask(&mut client, &["SET", "k", "v", "PX", "5"]);
    node.ask(&mut client, &["WATCH", "k"]);
    node.now_ms += 6;
    node.ask(&mut client, &["MULTI"]);
    assert_eq!(node.ask(&mut client, &["EXEC"]), "*-1|");
}

#[test]
fn a_key_that_had_expired_before_watch_does_not_make_exec_fail() {
    let mut node = Node::new();
    let mut client = node.client();
    node.ask(&mut client, &["SET", "k", "v", "PX", "5"]);
    node.now_ms += 6;
    assert!(survives(&mut node, &[]));
    assert!(survives(&mut node, &["GET k"]), "its deletion changes nothing");
    node.ask(&mut client, &["SET", "k", "v", "PX", "5"]);
    node.now_ms += 6;
    assert!(!survives(&mut node, &["SET k w"]), "but a new value does");
}

#[test]
fn a_key_deleted_by_expiry_while_watched_makes_exec_fail() {
    let mut node = Node::new();
    let (mut watcher, mut other) = (node.client(), node.client());
    node.ask(&mut watcher, &["SET", "k", "v", "PX", "5"]);
    node.ask(&mut watcher, &["WATCH", "k"]);
    node.now_ms += 6;
    node.ask(&mut other, &["GET", "k"]);
    node.ask(&mut watcher, &["MULTI"]);
    assert_eq!(node.ask(&mut watcher, &["EXEC"]), "*-1|");
}

#[test]
fn unwatch_discard_and_exec_end_the_watching() {
    let mut node = Node::new();
    let (mut watcher, mut other) = (node.client(), node.client());
    for ending in ["UNWATCH", "MULTI DISCARD", "MULTI EXEC"] {
        node.ask(&mut watcher, &["WATCH", "k"]);
        node.ask(&mut other, &["INCR", "k"]);
        words(ending).iter().for_each(|command| drop(node.ask(&mut watcher, &[command])));
        check(&mut node, &mut watcher, &[("MULTI", "+OK|"), ("EXEC", "*0|")]);
    }
}

#[test]
fn a_connection_that_ends_leaves_no_watch_behind() {
    let mut node = Node::new();
    let (mut watcher, mut other) = (node.client(), node.client());
    node.ask(&mut watcher, &["WATCH", "k"]);
    node.ask(&mut other, &["SET", "k", "v"]);
    node.core.note_disconnected(&mut watcher);
    check(&mut node, &mut watcher, &[("MULTI", "+OK|"), ("EXEC", "*0|")]);
}

#[test]
fn an_error_while_queueing_aborts_and_one_while_executing_does_not() {
    let mut node = Node::new();
    let mut client = node.client();
    let aborted = "-EXECABORT Transaction discarded because of previous errors.|";
    check(
        &mut node,
        &mut client,
        &[
            ("MULTI", "+OK|"),
            ("SET a 1", "+QUEUED|"),
            ("GET", "-ERR wrong number of arguments for 'get' command|"),
            ("EXEC", aborted),
            ("EXISTS a", ":0|"),
            ("MULTI", "+OK|"),
            ("FOO", "-ERR unknown command 'FOO', with args beginning with: |"),
            ("EXEC", aborted),
            ("MULTI", "+OK|"),
            ("SET a x", "+QUEUED|"),
            ("INCR a", "+QUEUED|"),
            ("SET b 1", "+QUEUED|"),
            ("EXEC", "*3|+OK|-ERR value is not an integer or out of range|+OK|"),
            ("MULTI", "+OK|"),
            ("MULTI", "-ERR MULTI calls can not be nested|"),
            ("WATCH a", "-ERR WATCH inside MULTI is not allowed|"),
            ("SHUTDOWN NOSAVE", "-ERR Command not allowed inside a transaction|"),
            ("EXEC", aborted),
            ("EXEC", "-ERR EXEC without MULTI|"),
            ("DISCARD", "-ERR DISCARD without MULTI|"),
        ],
    );
}

#[test]
fn more_than_one_write_is_propagated_as_one_unit() {
    let mut node = Node::new();
    let mut client = node.client();
    let script = "redis.call('SET','a',1) redis.call('PEXPIRE','a',9) redis.call('GET','a')";
    node.ask(&mut client, &["EVAL", script, "0"]);
    assert_eq!(node.propagated(), ["MULTI", "SELECT 0", "SET a 1", "PEXPIREAT a 1000009", "EXEC"]);
    node.ask(&mut client, &["EVAL", "redis.call('SET','a',1)", "0"]);
    assert_eq!(node.propagated(), ["SET a 1"]);
    for command in ["MULTI", "SET b 1", "GET b", "SELECT 3", "SET c 1", "EXEC", "SET d 1"] {
        node.ask(&mut client, &words(command));
    }
    assert_eq!(node.propagated(), ["MULTI", "SET b 1", "SELECT 3", "SET c 1", "EXEC", "SET d 1"]);
}

#[test]
fn a_replica_refuses_writes_also_in_transactions_and_scripts() {
    let mut node = Node::new();
    node.become_replica();
    let mut client = node.client();
    let refused = "-READONLY You can't write against a read only replica.|";
    check(&mut node, &mut client, &[("SET a 1", refused), ("MULTI", "+OK|"), ("SET a 1", refused)]);
    node.ask(&mut client, &["DISCARD"]);
    let reply = node.ask(&mut client, &["EVAL", "return redis.call('SET','a',1)", "0"]);
    assert!(reply.starts_with("-READONLY You can't write against a read only replica. script: "), "{reply}");
    assert_eq!(node.ask(&mut client, &["EVAL", "return redis.call('GET','a')", "0"]), "$-1|");
}

#[test]
fn a_transaction_queued_before_a_demotion_is_refused_as_a_whole() {
    let mut node = Node::new();
    let mut client = node.client();
    check(&mut node, &mut client, &[("MULTI", "+OK|"), ("SET a 1", "+QUEUED|")]);
    node.become_replica();
    let refused =
        "-EXECABORT Transaction discarded because of: READONLY You can't write against a read only replica.|";
    assert_eq!(node.ask(&mut client, &["EXEC"]), refused);
}

#[test]
fn a_master_with_too_few_good_replicas_refuses_writes() {
    let mut node = Node::with(CoreConfig { min_replicas_to_write: 1, ..CoreConfig::default() });
    let mut client = node.client();
    assert_eq!(node.ask(&mut client, &["SET", "a", "1"]), "-NOREPLICAS Not enough good replicas to write.|");
    assert_eq!(node.ask(&mut client, &["GET", "a"]), "$-1|");
    node.core.replication_mut().good_replicas = 1;
    assert_eq!(node.ask(&mut client, &["SET", "a", "1"]), "+OK|");
}

#[test]
fn the_offset_counts_propagated_bytes_and_wait_asks_for_this_connections_last() {
    let mut node = Node::new();
    let (mut writer, mut reader) = (node.client(), node.client());
    node.core.replication_mut().counting = true;
    node.ask(&mut writer, &["SET", "a", "1"]);
    let mut bytes = Vec::new();
    node.core.take_propagated(&mut bytes);
    assert_eq!(node.core.replication().offset, bytes.len() as u64);
    let (next, reply) = node.execute(&mut writer, &["WAIT", "1", "100"]);
    assert_eq!(reply, "");
    assert_eq!(
        format!("{next:?}"),
        format!("Wait {{ replicas: 1, timeout: 100ms, offset: {}, file: None }}", bytes.len())
    );
    let (next, _) = node.execute(&mut reader, &["WAIT", "1", "0"]);
    assert_eq!(format!("{next:?}"), "Wait { replicas: 1, timeout: 0ns, offset: 0, file: None }");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "what is tested is the time it takes")]
fn watching_many_keys_takes_time_in_proportion() {
    let keys: Vec<String> = (0..100_000).map(|key| format!("key{key}")).collect();
    let command: Vec<&str> = ["WATCH"].into_iter().chain(keys.iter().map(String::as_str)).collect();
    let mut node = Node::new();
    let (mut watcher, began) = (node.client(), std::time::Instant::now());
    assert_eq!(node.ask(&mut watcher, &command), "+OK|");
    assert_eq!(node.ask(&mut watcher, &command), "+OK|", "each is watched already");
    // Well below a second; the square of their number takes minutes.
    assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
    assert!(!survives_of(&mut node, watcher, "key99999"));
}

/// Whether EXEC succeeds for somebody who watches, after another client has set `key`.
fn survives_of(node: &mut Node, mut watcher: doublehold_sim_redis::core::Session, key: &str) -> bool {
    let mut other = node.client();
    node.ask(&mut other, &["SET", key, "v"]);
    node.ask(&mut watcher, &["MULTI"]);
    node.ask(&mut watcher, &["EXEC"]) != "*-1|"
}
