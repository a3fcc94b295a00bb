//! Commands and their replies, one line each.

use crate::support::{Node, check};

const WRONG_TYPE: &str = "-WRONGTYPE Operation against a key holding the wrong kind of value|";
const NOT_INTEGER: &str = "-ERR value is not an integer or out of range|";
const SYNTAX: &str = "-ERR syntax error|";

fn fresh(table: &[(&str, &str)]) {
    let mut node = Node::new();
    let mut client = node.client();
    check(&mut node, &mut client, table);
}

#[test]
fn set_takes_its_options_in_any_order_and_case() {
    fresh(&[
        ("SET k a NX PX 100", "+OK|"),
        ("SET k b PX 100 NX", "$-1|"),
        ("set k b px 100 xx get", "$1|a|"),
        ("SET k c GET NX", "$1|b|"),
        ("SET q c NX GET", "$-1|"),
        ("GET q", "$1|c|"),
        ("SET r c XX", "$-1|"),
        ("SET r c XX GET", "$-1|"),
        ("SET k v NX XX", SYNTAX),
        ("SET k v EX 1 PX 1", SYNTAX),
        ("SET k v EX 1 KEEPTTL", SYNTAX),
        ("SET k v KEEPTTL EX 1", SYNTAX),
        ("SET k v EX", SYNTAX),
        ("SET k v SOON", SYNTAX),
        ("SET k v EX 1 EX 2", "+OK|"),
        ("TTL k", ":2|"),
        ("SET k", "-ERR wrong number of arguments for 'set' command|"),
    ]);
}

#[test]
fn counters_refuse_what_is_not_a_64_bit_integer() {
    fresh(&[
        ("INCR n", ":1|"),
        ("DECR n", ":0|"),
        ("INCRBY n 5", ":5|"),
        ("DECRBY n 7", ":-2|"),
        ("SET n 9223372036854775807", "+OK|"),
        ("INCR n", "-ERR increment or decrement would overflow|"),
        ("DECRBY n -9223372036854775808", "-ERR decrement would overflow|"),
        ("SET n 1.0", "+OK|"),
        ("INCR n", NOT_INTEGER),
        ("SET n 007", "+OK|"),
        ("INCR n", NOT_INTEGER),
    ]);
}

#[test]
fn hashes_keep_their_fields_in_order_of_insertion() {
    fresh(&[
        ("HSET h b 1 a 2", ":2|"),
        ("HSET h b 3 c 4", ":1|"),
        ("HGETALL h", "*6|$1|b|$1|3|$1|a|$1|2|$1|c|$1|4|"),
        ("HKEYS h", "*3|$1|b|$1|a|$1|c|"),
        ("HINCRBY h d -5", ":-5|"),
        ("HSET h d x", ":0|"),
        ("HINCRBY h d 1", "-ERR hash value is not an integer|"),
        ("HEXISTS h d", ":1|"),
        ("HGET h zz", "$-1|"),
        ("HLEN h", ":4|"),
        ("HDEL h a b c d e", ":4|"),
        ("TYPE h", "+none|"),
        ("HSET h a", "-ERR wrong number of arguments for 'hset' command|"),
        ("HSET h a 1 b", "-ERR wrong number of arguments for 'hset' command|"),
    ]);
}

#[test]
fn a_command_on_the_wrong_type_changes_nothing() {
    fresh(&[
        ("HSET h f 1", ":1|"),
        ("SET s 1", "+OK|"),
        ("GET h", WRONG_TYPE),
        ("SET h x GET", WRONG_TYPE),
        ("GETSET h x", WRONG_TYPE),
        ("INCR h", WRONG_TYPE),
        ("HGET s f", WRONG_TYPE),
        ("HSET s f 1", WRONG_TYPE),
        ("HDEL s f", WRONG_TYPE),
        ("HINCRBY s f 1", WRONG_TYPE),
        ("HGETALL s", WRONG_TYPE),
        ("SETNX h x", ":0|"),
        ("TYPE h", "+hash|"),
        ("SET h x", "+OK|"),
        ("TYPE h", "+string|"),
        ("MGET s none", "*2|$1|1|$-1|"),
    ]);
}

