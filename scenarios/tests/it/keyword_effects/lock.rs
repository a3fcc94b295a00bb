//! `[lock]`: what every algorithm has, and what the lock on one node has.

use doublehold_history::{EventKind, Predicate};
use doublehold_scenarios::report::KeyEnd;

use crate::keyword_effects::row::{ONE, Row, TWO, check};
use crate::keyword_effects::seen::{MS, SEC, Seen, gaps};

pub(crate) fn rows() -> Vec<Row> {
    [algorithms(), names_and_leases(), timeouts(), releases(), single(), jobs()]
        .into_iter()
        .flatten()
        .collect()
}

#[test]
fn every_switch_of_the_lock_on_one_node_does_what_it_says() {
    check(&rows());
}

fn algorithms() -> Vec<Row> {
    vec![
        Row {
            word: "lock.algorithm=single",
            claim: "c2 is refused because the key is taken, and not for want of votes",
            both: &[("lock.algorithm", "redlock")],
            with: &[("lock.algorithm", "single")],
            shows: |without, with| {
                without.refusals("c2")[0].1 == "0 of the 1 votes needed"
                    && with.refusals("c2")[0].1 == "taken"
            },
            ..Row::on(TWO)
        },
        Row {
            word: "lock.algorithm=redlock",
            claim: "every node is asked for the key",
            with: &[("nodes.names", "['A', 'B', 'C']"), ("lock.algorithm", "redlock")],
            shows: |_, with| ["A", "B", "C"].iter().all(|node| with.executed(node, "SET", "c1").len() == 1),
            ..Row::on(ONE)
        },
        Row {
            word: "lock.algorithm=replicated",
            claim: "the client asks who is master before it asks for the key",
            with: &[
                ("lock.algorithm", "replicated"),
                ("nodes", "{ names = ['A', 'R1', 'R2'], master = 'A' }"),
            ],
            shows: |without, with| {
                let [role] = with.executed("A", "ROLE", "c1")[..] else { return false };
                without.executed("A", "ROLE", "c1").is_empty() && role < with.executed("A", "SET", "c1")[0]
            },
            ..Row::on(ONE)
        },
    ]
}

fn names_and_leases() -> Vec<Row> {
    vec![
        Row {
            word: "lock.name",
            claim: "the key on the node has that name: the request for it has other bytes",
            with: &[("lock.name", "door")],
            shows: |without, with| {
                let header = with.report.history.header();
                header.locks == ["door"]
                    && !with.keys("A", "c1").is_empty()
                    && with.sent("c1", "A")[0].1 != without.sent("c1", "A")[0].1
            },
            ..Row::on(ONE)
        },
        Row {
            word: "lock.ttl",
            claim: "key and deadline last as long as it says, the deadline less 1 % and 2 ms",
            both: &[("clients.0.program", "['acquire', 'work 25s', 'release']")],
            with: &[("lock.ttl", "20s")],
            shows: |without, with| {
                let lasted = |seen: &Seen, ttl: u64| {
                    let span = seen.keys("A", "c1")[0];
                    let granted = seen.grant("c1");
                    let deadline = granted.deadline.expect("the elapsed check is on").reading_ns as u64;
                    let (ended, how) = span.until.expect("the key's time is up before the work is done");
                    let asked = seen.marks("c1", "acquire")[0];
                    how == KeyEnd::Expired
                        && (ttl..=ttl + 2 * MS).contains(&(ended.0 - span.from.0))
                        && deadline == asked + ttl - ttl / 100 - 2 * MS
                };
                lasted(without, 10 * SEC) && lasted(with, 20 * SEC)
            },
            ..Row::on(ONE)
        },
    ]
}

/// From c1's grant on, what the node says takes 3 s: the release is not answered in time.
const SLOW_REPLIES: &str =
    "[{ kind = 'slow', from = 'A', to = 'c1', by = '3s', for = '5s', at = \"c1's grant\" }]";
/// From c1's call on, nothing that the node sends arrives.
const NO_REPLIES: &str = "[{ kind = 'cut', from = 'A', to = 'c1', for = '5s', at = \"c1's acquire\" }]";

