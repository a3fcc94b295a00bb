//! `[lock]`: what only Redlock has.

use doublehold_history::{ClockKind, EventKind, Predicate};
use doublehold_scenarios::report::KeyEnd;

use crate::keyword_effects::row::{REDLOCK, Row, check};
use crate::keyword_effects::seen::{MS, SEC, Seen, gaps};

pub(crate) fn rows() -> Vec<Row> {
    [quorums(), asking(), attempts(), giving_back(), extending(), shared()].into_iter().flatten().collect()
}

#[test]
fn every_switch_of_redlock_does_what_it_says() {
    check(&rows());
}

const FOUR: (&str, &str) = ("nodes.names", "['A', 'B', 'C', 'D']");
/// c1 reaches one half of four nodes and c2 the other.
const HALVES: (&str, &str) = (
    "faults",
    "[{ kind = 'cut', from = 'c1', to = ['C', 'D'], both_ways = true, at = '0s' }, \
     { kind = 'cut', from = 'c2', to = ['A', 'B'], both_ways = true, at = '0s' }]",
);
const TRY_1: (&str, &str) = ("clients.0.program", "['try', 'work 2s', 'release']");
const TRY_2: (&str, &str) = ("clients.1.program", "['try', 'work 2s', 'release']");
const AT_ONCE: (&str, &str) = ("clients.1.start", "0s");

fn quorums() -> Vec<Row> {
    vec![
        Row {
            word: "lock.quorum=half-of-others",
            claim: "two of four nodes are enough, for two clients at once",
            both: &[FOUR, HALVES, TRY_1, TRY_2, AT_ONCE],
            with: &[("lock.quorum", "half-of-others")],
            turns: &[
                (Predicate::P1, "inconclusive", "violated"),
                (Predicate::P2, "inconclusive", "violated"),
            ],
            shows: |without, with| without.grants("c1").is_empty() && with.grants("c1").len() == 1,
            ..Row::on(REDLOCK)
        },
        Row {
            word: "lock.quorum=majority",
            claim: "two of four nodes are not enough",
            both: &[FOUR, HALVES, TRY_1, TRY_2, AT_ONCE, ("lock.quorum", "half-of-others")],
            with: &[("lock.quorum", "majority")],
            turns: &[(Predicate::P1, "violated", "inconclusive")],
            shows: |_, with| with.refusals("c1")[0].1 == "2 of the 3 votes needed",
            ..Row::on(REDLOCK)
        },
        Row {
            word: "lock.quorum=more-than-majority",
            claim: "two of three nodes are not enough",
            both: &[TRY_1, ("faults", "[{ kind = 'crash', host = 'C', at = '0s' }]")],
            with: &[("lock.quorum", "more-than-majority"), ("clients.1.start", "c1's refusal"), TRY_2],
            shows: |without, with| {
                without.grants("c1").len() == 1 && with.refusals("c1")[0].1 == "2 of the 3 votes needed"
            },
            ..Row::on(REDLOCK)
        },
        Row {
            word: "lock.quorum",
            claim: "a number of votes is that number",
            with: &[("lock.quorum", "1"), HALVES_OF_THREE, TRY_1, TRY_2],
            turns: &[(Predicate::P1, "holds", "violated")],
            shows: |_, with| with.grants("c1").len() == 1 && with.grants("c2").len() == 1,
            ..Row::on(REDLOCK)
        },
    ]
}

/// c1 reaches A alone, and c2 the other two.
const HALVES_OF_THREE: (&str, &str) = (
    "faults",
    "[{ kind = 'cut', from = 'c1', to = ['B', 'C'], both_ways = true, at = '0s' }, \
     { kind = 'cut', from = 'c2', to = 'A', both_ways = true, at = '0s' }]",
);

/// The first node is out of c1's reach for 5 s.
const A_UNREACHABLE: (&str, &str) =
    ("faults", "[{ kind = 'cut', from = 'c1', to = 'A', for = '5s', at = '0s' }]");

/// How long after c1's call the second node has set the key.
fn second_node_after(seen: &Seen) -> u64 {
    seen.executed("B", "SET", "c1")[0] - seen.marks("c1", "acquire")[0]
}

