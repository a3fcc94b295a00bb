//! Clients that wait for a key, as the core serves them: who is given what, what replicas are told, and who waits no
//! more.

use doublehold_sim_redis::core::{Next, Session, Unblocked};

use crate::support::{Node, words};

/// A node and so many clients.
fn world(clients: usize) -> (Node, Vec<Session>) {
    let mut node = Node::new();
    let clients = (0..clients).map(|_| node.client()).collect();
    (node, clients)
}

fn waits(node: &mut Node, client: &mut Session, line: &str) {
    let (next, reply) = node.execute(client, &words(line));
    assert!(matches!(next, Next::Blocked { .. }) && reply.is_empty(), "{line}: {next:?} {reply}");
}

/// What a client that waited has been told, if it waits no more.
fn told(node: &mut Node, client: &Session) -> Option<(Unblocked, String)> {
    let how = node.core.take_unblocked(client.id())?;
    let mut bytes = Vec::new();
    node.core.take_pushed(client.id(), &mut bytes);
    Some((how, String::from_utf8_lossy(&bytes).replace("\r\n", "|")))
}

fn answer(text: &str) -> Option<(Unblocked, String)> {
    Some((Unblocked::Answered, text.to_owned()))
}

#[test]
fn an_element_goes_to_the_one_who_came_first_and_to_nobody_else() {
    let (mut node, mut clients) = world(4);
    let mut pusher = clients.pop().expect("four");
    for client in &mut clients {
        waits(&mut node, client, "BLPOP q 0");
    }
    assert_eq!(node.ask(&mut pusher, &words("RPUSH q x")), ":1|");
    assert_eq!(told(&mut node, &clients[0]), answer("*2|$1|q|$1|x|"));
    assert_eq!((told(&mut node, &clients[1]), told(&mut node, &clients[2])), (None, None));
    node.ask(&mut pusher, &words("RPUSH q y z w"));
    assert_eq!(told(&mut node, &clients[1]), answer("*2|$1|q|$1|y|"));
    assert_eq!(told(&mut node, &clients[2]), answer("*2|$1|q|$1|z|"));
    assert_eq!(node.ask(&mut pusher, &words("LRANGE q 0 -1")), "*1|$1|w|");
    assert_eq!(told(&mut node, &clients[0]), None, "it is told once");
}

#[test]
fn what_each_takes_reaches_replicas_as_a_unit_of_its_own_behind_the_push() {
    let (mut node, mut clients) = world(6);
    let lines = [
        "BLPOP a 0",
        "BRPOPLPUSH b to 0",
        "BLMOVE c to RIGHT LEFT 0",
        "BLMPOP 0 1 d LEFT COUNT 9",
        "BZMPOP 0 1 e MIN COUNT 9",
    ];
    let mut pusher = clients.pop().expect("six");
    for (client, line) in clients.iter_mut().zip(lines) {
        waits(&mut node, client, line);
    }
    for line in ["MULTI", "RPUSH a 1 2", "RPUSH b 1", "RPUSH c 1", "RPUSH d 1 2", "ZADD e 1 x 2 y", "EXEC"] {
        node.ask(&mut pusher, &words(line));
    }
    let expected = [
        "SELECT 0",
        "RPUSH a 1 2",
        "RPUSH b 1",
        "RPUSH c 1",
        "RPUSH d 1 2",
        "ZADD e 1 x 2 y",
        "EXEC",
        "LPOP a",
        "RPOPLPUSH b to",
        "LMOVE c to RIGHT LEFT",
        "LPOP d 2",
        "ZPOPMIN e 2",
    ];
    let propagated = node.propagated();
    assert_eq!((propagated[0].as_str(), &propagated[1..]), ("MULTI", expected.map(String::from).as_slice()));
    waits(&mut node, &mut clients[0], "BZPOPMAX z 0");
    node.ask(&mut pusher, &words("ZADD z 1 x"));
    assert_eq!(node.propagated(), ["ZADD z 1 x", "ZPOPMAX z"]);
}