#[test]
fn unknown_commands_and_subcommands_are_named() {
    fresh(&[
        ("FOO a b", "-ERR unknown command 'FOO', with args beginning with: 'a' 'b' |"),
        ("CLIENT", "-ERR wrong number of arguments for 'client' command|"),
        ("CLIENT FOO", "-ERR unknown subcommand 'FOO'. Try CLIENT HELP.|"),
        ("client setname", "-ERR wrong number of arguments for 'client|setname' command|"),
        ("CLIENT SETINFO lib-name x", "-ERR unknown subcommand 'SETINFO'. Try CLIENT HELP.|"),
        ("SCRIPT X", "-ERR unknown subcommand 'X'. Try SCRIPT HELP.|"),
        ("GET", "-ERR wrong number of arguments for 'get' command|"),
    ]);
    let (long, mut node) = ("a".repeat(200), Node::new());
    let mut client = node.client();
    let expected = format!("-ERR unknown command 'FOO', with args beginning with: '{}' |", &long[..128]);
    assert_eq!(node.ask(&mut client, &["FOO", &long, "b"]), expected);
}

#[test]
fn the_connection_commands_answer_as_a_server_without_passwords() {
    fresh(&[
        ("PING", "+PONG|"),
        ("PING a", "$1|a|"),
        ("PING a b", "-ERR wrong number of arguments for 'ping' command|"),
        ("SELECT 16", "-ERR DB index is out of range|"),
        ("SELECT x", NOT_INTEGER),
        ("SELECT 15", "+OK|"),
        ("AUTH default x", "+OK|"),
        ("AUTH u x", "-WRONGPASS invalid username-password pair or user is disabled.|"),
        ("HELLO 4", "-NOPROTO unsupported protocol version|"),
        ("HELLO x", "-ERR Protocol version is not an integer or out of range|"),
        ("HELLO 3 FOO", "-ERR Syntax error in HELLO option 'FOO'|"),
        ("CLIENT GETNAME", "$-1|"),
        ("CLIENT SETNAME me", "+OK|"),
        ("CLIENT GETNAME", "$2|me|"),
        ("CLIENT ID", ":1|"),
        ("CLIENT REPLY SKIP", ""),
        ("PING", ""),
        ("PING", "+PONG|"),
        ("CLIENT REPLY OFF", ""),
        ("PING", ""),
        ("CLIENT REPLY ON", "+OK|"),
        ("RESET", "+RESET|"),
        ("CLIENT GETNAME", "$-1|"),
        ("TIME", "*2|$4|1000|$1|0|"),
        ("WAIT 0 0", ":0|"),
        ("ROLE", "*3|$6|master|:0|*0|"),
        ("SHUTDOWN ABORT", "-ERR No shutdown in progress.|"),
        ("QUIT", "+OK|"),
    ]);
}

#[test]
fn resp3_has_maps_and_one_null() {
    let mut node = Node::new();
    let mut client = node.client();
    let hello = node.ask(&mut client, &["HELLO", "3"]);
    assert!(hello.starts_with("%7|$6|server|$5|redis|$7|version|$6|7.0.15|$5|proto|:3|"), "{hello}");
    check(
        &mut node,
        &mut client,
        &[
            ("GET k", "_|"),
            ("HSET h f v", ":1|"),
            ("HGETALL h", "%1|$1|f|$1|v|"),
            ("HGETALL none", "%0|"),
            ("CONFIG GET databases", "%1|$9|databases|$2|16|"),
            ("WATCH k", "+OK|"),
            ("SET k v", "+OK|"),
            ("MULTI", "+OK|"),
            ("EXEC", "_|"),
        ],
    );
}

#[test]
fn a_dump_rebuilds_the_data_set() {
    let mut node = Node::new();
    let mut client = node.client();
    for command in ["SET a 1", "SELECT 3", "SET b 2 PX 500", "HSET h x 1 y 2"] {
        node.ask(&mut client, &crate::support::words(command));
    }
    let mut bytes = Vec::new();
    node.core.dump(&mut bytes);
    let mut copy = Node::new();
    let mut link = doublehold_sim_redis::core::Session::master_link(9);
    let mut buffer = doublehold_sim_redis::resp::RequestBuffer::new();
    buffer.tail().extend_from_slice(&bytes);
    let now = copy.now();
    while let Some(args) = buffer.next_request().unwrap() {
        copy.core.apply(&mut link, now, &args).expect("a master may propagate it");
    }
    let mut again = Vec::new();
    copy.core.dump(&mut again);
    assert_eq!(String::from_utf8_lossy(&again), String::from_utf8_lossy(&bytes));
    let mut reader = copy.client();
    check(
        &mut copy,
        &mut reader,
        &[("GET a", "$1|1|"), ("SELECT 3", "+OK|"), ("PTTL b", ":500|"), ("HGET h y", "$1|2|")],
    );
}
