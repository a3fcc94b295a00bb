//! Subscriptions and messages: who is told what, in which order, and who is not. That the replies are Redis', the
//! transcripts show.

use doublehold_sim_redis::core::{CoreConfig, Next, ScriptLimit, Session, StreamError};
use doublehold_sim_redis::resp::OwnedArgs;

use crate::support::{Node, check, words};

/// What was pushed to a session and not taken yet, line ends as `|`.
fn pushed(node: &mut Node, session: &Session) -> String {
    let mut bytes = Vec::new();
    node.core.take_pushed(session.id(), &mut bytes);
    String::from_utf8_lossy(&bytes).replace("\r\n", "|")
}

/// A message as RESP2 has it, line ends as `|`.
fn message(words: &[&str]) -> String {
    let words: Vec<String> = words.iter().map(|word| format!("${}|{word}|", word.len())).collect();
    format!("*{}|{}", words.len(), words.concat())
}

fn subscriber(node: &mut Node, command: &str) -> Session {
    let mut session = node.client();
    node.ask(&mut session, &words(command));
    session
}

#[test]
fn who_has_subscribed_is_woken_and_nobody_else() {
    let mut node = Node::new();
    let hears = subscriber(&mut node, "SUBSCRIBE news");
    let by_pattern = subscriber(&mut node, "PSUBSCRIBE n?ws");
    let others = ["SUBSCRIBE new", "SUBSCRIBE newspaper", "PSUBSCRIBE m*", "SSUBSCRIBE news", "GET news"];
    let others: Vec<Session> = others.iter().map(|command| subscriber(&mut node, command)).collect();
    let mut left = subscriber(&mut node, "SUBSCRIBE news other");
    node.ask(&mut left, &["UNSUBSCRIBE", "news"]);
    let mut publisher = node.client();
    assert_eq!(node.core.take_news(), [0; 0], "a confirmation is an answer");
    assert_eq!(node.ask(&mut publisher, &["PUBLISH", "news", "hello"]), ":2|");
    assert_eq!(node.core.take_news(), [hears.id(), by_pattern.id()]);
    assert_eq!(pushed(&mut node, &hears), message(&["message", "news", "hello"]));
    assert_eq!(pushed(&mut node, &by_pattern), message(&["pmessage", "n?ws", "news", "hello"]));
    for other in others.iter().chain([&left, &publisher]) {
        assert_eq!(pushed(&mut node, other), "");
        assert!(!node.core.has_news(other.id()));
    }
    assert_eq!(node.ask(&mut publisher, &["SPUBLISH", "news", "hello"]), ":1|");
    assert_eq!(node.core.take_news(), [others[3].id()]);
    assert_eq!(pushed(&mut node, &others[3]), message(&["smessage", "news", "hello"]));
}

#[test]
fn channels_go_before_patterns_and_who_came_first_is_told_first() {
    let mut node = Node::new();
    let (mut a, mut b, mut c) = (node.client(), node.client(), node.client());
    node.ask(&mut c, &["PSUBSCRIBE", "*s", "n*"]);
    node.ask(&mut b, &["SUBSCRIBE", "news"]);
    node.ask(&mut a, &["SUBSCRIBE", "news"]);
    // Who asks again keeps its place.
    node.ask(&mut b, &["SUBSCRIBE", "news"]);
    node.ask(&mut b, &["PSUBSCRIBE", "n*"]);
    let mut publisher = node.client();
    assert_eq!(node.ask(&mut publisher, &["PUBLISH", "news", "1"]), ":5|");
    assert_eq!(node.core.take_news(), [b.id(), a.id(), c.id()]);
    let both = [message(&["message", "news", "1"]), message(&["pmessage", "n*", "news", "1"])];
    assert_eq!(pushed(&mut node, &b), both.concat());
    let by_name = [message(&["pmessage", "*s", "news", "1"]), message(&["pmessage", "n*", "news", "1"])];
    assert_eq!(pushed(&mut node, &c), by_name.concat());
    // Who comes back is the last.
    node.ask(&mut b, &["UNSUBSCRIBE"]);
    node.ask(&mut b, &["SUBSCRIBE", "news"]);
    pushed(&mut node, &a);
    node.ask(&mut publisher, &["PUBLISH", "news", "2"]);
    assert_eq!(node.core.take_news(), [a.id(), b.id(), c.id()]);
}