fn asking() -> Vec<Row> {
    fn set_at(seen: &Seen) -> [u64; 3] {
        ["A", "B", "C"].map(|node| seen.executed(node, "SET", "c1")[0])
    }
    vec![
        Row {
            word: "lock.order=parallel",
            claim: "all nodes are asked at once",
            with: &[("lock.order", "parallel")],
            shows: |without, with| {
                gaps(&set_at(without)).iter().all(|gap| *gap >= 2 * MS) && gaps(&set_at(with)) == [0, 0]
            },
            ..Row::on(REDLOCK)
        },
        Row {
            word: "lock.order=sequential",
            claim: "a node is asked when the one before it has answered",
            both: &[("lock.order", "parallel")],
            with: &[("lock.order", "sequential")],
            shows: |without, with| {
                gaps(&set_at(without)) == [0, 0] && gaps(&set_at(with)).iter().all(|gap| *gap >= 2 * MS)
            },
            ..Row::on(REDLOCK)
        },
        Row {
            word: "lock.node_timeout",
            claim: "a node that does not answer is given up after that time, and after 50 ms where nothing is said",
            both: &[A_UNREACHABLE],
            with: &[("lock.node_timeout", "200ms")],
            shows: |without, with| {
                // To B it takes the handshake there and back, and the request there.
                second_node_after(without) == 53 * MS && second_node_after(with) == 203 * MS
            },
            ..Row::on(REDLOCK)
        },
        Row {
            word: "lock.node_timeout=none",
            claim: "a node that does not answer is waited for",
            both: &[A_UNREACHABLE],
            with: &[("lock.node_timeout", "none")],
            shows: |_, with| second_node_after(with) > 5 * SEC,
            ..Row::on(REDLOCK)
        },
    ]
}

/// c1 holds the lock for 5 s, and c2 makes several attempts in one call.
const HELD: (&str, &str) = ("clients.0.program", "['acquire', 'work 5s', 'release']");

/// When c2 asked A for the key in its first call.
fn attempts_of_first_call(seen: &Seen) -> Vec<u64> {
    let over = seen.marks("c2", "refusal")[0];
    seen.executed("A", "SET", "c2").into_iter().filter(|at| *at < over).collect()
}

/// Whether c2's first two attempts sent A the same bytes.
fn same_token(seen: &Seen) -> bool {
    let over = seen.marks("c2", "refusal")[0];
    let sent = seen.sent("c2", "A");
    let first = sent[0].1;
    sent[1..].iter().any(|(at, digest)| *at < over && *digest == first)
}

fn attempts() -> Vec<Row> {
    vec![
        Row {
            word: "lock.token=attempt",
            claim: "a second attempt asks with another token",
            both: &[HELD, ("lock.tries", "2")],
            with: &[("lock.token", "attempt")],
            shows: |without, with| same_token(without) && !same_token(with),
            ..Row::on(REDLOCK)
        },
        Row {
            word: "lock.token=call",
            claim: "a second attempt asks with the same token",
            both: &[HELD, ("lock.tries", "2"), ("lock.token", "attempt")],
            with: &[("lock.token", "call")],
            shows: |without, with| !same_token(without) && same_token(with),
            ..Row::on(REDLOCK)
        },
        Row {
            word: "lock.tries",
            claim: "one call makes that many attempts",
            both: &[HELD],
            with: &[("lock.tries", "4")],
            shows: |without, with| {
                attempts_of_first_call(without).len() == 1 && attempts_of_first_call(with).len() == 4
            },
            ..Row::on(REDLOCK)
        },
        Row {
            word: "lock.retry_delay",
            claim: "two attempts are that much further apart",
            both: &[HELD, ("lock.tries", "3"), ("lock.jitter", "false")],
            with: &[("lock.retry_delay", "500ms")],
            shows: |without, with| {
                let gap = |seen: &Seen| gaps(&attempts_of_first_call(seen))[1];
                gap(with) - gap(without) == 300 * MS
            },
            ..Row::on(REDLOCK)
        },
        Row {
            word: "lock.jitter",
            claim: "the waits between attempts differ, and none is longer than the fixed one",
            both: &[HELD, ("lock.tries", "5"), ("lock.jitter", "false")],
            with: &[("lock.jitter", "true")],
            shows: |without, with| {
                let gaps = |seen: &Seen| gaps(&attempts_of_first_call(seen))[1..].to_vec();
                let (fixed, drawn) = (gaps(without), gaps(with));
                fixed.iter().all(|gap| *gap == fixed[0])
                    && drawn.iter().any(|gap| *gap != drawn[0])
                    && drawn.iter().all(|gap| *gap <= fixed[0])
            },
            ..Row::on(REDLOCK)
        },
    ]
}

