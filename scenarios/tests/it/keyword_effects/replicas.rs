//! `[lock]`: what only the lock on a replicated master has.

use doublehold_history::Predicate;

use crate::keyword_effects::row::{REPLICATED, Row, check};
use crate::keyword_effects::seen::{MS, SEC, Seen};

pub(crate) fn rows() -> Vec<Row> {
    vec![
        Row {
            word: "lock.wait_replicas",
            claim: "the client waits for a replica, so a lock that no replica knows is not granted",
            both: &[
                ("faults", LOST_WITH_ITS_MASTER),
                ("clients.0.program", "['acquire', 'work 9s', 'release']"),
            ],
            with: &[("lock.wait_replicas", "1")],
            turns: &[(Predicate::P1, "violated", "holds"), (Predicate::P2, "violated", "holds")],
            shows: |without, with| {
                without.executed("M", "WAIT", "c1").is_empty() && !with.executed("M", "WAIT", "c1").is_empty()
            },
            ..Row::on(REPLICATED)
        },
        Row {
            word: "lock.wait_replicas",
            claim: "one replica that answers is enough for one, and not for two",
            both: &[("faults", R1_CUT_OFF), ("lock.wait_replicas", "1")],
            with: &[("lock.wait_replicas", "2")],
            shows: |without, with| {
                without.refusals("c1").is_empty()
                    && with.refusals("c1")[0].1 == "1 of the 2 replicas wanted have it"
            },
            ..Row::on(REPLICATED)
        },
        Row {
            word: "lock.elapsed_check",
            claim: "the lock on a master computes a deadline as the lock on one node does",
            both: &[
                ("lock.elapsed_check", "false"),
                ("clients.0.program", "['acquire', 'work 12s', 'check', 'release']"),
            ],
            with: &[("lock.elapsed_check", "true")],
            turns: &[(Predicate::P2, "violated", "holds")],
            shows: |without, with| {
                without.grant("c1").deadline.is_none() && with.grant("c1").deadline.is_some()
            },
            ..Row::on(REPLICATED)
        },
        Row {
            word: "lock.wait_timeout",
            claim: "the master waits that long for its replicas, and 1 s where nothing is said",
            both: &[("faults", R1_CUT_OFF), ("lock.wait_replicas", "2")],
            with: &[("lock.wait_timeout", "300ms")],
            shows: |without, with| {
                let waited = |seen: &Seen| seen.refusals("c1")[0].0 - seen.executed("M", "SET", "c1")[0];
                (SEC..SEC + 20 * MS).contains(&waited(without))
                    && (300 * MS..320 * MS).contains(&waited(with))
            },
            ..Row::on(REPLICATED)
        },
    ]
}

/// The master's replicas do not hear of c1's key; the master dies and R1 takes its place.
const LOST_WITH_ITS_MASTER: &str = "[{ kind = 'cut', from = 'M', to = ['R1', 'R2'], at = \"c1's acquire\" }, \
     { kind = 'crash', host = 'M', at = \"2s after c1's acquire\" }, \
     { kind = 'promote', host = 'R1', at = \"3s after c1's acquire\" }]";
const R1_CUT_OFF: &str = "[{ kind = 'cut', from = 'M', to = 'R1', for = '5s', at = \"c1's acquire\" }]";

#[test]
fn every_switch_of_the_replicated_lock_does_what_it_says() {
    check(&rows());
}