fn timeouts() -> Vec<Row> {
    vec![
        Row {
            word: "lock.on_timeout=keep",
            claim: "a connection with a late reply is used again",
            both: &[("faults", SLOW_REPLIES), ("clients.0.rounds", "2")],
            with: &[("lock.on_timeout", "keep")],
            shows: |without, with| {
                without.connecting("c1", "A").len() > 1 && with.connecting("c1", "A").len() == 1
            },
            ..Row::on(ONE)
        },
        Row {
            word: "lock.on_timeout=reconnect",
            claim: "a connection with a late reply is replaced",
            both: &[("faults", SLOW_REPLIES), ("clients.0.rounds", "2"), ("lock.on_timeout", "keep")],
            with: &[("lock.on_timeout", "reconnect")],
            shows: |without, with| {
                without.connecting("c1", "A").len() == 1 && with.connecting("c1", "A").len() > 1
            },
            ..Row::on(ONE)
        },
        Row {
            word: "lock.request_timeout",
            claim: "a request is given up after that time, and after 1 s where nothing is said",
            both: &[("faults", NO_REPLIES)],
            with: &[("lock.request_timeout", "300ms")],
            shows: |without, with| {
                let waited = |seen: &Seen| seen.refusals("c1")[0].0 - seen.marks("c1", "acquire")[0];
                waited(without) == SEC && waited(with) == 300 * MS
            },
            ..Row::on(ONE)
        },
        Row {
            word: "lock.request_timeout=none",
            claim: "a request is never given up",
            both: &[("faults", NO_REPLIES)],
            with: &[("lock.request_timeout", "none")],
            shows: |without, with| {
                !without.refusals("c1").is_empty()
                    && with.refusals("c1").is_empty()
                    && with.grant("c1").at > 5 * SEC
            },
            ..Row::on(ONE)
        },
    ]
}

/// c1 holds for 15 s under a lease of 10 s, c2 holds when c1 releases.
const OVERRUN: (&str, &str) = ("clients.0.program", "['acquire', 'work 15s', 'release']");
const STILL_AT_WORK: (&str, &str) = ("clients.1.program", "['acquire', 'work 9s', 'release']");

fn releases() -> Vec<Row> {
    vec![
        Row {
            word: "lock.release=plain-delete",
            claim: "c1 deletes the key, which is c2's by now",
            both: &[OVERRUN, STILL_AT_WORK],
            with: &[("lock.release", "plain-delete")],
            turns: &[(Predicate::WR, "holds", "violated")],
            shows: |without, with| {
                without.executed("A", "DEL", "c1").is_empty()
                    && with.executed("A", "DEL", "c1").len() == 1
                    && with.executed("A", "EVALSHA", "c1").is_empty()
            },
            ..Row::on(TWO)
        },
        Row {
            word: "lock.release=compare-and-delete",
            claim: "c1 sends a script that finds c2's token and leaves it",
            both: &[OVERRUN, STILL_AT_WORK, ("lock.release", "plain-delete")],
            with: &[("lock.release", "compare-and-delete")],
            turns: &[(Predicate::WR, "violated", "holds")],
            shows: |_, with| {
                !with.executed("A", "EVALSHA", "c1").is_empty() && with.executed("A", "DEL", "c1").is_empty()
            },
            ..Row::on(TWO)
        },
        Row {
            word: "lock.release=get-then-delete",
            claim: "c1 reads the key, finds c2's token and sends no DEL",
            both: &[OVERRUN, STILL_AT_WORK, ("lock.release", "plain-delete")],
            with: &[("lock.release", "get-then-delete")],
            turns: &[(Predicate::WR, "violated", "holds")],
            shows: |_, with| {
                with.executed("A", "GET", "c1").len() == 1 && with.executed("A", "DEL", "c1").is_empty()
            },
            ..Row::on(TWO)
        },
        Row {
            word: "lock.release=get-then-delete",
            claim: "a DEL that is late after its GET deletes the key of the next holder, as a script would not",
            both: &[
                ("clients.0.program", "['acquire', 'work 9s', 'release']"),
                STILL_AT_WORK,
                (
                    "faults",
                    "[{ kind = 'packet-delay', from = 'c1', to = 'A', by = '5s', \
                     at = \"c1's message from A after c1's release\" }]",
                ),
            ],
            with: &[("lock.release", "get-then-delete")],
            turns: &[(Predicate::WR, "holds", "violated")],
            shows: |_, with| with.executed("A", "DEL", "c1").len() == 1,
            ..Row::on(TWO)
        },
    ]
}

