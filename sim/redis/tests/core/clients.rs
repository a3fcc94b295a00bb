//! What CLIENT LIST shows of connections, and what is kept for them.

use doublehold_sim_redis::core::Session;

use crate::support::{Node, words};

/// These fields of each connection that `command` lists, one connection a line.
fn listed(node: &mut Node, client: &mut Session, command: &str, fields: &[&str]) -> Vec<String> {
    let reply = node.ask(client, &words(command));
    let text = reply.split_once('|').expect("a text").1.trim_end_matches('|').to_owned();
    let shown = |line: &str| {
        let kept = line
            .split(' ')
            .filter(|part| part.split_once('=').is_some_and(|(name, _)| fields.contains(&name)));
        kept.collect::<Vec<_>>().join(" ")
    };
    text.lines().map(shown).collect()
}

#[test]
fn every_connection_is_listed_with_what_it_last_did() {
    let mut node = Node::new();
    let (mut a, mut b, mut c) = (node.client(), node.client(), node.client());
    for command in ["CLIENT SETNAME worker", "SELECT 3", "HELLO 3", "CLIENT NO-EVICT on", "GET k"] {
        node.ask(&mut a, &words(command));
    }
    for command in ["WATCH k", "MULTI", "INCR n", "INCR n"] {
        node.ask(&mut b, &words(command));
    }
    node.now_ms += 7_000;
    node.ask(&mut c, &words("SET k v"));
    let fields = ["id", "name", "age", "idle", "flags", "db", "multi", "cmd", "resp"];
    let expected = [
        "id=1 name=worker age=7 idle=7 flags=e db=3 multi=-1 cmd=get resp=3",
        "id=2 name= age=7 idle=7 flags=xd db=0 multi=2 cmd=incr resp=2",
        "id=3 name= age=7 idle=0 flags=N db=0 multi=-1 cmd=client|list resp=2",
    ];
    assert_eq!(listed(&mut node, &mut c, "CLIENT LIST", &fields), expected);
    assert_eq!(listed(&mut node, &mut c, "CLIENT LIST ID 2 9 2 1", &["id"]), ["id=2", "id=2", "id=1"]);
    assert_eq!(listed(&mut node, &mut c, "CLIENT LIST TYPE Normal", &["id"]), ["id=1", "id=2", "id=3"]);
    assert_eq!(listed(&mut node, &mut c, "CLIENT LIST TYPE pubsub", &["id"]), [""; 0]);
    assert_eq!(
        listed(&mut node, &mut c, "CLIENT INFO", &fields),
        ["id=3 name= age=7 idle=0 flags=N db=0 multi=-1 cmd=client|info resp=2"]
    );
    node.ask(&mut a, &["RESET"]);
    node.ask(&mut b, &["NOSUCHCOMMAND"]);
    node.core.note_disconnected(&mut c);
    let expected = [
        "id=1 name= age=7 idle=0 flags=e db=0 multi=-1 cmd=reset resp=2",
        "id=2 name= age=7 idle=0 flags=xd db=0 multi=2 cmd=NULL resp=2",
    ];
    let mut d = node.client();
    assert_eq!(listed(&mut node, &mut d, "CLIENT LIST", &fields)[..2], expected);
}

#[test]
fn a_connection_that_became_a_replica_is_listed_as_one() {
    let mut node = Node::new();
    let (mut replica, mut client) = (node.client(), node.client());
    node.execute(&mut replica, &["PSYNC", "?", "-1"]);
    assert_eq!(
        listed(&mut node, &mut client, "CLIENT LIST TYPE replica", &["id", "flags", "cmd"]),
        ["id=1 flags=S cmd=psync"]
    );
    assert_eq!(listed(&mut node, &mut client, "CLIENT LIST TYPE slave", &["id"]), ["id=1"]);
    assert_eq!(listed(&mut node, &mut client, "CLIENT LIST TYPE normal", &["id"]), ["id=2"]);
    assert_eq!(listed(&mut node, &mut client, "CLIENT LIST TYPE master", &["id"]), [""; 0]);
}

#[test]
fn a_transaction_that_lists_clients_is_listed_as_under_way() {
    let mut node = Node::new();
    let mut client = node.client();
    for command in ["MULTI", "SELECT 2", "CLIENT INFO"] {
        node.ask(&mut client, &words(command));
    }
    let reply = node.ask(&mut client, &["EXEC"]);
    for field in ["flags=x ", "db=2 ", "multi=2 ", "cmd=exec "] {
        assert!(reply.contains(field), "{field} in {reply}");
    }
}

#[test]
fn an_outbox_that_nobody_takes_ends_its_session_at_the_hard_limit() {
    let mut node = Node::new();
    let (mut monitor, mut client) = (node.client(), node.client());
    node.ask(&mut client, &["CONFIG", "SET", "client-output-buffer-limit", "normal 1000 0 0"]);
    assert_eq!(node.ask(&mut monitor, &["MONITOR"]), "+OK|");
    let mut pushed = 0;
    while !node.core.is_killed(monitor.id()) {
        assert!(pushed < 100, "{pushed} commands are shown, and it is still there");
        pushed += 1;
        node.ask(&mut client, &["PING"]);
    }
    assert!((10..=30).contains(&pushed), "{pushed}");
    assert_eq!(node.core.take_news(), [monitor.id(), monitor.id()], "pushed to, then killed");
    let mut nothing = Vec::new();
    node.core.take_pushed(monitor.id(), &mut nothing);
    assert!(nothing.is_empty());
    node.core.note_disconnected(&mut monitor);
    assert_eq!(node.core.connected_clients(), 1);
}
