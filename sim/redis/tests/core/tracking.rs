//! CLIENT TRACKING: who is told of which change, once, and where that stands among replies.

use doublehold_sim_redis::core::Session;

use crate::support::{Node, check, words};

fn pushed(node: &mut Node, session: &Session) -> String {
    node.core.take_news();
    let mut bytes = Vec::new();
    node.core.take_pushed(session.id(), &mut bytes);
    String::from_utf8_lossy(&bytes).replace("\r\n", "|")
}

fn tracker(node: &mut Node, options: &str) -> Session {
    let mut session = node.client();
    node.ask(&mut session, &["HELLO", "3"]);
    assert_eq!(node.ask(&mut session, &words(&format!("CLIENT TRACKING ON{options}"))), "+OK|", "{options}");
    session
}

const GONE: &str = ">2|$10|invalidate|*1|$1|k|";

#[test]
fn who_has_read_a_key_is_told_once() {
    let mut node = Node::new();
    let (mut reads, mut writes) = (tracker(&mut node, ""), node.client());
    node.ask(&mut writes, &words("SET k 1"));
    assert_eq!(pushed(&mut node, &reads), "", "it has not read it");
    node.ask(&mut reads, &words("GET k"));
    node.ask(&mut writes, &words("SET k 2"));
    assert_eq!(pushed(&mut node, &reads), GONE);
    node.ask(&mut writes, &words("SET k 3"));
    assert_eq!(pushed(&mut node, &reads), "", "it has been told");
    node.ask(&mut reads, &words("MGET a k"));
    node.ask(&mut writes, &words("EXPIRE k 100"));
    assert_eq!(pushed(&mut node, &reads), GONE);
}

#[test]
fn its_own_writes_come_behind_the_reply_unless_it_wants_none_of_them() {
    let mut node = Node::new();
    let mut client = tracker(&mut node, "");
    node.ask(&mut client, &words("GET k"));
    assert_eq!(node.ask(&mut client, &words("SET k 1")), format!("+OK|{GONE}"));
    node.ask(&mut client, &words("GET k"));
    check(&mut node, &mut client, &[("MULTI", "+OK|"), ("DEL k", "+QUEUED|"), ("PING", "+QUEUED|")]);
    assert_eq!(node.ask(&mut client, &["EXEC"]), format!("*2|:1|+PONG|{GONE}"));
    let mut client = tracker(&mut node, " NOLOOP");
    node.ask(&mut client, &words("GET k"));
    assert_eq!(node.ask(&mut client, &words("SET k 1")), "+OK|");
}

#[test]
fn a_script_that_reads_and_deletes_tells_its_own_client() {
    let mut node = Node::new();
    let mut client = tracker(&mut node, "");
    node.ask(&mut client, &words("SET k token"));
    let unlock =
        "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0";
    assert_eq!(node.ask(&mut client, &["EVAL", unlock, "1", "k", "token"]), format!(":1|{GONE}"));
}

#[test]
fn what_expires_is_told_when_it_is_found_expired() {
    let mut node = Node::new();
    let (mut reads, mut other) = (tracker(&mut node, ""), node.client());
    node.ask(&mut other, &words("SET k 1 PX 10"));
    node.ask(&mut reads, &words("GET k"));
    node.now_ms += 100;
    assert_eq!(pushed(&mut node, &reads), "");
    node.ask(&mut other, &words("GET k"));
    assert_eq!(pushed(&mut node, &reads), GONE);
}

#[test]
fn bcast_tells_of_prefixes_at_the_end_of_a_turn_all_keys_at_once() {
    let mut node = Node::new();
    let (hears, quiet) =
        (tracker(&mut node, " BCAST PREFIX a"), tracker(&mut node, " BCAST NOLOOP PREFIX a"));
    let mut writes = node.client();
    for command in ["SET a2 1", "SET b 1", "SET a1 1", "SET a2 2"] {
        node.ask(&mut writes, &words(command));
    }
    assert_eq!(pushed(&mut node, &hears), "");
    node.core.end_turn();
    let both = ">2|$10|invalidate|*2|$2|a1|$2|a2|";
    assert_eq!(pushed(&mut node, &hears), both);
    assert_eq!(pushed(&mut node, &quiet), both);
    let mut quiet = quiet;
    node.ask(&mut quiet, &words("SET a3 1"));
    node.core.end_turn();
    assert_eq!(pushed(&mut node, &hears), ">2|$10|invalidate|*1|$2|a3|");
    assert_eq!(pushed(&mut node, &quiet), "");
}

#[test]
fn opting_in_and_out_is_about_the_next_command() {
    let mut node = Node::new();
    let (mut optin, mut optout, mut writes) =
        (tracker(&mut node, " OPTIN"), tracker(&mut node, " OPTOUT"), node.client());
    for session in [&mut optin, &mut optout] {
        node.ask(session, &words("GET k"));
    }
    node.ask(&mut writes, &words("SET k 1"));
    assert_eq!((pushed(&mut node, &optin).as_str(), pushed(&mut node, &optout).as_str()), ("", GONE));
    assert_eq!(node.ask(&mut optin, &words("CLIENT CACHING YES")), "+OK|");
    assert_eq!(node.ask(&mut optout, &words("CLIENT CACHING NO")), "+OK|");
    for session in [&mut optin, &mut optout] {
        node.ask(session, &words("GET k"));
        node.ask(session, &words("GET other"));
    }
    node.ask(&mut writes, &words("SET k 2"));
    assert_eq!((pushed(&mut node, &optin).as_str(), pushed(&mut node, &optout).as_str()), (GONE, ""));
}

#[test]
fn another_connection_is_told_as_a_message_and_when_it_is_gone_that_is_told() {
    let mut node = Node::new();
    let mut listens = node.client();
    node.ask(&mut listens, &words("SUBSCRIBE __redis__:invalidate"));
    let options = format!(" REDIRECT {}", listens.id());
    let (mut reads, mut writes) = (tracker(&mut node, &options), node.client());
    node.ask(&mut reads, &words("GET k"));
    node.ask(&mut writes, &words("SET k 1"));
    assert_eq!(pushed(&mut node, &listens), "*3|$7|message|$20|__redis__:invalidate|*1|$1|k|");
    node.ask(&mut writes, &words("FLUSHALL"));
    assert_eq!(pushed(&mut node, &listens), "*3|$7|message|$20|__redis__:invalidate|_|");
    node.core.note_disconnected(&mut listens);
    node.ask(&mut reads, &words("GET k"));
    node.ask(&mut writes, &words("SET k 2"));
    assert_eq!(pushed(&mut node, &reads), format!(">2|$21|tracking-redir-broken|:{}|", listens.id()));
    assert!(node.ask(&mut reads, &words("CLIENT TRACKINGINFO")).contains("broken_redirect"));
}