/// Two nodes forget what c1 set there, so that its extension finds one key of three.
const FORGETFUL: (&str, &str) =
    ("faults", "[{ kind = 'crash', host = ['B', 'C'], for = '0s', at = \"c1's grant\" }]");
const EXTENDS: (&str, &str) = ("clients.0.program", "['acquire', 'work 1s', 'extend', 'work 2s', 'release']");

/// The same, with nodes that know the script and keep their connections.
const EXPIRED_ON_TWO: (&str, &str) =
    ("faults", "[{ kind = 'clock-step', host = ['B', 'C'], by = '+10s', at = \"c1's grant\" }]");

/// How long after c1's extension its key on A was deleted.
fn gone_after_extension(seen: &Seen) -> u64 {
    let (gone, how) = seen.keys("A", "c1")[0].until.expect("the key does not stay");
    assert_eq!(how, KeyEnd::Deleted);
    gone.0.saturating_sub(seen.times("c1", |what| matches!(what, EventKind::ExtendFailed { .. }))[0])
}

fn giving_back() -> Vec<Row> {
    fn told(seen: &Seen) -> usize {
        let over = seen.marks("c2", "refusal")[0];
        seen.executed("A", "EVALSHA", "c2").iter().filter(|at| **at < over).count()
    }
    vec![
        Row {
            word: "lock.release_on=answered",
            claim: "nodes that said no are not told that the attempt is over",
            both: &[HELD],
            with: &[("lock.release_on", "answered")],
            shows: |without, with| told(without) > 0 && told(with) == 0,
            ..Row::on(REDLOCK)
        },
        Row {
            word: "lock.release_on=all",
            claim: "nodes that said no are told as well",
            both: &[HELD, ("lock.release_on", "answered")],
            with: &[("lock.release_on", "all")],
            shows: |without, with| told(without) == 0 && told(with) > 0,
            ..Row::on(REDLOCK)
        },
        Row {
            word: "lock.on_failed_extension=release",
            claim: "an extension that failed gives back what is left, 2 s before the release does",
            both: &[FORGETFUL, EXTENDS],
            with: &[("lock.on_failed_extension", "release")],
            shows: |without, with| {
                gone_after_extension(without) >= 2 * SEC && gone_after_extension(with) == 0
            },
            ..Row::on(REDLOCK)
        },
        Row {
            word: "lock.on_failed_extension=keep",
            claim: "an extension that failed leaves the keys that are left",
            both: &[FORGETFUL, EXTENDS, ("lock.on_failed_extension", "release")],
            with: &[("lock.on_failed_extension", "keep")],
            shows: |without, with| {
                gone_after_extension(without) == 0 && gone_after_extension(with) >= 2 * SEC
            },
            ..Row::on(REDLOCK)
        },
    ]
}

/// c1 is stopped right before it extends its lease, until that is over. Nobody else asks meanwhile.
const LATE: [(&str, &str); 3] = [
    ("clients.0.program", "['acquire', 'read', 'work 1s', 'extend', 'check', 'write', 'release']"),
    ("faults", "[{ kind = 'pause', host = 'c1', for = '12s', at = \"c1's extending\" }]"),
    ("clients.1.start", "30s"),
];

fn extending() -> Vec<Row> {
    fn failed(seen: &Seen) -> usize {
        seen.times("c1", |what| matches!(what, EventKind::ExtendFailed { .. })).len()
    }
    vec![
        Row {
            word: "lock.extend_check=new-lease",
            claim: "an extension that sets lost keys counts, though the deadline had passed",
            both: &[LATE[0], LATE[1], LATE[2], ("lock.extend_if_missing", "true")],
            with: &[("lock.extend_check", "new-lease")],
            shows: |without, with| {
                failed(without) == 1
                    && without.marks("c1", "write").is_empty()
                    && with.marks("c1", "write").len() == 1
            },
            ..Row::on(REDLOCK)
        },
        Row {
            word: "lock.extension_votes=answered",
            claim: "nodes that have no key count for an extension",
            both: &[EXTENDS, EXPIRED_ON_TWO, ("clients.1.start", "30s")],
            with: &[("lock.extension_votes", "answered")],
            shows: |without, with| failed(without) == 1 && failed(with) == 0,
            ..Row::on(REDLOCK)
        },
        Row {
            word: "lock.extension_votes=renewed",
            claim: "nodes that have no key do not count for an extension",
            both: &[
                EXTENDS,
                EXPIRED_ON_TWO,
                ("clients.1.start", "30s"),
                ("lock.extension_votes", "answered"),
            ],
            with: &[("lock.extension_votes", "renewed")],
            shows: |without, with| failed(without) == 0 && failed(with) == 1,
            ..Row::on(REDLOCK)
        },
        Row {
            word: "lock.tells_deadline",
            claim: "a grant without a deadline is not found to be over",
            both: &[("clients.0.program", "['acquire', 'work 12s', 'check', 'release']")],
            with: &[("lock.tells_deadline", "false")],
            turns: &[(Predicate::P2, "holds", "violated")],
            shows: |without, with| {
                without.marks("c1", "expiry").len() == 1
                    && with.marks("c1", "expiry").is_empty()
                    && with.grant("c1").deadline.is_none()
            },
            ..Row::on(REDLOCK)
        },
        Row {
            word: "lock.release_on_failure",
            claim: "a refused client tells nobody that its attempt is over",
            both: &[HELD, TRY_2],
            with: &[("lock.release_on_failure", "false")],
            shows: |without, with| {
                !without.executed("A", "EVALSHA", "c2").is_empty()
                    && with.executed("A", "EVALSHA", "c2").is_empty()
            },
            ..Row::on(REDLOCK)
        },
    ]
}

