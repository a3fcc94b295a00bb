//! `[limits]`.

use doublehold_history::{Predicate, RunOutcome};

use crate::keyword_effects::row::{Row, TWO, check};
use crate::keyword_effects::seen::MS;

/// A client that asks without a pause for what another holds for half a minute.
const IMPATIENT: &str = r#"
    claim = "an impatient client is refused thousands of times"
    lock = { algorithm = "single", ttl = "1h" }
    nodes = { names = ["A"] }
    network = { delay = "1ms" }
    [[clients]]
    name = "c1"
    program = ["acquire", "work 30s", "release"]
    [[clients]]
    name = "c2"
    program = ["acquire", "release"]
    start = "c1's grant"
    retry = "0ms"
"#;

pub(crate) fn rows() -> Vec<Row> {
    vec![
        Row {
            word: "limits.time",
            claim: "the run ends then, and shows nothing",
            with: &[("limits.time", "700ms")],
            turns: &[(Predicate::P1, "holds", "inconclusive")],
            shows: |without, with| {
                without.outcome() == RunOutcome::Completed
                    && with.outcome() == RunOutcome::TimeBudget
                    && with.ended() == 700 * MS
            },
            ..Row::on(TWO)
        },
        Row {
            word: "limits.events",
            // Steps that leave no event count as well, so that a loop without events ends.
            claim: "the run ends after about that many events, and shows nothing",
            with: &[("limits.events", "100")],
            turns: &[(Predicate::P1, "holds", "inconclusive")],
            shows: |_, with| {
                with.outcome() == RunOutcome::EventBudget && (70..=110).contains(&with.report.events)
            },
            ..Row::on(TWO)
        },
        Row {
            word: "limits.memory",
            claim: "the run ends when it has recorded that much, and shows nothing",
            with: &[("limits.memory", "1MiB")],
            turns: &[(Predicate::P1, "holds", "inconclusive")],
            shows: |without, with| {
                without.outcome() == RunOutcome::Completed
                    && with.outcome() == RunOutcome::MemoryBudget
                    && with.report.notes.iter().any(|note| note.contains("`limits.memory`, which is 1 MiB"))
            },
            ..Row::on(IMPATIENT)
        },
    ]
}

#[test]
fn every_limit_ends_a_run() {
    check(&rows());
}
