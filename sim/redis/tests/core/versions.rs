//! What a node of a later version knows: each row names where Redis says so. No such server is at hand to compare with.
//!
//! The sources are Redis' own at 8.4 (`src/…`, and its tests in `tests/unit/…` by their titles) and its manual's pages.

use doublehold_sim_redis::core::{CoreConfig, Next, Version};

use crate::support::{Node, words};

/// Where it says so, what is sent, what is answered.
type Row = (&'static str, &'static str, &'static str);

fn node(version: Version) -> Node {
    Node::with(CoreConfig { version, append_only: true, ..CoreConfig::default() })
}

/// Each group of rows starts on an empty node.
fn check(groups: &[&[Row]]) {
    for rows in groups {
        let mut node = node(Version::V8_4);
        let mut client = node.client();
        for (source, sent, expected) in *rows {
            assert_eq!(node.ask(&mut client, &words(sent)), *expected, "{sent}: {source}");
        }
    }
}

#[test]
fn set_compares_before_it_stores() {
    check(&[&[
        ("string.tcl: Extended SET with IFEQ - key doesn't exist", "SET k world IFEQ hello", "$-1|"),
        ("the same", "EXISTS k", ":0|"),
        ("string.tcl: Extended SET with IFNE - key doesn't exist", "SET k hello IFNE hello", "+OK|"),
        ("string.tcl: Extended SET with IFEQ - key exists but doesn't match", "SET k world IFEQ x", "$-1|"),
        ("string.tcl: Extended SET with IFEQ - key exists and matches", "SET k world IFEQ hello", "+OK|"),
        ("string.tcl: Extended SET with IFNE - key exists and matches", "SET k hello IFNE world", "$-1|"),
        ("string.tcl: Extended SET with IFNE - key exists and doesn't match", "SET k hello IFNE x", "+OK|"),
        (
            "t_string.c, setGenericCommand: strcasecmp of digests",
            "SET k world IFDEQ 9555E8555C62DCFD",
            "+OK|",
        ),
        (
            "string.tcl: Extended SET with IFDEQ - key exists but digest doesn't match",
            "SET k x IFDEQ 9555e8555c62dcfd",
            "$-1|",
        ),
        (
            "string.tcl: Extended SET with IFDNE - key exists and digest matches",
            "SET k x IFDNE d6476c25083d69be",
            "$-1|",
        ),
        (
            "string.tcl: Extended SET with IFDNE - key exists and digest doesn't match",
            "SET k x IFDNE 9555e8555c62dcfd",
            "+OK|",
        ),
        (
            "string.tcl: Extended SET with IFDEQ - key doesn't exist",
            "SET none x IFDEQ 9555e8555c62dcfd",
            "$-1|",
        ),
        ("set.md: IFDNE creates a key that is not there", "SET new x IFDNE 9555e8555c62dcfd", "+OK|"),
    ]]);
}

#[test]
fn set_takes_one_condition_beside_its_other_options() {
    check(&[
        &[
            (
                "t_string.c, setGenericCommand: GET is answered whatever comes of it",
                "SET k v IFEQ x GET",
                "$-1|",
            ),
            ("the same", "SET k v", "+OK|"),
            ("the same", "SET k w GET IFEQ x", "$1|v|"),
            ("the same", "SET k w IFEQ v GET PX 5000", "$1|v|"),
            ("the same: a lifetime is set with the value", "PTTL k", ":5000|"),
            ("the same", "SET k x IFEQ w KEEPTTL", "+OK|"),
            ("the same", "PTTL k", ":5000|"),
            ("the same", "SET k y IFEQ x", "+OK|"),
            ("the same", "PTTL k", ":-1|"),
        ],
        &[
            (
                "t_string.c, parseExtendedStringArgumentsOrReply: one condition only",
                "SET k v IFEQ a IFNE b",
                "-ERR syntax error|",
            ),
            ("the same", "SET k v NX IFEQ a", "-ERR syntax error|"),
            ("the same", "SET k v XX IFDNE a", "-ERR syntax error|"),
            ("the same: it asks for the value that follows", "SET k v IFEQ", "-ERR syntax error|"),
            ("the same: twice the same, and the last one counts", "SET k v IFNE a IFNE b", "+OK|"),
            ("the same: NX looks for XX only", "SET k v IFEQ v NX", "$-1|"),
            (
                "t_string.c, validateHexDigest",
                "SET k v IFDEQ 123",
                "-ERR must be exactly 16 hexadecimal characters|",
            ),
            ("the same: it counts, and looks at none of them", "SET k v IFDEQ zzzzzzzzzzzzzzzz", "$-1|"),
            (
                "t_string.c, setGenericCommand: looked at only where there is something",
                "SET none v IFDEQ 123",
                "$-1|",
            ),
            ("t_string.c, setGenericCommand: checkType", "HSET h f v", ":1|"),
            (
                "the same",
                "SET h v IFEQ v",
                "-WRONGTYPE Operation against a key holding the wrong kind of value|",
            ),
        ],
    ]);
}

#[test]
fn delex_compares_before_it_deletes() {
    check(&[
        &[
            ("string.tcl: DELEX with non-existing key", "DELEX k IFEQ hello", ":0|"),
            ("the same", "DELEX k IFDNE 1234567890", ":0|"),
            ("db.c, delexCommand: a key that is not there is looked at first", "DELEX k nonsense x", ":0|"),
            ("string.tcl: DELEX basic usage with IFEQ", "SET k hello", "+OK|"),
            ("the same", "DELEX k IFEQ world", ":0|"),
            ("string.tcl: DELEX basic usage with IFNE", "DELEX k IFNE hello", ":0|"),
            ("string.tcl: DELEX basic usage with IFDEQ", "DELEX k IFDEQ d6476c25083d69be", ":0|"),
            ("string.tcl: DELEX basic usage with IFDNE", "DELEX k IFDNE 9555e8555c62dcfd", ":0|"),
            ("string.tcl: DELEX basic usage with IFEQ", "DELEX k ifeq hello", ":1|"),
            ("the same", "EXISTS k", ":0|"),
        ],
        &[
            ("string.tcl: DELEX basic usage without conditions", "HSET h f v", ":1|"),
            (
                "db.c, delexCommand",
                "DELEX h IFEQ v",
                "-ERR Key should be of string type if conditions are specified|",
            ),
            ("delex.md: without a condition any type", "DELEX h", ":1|"),
            (
                "string.tcl: DELEX wrong number of arguments",
                "DELEX k IFEQ",
                "-ERR wrong number of arguments for 'delex' command|",
            ),
            ("the same", "DELEX k IFEQ value1 extra", "-ERR wrong number of arguments for 'delex' command|"),
            ("db.c, delexCommand", "SET k v", "+OK|"),
            (
                "string.tcl: DELEX invalid condition",
                "DELEX k IF v",
                "-ERR Invalid condition. Use IFEQ, IFNE, IFDEQ, or IFDNE|",
            ),
            (
                "t_string.c, validateHexDigest",
                "DELEX k IFDNE 12",
                "-ERR must be exactly 16 hexadecimal characters|",
            ),
            ("string.tcl: DELEX basic usage with IFDNE", "DELEX k IFDNE 9555e8555c62dcfd", ":1|"),
        ],
    ]);
}

#[test]
fn a_digest_is_the_xxh3_of_a_string() {
    check(&[&[
        ("string.tcl: DIGEST against non-existing key", "DIGEST k", "$-1|"),
        ("t_string.c, stringDigest", "SET k hello", "+OK|"),
        ("the XXH3 of xxHash 0.8", "DIGEST k", "$16|9555e8555c62dcfd|"),
        ("string.tcl: DIGEST with integer-encoded value", "SET k 12345", "+OK|"),
        ("the XXH3 of xxHash 0.8", "DIGEST k", "$16|f34099ede96b5581|"),
        ("string.tcl: DIGEST against wrong type (hash)", "HSET h f v", ":1|"),
        ("the same", "DIGEST h", "-WRONGTYPE Operation against a key holding the wrong kind of value|"),
    ]]);
}

#[test]
fn replicas_and_the_file_are_told_what_came_of_it() {
    let mut node = node(Version::V8_4);
    let mut client = node.client();
    node.ask(&mut client, &["SET", "k", "hello"]);
    node.propagated();
    for (source, sent, expected) in [
        ("t_string.c, setGenericCommand: as it came", "SET k w IFEQ hello", Some("SET k w IFEQ hello")),
        ("string.tcl: DELEX does not propagate when condition not met", "DELEX k IFEQ x", None),
        ("t_string.c, setGenericCommand: without GET", "SET k x IFNE y GET", Some("SET k x IFNE y")),
        (
            "t_string.c, setGenericCommand: with PXAT and nothing else",
            "SET k v IFEQ x PX 500",
            Some("SET k v PXAT 1000500"),
        ),
        ("string.tcl: DELEX propagate as DEL command to replica", "DELEX k IFEQ v", Some("DEL k")),
    ] {
        node.ask(&mut client, &words(sent));
        assert_eq!(node.propagated(), Vec::from_iter(expected), "{sent}: {source}");
    }
}

#[test]
fn waitaof_answers_at_once_where_nothing_is_to_be_waited_for() {
    check(&[&[
        (
            "replication.c, waitaofCommand: getRangeLong",
            "WAITAOF 2 0 0",
            "-ERR value is out of range, value must between 0 and 1|",
        ),
        (
            "replication.c, waitaofCommand: getPositiveLong",
            "WAITAOF 0 -1 0",
            "-ERR value is out of range, must be positive|",
        ),
        ("replication.c, waitaofCommand: getTimeout", "WAITAOF 0 0 -1", "-ERR timeout is negative|"),
        (
            "commands/waitaof.json: arity",
            "WAITAOF 0 0",
            "-ERR wrong number of arguments for 'waitaof' command|",
        ),
        (
            "commands/waitaof.json: no `noscript`; scripts never wait",
            "EVAL return(redis.call('waitaof',0,5,0)) 0",
            "*2|:0|:0|",
        ),
    ]]);
    let mut node = node(Version::V8_4);
    let mut client = node.client();
    node.become_replica();
    let reply = node.ask(&mut client, &["WAITAOF", "0", "0", "0"]);
    assert!(
        reply.starts_with("-ERR WAITAOF cannot be used with replica instances. Please"),
        "replication.c: {reply}"
    );
}

#[test]
fn a_node_says_which_version_it_is() {
    for (version, full, number) in [(Version::V7_0, "7.0.15", 458_767), (Version::V8_4, "8.4.0", 525_312)] {
        let mut node = node(version);
        let mut client = node.client();
        let info = node.ask(&mut client, &["INFO", "server"]);
        assert!(info.contains(&format!("redis_version:{full}|")), "{info}");
        assert!(node.ask(&mut client, &["HELLO"]).contains(&format!("$7|version|${}|{full}|", full.len())));
        let script = "return {redis.REDIS_VERSION, redis.REDIS_VERSION_NUM}";
        let expected = format!("*2|${}|{full}|:{number}|", full.len());
        assert_eq!(
            node.ask(&mut client, &["EVAL", script, "0"]),
            expected,
            "whatever ran in the state before"
        );
    }
}

#[test]
fn a_valkey_has_commands_of_its_own_and_not_those_of_redis() {
    let mut node = node(Version::Valkey9);
    let mut client = node.client();
    for (sent, expected) in [
        ("SET k v", "+OK|"),
        ("DELIFEQ k w", ":0|"),
        ("DELIFEQ k v", ":1|"),
        ("DELIFEQ k v", ":0|"),
        ("SADD k v", ":1|"),
        ("DELIFEQ k v", "-WRONGTYPE Operation against a key holding the wrong kind of value|"),
        ("SET l v", "+OK|"),
        ("SET l w IFEQ v", "+OK|"),
        ("SET l x IFEQ v", "$-1|"),
        ("SET l x IFNE v", "-ERR syntax error|"),
        ("WAITAOF 0 0 0", "*2|:0|:0|"),
        ("EVAL return(redis.call('delifeq','l','w')) 0", ":1|"),
        ("DELEX l IFEQ w", "-ERR unknown command 'DELEX', with args beginning with: 'l' 'IFEQ' 'w' |"),
        ("COMMAND INFO digest", "*1|$-1|"),
    ] {
        assert_eq!(node.ask(&mut client, &words(sent)), expected, "{sent}");
    }
    let info = node.ask(&mut client, &["INFO", "server"]);
    assert!(info.contains("redis_version:7.2.4|"), "{info}");
    assert!(info.contains("server_name:valkey|valkey_version:9.0.0|"), "{info}");
    let hello = node.ask(&mut client, &["HELLO"]);
    assert!(hello.contains("$6|server|$6|valkey|$7|version|$5|9.0.0|"), "{hello}");
}

#[test]
fn an_older_node_knows_nothing_of_it() {
    let mut node = node(Version::V7_0);
    let mut client = node.client();
    for (sent, expected) in [
        ("DELEX k IFEQ v", "-ERR unknown command 'DELEX', with args beginning with: 'k' 'IFEQ' 'v' |"),
        ("DIGEST k", "-ERR unknown command 'DIGEST', with args beginning with: 'k' |"),
        ("DELIFEQ k v", "-ERR unknown command 'DELIFEQ', with args beginning with: 'k' 'v' |"),
        ("WAITAOF 0 0 0", "-ERR unknown command 'WAITAOF', with args beginning with: '0' '0' '0' |"),
        ("SET k v IFEQ v", "-ERR syntax error|"),
        ("SET k v IFDNE 9555e8555c62dcfd", "-ERR syntax error|"),
        ("COMMAND INFO delex waitaof digest", "*3|$-1|$-1|$-1|"),
        ("COMMAND DOCS delex", "*0|"),
        ("COMMAND LIST FILTERBY PATTERN *dig*", "*0|"),
        ("COMMAND GETKEYS delex k", "-ERR Invalid command specified|"),
        ("EVAL return(redis.call('digest','k')) 0", "-ERR Unknown Redis command called from script script: "),
    ] {
        let reply = node.ask(&mut client, &words(sent));
        assert!(reply.starts_with(expected), "{sent} gave {reply}");
    }
    let count = |version| {
        let mut node = self::node(version);
        let mut client = node.client();
        node.ask(&mut client, &["COMMAND", "COUNT"])
            .trim_matches([':', '|'])
            .parse::<i64>()
            .expect("a number")
    };
    assert_eq!(count(Version::V8_4), count(Version::V7_0) + 3);
}

#[test]
fn a_transaction_does_not_wait_for_files() {
    let mut node = node(Version::V8_4);
    let mut client = node.client();
    for sent in ["MULTI", "SET k v", "WAITAOF 1 0 0"] {
        node.ask(&mut client, &words(sent));
    }
    let (next, reply) = node.execute(&mut client, &["EXEC"]);
    assert_eq!(next, Next::Reply);
    assert_eq!(reply, "*2|+OK|*2|:0|:0|", "replication.c, waitaofCommand: CLIENT_DENY_BLOCKING");
}
