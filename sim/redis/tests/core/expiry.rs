//! Lifetimes: when a key is gone, who may say so, and what is propagated. The clock is the test's.

use doublehold_sim_redis::core::Session;

use crate::support::{Node, check};

#[test]
fn a_key_lives_through_its_last_millisecond_and_is_gone_after_it() {
    let mut node = Node::new();
    let mut client = node.client();
    node.ask(&mut client, &["SET", "k", "v", "PX", "10"]);
    node.now_ms += 10;
    assert_eq!(node.ask(&mut client, &["GET", "k"]), "$1|v|");
    assert_eq!(node.ask(&mut client, &["PTTL", "k"]), ":0|");
    node.now_ms += 1;
    assert_eq!(node.ask(&mut client, &["GET", "k"]), "$-1|");
    assert_eq!(node.ask(&mut client, &["PTTL", "k"]), ":-2|");
}

#[test]
fn a_clock_that_jumps_forward_ends_a_lease_and_one_that_jumps_back_prolongs_it() {
    let mut node = Node::new();
    let mut client = node.client();
    node.ask(&mut client, &["SET", "k", "v", "PX", "1000"]);
    node.now_ms -= 5000;
    assert_eq!(node.ask(&mut client, &["PTTL", "k"]), ":6000|");
    node.now_ms += 6001;
    assert_eq!(node.ask(&mut client, &["EXISTS", "k"]), ":0|");
}

#[test]
fn lifetimes_are_propagated_as_absolute_times() {
    let mut node = Node::new();
    let mut client = node.client();
    let table = [
        ("SET k v PX 500", "SET k v PXAT 1000500"),
        ("set k v xx ex 1 get", "SET k v PXAT 1001000"),
        ("SETEX k 2 v", "SET k v PXAT 1002000"),
        ("PSETEX k 3 v", "SET k v PXAT 1000003"),
        ("EXPIRE k 4 XX", "PEXPIREAT k 1004000 XX"),
        ("PEXPIRE k 5", "PEXPIREAT k 1000005"),
        ("SET k v KEEPTTL", "SET k v KEEPTTL"),
        ("SET k v GET", "SET k v"),
        ("GETSET k w", "SET k w"),
        ("EXPIREAT k 2000", "PEXPIREAT k 2000000"),
        ("PERSIST k", "PERSIST k"),
        ("PEXPIRE k -1", "DEL k"),
    ];
    node.ask(&mut client, &["SET", "k", "v"]);
    assert_eq!(node.propagated(), ["SELECT 0", "SET k v"]);
    for (command, expected) in table {
        node.ask(&mut client, &crate::support::words(command));
        assert_eq!(node.propagated(), [expected], "{command}");
    }
}

#[test]
fn a_command_that_changes_nothing_is_not_propagated() {
    let mut node = Node::new();
    let mut client = node.client();
    node.ask(&mut client, &["SET", "k", "v"]);
    node.propagated();
    for command in
        ["SET k w NX", "SETNX k w", "SET q w XX", "DEL q", "EXPIRE q 1", "PERSIST k", "HDEL q f", "GET k"]
    {
        node.ask(&mut client, &crate::support::words(command));
        assert_eq!(node.propagated(), [""; 0], "{command}");
    }
}

#[test]
fn a_master_propagates_a_del_for_a_key_it_finds_expired() {
    let mut node = Node::new();
    let mut client = node.client();
    node.ask(&mut client, &["SET", "k", "v", "PX", "5"]);
    node.propagated();
    node.now_ms += 6;
    assert_eq!(node.ask(&mut client, &["DBSIZE"]), ":1|", "an expired key counts until it is deleted");
    node.ask(&mut client, &["GET", "k"]);
    assert_eq!(node.propagated(), ["DEL k"]);
    assert_eq!(node.ask(&mut client, &["DBSIZE"]), ":0|");
}

#[test]
fn a_write_over_an_expired_key_is_one_unit_with_its_del() {
    let mut node = Node::new();
    let mut client = node.client();
    node.ask(&mut client, &["SET", "k", "v", "PX", "5"]);
    node.propagated();
    node.now_ms += 6;
    assert_eq!(node.ask(&mut client, &["SETNX", "k", "w"]), ":1|");
    assert_eq!(node.propagated(), ["MULTI", "DEL k", "SETNX k w", "EXEC"]);
}

#[test]
fn the_expiry_cycle_deletes_and_costs_nothing_before_the_first_expiry() {
    let mut node = Node::new();
    let mut client = node.client();
    assert_eq!(node.core.next_expiry_ms(), None);
    node.ask(&mut client, &["SET", "a", "v", "PX", "50"]);
    node.ask(&mut client, &["SET", "b", "v", "PX", "5"]);
    node.propagated();
    assert_eq!(node.core.next_expiry_ms(), Some(1_000_005));
    node.now_ms += 6;
    let now = node.now();
    node.core.expire_cycle(now);
    assert_eq!(node.propagated(), ["DEL b"]);
    assert_eq!(node.core.next_expiry_ms(), Some(1_000_050));
}

#[test]
fn a_replica_hides_an_expired_key_but_deletes_it_only_on_its_masters_del() {
    let mut node = Node::new();
    let mut link = Session::master_link(99);
    node.become_replica();
    let mut client = node.client();
    node.apply(&mut link, &["SET", "k", "v", "PXAT", "1000005"]);
    node.now_ms += 6;
    assert_eq!(node.ask(&mut client, &["GET", "k"]), "$-1|");
    assert_eq!(node.ask(&mut client, &["DBSIZE"]), ":1|");
    let now = node.now();
    node.core.expire_cycle(now);
    assert_eq!(node.ask(&mut client, &["DBSIZE"]), ":1|");
    node.now_ms -= 6;
    assert_eq!(node.ask(&mut client, &["GET", "k"]), "$1|v|", "its clock went back: the key is there again");
    node.apply(&mut link, &["DEL", "k"]);
    assert_eq!(node.ask(&mut client, &["GET", "k"]), "$-1|");
}