const SUSPENDED_AT_WORK: (&str, &str) =
    ("faults", "[{ kind = 'suspend', host = 'c1', for = '12s', at = \"c1's read\" }]");

const RELEASES_AT_ONCE: (&str, &str) = ("clients.0.program", "['acquire', 'release', 'work 1s']");

/// Switches that other locks have as well, and that Redlock reads for itself.
fn shared() -> Vec<Row> {
    const SLOW_REPLIES: (&str, &str) = (
        "faults",
        "[{ kind = 'slow', from = 'A', to = 'c1', by = '300ms', for = '500ms', at = \"c1's grant\" }]",
    );
    vec![
        Row {
            word: "lock.clock=boot",
            claim: "the deadline is a reading of the boot clock, which ran while the machine was suspended",
            both: &[SUSPENDED_AT_WORK],
            with: &[("lock.clock", "boot")],
            shows: |without, with| {
                let clock = |seen: &Seen| seen.grant("c1").deadline.map(|deadline| deadline.clock);
                clock(without) == Some(ClockKind::Monotonic)
                    && clock(with) == Some(ClockKind::Boot)
                    && without.marks("c1", "expiry").is_empty()
                    && with.marks("c1", "expiry").len() == 1
            },
            ..Row::on(REDLOCK)
        },
        Row {
            word: "lock.release=plain-delete",
            claim: "a refused client deletes the keys of the holder while it cleans up",
            both: &[HELD, TRY_2],
            with: &[("lock.release", "plain-delete")],
            turns: &[(Predicate::WR, "holds", "violated")],
            shows: |without, with| {
                without.executed("A", "DEL", "c2").is_empty() && with.executed("A", "DEL", "c2").len() == 1
            },
            ..Row::on(REDLOCK)
        },
        Row {
            word: "lock.release=get-then-delete",
            claim: "a refused client reads keys that are not its own, and leaves them",
            both: &[HELD, TRY_2],
            with: &[("lock.release", "get-then-delete")],
            shows: |without, with| {
                without.executed("A", "GET", "c2").is_empty()
                    && with.executed("A", "GET", "c2").len() == 1
                    && with.executed("A", "DEL", "c2").is_empty()
            },
            ..Row::on(REDLOCK)
        },
        Row {
            word: "lock.on_timeout=keep",
            claim: "a connection with a late reply is used again",
            both: &[SLOW_REPLIES, RELEASES_AT_ONCE, ("clients.0.rounds", "2")],
            with: &[("lock.on_timeout", "keep")],
            shows: |without, with| {
                without.connecting("c1", "A").len() == 2 && with.connecting("c1", "A").len() == 1
            },
            ..Row::on(REDLOCK)
        },
        Row {
            word: "lock.extend_if_missing",
            claim: "an extension sets keys again that have expired on some nodes",
            // c2 would take what has expired.
            both: &[EXPIRED_ON_TWO, EXTENDS, ("clients.1.start", "3s")],
            with: &[("lock.extend_if_missing", "true")],
            shows: |without, with| {
                let extended = |what: &EventKind| matches!(what, EventKind::Extended { .. });
                without.times("c1", extended).is_empty()
                    && without.keys("B", "c1").len() == 1
                    && with.times("c1", extended).len() == 1
                    && with.keys("B", "c1").len() == 2
            },
            ..Row::on(REDLOCK)
        },
    ]
}
