//! Lists, sets and sorted sets: what replicas and files are told of each command, what a dump makes anew, and what is
//! drawn.

use doublehold_sim_redis::core::Session;
use doublehold_sim_redis::resp::RequestBuffer;

use crate::support::{Node, words};

fn propagates(node: &mut Node, client: &mut Session, table: &[(&str, &[&str])]) {
    for (command, expected) in table {
        node.ask(client, &words(command));
        assert_eq!(node.propagated(), *expected, "{command}");
    }
}

#[test]
fn lists_reach_replicas_as_what_was_done_to_them() {
    let (mut node, mut client) = fresh();
    propagates(
        &mut node,
        &mut client,
        &[
            ("RPUSH q a b c d e", &["SELECT 0", "RPUSH q a b c d e"]),
            ("RPUSHX none a", &[]),
            ("LPOP q", &["LPOP q"]),
            ("LPOP q 0", &[]),
            ("LPOP none", &[]),
            ("LMPOP 2 none q RIGHT COUNT 9", &["RPOP q 4"]),
            ("LMPOP 1 q LEFT", &[]),
            ("RPUSH q a b", &["RPUSH q a b"]),
            ("LTRIM q 0 -1", &[]),
            ("LREM q 0 x", &[]),
            ("LINSERT q AFTER x y", &[]),
            ("LMOVE q r LEFT RIGHT", &["LMOVE q r LEFT RIGHT"]),
            ("RPOPLPUSH none r", &[]),
            ("LTRIM q 5 9", &["LTRIM q 5 9"]),
        ],
    );
}

#[test]
fn sets_reach_replicas_as_what_was_done_to_them_and_what_was_drawn_by_its_name() {
    let (mut node, mut client) = fresh();
    propagates(
        &mut node,
        &mut client,
        &[
            ("SADD s a", &["SELECT 0", "SADD s a"]),
            ("SADD s a", &[]),
            ("SREM s x", &[]),
            ("SPOP s", &["SREM s a"]),
            ("SPOP s", &[]),
            ("SADD s a b", &["SADD s a b"]),
            ("SPOP s 5", &["DEL s"]),
            ("SADD s a", &["SADD s a"]),
            ("SMOVE s s a", &[]),
            ("SMOVE s t a", &["SMOVE s t a"]),
            ("SINTERSTORE none s t", &[]),
            ("SUNIONSTORE u s t", &["SUNIONSTORE u s t"]),
            ("SINTERSTORE u s t", &["SINTERSTORE u s t"]),
        ],
    );
    node.ask(&mut client, &words("SADD s 1 2 3 4 5"));
    node.propagated();
    let popped = node.ask(&mut client, &words("SPOP s 2"));
    let told = node.propagated();
    assert_eq!((told.len(), told[0].as_str(), told[3].as_str()), (4, "MULTI", "EXEC"));
    for removal in &told[1..3] {
        let member = removal.strip_prefix("SREM s ").expect("a removal");
        assert!(popped.contains(&format!("|{member}|")), "{popped} and {removal}");
    }
}

#[test]
fn sorted_sets_reach_replicas_as_what_was_done_to_them() {
    let (mut node, mut client) = fresh();
    propagates(
        &mut node,
        &mut client,
        &[
            ("ZADD z 1 a 2 b", &["SELECT 0", "ZADD z 1 a 2 b"]),
            ("ZADD z NX 5 a", &[]),
            ("ZADD z 1 a", &[]),
            ("ZADD z INCR 1 a", &["ZADD z INCR 1 a"]),
            ("ZINCRBY z 0 a", &[]),
            ("ZINCRBY z 1 a", &["ZINCRBY z 1 a"]),
            ("ZREM z x", &[]),
            ("ZPOPMIN none", &[]),
            ("ZMPOP 2 none z MAX COUNT 9", &["ZPOPMAX z 2"]),
            ("ZMPOP 1 z MAX", &[]),
            ("ZADD z 1 a 2 b", &["ZADD z 1 a 2 b"]),
            ("ZPOPMIN z", &["ZPOPMIN z"]),
            ("ZUNIONSTORE y 1 z", &["ZUNIONSTORE y 1 z"]),
            ("ZDIFFSTORE none 2 y z", &[]),
            ("ZRANGESTORE y z 5 9", &["ZRANGESTORE y z 5 9"]),
            ("ZREMRANGEBYRANK z 5 9", &[]),
            ("ZREMRANGEBYSCORE z 2 2", &["ZREMRANGEBYSCORE z 2 2"]),
        ],
    );
}

