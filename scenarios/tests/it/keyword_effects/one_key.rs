//! What libraries do otherwise with one key on one node, switch by switch.

use doublehold_history::{EventKind, Predicate};

use crate::keyword_effects::row::{ONE, Row, TWO, check};
use crate::keyword_effects::seen::{MS, SEC, Seen};

pub(crate) fn rows() -> Vec<Row> {
    [keys(), tokens(), extending(), deadlines(), probes(), giving_back(), taking_back()]
        .into_iter()
        .flatten()
        .collect()
}

#[test]
fn every_habit_of_a_lock_on_one_node_does_what_it_says() {
    check(&rows());
}

const HELD: (&str, &str) = ("clients.0.program", "['acquire', 'work 5s', 'release']");
/// c1 holds for 15 s under a lease of 10 s.
const OVERRUN: (&str, &str) = ("clients.0.program", "['acquire', 'work 15s', 'release']");
const UNCHECKED: (&str, &str) = ("lock.elapsed_check", "false");
/// c1 dies when its first SET has been executed.
const DIES: (&str, &str) =
    ("faults", "[{ kind = 'crash', host = 'c1', at = 'the 1st SET executed for c1' }]");
/// The reply to c1's first SET is lost with its connection.
const LOST: (&str, &str) =
    ("faults", "[{ kind = 'reset-connections', from = 'c1', to = 'A', at = 'the 1st SET executed for c1' }]");

fn keys() -> Vec<Row> {
    vec![
        Row {
            word: "lock.expiry_clock=client",
            claim: "a node whose clock is ahead by more than the lease sets no key",
            both: &[HELD, ("clocks", "{ A = { offset = '+20s' } }")],
            with: &[("lock.expiry_clock", "client")],
            turns: &[(Predicate::P1, "holds", "violated")],
            shows: |without, with| {
                let early = |seen: &Seen| seen.grant("c2").at < seen.marks("c1", "release")[0];
                !early(without) && early(with)
            },
            ..Row::on(TWO)
        },
        Row {
            word: "lock.expiry_clock=node",
            claim: "a node counts a lease by its own clock, however far that is ahead",
            both: &[HELD, ("clocks", "{ A = { offset = '+20s' } }"), ("lock.expiry_clock", "client")],
            with: &[("lock.expiry_clock", "node")],
            turns: &[(Predicate::P1, "violated", "holds")],
            shows: |without, with| without.grant("c2").at < with.grant("c2").at,
            ..Row::on(TWO)
        },
        Row {
            word: "lock.initial_ttl",
            claim: "who dies between two steps leaves a key for as long as the first step takes it",
            both: &[DIES, ("clients.1.start", "1s")],
            with: &[("lock.initial_ttl", "60s")],
            shows: |without, with| without.grant("c2").at < 11 * SEC && with.grant("c2").at > 60 * SEC,
            ..Row::on(TWO)
        },
        Row {
            word: "lock.initial_ttl=none",
            claim: "who dies when it has the key leaves it for a lease",
            both: &[DIES, ("clients.1.start", "1s"), ("lock.initial_ttl", "60s")],
            with: &[("lock.initial_ttl", "none")],
            shows: |without, with| without.grant("c2").at > 60 * SEC && with.grant("c2").at < 11 * SEC,
            ..Row::on(TWO)
        },
        Row {
            word: "lock.own_token_counts",
            claim: "a claim that the driver sent twice finds its own key",
            both: &[
                LOST,
                ("lock.transport_retries", "3"),
                ("clients.0.program", "['try', 'work 1s', 'release']"),
            ],
            with: &[("lock.own_token_counts", "true")],
            shows: |without, with| {
                without.refusals("c1")[0].1 == "taken"
                    && with.refusals("c1").is_empty()
                    && !with.executed("A", "EVALSHA", "c1").is_empty()
            },
            ..Row::on(ONE)
        },
    ]
}

/// The tokens of all grants.
fn granted(seen: &Seen) -> Vec<String> {
    let token = |what: &EventKind| match what {
        EventKind::Granted { token, .. } => Some(token.clone()),
        _ => None,
    };
    let of = |client: &str| seen.did(client).filter_map(|(_, what)| token(what)).collect::<Vec<_>>();
    of("c1")
        .into_iter()
        .chain(if seen.report.scenario.clients.len() > 1 { of("c2") } else { vec![] })
        .collect()
}

