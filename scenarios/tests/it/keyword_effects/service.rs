//! `[[faults]]` of a node's work: it is slow, and not down.

use crate::keyword_effects::row::{ONE, REDLOCK, Row, check};
use crate::keyword_effects::seen::{MS, SEC, Seen};

pub(crate) fn rows() -> Vec<Row> {
    vec![
        Row {
            word: "faults.kind=slow-node",
            claim: "each command takes A 1 s to 2 s, although A accepts and its machine answers",
            both: &[PATIENT],
            with: &[SLOW],
            shows: |without, with| {
                let served = |seen: &Seen| seen.grant("c1").at - seen.executed("A", "SET", "c1")[0];
                let took = served(with) - MS;
                served(without) == MS
                    && (SEC..=2 * SEC).contains(&took)
                    && with.connecting("c1", "A") == without.connecting("c1", "A")
                    && with.delivered("c1", "A")[0] == without.delivered("c1", "A")[0]
            },
            ..Row::on(ONE)
        },
        Row {
            word: "faults.slow-node.host",
            claim: "the nodes that are named are slow, and no other",
            both: &[PATIENT_WITH_EACH, SLOW],
            with: &[("faults.0.host", "['B', 'C']")],
            shows: |without, with| slow(without) == [true, false, false] && slow(with) == [false, true, true],
            ..Row::on(REDLOCK)
        },
        Row {
            word: "faults.slow-node.by",
            claim: "each command takes a time of that law",
            both: &[PATIENT, SLOW],
            with: &[("faults.0.by", "['30ms', '30ms']")],
            shows: |_, with| with.grant("c1").at - with.executed("A", "SET", "c1")[0] == 31 * MS,
            ..Row::on(ONE)
        },
        Row {
            word: "faults.slow-node.for",
            claim: "what is asked after that time takes no longer than usual",
            both: &[PATIENT, SLOW],
            with: &[("faults.0.for", "500ms")],
            shows: |without, with| {
                let ended = |seen: &Seen| seen.ended() - seen.marks("c1", "release")[0];
                ended(without) > SEC && ended(with) < 100 * MS && slow_once(with)
            },
            ..Row::on(ONE)
        },
    ]
}

#[test]
fn every_fault_of_a_nodes_work_does_what_it_says() {
    check(&rows());
}

const PATIENT: (&str, &str) = ("lock.request_timeout", "none");
const PATIENT_WITH_EACH: (&str, &str) = ("lock.node_timeout", "none");
const SLOW: (&str, &str) = ("faults", "[{ kind = 'slow-node', host = 'A', by = '1s..2s', at = '0s' }]");

/// Which nodes took a second or more for c1's SET.
fn slow(seen: &Seen) -> [bool; 3] {
    ["A", "B", "C"].map(|node| {
        let executed = seen.executed(node, "SET", "c1")[0];
        seen.sent(node, "c1")
            .iter()
            .find(|(at, _)| *at >= executed)
            .is_some_and(|(at, _)| at - executed >= SEC)
    })
}

fn slow_once(seen: &Seen) -> bool {
    seen.grant("c1").at - seen.executed("A", "SET", "c1")[0] > SEC
}
