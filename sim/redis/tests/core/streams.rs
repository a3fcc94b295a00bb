//! Streams as the core keeps them: what replicas and files are told, what a data set that is loaded again has, and who
//! of those that wait for entries is told what.

use doublehold_sim_redis::core::{Core, CoreConfig, Next, ReplicationId, Session, Unblocked};
use doublehold_sim_redis::resp::RequestBuffer;

use crate::support::{Node, check, words};

fn waits(node: &mut Node, client: &mut Session, line: &str) -> Option<i64> {
    let (next, reply) = node.execute(client, &words(line));
    match next {
        Next::Blocked { deadline_ms } if reply.is_empty() => deadline_ms,
        next => panic!("{line}: {next:?} {reply}"),
    }
}

/// What a client that waited has been told, if it waits no more.
fn told(node: &mut Node, client: &Session) -> Option<String> {
    let how = node.core.take_unblocked(client.id())?;
    assert_eq!(how, Unblocked::Answered);
    let mut bytes = Vec::new();
    node.core.take_pushed(client.id(), &mut bytes);
    Some(String::from_utf8_lossy(&bytes).replace("\r\n", "|"))
}

/// Gives a stream so many entries, with the ids `1-0` and on.
fn fill(node: &mut Node, client: &mut Session, entries: usize) {
    let script =
        "for i = 1, ARGV[1] do redis.call('xadd', 's', i .. '-0', 'n', i) end return redis.call('xlen', 's')";
    assert_eq!(node.ask(client, &["EVAL", script, "0", &entries.to_string()]), format!(":{entries}|"));
}

#[test]
fn entries_reach_replicas_with_the_ids_that_they_got() {
    let mut node = Node::new();
    let mut client = node.client();
    for line in ["XADD s * a 1", "XADD s * b 2", "XADD s 1000001-* c 3", "XADD s NOMKSTREAM MAXLEN 2 * d 4"] {
        node.ask(&mut client, &words(line));
        node.now_ms += 1;
    }
    for line in
        ["XADD none NOMKSTREAM * a 1", "XADD s 5 a 1", "XDEL s 9", "XTRIM s MAXLEN 5", "XREAD STREAMS s 0"]
    {
        node.ask(&mut client, &words(line));
    }
    node.ask(&mut client, &words("XDEL s 1000003-0"));
    let expected = [
        "SELECT 0",
        "XADD s 1000000-0 a 1",
        "XADD s 1000001-0 b 2",
        "XADD s 1000001-1 c 3",
        "XADD s NOMKSTREAM MAXLEN 2 1000003-0 d 4",
        "XDEL s 1000003-0",
    ];
    assert_eq!(node.propagated(), expected);
}

#[test]
fn a_clock_that_is_set_back_does_not_set_ids_back() {
    let mut node = Node::new();
    let mut client = node.client();
    node.ask(&mut client, &words("XADD s * a 1"));
    node.now_ms -= 500;
    assert_eq!(node.ask(&mut client, &words("XADD s * a 1")), "$9|1000000-1|");
}

#[test]
fn inexact_trimming_reaches_replicas_as_what_it_came_to() {
    let mut node = Node::new();
    let mut client = node.client();
    fill(&mut node, &mut client, 450);
    node.propagated();
    for (line, reply, propagated) in [
        ("XTRIM s MAXLEN ~ 400", ":0|", vec![]),
        ("XTRIM s MAXLEN ~ 330 LIMIT 100", ":100|", vec!["XTRIM s MAXLEN = 350 LIMIT 100"]),
        ("XTRIM s MINID ~ 250", ":100|", vec!["XTRIM s MINID = 201-0"]),
        ("XADD s MAXLEN ~ 100 451-0 n 1", "$5|451-0|", vec!["XADD s MAXLEN = 151 451-0 n 1"]),
        (
            "XADD s MINID ~ 9999 452-0 n 1",
            "$5|452-0|",
            vec!["XADD s MINID = 18446744073709551615-18446744073709551615 452-0 n 1"],
        ),
    ] {
        assert_eq!(node.ask(&mut client, &words(line)), reply, "{line}");
        assert_eq!(node.propagated(), propagated, "{line}");
    }
    let mut replica = Node::new();
    replica.become_replica();
    let mut link = Session::master_link(0);
    for line in ["XADD s 1 a 1", "XADD s 2 a 1", "XADD s 3 a 1", "XTRIM s MAXLEN = 2 LIMIT 1"] {
        replica.apply(&mut link, &words(line));
    }
    let mut reader = replica.client();
    check(
        &mut replica,
        &mut reader,
        &[("XLEN s", ":2|"), ("XADD s * a 1", "-READONLY You can't write against a read only replica.|")],
    );
}