#[test]
fn subscriptions_end_from_the_oldest_to_the_youngest() {
    let mut node = Node::new();
    let mut client = node.client();
    node.ask(&mut client, &words("SUBSCRIBE c a b c"));
    let confirmed = |name: &str, count: u32| format!("*3|$11|unsubscribe|$1|{name}|:{count}|");
    let expected = [confirmed("c", 2), confirmed("a", 1), confirmed("b", 0)].concat();
    assert_eq!(node.ask(&mut client, &["UNSUBSCRIBE"]), expected);
}

#[test]
fn who_was_reset_killed_or_disconnected_is_neither_told_nor_counted() {
    let mut node = Node::new();
    let mut publisher = node.client();
    for topics in ["SUBSCRIBE news", "PSUBSCRIBE n*", "SSUBSCRIBE news"] {
        let [mut reset, killed, mut gone] = [topics; 3].map(|topics| subscriber(&mut node, topics));
        node.ask(&mut reset, &["RESET"]);
        assert_eq!(node.ask(&mut publisher, &["CLIENT", "KILL", "ID", &killed.id().to_string()]), ":1|");
        node.core.note_disconnected(&mut gone);
        node.core.take_news();
        check(
            &mut node,
            &mut publisher,
            &[
                ("PUBLISH news hello", ":0|"),
                ("SPUBLISH news hello", ":0|"),
                ("PUBSUB CHANNELS", "*0|"),
                ("PUBSUB SHARDCHANNELS", "*0|"),
                ("PUBSUB NUMPAT", ":0|"),
                ("CLIENT LIST TYPE pubsub", "$0||"),
            ],
        );
        assert_eq!(node.core.take_news(), [0; 0]);
        assert_eq!(node.ask(&mut reset, &["GET", "k"]), "$-1|", "it may do everything again");
    }
}

#[test]
fn a_message_is_lost_by_nobody_who_is_still_connected() {
    let mut node = Node::new();
    let listens = subscriber(&mut node, "SUBSCRIBE news");
    let mut publisher = node.client();
    let limit = ["CONFIG", "SET", "client-output-buffer-limit", "normal 1 0 0 pubsub 1000 0 0"];
    // The reply to a command of one byte is longer.
    node.ask(&mut publisher, &limit);
    let one = message(&["message", "news", "x"]);
    let fit = 1000 / one.replace('|', "\r\n").len();
    for _ in 0..fit {
        assert_eq!(node.ask(&mut publisher, &["PUBLISH", "news", "x"]), ":1|");
        assert!(!node.core.is_killed(listens.id()));
    }
    assert_eq!(pushed(&mut node, &listens), one.repeat(fit), "what waits is whole");
    for _ in 0..=fit {
        assert!(!node.core.is_killed(listens.id()));
        node.ask(&mut publisher, &["PUBLISH", "news", "x"]);
    }
    assert!(node.core.is_killed(listens.id()), "it does not fit, so the connection ends");
    assert_eq!(node.ask(&mut publisher, &["PUBLISH", "news", "x"]), ":0|");
}

#[test]
fn who_outgrows_its_own_outbox_is_closed() {
    let mut node = Node::new();
    let mut client = node.client();
    node.ask(&mut client, &["CONFIG", "SET", "client-output-buffer-limit", "pubsub 1000 0 0"]);
    for command in ["HELLO 3", "SUBSCRIBE news", "CLIENT REPLY OFF"] {
        node.ask(&mut client, &words(command));
    }
    node.ask(&mut client, &["PUBLISH", "news", &"x".repeat(900)]);
    assert!(!node.core.take_output_overflow());
    node.ask(&mut client, &["PUBLISH", "news", &"x".repeat(1000)]);
    assert!(node.core.take_output_overflow());
}

