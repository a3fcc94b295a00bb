//! `[clocks]`.

use doublehold_history::Predicate;
use doublehold_scenarios::report::KeyEnd;

use crate::keyword_effects::row::{ONE, REPLICATED, Row, TWO, check};
use crate::keyword_effects::seen::{MS, SEC};

const HOUR: i64 = 3_600 * SEC as i64;

pub(crate) fn rows() -> Vec<Row> {
    vec![
        Row {
            word: "clocks.offset",
            claim: "c1's wall clock is 3 h behind at its grant, and its other clocks are right",
            both: &[("lock.clock", "wall")],
            with: &[("clocks.c1.offset", "-3h")],
            shows: |without, with| {
                let (right, behind) = (without.grant("c1"), with.grant("c1"));
                right.at == behind.at
                    && right.reading.wall_ns - behind.reading.wall_ns == 3 * HOUR
                    && right.reading.monotonic_ns == behind.reading.monotonic_ns
                    && right.reading.boot_ns == behind.reading.boot_ns
            },
            ..Row::on(ONE)
        },
        Row {
            word: "clocks.offset",
            claim: "a key that expires at a date is over on a replica whose wall clock is ahead",
            both: &[
                ("clients.0.program", "['acquire', 'work 9s', 'release']"),
                (
                    "faults",
                    "[{ kind = 'crash', host = 'M', at = \"1s after c1's grant\" }, \
                     { kind = 'promote', host = 'R1', at = \"2s after c1's grant\" }]",
                ),
            ],
            with: &[("clocks.R1.offset", "+1h")],
            turns: &[(Predicate::P2, "holds", "violated")],
            shows: |_, with| !with.executed("R1", "SET", "c2").is_empty(),
            ..Row::on(REPLICATED)
        },
        Row {
            word: "clocks.drift",
            claim: "all three clocks of c1 run 1 % fast from the beginning",
            with: &[("clocks.c1.drift", "1/100")],
            shows: |without, with| {
                let (right, fast) = (without.grant("c1"), with.grant("c1"));
                let start = right.reading.wall_ns - right.at as i64;
                let gained = fast.at / 100;
                right.reading.monotonic_ns == right.at
                    && fast.reading.monotonic_ns == fast.at + gained
                    && fast.reading.boot_ns == fast.at + gained
                    && fast.reading.wall_ns == start + (fast.at + gained) as i64
            },
            ..Row::on(ONE)
        },
        Row {
            word: "clocks.drift",
            claim: "a holder whose clocks run at half speed believes in its lease for twice as long",
            both: &[("clients.0.program", "['acquire', 'work 9s', 'check', 'release']")],
            with: &[("clocks.c1.drift", "-1/2")],
            turns: &[(Predicate::P1, "holds", "violated"), (Predicate::P2, "holds", "violated")],
            shows: |_, with| {
                let check = with.marks("c1", "check")[0] - with.grant("c1").at;
                check == 18 * SEC
            },
            ..Row::on(TWO)
        },
        Row {
            word: "clocks.drift",
            claim: "a key on a node whose clocks run at twice the rate lasts for half of its lease",
            both: &[("clients.0.program", "['acquire', 'work 8s', 'release']")],
            with: &[("clocks.A.drift", "1/1")],
            turns: &[(Predicate::P1, "holds", "violated"), (Predicate::P2, "holds", "violated")],
            shows: |_, with| {
                let span = with.keys("A", "c1")[0];
                span.until.is_some_and(|(until, how)| {
                    how == KeyEnd::Expired && (until.0 - span.from.0).abs_diff(5 * SEC) < 2 * MS
                })
            },
            ..Row::on(TWO)
        },
    ]
}

#[test]
fn every_key_of_clocks_does_what_it_says() {
    check(&rows());
}
