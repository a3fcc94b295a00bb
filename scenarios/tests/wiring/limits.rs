//! `[limits]`.

use doublehold_history::Predicate;
use doublehold_sim::Outcome;

use crate::row::{Row, TWO, check};
use crate::seen::MS;

pub(crate) fn rows() -> Vec<Row> {
    vec![
        Row {
            word: "limits.time",
            claim: "the run ends then, and shows nothing",
            with: &[("limits.time", "700ms")],
            turns: &[(Predicate::P1, "holds", "inconclusive")],
            shows: |without, with| {
                without.report.outcome == Outcome::Completed
                    && with.report.outcome == Outcome::TimeBudget
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
                with.report.outcome == Outcome::EventBudget && (70..=110).contains(&with.report.events)
            },
            ..Row::on(TWO)
        },
    ]
}

#[test]
fn every_limit_ends_a_run() {
    check(&rows());
}