#[test]
fn messages_are_propagated_while_somebody_may_replicate_and_by_a_master_only() {
    let mut node = Node::new();
    let mut client = node.client();
    node.ask(&mut client, &["PUBLISH", "news", "nobody replicates"]);
    assert_eq!(node.propagated(), [""; 0]);
    node.core.replication_mut().counting = true;
    for command in ["SELECT 3", "publish news one", "SPUBLISH news two"] {
        node.ask(&mut client, &words(command));
    }
    assert_eq!(node.propagated(), ["SELECT 3", "publish news one", "SPUBLISH news two"]);
    for command in ["MULTI", "SET k v", "PUBLISH news three", "EXEC"] {
        node.ask(&mut client, &words(command));
    }
    assert_eq!(node.propagated(), ["MULTI", "SET k v", "PUBLISH news three", "EXEC"]);
    let script = "redis.call('PUBLISH', 'news', 'four') return redis.call('PUBLISH', 'news', 'five')";
    node.ask(&mut client, &["EVAL", script, "0"]);
    assert_eq!(node.propagated(), ["MULTI", "PUBLISH news four", "PUBLISH news five", "EXEC"]);
    let offset = node.core.replication().offset;
    node.ask(&mut client, &["PUBLISH", "news", "six"]);
    let mut bytes = Vec::new();
    node.core.take_propagated(&mut bytes);
    assert_eq!(node.core.replication().offset, offset + bytes.len() as u64, "a replica counts them");
    node.become_replica();
    assert_eq!(node.ask(&mut client, &["PUBLISH", "news", "seven"]), ":0|");
    assert_eq!(node.propagated(), [""; 0]);
}

#[test]
fn what_a_master_publishes_its_replicas_subscribers_hear_and_its_link_subscribes_to_nothing() {
    let mut node = Node::new();
    node.become_replica();
    let listens = subscriber(&mut node, "SUBSCRIBE news");
    let mut link = Session::master_link(0);
    for command in ["PUBLISH news one", "MULTI", "SET k v", "PUBLISH news two"] {
        node.apply(&mut link, &words(command));
    }
    assert_eq!(pushed(&mut node, &listens), message(&["message", "news", "one"]), "the other is queued");
    node.apply(&mut link, &["EXEC"]);
    assert_eq!(pushed(&mut node, &listens), message(&["message", "news", "two"]));
    for command in ["subscribe", "psubscribe", "ssubscribe", "unsubscribe"] {
        let args: OwnedArgs = [command, "news"].iter().collect();
        let refused = node.core.apply(&mut link, node.now(), &args.args());
        assert_eq!(refused, Err(StreamError::NotPropagated(command)));
    }
}

#[test]
fn a_script_pays_for_whoever_may_hear_it() {
    let limit = CoreConfig { script_limit: ScriptLimit::Instructions(50_000), ..CoreConfig::default() };
    let loop_of = |channel: &str| format!("for i = 1, 100 do redis.call('PUBLISH', '{channel}', 'x') end");
    for (topics, runs) in [("PSUBSCRIBE", Next::Held), ("SUBSCRIBE", Next::Reply)] {
        let mut node = Node::with(limit.clone());
        let mut listens = node.client();
        let names: Vec<String> = (0..1_000).map(|number| format!("a*a*b{number}")).collect();
        let mut command = vec![topics];
        command.extend(names.iter().map(String::as_str));
        node.ask(&mut listens, &command);
        let mut client = node.client();
        let (next, _) = node.execute(&mut client, &["EVAL", &loop_of("aaaaaaaaaaaa"), "0"]);
        assert_eq!(next, runs, "{topics}");
    }
    let mut node = Node::with(limit);
    for _ in 0..1_000 {
        subscriber(&mut node, "SUBSCRIBE news");
    }
    let mut client = node.client();
    assert_eq!(node.execute(&mut client, &["EVAL", &loop_of("news"), "0"]).0, Next::Held);
    assert!(
        !node.core.take_news().is_empty(),
        "what it has said is heard, as by a Redis whose script never ends"
    );
}

#[test]
fn a_script_that_only_reads_publishes_nothing() {
    let mut node = Node::new();
    let listens = subscriber(&mut node, "SUBSCRIBE news");
    let mut client = node.client();
    let script = "return redis.pcall('PUBLISH', 'news', 'x').err";
    let refused = node.ask(&mut client, &["EVAL_RO", script, "0"]);
    assert!(refused.contains("Write commands are not allowed from read-only scripts."), "{refused}");
    assert_eq!(pushed(&mut node, &listens), "");
}

#[test]
fn a_transaction_that_is_not_executed_tells_nobody() {
    let mut node = Node::new();
    let listens = subscriber(&mut node, "SUBSCRIBE news");
    let (mut client, mut other) = (node.client(), node.client());
    for command in ["MULTI", "PUBLISH news discarded", "DISCARD", "WATCH k", "MULTI", "PUBLISH news lost"] {
        node.ask(&mut client, &words(command));
    }
    node.ask(&mut other, &["SET", "k", "v"]);
    assert_eq!(node.ask(&mut client, &["EXEC"]), "*-1|");
    assert_eq!(node.core.take_news(), [0; 0]);
    assert_eq!(pushed(&mut node, &listens), "");
}
