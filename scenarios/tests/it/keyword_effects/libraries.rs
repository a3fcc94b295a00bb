//! What libraries do otherwise than the page of Redlock, switch by switch.

use doublehold_history::{EventKind, Predicate};

use crate::keyword_effects::row::{REDLOCK, Row, check};
use crate::keyword_effects::seen::{MS, SEC, Seen, gaps};

pub(crate) fn rows() -> Vec<Row> {
    [waiting(), silences(), subsets(), retrying(), giving_back(), extending()].into_iter().flatten().collect()
}

#[test]
fn every_switch_that_libraries_brought_does_what_it_says() {
    check(&rows());
}

const TRY_1: (&str, &str) = ("clients.0.program", "['try', 'work 2s', 'release']");
/// C is out of everybody's reach for a while.
const C_SLOW: (&str, &str) =
    ("faults", "[{ kind = 'slow', from = 'C', to = 'c1', by = '3s', for = '1s', at = \"c1's acquire\" }]");
/// A and B refuse, and C's replies are late.
const A_AND_B_DEAD_C_SLOW: (&str, &str) = (
    "faults",
    "[{ kind = 'crash', host = ['A', 'B'], at = '0s' }, \
     { kind = 'slow', from = 'C', to = 'c1', by = '3s', for = '1s', at = \"c1's acquire\" }]",
);
/// C's process is dead from the beginning.
const C_DEAD: (&str, &str) = ("faults", "[{ kind = 'crash', host = 'C', at = '0s' }]");

/// What libraries do otherwise than the page.
fn waiting() -> Vec<Row> {
    fn waited(seen: &Seen) -> u64 {
        seen.grant("c1").at - seen.marks("c1", "acquire")[0]
    }
    fn refused_after(seen: &Seen) -> u64 {
        seen.refusals("c1")[0].0 - seen.marks("c1", "acquire")[0]
    }
    vec![
        Row {
            word: "lock.wait_for=quorum",
            claim: "a slow node of three is not waited for",
            both: &[C_SLOW, ("lock.order", "parallel"), ("lock.node_timeout", "none")],
            with: &[("lock.wait_for", "quorum")],
            shows: |without, with| waited(without) > SEC && waited(with) < 100 * MS,
            ..Row::on(REDLOCK)
        },
        Row {
            word: "lock.wait_for=all",
            claim: "a slow node of three is waited for",
            both: &[
                C_SLOW,
                ("lock.order", "parallel"),
                ("lock.node_timeout", "none"),
                ("lock.wait_for", "quorum"),
            ],
            with: &[("lock.wait_for", "all")],
            shows: |without, with| waited(without) < 100 * MS && waited(with) > SEC,
            ..Row::on(REDLOCK)
        },
        Row {
            word: "lock.wait_for=yes",
            claim: "a slow node of three is waited for where the other two are no yes",
            both: &[
                A_AND_B_DEAD_C_SLOW,
                TRY_1,
                ("lock.tries", "1"),
                ("lock.order", "parallel"),
                ("lock.node_timeout", "none"),
                ("lock.wait_for", "quorum"),
            ],
            with: &[("lock.wait_for", "yes")],
            shows: |without, with| refused_after(without) < 100 * MS && refused_after(with) > SEC,
            ..Row::on(REDLOCK)
        },
        Row {
            word: "lock.tie=never",
            claim: "one yes and one silence of two nodes keep the caller for ever",
            both: &[TWO, C_DEAD_OF_TWO, TRY_1, QUORUM[0], QUORUM[1]],
            with: &[("lock.tie", "never")],
            shows: |without, with| without.refusals("c1").len() == 1 && with.refusals("c1").is_empty(),
            ..Row::on(REDLOCK)
        },
        Row {
            word: "lock.tie=refused",
            claim: "one yes and one silence of two nodes are too few",
            both: &[TWO, C_DEAD_OF_TWO, TRY_1, QUORUM[0], QUORUM[1], ("lock.tie", "never")],
            with: &[("lock.tie", "refused")],
            shows: |without, with| without.refusals("c1").is_empty() && with.refusals("c1").len() == 1,
            ..Row::on(REDLOCK)
        },
    ]
}

/// The first node's process is dead from the beginning.
const A_DEAD: (&str, &str) = ("faults", "[{ kind = 'crash', host = 'A', at = '0s' }]");