fn tokens() -> Vec<Row> {
    fn first_two(seen: &Seen) -> bool {
        let tokens = granted(seen);
        tokens[0] == tokens[1]
    }
    vec![
        Row {
            word: "lock.token_value=process",
            claim: "two threads of one process have one token",
            both: &[("clients.0.process", "web"), ("clients.1.process", "web")],
            with: &[("lock.token_value", "process")],
            shows: |without, with| !first_two(without) && first_two(with),
            ..Row::on(TWO)
        },
        Row {
            word: "lock.token_value=timestamp",
            claim: "a clock that stands still gives two calls one token",
            both: &[
                ("clients.0.rounds", "2"),
                ("faults", "[{ kind = 'clock-freeze', host = 'c1', clock = 'wall', at = '0s' }]"),
            ],
            with: &[("lock.token_value", "timestamp")],
            shows: |without, with| !first_two(without) && first_two(with),
            ..Row::on(ONE)
        },
        Row {
            word: "lock.token_value=random",
            claim: "a token that is drawn is no number below 256",
            both: &[("lock.token_value", "small-int")],
            with: &[("lock.token_value", "random")],
            shows: |without, with| {
                let is_small = |seen: &Seen| granted(seen)[0].parse::<u8>().is_ok();
                is_small(without) && !is_small(with)
            },
            ..Row::on(ONE)
        },
        Row {
            word: "lock.token_value=small-int",
            claim: "a token is a number below 256",
            with: &[("lock.token_value", "small-int")],
            shows: |without, with| {
                let is_small = |seen: &Seen| granted(seen)[0].parse::<u8>().is_ok();
                !is_small(without) && is_small(with)
            },
            ..Row::on(ONE)
        },
    ]
}

/// c1 extends when its lease has ended and c2 has the lock.
const LATE: [(&str, &str); 4] = [
    UNCHECKED,
    ("clients.0.program", "['acquire', 'work 8s', 'extend', 'work 1s', 'release']"),
    ("clients.1.program", "['acquire', 'work 9s', 'release']"),
    ("faults", "[{ kind = 'pause', host = 'c1', for = '4s', at = \"c1's extending\" }]"),
];
const BY_SET_XX: (&str, &str) = ("lock.extend_by", "set-xx");
const NEW: (&str, &str) = ("nodes.version", "'8.4'");

/// Whether c1 was told that it has another lease.
fn extended(seen: &Seen) -> bool {
    !seen.times("c1", |what| matches!(what, EventKind::Extended { .. })).is_empty()
}

fn extending() -> Vec<Row> {
    vec![
        Row {
            word: "lock.extend_by=set-xx",
            claim: "an extension that is late takes the key from its holder",
            both: &LATE,
            with: &[BY_SET_XX],
            turns: &[(Predicate::WR, "holds", "violated")],
            shows: |without, with| !extended(without) && extended(with),
            ..Row::on(TWO)
        },
        Row {
            word: "lock.extend_by=plain",
            claim: "an extension that is late renews another's key",
            both: &LATE,
            with: &[("lock.extend_by", "plain")],
            turns: &[(Predicate::WR, "holds", "violated")],
            shows: |without, with| {
                !extended(without) && extended(with) && with.executed("A", "PEXPIRE", "c1").len() == 1
            },
            ..Row::on(TWO)
        },
        Row {
            word: "lock.extend_by=compare",
            claim: "an extension that compares finds another's key",
            both: &[LATE[0], LATE[1], LATE[2], LATE[3], BY_SET_XX],
            with: &[("lock.extend_by", "compare")],
            turns: &[(Predicate::WR, "violated", "holds")],
            shows: |without, with| extended(without) && !extended(with),
            ..Row::on(TWO)
        },
        Row {
            word: "lock.extend_by=set-ifeq",
            claim: "a node that compares by itself finds another's key",
            both: &[LATE[0], LATE[1], LATE[2], LATE[3], BY_SET_XX, NEW],
            with: &[("lock.extend_by", "set-ifeq")],
            turns: &[(Predicate::WR, "violated", "holds")],
            shows: |without, with| extended(without) && !extended(with),
            ..Row::on(TWO)
        },
        Row {
            word: "lock.extend_adds",
            claim: "an extension after 5 of 10 s gives 15 s, and not 10",
            both: &[
                ("clients.0.program", "['acquire', 'work 5s', 'extend', 'work 9s', 'release']"),
                ("faults", "[{ kind = 'crash', host = 'c1', at = \"6s after c1's grant\" }]"),
            ],
            with: &[("lock.extend_adds", "true")],
            shows: |without, with| {
                let came = |seen: &Seen| (seen.grant("c2").at - seen.grant("c1").at) / SEC;
                (came(without), came(with)) == (15, 20)
            },
            ..Row::on(TWO)
        },
    ]
}