#[test]
fn a_key_that_comes_and_goes_within_a_transaction_or_a_script_serves_nobody() {
    let (mut node, mut clients) = world(2);
    waits(&mut node, &mut clients[0], "BLPOP q 0");
    for line in ["MULTI", "RPUSH q x", "DEL q", "EXEC"] {
        node.ask(&mut clients[1], &words(line));
    }
    node.ask(&mut clients[1], &["EVAL", "redis.call('rpush', 'q', 1) return redis.call('lpop', 'q')", "0"]);
    node.ask(&mut clients[1], &words("SET q v"));
    node.ask(&mut clients[1], &words("DEL q"));
    assert_eq!(told(&mut node, &clients[0]), None);
    node.ask(&mut clients[1], &["EVAL", "return redis.call('rpush', 'q', 1, 2)", "0"]);
    assert_eq!(told(&mut node, &clients[0]), answer("*2|$1|q|$1|1|"));
}

#[test]
fn who_is_killed_or_gone_or_out_of_time_waits_no_more() {
    let (mut node, mut clients) = world(5);
    let mut pusher = clients.pop().expect("five");
    for client in &mut clients {
        waits(&mut node, client, "BLPOP q r 5");
    }
    assert!(node.ask(&mut pusher, &words("INFO clients")).contains("blocked_clients:4"));
    node.ask(&mut pusher, &["CLIENT", "KILL", "ID", &clients[0].id().to_string()]);
    let mut gone = clients.remove(1);
    node.core.note_disconnected(&mut gone);
    node.core.time_out(clients[1].id());
    assert_eq!(told(&mut node, &clients[1]), answer("*-1|"));
    assert!(node.ask(&mut pusher, &words("INFO clients")).contains("blocked_clients:1"));
    node.ask(&mut pusher, &words("RPUSH r x y"));
    assert_eq!(told(&mut node, &clients[2]), answer("*2|$1|r|$1|x|"));
    assert_eq!(node.ask(&mut pusher, &words("LRANGE r 0 -1")), "*1|$1|y|");
    node.core.time_out(clients[2].id());
    assert_eq!(told(&mut node, &clients[2]), None, "a limit that ends too late changes nothing");
}

#[test]
fn a_time_limit_is_a_moment_on_the_wall_clock_rounded_up_to_milliseconds() {
    let (mut node, mut clients) = world(1);
    for (timeout, expected) in [("0", None), ("5", Some(1_005_000)), ("0.0001", Some(1_000_001))] {
        let (next, _) = node.execute(&mut clients[0], &["BLPOP", "q", timeout]);
        assert_eq!(next, Next::Blocked { deadline_ms: expected }, "{timeout}");
        node.core.time_out(clients[0].id());
    }
}

#[test]
fn another_client_can_end_a_wait_with_an_error() {
    let (mut node, mut clients) = world(2);
    waits(&mut node, &mut clients[0], "BLPOP q 0");
    node.ask(&mut clients[1], &words("CLIENT UNBLOCK 1 ERROR"));
    let error = "-UNBLOCKED client unblocked via CLIENT UNBLOCK|";
    assert_eq!(told(&mut node, &clients[0]), answer(error));
}

#[test]
fn a_master_or_a_file_never_waits() {
    let mut node = Node::new();
    let mut link = Session::master_link(7);
    node.become_replica();
    node.apply(&mut link, &words("BLPOP q 0"));
    node.apply(&mut link, &words("RPUSH q x"));
    let mut client = node.client();
    assert_eq!(node.ask(&mut client, &words("LLEN q")), ":1|");
}

#[test]
fn what_expired_before_it_could_be_given_is_given_to_nobody() {
    let (mut node, mut clients) = world(2);
    node.ask(&mut clients[1], &words("RPUSH old x"));
    node.ask(&mut clients[1], &words("PEXPIRE old 5"));
    waits(&mut node, &mut clients[0], "BLPOP q 0");
    node.now_ms += 6;
    node.ask(&mut clients[1], &words("RENAME old q"));
    assert_eq!(told(&mut node, &clients[0]), None);
}