/// What a node without an answer means.
fn silences() -> Vec<Row> {
    vec![
        Row {
            word: "lock.on_node_error=raise",
            claim: "a dead node of three makes every acquire an error",
            both: &[C_DEAD, TRY_1],
            with: &[("lock.on_node_error", "raise")],
            shows: |without, with| without.grants("c1").len() == 1 && with.grants("c1").is_empty(),
            ..Row::on(REDLOCK)
        },
        Row {
            word: "lock.on_node_error=no-vote",
            claim: "a dead node of three is no vote",
            both: &[C_DEAD, TRY_1, ("lock.on_node_error", "raise")],
            with: &[("lock.on_node_error", "no-vote")],
            shows: |without, with| without.grants("c1").is_empty() && with.grants("c1").len() == 1,
            ..Row::on(REDLOCK)
        },
        Row {
            word: "lock.on_node_error=stop",
            claim: "a dead node ends an acquire before the others are asked, and one at the end leaves the keys",
            both: &[A_DEAD, TRY_1],
            with: &[("lock.on_node_error", "stop")],
            shows: |without, with| {
                without.grants("c1").len() == 1
                    && with.grants("c1").is_empty()
                    && with.executed("B", "SET", "c1").is_empty()
            },
            ..Row::on(REDLOCK)
        },
    ]
}

const GIVE_UP: (&str, &str) = ("clients.0.give_up_after", "20s");
const IN_5S: (&str, &str) = ("limits.obtain_free_within", "5s");

/// How many nodes are asked.
fn subsets() -> Vec<Row> {
    fn asked(seen: &Seen) -> Vec<bool> {
        ["A", "B", "C"].map(|node| !seen.executed(node, "SET", "c1").is_empty()).to_vec()
    }
    vec![
        Row {
            word: "lock.subset=majority",
            claim: "the first two of three nodes are asked, and one that is dead keeps everybody out",
            both: &[A_DEAD, GIVE_UP, IN_5S],
            with: &[("lock.subset", "majority")],
            turns: &[(Predicate::LV, "holds", "violated")],
            shows: |without, with| {
                asked(without) == [false, true, true] && asked(with) == [false, true, false]
            },
            ..Row::on(REDLOCK)
        },
        Row {
            word: "lock.subset=all",
            claim: "three of three nodes are asked, and one may be dead",
            both: &[A_DEAD, GIVE_UP, IN_5S, ("lock.subset", "majority")],
            with: &[("lock.subset", "all")],
            turns: &[(Predicate::LV, "violated", "holds")],
            shows: |without, with| {
                asked(without) == [false, true, false] && asked(with) == [false, true, true]
            },
            ..Row::on(REDLOCK)
        },
        Row {
            word: "lock.subset",
            claim: "so many nodes are asked",
            both: &[("nodes.names", "['A', 'B', 'C', 'D']")],
            with: &[("lock.subset", "3")],
            shows: |without, with| {
                !without.executed("D", "SET", "c1").is_empty() && with.executed("D", "SET", "c1").is_empty()
            },
            ..Row::on(REDLOCK)
        },
    ]
}

const TWO: (&str, &str) = ("nodes.names", "['A', 'B']");
const C_DEAD_OF_TWO: (&str, &str) = ("faults", "[{ kind = 'crash', host = 'B', at = '0s' }]");
const QUORUM: [(&str, &str); 2] = [("lock.wait_for", "quorum"), ("lock.order", "parallel")];

/// c1 holds the lock while c2 asks for it.
const HELD: (&str, &str) = ("clients.0.program", "['acquire', 'work 5s', 'release']");

/// When c2 asked A for the key in its first call.
fn attempts_of_first_call(seen: &Seen) -> Vec<u64> {
    let over = seen.marks("c2", "refusal")[0];
    seen.executed("A", "SET", "c2").into_iter().filter(|at| *at < over).collect()
}

/// The token of a grant.
fn token(what: &EventKind) -> Option<&str> {
    if let EventKind::Granted { token, .. } = what { Some(token) } else { None }
}

fn retrying() -> Vec<Row> {
    vec![
        Row {
            word: "lock.retry_least",
            claim: "a drawn wait is no shorter than that",
            both: &[HELD, ("lock.tries", "8")],
            with: &[("lock.retry_least", "190ms")],
            shows: |without, with| {
                let shortest = |seen: &Seen| gaps(&attempts_of_first_call(seen))[1..].iter().copied().min();
                shortest(without) < Some(190 * MS) && shortest(with) >= Some(190 * MS)
            },
            ..Row::on(REDLOCK)
        },
        Row {
            word: "lock.acquire_limit",
            claim: "no attempt of a call begins after that",
            both: &[HELD, ("lock.tries", "8"), ("lock.jitter", "false")],
            with: &[("lock.acquire_limit", "500ms")],
            shows: |without, with| {
                attempts_of_first_call(without).len() == 8 && attempts_of_first_call(with).len() == 3
            },
            ..Row::on(REDLOCK)
        },
        Row {
            word: "lock.acquire_limit=none",
            claim: "a call makes all its attempts",
            both: &[HELD, ("lock.tries", "8"), ("lock.jitter", "false"), ("lock.acquire_limit", "500ms")],
            with: &[("lock.acquire_limit", "none")],
            shows: |without, with| {
                attempts_of_first_call(without).len() == 3 && attempts_of_first_call(with).len() == 8
            },
            ..Row::on(REDLOCK)
        },
        Row {
            word: "lock.token=object",
            claim: "the second grant of a lock object has the token of its first",
            both: &[("clients.0.rounds", "2")],
            with: &[("lock.token", "object")],
            shows: |without, with| {
                let same = |seen: &Seen| {
                    let tokens: Vec<&str> = seen.did("c1").filter_map(|(_, what)| token(what)).collect();
                    tokens[0] == tokens[1]
                };
                !same(without) && same(with)
            },
            ..Row::on(REDLOCK)
        },
        Row {
            word: "lock.expiry=none",
            claim: "a holder that died keeps everybody else out",
            both: &[DIES, ("clients.1.give_up_after", "60s")],
            with: &[("lock.expiry", "none")],
            shows: |without, with| without.grants("c2").len() == 1 && with.grants("c2").is_empty(),
            ..Row::on(REDLOCK)
        },
        Row {
            word: "lock.expiry=px",
            claim: "the keys of a holder that died end by themselves",
            both: &[DIES, ("clients.1.give_up_after", "60s"), ("lock.expiry", "none")],
            with: &[("lock.expiry", "px")],
            shows: |without, with| without.grants("c2").is_empty() && with.grants("c2").len() == 1,
            ..Row::on(REDLOCK)
        },
    ]
}