fn single() -> Vec<Row> {
    vec![
        Row {
            word: "lock.extend_if_missing",
            claim: "an extension sets a key again that has expired",
            both: &[
                ("lock.elapsed_check", "false"),
                ("clients.0.program", "['acquire', 'work 12s', 'extend', 'work 1s', 'release']"),
            ],
            with: &[("lock.extend_if_missing", "true")],
            shows: |without, with| {
                let extended = |what: &EventKind| matches!(what, EventKind::Extended { .. });
                without.times("c1", extended).is_empty()
                    && without.keys("A", "c1").len() == 1
                    && with.times("c1", extended).len() == 1
                    && with.keys("A", "c1").len() == 2
            },
            ..Row::on(ONE)
        },
        Row {
            word: "lock.fencing",
            claim: "grants are numbered from 1",
            both: &[("clients.0.rounds", "3")],
            with: &[("lock.fencing", "true")],
            shows: |without, with| {
                let numbers = |seen: &Seen| -> Vec<Option<u64>> {
                    seen.grants("c1").iter().map(|grant| grant.fencing).collect()
                };
                numbers(without) == [None; 3] && numbers(with) == [Some(1), Some(2), Some(3)]
            },
            ..Row::on(ONE)
        },
        Row {
            word: "lock.release_on_failure",
            claim: "a claim whose reply was lost is released at once with it, and expires without it",
            both: &[
                ("clients.0.retry", "12s"),
                ("lock.release_on_failure", "false"),
                (
                    "faults",
                    "[{ kind = 'slow', from = 'A', to = 'c1', by = '1.2s', for = '900ms', at = 'SET executed for c1' }]",
                ),
            ],
            with: &[("lock.release_on_failure", "true")],
            shows: |without, with| {
                let end = |seen: &Seen| seen.keys("A", "c1")[0].until.map(|(_, how)| how);
                end(without) == Some(KeyEnd::Expired) && end(with) == Some(KeyEnd::Deleted)
            },
            ..Row::on(ONE)
        },
        Row {
            word: "lock.ttl",
            claim: "c2 gets the lock of a dead holder when the lease is over",
            both: &[("faults", "[{ kind = 'crash', host = 'c1', at = \"c1's grant\" }]")],
            with: &[("lock.ttl", "4s")],
            shows: |without, with| {
                let waits = [without, with].map(|seen| seen.grant("c2").at - seen.keys("A", "c1")[0].from.0);
                gaps(&[waits[1], waits[0]])[0].abs_diff(6 * SEC) < 200 * MS
            },
            ..Row::on(TWO)
        },
    ]
}

/// c1 is at work for twice its lease, on a job that c2 asks for as well.
const LONG_JOB: &str = r#"
    claim = "a job takes twice as long as its lock"
    lock = { algorithm = "single", ttl = "10s" }
    nodes = { names = ["A"] }
    network = { delay = "1ms" }
    [[clients]]
    name = "c1"
    program = ["acquire", "work 20s", "release"]
    [[clients]]
    name = "c2"
    program = ["acquire", "work 1s", "release"]
    retry = "100ms"
    start = "c1's grant"
"#;

fn jobs() -> Vec<Row> {
    vec![
        Row {
            word: "lock.algorithm=job",
            claim: "a job whose lock has ended is nobody's until somebody has looked for it twice",
            with: &[("lock.algorithm", "job")],
            turns: &[(Predicate::P1, "violated", "holds")],
            shows: |without, with| {
                let waited = |seen: &Seen| seen.grant("c2").at - seen.grant("c1").at;
                waited(without) < 11 * SEC && waited(with) > 19 * SEC
            },
            ..Row::on(LONG_JOB)
        },
        Row {
            word: "lock.stalled_check",
            claim: "who looks every 6 s suspects the job first and has it when its lock has ended",
            both: &[("lock.algorithm", "job")],
            with: &[("lock.stalled_check", "6s")],
            turns: &[(Predicate::P1, "holds", "violated")],
            shows: |_, with| {
                let waited = with.grant("c2").at - with.grant("c1").at;
                (12 * SEC..13 * SEC).contains(&waited)
            },
            ..Row::on(LONG_JOB)
        },
    ]
}
