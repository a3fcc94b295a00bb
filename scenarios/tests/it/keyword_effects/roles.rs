//! `[[faults]]` that change who is master.

use crate::keyword_effects::row::{REPLICATED, Row, check};
use crate::keyword_effects::seen::{MS, SEC, Seen};

pub(crate) fn rows() -> Vec<Row> {
    [promote(), follow()].into_iter().flatten().collect()
}

#[test]
fn every_change_of_role_does_what_it_says() {
    check(&rows());
}

/// The master dies.
const CRASH: (&str, &str) = ("faults", "[{ kind = 'crash', host = 'M', at = \"c1's grant\" }]");
/// The master dies and a replica takes its place.
const PROMOTION: (&str, &str) = (
    "faults",
    "[{ kind = 'crash', host = 'M', at = \"c1's grant\" }, \
     { kind = 'promote', host = 'R1', at = \"1s after c1's grant\" }]",
);
/// The same, and the new master is gone for a moment.
const PROMOTION_AND_RESTART: (&str, &str) = (
    "faults",
    "[{ kind = 'crash', host = 'M', at = \"c1's grant\" }, \
     { kind = 'promote', host = 'R1', at = \"1s after c1's grant\" }, \
     { kind = 'crash', host = 'R1', for = '1s', at = \"2s after c1's grant\" }]",
);
const PATIENCE: (&str, &str) = ("clients.1.give_up_after", "20s");

/// Whether c2 got its first grant from that node.
fn granted_by(seen: &Seen, node: &str) -> bool {
    let executed = seen.executed(node, "SET", "c2");
    seen.grants("c2").first().is_some_and(|grant| executed.iter().any(|at| grant.at - at == MS))
}

/// How often a node was given an order that came from a machine: its own, or that of a node that was promoted.
fn ordered(seen: &Seen, node: &str, by: &str) -> usize {
    seen.executed(node, "REPLICAOF", by).len()
}

fn promote() -> Vec<Row> {
    vec![
        Row {
            word: "faults.kind=promote",
            claim: "the node becomes master: c2 gets the lock from it",
            both: &[PATIENCE, CRASH],
            with: &[PROMOTION],
            shows: |without, with| without.grants("c2").is_empty() && granted_by(with, "R1"),
            ..Row::on(REPLICATED)
        },
        Row {
            word: "faults.promote.host",
            claim: "the node that is named becomes master, and tells the other replica to follow it",
            both: &[PROMOTION],
            with: &[("faults.1.host", "R2")],
            shows: |without, with| {
                granted_by(without, "R1")
                    && ordered(without, "R2", "R1") == 1
                    && granted_by(with, "R2")
                    && ordered(with, "R1", "R2") == 1
                    && ordered(with, "R2", "R1") == 0
            },
            ..Row::on(REPLICATED)
        },
        Row {
            word: "faults.promote.tell",
            claim: "nobody is told who is not named",
            both: &[PROMOTION],
            with: &[("faults.1.tell", "[]")],
            shows: |without, with| {
                let followed = |seen: &Seen| !seen.connecting("R2", "R1").is_empty();
                ordered(without, "R2", "R1") == 1
                    && followed(without)
                    && ordered(with, "R2", "R1") == 0
                    && !followed(with)
                    && granted_by(with, "R1")
            },
            ..Row::on(REPLICATED)
        },
        Row {
            word: "faults.promote.rewrite_config",
            claim: "a new master that restarts is one no more: it follows the one that its configuration names",
            both: &[PATIENCE, PROMOTION_AND_RESTART],
            with: &[("faults.1.rewrite_config", "false")],
            shows: |without, with| {
                without.executed("R1", "CONFIG", "R1").len() == 1
                    && granted_by(without, "R1")
                    && with.executed("R1", "CONFIG", "R1").is_empty()
                    && with.grants("c2").is_empty()
            },
            ..Row::on(REPLICATED)
        },
    ]
}

/// R2 is told to follow R1, which follows M.
const FOLLOW: (&str, &str) = ("faults", "[{ kind = 'follow', host = 'R2', master = 'R1', at = '3s' }]");
const FOLLOW_AND_RESTART: (&str, &str) = (
    "faults",
    "[{ kind = 'follow', host = 'R2', master = 'R1', at = '3s' }, \
     { kind = 'crash', host = 'R2', for = '1s', at = '4s' }]",
);
/// Long enough for what happens to the roles.
const LONG: (&str, &str) = ("clients.0.program", "['acquire', 'work 8s', 'release']");

fn follow() -> Vec<Row> {
    vec![
        Row {
            word: "faults.kind=follow",
            claim: "the node follows the one that is named, by an order on its own machine",
            both: &[LONG],
            with: &[FOLLOW],
            shows: |without, with| {
                without.connecting("R2", "R1").is_empty()
                    && !with.connecting("R2", "R1").is_empty()
                    && ordered(with, "R2", "R2") == 1
            },
            ..Row::on(REPLICATED)
        },
        Row {
            word: "faults.follow.host",
            claim: "the node that is named is told, and no other",
            both: &[LONG, PATIENCE, FOLLOW],
            with: &[("faults.0.host", "M")],
            shows: |without, with| {
                let told = |seen: &Seen| ["M", "R1", "R2"].map(|node| ordered(seen, node, node));
                told(without) == [0, 0, 1]
                    && told(with) == [1, 0, 0]
                    && !with.connecting("M", "R1").is_empty()
            },
            ..Row::on(REPLICATED)
        },
        Row {
            word: "faults.follow.master",
            claim: "the one that is named is followed",
            both: &[LONG, PATIENCE, FOLLOW],
            with: &[("faults.0.host", "R1"), ("faults.0.master", "R2")],
            shows: |without, with| {
                without.connecting("R1", "R2").is_empty() && !with.connecting("R1", "R2").is_empty()
            },
            ..Row::on(REPLICATED)
        },
        Row {
            word: "faults.follow.rewrite_config",
            claim: "a node that restarts follows the one that its configuration names",
            both: &[LONG, FOLLOW_AND_RESTART],
            with: &[("faults.0.rewrite_config", "false")],
            shows: |without, with| {
                let after = |seen: &Seen, master| {
                    seen.connecting("R2", master).into_iter().filter(|at| *at > 4 * SEC).count()
                };
                (after(without, "R1") > 0 && after(without, "M") == 0)
                    && (after(with, "R1") == 0 && after(with, "M") > 0)
            },
            ..Row::on(REPLICATED)
        },
    ]
}