const DIES: (&str, &str) = ("faults", "[{ kind = 'crash', host = 'c1', at = \"c1's grant\" }]");
/// c2's replies all come when its lease is over, and it asks once more.
const ALL_LATE: (&str, &str) =
    ("faults", "[{ kind = 'pause', host = 'c1', for = '12s', at = 'SET executed for c1 on A' }]");

fn giving_back() -> Vec<Row> {
    fn given_back(seen: &Seen) -> usize {
        let over = seen.marks("c2", "refusal")[0];
        seen.executed("A", "EVALSHA", "c2").into_iter().filter(|at| *at < over).count()
    }
    vec![
        Row {
            word: "lock.release_between_tries",
            claim: "what three attempts got is given back after the last",
            both: &[HELD, ("lock.tries", "3")],
            with: &[("lock.release_between_tries", "false")],
            shows: |without, with| given_back(without) >= 3 && given_back(with) <= 2,
            ..Row::on(REDLOCK)
        },
        Row {
            word: "lock.release_on_late",
            claim: "a lock that came too late keeps its keys",
            both: &[ALL_LATE, TRY_1, ("lock.tries", "1")],
            with: &[("lock.release_on_late", "false")],
            shows: |without, with| {
                let given_back = |seen: &Seen| seen.executed("A", "EVALSHA", "c1").len();
                given_back(without) > 0 && given_back(with) == 0
            },
            ..Row::on(REDLOCK)
        },
    ]
}

/// c1 extends 12 s late, with keys that are set again.
const LATE: [(&str, &str); 4] = [
    ("clients.0.program", "['acquire', 'read', 'work 1s', 'extend', 'check', 'write', 'release']"),
    ("faults", "[{ kind = 'pause', host = 'c1', for = '12s', at = \"c1's extending\" }]"),
    ("clients.1.start", "30s"),
    ("lock.extend_if_missing", "true"),
];
/// The same where the pause strikes when A has executed the extension.
const LATE_REPLIES: (&str, &str) =
    ("faults", "[{ kind = 'pause', host = 'c1', for = '12s', at = 'EVALSHA executed for c1 on A' }]");

fn extending() -> Vec<Row> {
    fn extended(seen: &Seen) -> usize {
        seen.times("c1", |what| matches!(what, EventKind::Extended { .. })).len()
    }
    vec![
        Row {
            word: "lock.extend_check=both",
            claim: "an extension that began after the deadline does not count",
            both: &[LATE[0], LATE[1], LATE[2], LATE[3], ("lock.extend_check", "none")],
            with: &[("lock.extend_check", "both")],
            shows: |without, with| extended(without) == 1 && extended(with) == 0,
            ..Row::on(REDLOCK)
        },
        Row {
            word: "lock.extend_check=new-lease",
            claim: "an extension that sets lost keys counts, though the deadline had passed",
            both: &[LATE[0], LATE[1], LATE[2], LATE[3]],
            with: &[("lock.extend_check", "new-lease")],
            shows: |without, with| extended(without) == 0 && extended(with) == 1,
            ..Row::on(REDLOCK)
        },
        Row {
            word: "lock.extend_check=at-start",
            claim: "nobody looks when the replies came",
            both: &[LATE[0], LATE_REPLIES, LATE[2], LATE[3]],
            with: &[("lock.extend_check", "at-start")],
            shows: |without, with| extended(without) == 0 && extended(with) == 1,
            ..Row::on(REDLOCK)
        },
        Row {
            word: "lock.extend_check=none",
            claim: "an extension counts whenever it began and came",
            both: &[LATE[0], LATE[1], LATE[2], LATE[3]],
            with: &[("lock.extend_check", "none")],
            shows: |without, with| extended(without) == 0 && extended(with) == 1,
            ..Row::on(REDLOCK)
        },
    ]
}