#[test]
fn a_stream_that_is_loaded_again_goes_on_behind_its_last_id() {
    let mut node = Node::new();
    let mut client = node.client();
    for line in [
        "XADD s 1-1 a 1 b 2",
        "XADD s 5-0 a 1 a 2",
        "XADD s 7-0 a 1",
        "XDEL s 7-0",
        "PEXPIREAT s 2000000",
        "XADD empty 4-2 a 1",
        "XTRIM empty MAXLEN 0",
    ] {
        node.ask(&mut client, &words(line));
    }
    let mut buffer = RequestBuffer::new();
    node.core.dump(buffer.tail());
    let mut loaded = Node::new();
    loaded.core = Core::new(CoreConfig::default(), [1; 20], ReplicationId([3; 20]));
    let mut loading = Session::loading();
    while let Some(args) = buffer.next_request().expect("a dump is RESP") {
        loaded.core.apply(&mut loading, loaded.now(), &args).expect("a dump can be loaded");
    }
    let mut reader = loaded.client();
    check(
        &mut loaded,
        &mut reader,
        &[
            ("XRANGE s - +", "*2|*2|$3|1-1|*4|$1|a|$1|1|$1|b|$1|2|*2|$3|5-0|*4|$1|a|$1|1|$1|a|$1|2|"),
            ("PEXPIRETIME s", ":2000000|"),
            ("XADD s 7-* a 1", "$3|7-1|"),
            ("XLEN empty", ":0|"),
            ("XADD empty 4-* a 1", "$3|4-3|"),
        ],
    );
}

#[test]
fn everybody_who_waits_for_a_stream_gets_what_is_new_to_them() {
    let mut node = Node::new();
    let (mut writer, mut one, mut two, mut three) =
        (node.client(), node.client(), node.client(), node.client());
    node.ask(&mut writer, &words("XADD s 1-0 a 1"));
    node.ask(&mut three, &words("HELLO 3"));
    assert_eq!(waits(&mut node, &mut one, "XREAD BLOCK 0 STREAMS s $"), None);
    assert_eq!(waits(&mut node, &mut two, "XREAD BLOCK 500 STREAMS t s 0 3"), Some(1_000_500));
    assert_eq!(waits(&mut node, &mut three, "XREAD COUNT 1 BLOCK 0 STREAMS s t $ $"), None);
    node.propagated();
    for line in ["MULTI", "XADD s 2-0 a 2", "XADD s 3-0 a 3", "EXEC"] {
        node.ask(&mut writer, &words(line));
    }
    assert_eq!(node.propagated().len(), 4, "readers write nothing");
    let both = "*1|*2|$1|s|*2|*2|$3|2-0|*2|$1|a|$1|2|*2|$3|3-0|*2|$1|a|$1|3|";
    assert_eq!(told(&mut node, &one), Some(both.to_owned()));
    assert_eq!(told(&mut node, &three).as_deref(), Some("%1|$1|s|*1|*2|$3|2-0|*2|$1|a|$1|2|"));
    assert_eq!(told(&mut node, &two), None, "it has seen what came");
    node.ask(&mut writer, &words("XADD t 1-0 b 1"));
    assert_eq!(told(&mut node, &two).as_deref(), Some("*1|*2|$1|t|*1|*2|$3|1-0|*2|$1|b|$1|1|"));
}

#[test]
fn who_waits_in_vain_is_told_nothing_came() {
    let mut node = Node::new();
    let (mut writer, mut reader) = (node.client(), node.client());
    waits(&mut node, &mut reader, "XREAD BLOCK 5 STREAMS s 0");
    for line in ["SET s v", "DEL s", "LPUSH s x", "DEL s"] {
        node.ask(&mut writer, &words(line));
    }
    assert_eq!(told(&mut node, &reader), None, "no stream came");
    node.core.time_out(reader.id());
    assert_eq!(told(&mut node, &reader).as_deref(), Some("*-1|"));
}

/// As in Redis, which looks at the last id and not at the last entry.
#[test]
fn an_entry_that_has_come_and_gone_wakes_its_reader_with_nothing() {
    let mut node = Node::new();
    let (mut writer, mut reader) = (node.client(), node.client());
    waits(&mut node, &mut reader, "XREAD BLOCK 0 STREAMS s 0");
    node.ask(&mut writer, &words("XADD s MAXLEN 0 1 a 1"));
    assert_eq!(told(&mut node, &reader).as_deref(), Some("*1|*2|$1|s|*0|"));
}

#[test]
fn a_reader_on_a_replica_hears_of_what_its_master_adds() {
    let mut node = Node::new();
    node.become_replica();
    let mut reader = node.client();
    waits(&mut node, &mut reader, "XREAD BLOCK 0 STREAMS s $");
    node.apply(&mut Session::master_link(0), &words("XADD s 1-0 a 1"));
    assert_eq!(told(&mut node, &reader).as_deref(), Some("*1|*2|$1|s|*1|*2|$3|1-0|*2|$1|a|$1|1|"));
}