/// Replies to c1's first request take half a second longer.
const SLOW: (&str, &str) = (
    "faults",
    "[{ kind = 'slow', from = 'A', to = 'c1', by = '500ms', for = '100ms', at = \"c1's acquire\" }]",
);

/// By how much one run's first deadline lies ahead of the other's.
fn ahead(one: &Seen, other: &Seen) -> i128 {
    let deadline = |seen: &Seen| i128::from(seen.grant("c1").deadline.expect("computed").reading_ns);
    deadline(one) - deadline(other)
}

fn deadlines() -> Vec<Row> {
    vec![
        Row {
            word: "lock.deadline_from=reply",
            claim: "a lease that counts from a slow reply is believed for as much longer",
            both: &[SLOW],
            with: &[("lock.deadline_from", "reply")],
            shows: |without, with| ahead(with, without) >= i128::from(500 * MS),
            ..Row::on(ONE)
        },
        Row {
            word: "lock.deadline_from=send",
            claim: "a lease that counts from its request is not believed for longer",
            both: &[SLOW, ("lock.deadline_from", "reply")],
            with: &[("lock.deadline_from", "send")],
            shows: |without, with| ahead(without, with) >= i128::from(500 * MS),
            ..Row::on(ONE)
        },
    ]
}

fn probes() -> Vec<Row> {
    fn sets(seen: &Seen) -> usize {
        seen.executed("A", "SET", "c1").len()
    }
    vec![
        Row {
            word: "lock.probe=takes",
            claim: "who looks takes the lock and gives it back, before it asks for it",
            with: &[("lock.probe", "takes")],
            shows: |without, with| sets(without) == 1 && sets(with) == 2,
            ..Row::on(ONE)
        },
        Row {
            word: "lock.probe=reads",
            claim: "who looks asks whether there is a key",
            with: &[("lock.probe", "reads")],
            shows: |without, with| {
                let asked = |seen: &Seen| seen.executed("A", "EXISTS", "c1").len();
                (asked(without), asked(with)) == (0, 1) && sets(with) == 1
            },
            ..Row::on(ONE)
        },
        Row {
            word: "lock.probe=none",
            claim: "a lock that is not looked for is asked for once",
            both: &[("lock.probe", "takes")],
            with: &[("lock.probe", "none")],
            shows: |without, with| sets(without) == 2 && sets(with) == 1,
            ..Row::on(ONE)
        },
    ]
}

/// Two clients take turns by a time; the second asks once the first holds.
const BY_A_TIME: &str = r#"
    claim = "two clients take turns on one node, by a time"
    lock = { algorithm = "setnx-getset", ttl = "10s" }
    nodes = { names = ["A"] }
    network = { delay = "1ms" }
    [[clients]]
    name = "c1"
    program = ["acquire", "read", "work 1s", "check", "write", "release"]
    [[clients]]
    name = "c2"
    program = ["acquire", "read", "work 1s", "check", "write", "release"]
    retry = "100ms"
    start = "c1's grant"
"#;

/// c1 holds by a time, stops between two commands of its release, and c2 takes the lock over meanwhile.
const TAKEN_OVER: [(&str, &str); 4] = [
    ("clients.0.program", "['acquire', 'work 9s', 'release']"),
    ("clients.1.program", "['acquire', 'work 9s', 'release']"),
    ("nodes.scripts", "loaded"),
    (
        "faults",
        "[{ kind = 'pause', host = 'c1', for = '4s', at = \"A's message from c1 after c1's release\" }]",
    ),
];

/// How often the node executed a command for c1 after it began to give back.
fn after_release(seen: &Seen, command: &str) -> usize {
    let release = seen.marks("c1", "release")[0];
    seen.executed("A", command, "c1").into_iter().filter(|at| *at > release).count()
}

