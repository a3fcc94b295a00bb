//! CLIENT PAUSE: which requests wait, until when, and that nothing expires meanwhile.

use doublehold_sim_redis::core::{Next, Session, WallMicros};
use doublehold_sim_redis::resp::OwnedArgs;

use crate::support::{Node, check, words};

fn waits(node: &mut Node, session: &mut Session, command: &str) -> bool {
    let (next, reply) = node.execute(session, &words(command));
    assert!(next != Next::Paused || reply.is_empty(), "{command} waits and says {reply}");
    next == Next::Paused
}

#[test]
fn what_may_write_waits_and_what_reads_does_not() {
    let mut node = Node::new();
    let (mut admin, mut client) = (node.client(), node.client());
    check(&mut node, &mut admin, &[("CLIENT PAUSE 1000 WRITE", "+OK|")]);
    for command in ["SET k v", "DEL k", "PUBLISH news x", "SPUBLISH news x", "EVALSHA x 0", "FLUSHALL"] {
        assert!(waits(&mut node, &mut client, command), "{command}");
    }
    for command in ["GET k", "PING", "SUBSCRIBE news", "UNSUBSCRIBE news", "SET k", "INFO"] {
        assert!(!waits(&mut node, &mut client, command), "{command}");
    }
    let read_only = ["EVAL", "#!lua flags=no-writes\nreturn 1", "0"];
    assert_eq!(node.ask(&mut client, &read_only), ":1|");
    assert_eq!(node.execute(&mut client, &["EVAL", "return 1", "0"]).0, Next::Paused);
    assert_eq!(node.ask(&mut client, &["EVAL_RO", "return 1", "0"]), ":1|");
}

#[test]
fn a_pause_of_all_lets_nobody_through_and_ends_by_itself() {
    let mut node = Node::new();
    let (mut admin, mut client) = (node.client(), node.client());
    check(&mut node, &mut admin, &[("CLIENT PAUSE 100", "+OK|")]);
    assert!(waits(&mut node, &mut client, "PING"));
    assert!(waits(&mut node, &mut admin, "CLIENT UNPAUSE"), "nobody is let through");
    node.now_ms += 100;
    assert!(waits(&mut node, &mut client, "PING"), "the last millisecond belongs to it");
    assert_eq!(node.core.paused_until(), Some(WallMicros((node.now_ms + 1) * 1000)));
    node.now_ms += 1;
    assert_eq!(node.ask(&mut client, &["PING"]), "+PONG|");
}

#[test]
fn the_stricter_and_the_longer_pause_wins() {
    let mut node = Node::new();
    let (mut admin, mut client) = (node.client(), node.client());
    check(&mut node, &mut admin, &[("CLIENT PAUSE 500 WRITE", "+OK|"), ("CLIENT PAUSE 100 WRITE", "+OK|")]);
    node.now_ms += 400;
    assert!(waits(&mut node, &mut client, "SET k v"));
    check(&mut node, &mut admin, &[("CLIENT UNPAUSE", "+OK|")]);
    assert!(!waits(&mut node, &mut client, "SET k v"));
    check(&mut node, &mut admin, &[("CLIENT PAUSE 500 WRITE", "+OK|"), ("CLIENT PAUSE 10 ALL", "+OK|")]);
    node.now_ms += 400;
    assert!(waits(&mut node, &mut client, "GET k"), "all are paused, for the longer time");
}

#[test]
fn a_transaction_waits_as_a_whole_and_one_that_pauses_ends_first() {
    let mut node = Node::new();
    let (mut admin, mut client) = (node.client(), node.client());
    check(&mut node, &mut client, &[("MULTI", "+OK|"), ("SET k v", "+QUEUED|")]);
    check(&mut node, &mut admin, &[("MULTI", "+OK|"), ("SET a 1", "+QUEUED|")]);
    check(&mut node, &mut admin, &[("CLIENT PAUSE 1000 WRITE", "+QUEUED|"), ("SET b 1", "+QUEUED|")]);
    assert_eq!(node.ask(&mut admin, &["EXEC"]), "*3|+OK|+OK|+OK|");
    assert!(waits(&mut node, &mut client, "EXEC"));
    check(&mut node, &mut admin, &[("GET k", "$-1|"), ("CLIENT UNPAUSE", "+OK|")]);
    assert_eq!(node.ask(&mut client, &["EXEC"]), "*1|+OK|");
}

#[test]
fn nothing_expires_while_clients_are_paused() {
    let mut node = Node::new();
    let mut client = node.client();
    check(&mut node, &mut client, &[("SET k v PX 10", "+OK|"), ("CLIENT PAUSE 1000 WRITE", "+OK|")]);
    node.propagated();
    node.now_ms += 500;
    check(&mut node, &mut client, &[("GET k", "$-1|"), ("DBSIZE", ":1|")]);
    let now = node.now();
    node.core.expire_cycle(now);
    check(&mut node, &mut client, &[("DBSIZE", ":1|"), ("CLIENT UNPAUSE", "+OK|")]);
    assert_eq!(node.propagated(), [""; 0]);
    check(&mut node, &mut client, &[("GET k", "$-1|"), ("DBSIZE", ":0|")]);
    assert_eq!(node.propagated(), ["SELECT 0", "DEL k"][1..]);
}

#[test]
fn a_master_waits_too_and_who_waits_is_counted() {
    let mut node = Node::new();
    let (mut admin, mut client) = (node.client(), node.client());
    check(&mut node, &mut admin, &[("CLIENT PAUSE 1000 WRITE", "+OK|")]);
    assert!(waits(&mut node, &mut client, "SET k v"));
    assert!(node.ask(&mut admin, &["INFO", "clients"]).contains("blocked_clients:1|"));
    node.core.note_disconnected(&mut client);
    assert!(node.ask(&mut admin, &["INFO", "clients"]).contains("blocked_clients:0|"));
    node.become_replica();
    let mut link = Session::master_link(99);
    let write: OwnedArgs = ["SET", "k", "v"].into_iter().collect();
    assert_eq!(node.core.apply(&mut link, node.now(), &write.args()), Ok(Next::Paused));
}