#[test]
fn a_dump_makes_the_same_values_anew() {
    let (mut node, mut client) = fresh();
    for line in ["RPUSH q a b a", "PEXPIRE q 5000", "SADD s a b", "SADD n 1 2 3", "ZADD z 0.1 a inf b -1 c"] {
        node.ask(&mut client, &words(line));
    }
    let mut buffer = RequestBuffer::new();
    node.core.dump(buffer.tail());
    let mut copy = Node::new();
    let mut loading = Session::loading();
    while let Some(args) = buffer.next_request().expect("a dump is RESP") {
        let args: Vec<String> = args.iter().map(|arg| String::from_utf8_lossy(arg).into_owned()).collect();
        copy.apply(&mut loading, &args.iter().map(String::as_str).collect::<Vec<_>>());
    }
    let (mut first, mut second) = (Vec::new(), Vec::new());
    node.core.dump(&mut first);
    copy.core.dump(&mut second);
    assert_eq!(first, second);
    assert_eq!(node.core.data_memory(), copy.core.data_memory());
}

#[test]
fn what_is_gone_takes_no_memory() {
    let (mut node, mut client) = fresh();
    for line in [
        "RPUSH q a bb ccc dddd",
        "LSET q 1 longer-than-before",
        "LINSERT q BEFORE a x",
        "LTRIM q 1 3",
        "LREM q 0 a",
        "RPOP q 9",
        "SADD s a bb 3",
        "SREM s a",
        "SUNIONSTORE t s s",
        "SPOP s 9",
        "SPOP t",
        "SPOP t",
        "ZADD z 1 a 2 b 3 c",
        "ZADD z 9 a",
        "ZRANGESTORE y z 0 -1",
        "ZREM z b",
        "ZREMRANGEBYSCORE z 3 3",
        "ZPOPMAX z",
        "ZPOPMIN y 5",
    ] {
        node.ask(&mut client, &words(line));
    }
    assert_eq!((node.ask(&mut client, &words("DBSIZE")), node.core.data_memory()), (":0|".to_owned(), 0));
}

#[test]
fn every_member_is_drawn_at_some_time_and_the_same_ones_in_the_same_run() {
    let draws = || {
        let (mut node, mut client) = fresh();
        node.ask(&mut client, &words("SADD s a b c d e"));
        let mut drawn: Vec<String> =
            (0..50).map(|_| node.ask(&mut client, &words("SRANDMEMBER s"))).collect();
        drawn.push(node.ask(&mut client, &words("SRANDMEMBER s 3")));
        drawn.push(node.ask(&mut client, &words("SRANDMEMBER s -9")));
        drawn
    };
    let drawn = draws();
    for member in ["a", "b", "c", "d", "e"] {
        assert!(drawn.contains(&format!("$1|{member}|")), "{member} is never drawn");
    }
    assert!(drawn[50].starts_with("*3|") && drawn[51].starts_with("*9|"));
    assert_eq!(drawn, draws());
}

#[test]
fn nobody_can_ask_for_more_draws_than_memory_has_room_for() {
    let (mut node, mut client) = fresh();
    for line in ["SADD s a", "ZADD z 1 a", "HSET h f v"] {
        node.ask(&mut client, &words(line));
    }
    for line in
        ["SRANDMEMBER s -9223372036854775", "ZRANDMEMBER z -99999999", "HRANDFIELD h -99999999 WITHVALUES"]
    {
        assert_eq!(node.ask(&mut client, &words(line)), "-ERR value is out of range|", "{line}");
    }
    assert_eq!(node.ask(&mut client, &words("SRANDMEMBER s 9223372036854775")), "*1|$1|a|");
}

fn fresh() -> (Node, Session) {
    let mut node = Node::new();
    let client = node.client();
    (node, client)
}