fn giving_back() -> Vec<Row> {
    vec![
        Row {
            word: "lock.release=delex-ifeq",
            claim: "the node compares and deletes in one command of its own",
            both: &[NEW],
            with: &[("lock.release", "delex-ifeq")],
            shows: |without, with| {
                let sent = |seen: &Seen| {
                    (seen.executed("A", "DELEX", "c1").len(), seen.executed("A", "EVALSHA", "c1").len())
                };
                sent(without).0 == 0 && sent(with) == (1, 0) && with.keys("A", "c1").len() == 1
            },
            ..Row::on(TWO)
        },
        Row {
            word: "lock.algorithm=counter",
            claim: "who is refused counts, and watches the count",
            with: &[("lock.algorithm", "counter")],
            shows: |without, with| {
                let watched = |seen: &Seen| seen.executed("A", "WATCH", "c2").len();
                watched(without) == 0 && watched(with) > 1
            },
            ..Row::on(BY_A_TIME)
        },
        Row {
            word: "lock.gives_back=get-then-delete",
            claim: "a DEL that is late after its GET deletes the key of whoever took the lock over",
            both: &TAKEN_OVER,
            with: &[("lock.gives_back", "get-then-delete")],
            turns: &[(Predicate::WR, "holds", "violated")],
            shows: |without, with| {
                (after_release(without, "GET"), after_release(without, "DEL")) == (0, 1)
                    && (after_release(with, "GET"), after_release(with, "DEL")) == (1, 1)
            },
            ..Row::on(BY_A_TIME)
        },
        Row {
            word: "lock.gives_back=compare-and-delete",
            claim: "a script has deleted its own key before its client stops",
            both: &[
                TAKEN_OVER[0],
                TAKEN_OVER[1],
                TAKEN_OVER[2],
                TAKEN_OVER[3],
                ("lock.gives_back", "get-then-delete"),
            ],
            with: &[("lock.gives_back", "compare-and-delete")],
            turns: &[(Predicate::WR, "violated", "holds")],
            shows: |_, with| after_release(with, "EVALSHA") == 1 && after_release(with, "DEL") == 0,
            ..Row::on(BY_A_TIME)
        },
    ]
}

fn taking_back() -> Vec<Row> {
    vec![
        Row {
            word: "lock.asks_again",
            claim: "a key that is gone when it is read is asked for anew, and not taken over",
            // c2's GET takes its time, and c1 gives back meanwhile.
            both: &[
                HELD,
                ("clients.1.start", "4900ms after c1's grant"),
                (
                    "faults",
                    "[{ kind = 'packet-delay', from = 'c2', to = 'A', by = '500ms', \
                     at = 'the 1st SETNX executed for c2' }]",
                ),
            ],
            with: &[("lock.asks_again", "true")],
            shows: |without, with| {
                let took_over = |seen: &Seen| seen.executed("A", "GETSET", "c2").len();
                (took_over(without), took_over(with)) == (1, 0) && with.grants("c2").len() == 1
            },
            ..Row::on(BY_A_TIME)
        },
        Row {
            word: "lock.gives_back=plain-delete",
            claim: "a DEL is sent whatever the time",
            both: &[OVERRUN, ("clients.1.program", "['acquire', 'work 9s', 'release']")],
            with: &[("lock.gives_back", "plain-delete")],
            turns: &[(Predicate::WR, "holds", "violated")],
            shows: |without, with| (after_release(without, "DEL"), after_release(with, "DEL")) == (0, 1),
            ..Row::on(BY_A_TIME)
        },
        Row {
            word: "lock.grace",
            claim: "a lock is left alone for a while after its end",
            both: &[OVERRUN],
            with: &[("lock.grace", "20s")],
            turns: &[(Predicate::P1, "violated", "holds")],
            shows: |without, with| without.grant("c2").at < 11 * SEC && with.grant("c2").at > 30 * SEC,
            ..Row::on(BY_A_TIME)
        },
        Row {
            word: "lock.gives_back=unless-over",
            claim: "a DEL is sent at once, since by its own clock the client still has the lock",
            both: &[
                TAKEN_OVER[0],
                TAKEN_OVER[1],
                TAKEN_OVER[2],
                TAKEN_OVER[3],
                ("lock.gives_back", "get-then-delete"),
            ],
            with: &[("lock.gives_back", "unless-over")],
            turns: &[(Predicate::WR, "violated", "holds")],
            shows: |_, with| after_release(with, "GET") == 0 && after_release(with, "DEL") == 1,
            ..Row::on(BY_A_TIME)
        },
    ]
}