#[test]
fn what_a_master_says_about_a_key_that_has_expired_here_still_counts() {
    let mut node = Node::new();
    let mut link = Session::master_link(99);
    node.become_replica();
    let mut client = node.client();
    node.apply(&mut link, &["SET", "k", "v", "PXAT", "1000005"]);
    node.now_ms += 6;
    // The master's clock is behind: there the key lives, and is prolonged.
    node.apply(&mut link, &["PEXPIREAT", "k", "1000100"]);
    assert_eq!(node.ask(&mut client, &["GET", "k"]), "$1|v|");
}

#[test]
fn after_a_promotion_the_nodes_own_clock_rules() {
    let mut node = Node::new();
    let mut link = Session::master_link(99);
    node.become_replica();
    let mut client = node.client();
    node.apply(&mut link, &["SET", "k", "v", "PXAT", "1000005"]);
    node.now_ms += 6;
    assert_eq!(node.ask(&mut client, &["REPLICAOF", "NO", "ONE"]), "+OK|");
    assert_eq!(node.ask(&mut client, &["SET", "k", "w", "NX"]), "+OK|");
}

#[test]
fn loading_keeps_expired_keys_and_a_master_then_drops_them() {
    let mut node = Node::new();
    let mut link = Session::master_link(99);
    node.apply(&mut link, &["SET", "gone", "v", "PXAT", "5"]);
    node.apply(&mut link, &["INCR", "gone2"]);
    node.apply(&mut link, &["PEXPIREAT", "gone2", "5"]);
    node.apply(&mut link, &["SET", "alive", "v", "PXAT", "2000000"]);
    let mut client = node.client();
    assert_eq!(node.ask(&mut client, &["DBSIZE"]), ":3|");
    let now = node.now();
    node.core.drop_expired(now);
    assert_eq!(node.ask(&mut client, &["KEYS", "*"]), "*1|$5|alive|");
    assert_eq!(node.propagated(), [""; 0]);
}

#[test]
fn counters_and_hashes_keep_a_lifetime_that_set_and_getset_clear() {
    let mut node = Node::new();
    let mut client = node.client();
    check(
        &mut node,
        &mut client,
        &[
            ("SET n 1 PX 500", "+OK|"),
            ("INCR n", ":2|"),
            ("PTTL n", ":500|"),
            ("GETSET n 5", "$1|2|"),
            ("PTTL n", ":-1|"),
            ("SET n 1 PX 500", "+OK|"),
            ("SET n 1", "+OK|"),
            ("PTTL n", ":-1|"),
            ("HSET h f 1", ":1|"),
            ("PEXPIRE h 500", ":1|"),
            ("HINCRBY h f 1", ":2|"),
            ("HSET h g 1", ":1|"),
            ("PTTL h", ":500|"),
            ("SET n 1 PX 500", "+OK|"),
            ("SET n 2 KEEPTTL", "+OK|"),
            ("PTTL n", ":500|"),
        ],
    );
}

#[test]
fn conditions_compare_with_the_lifetime_that_is_there() {
    let mut node = Node::new();
    let mut client = node.client();
    check(
        &mut node,
        &mut client,
        &[
            ("SET k v", "+OK|"),
            ("PEXPIRE k 10 XX", ":0|"),
            ("PEXPIRE k 10 GT", ":0|"),
            ("PEXPIRE k 100 LT", ":1|"),
            ("PEXPIRE k 10 NX", ":0|"),
            ("PEXPIRE k 100 GT", ":0|"),
            ("PEXPIRE k 101 GT", ":1|"),
            ("PEXPIRE k 102 LT", ":0|"),
            ("PEXPIRE k 7 XX LT", ":1|"),
            ("PTTL k", ":7|"),
            ("PEXPIRE k 7 NX GT", "-ERR NX and XX, GT or LT options at the same time are not compatible|"),
            ("PEXPIRE k 7 GT LT", "-ERR GT and LT options at the same time are not compatible|"),
            ("PEXPIRE k 7 SOON", "-ERR Unsupported option SOON|"),
        ],
    );
}

#[test]
fn lifetimes_beyond_what_63_bits_hold_are_refused() {
    let mut node = Node::new();
    let mut client = node.client();
    check(
        &mut node,
        &mut client,
        &[
            ("SET k v PX 0", "-ERR invalid expire time in 'set' command|"),
            ("SET k v EX 9223372036854775807", "-ERR invalid expire time in 'set' command|"),
            ("SET k v PX 9223372036854775807", "-ERR invalid expire time in 'set' command|"),
            ("SET k v PX soon", "-ERR value is not an integer or out of range|"),
            ("SETEX k -1 v", "-ERR invalid expire time in 'setex' command|"),
            ("SET k v PXAT 9223372036854775807", "+OK|"),
            ("EXPIRE k 9223372036854775807", "-ERR invalid expire time in 'expire' command|"),
            ("PEXPIRE k 9223372036854775807", "-ERR invalid expire time in 'pexpire' command|"),
            ("PEXPIREAT k 9223372036854775807", ":1|"),
            ("PEXPIRE k -9223372036854775808", ":1|"),
            ("EXISTS k", ":0|"),
        ],
    );
    assert_eq!(node.core.next_expiry_ms(), None);
}
