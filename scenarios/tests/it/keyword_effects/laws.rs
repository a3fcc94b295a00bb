//! What a delay may be: a time, a range, a log-normal law, quantiles. Shown on the network; the reader is one for all.

use std::collections::BTreeSet;

use crate::keyword_effects::row::{ONE, Row, check, run};
use crate::keyword_effects::seen::MS;

pub(crate) fn rows() -> Vec<Row> {
    vec![
        Row {
            word: "law.median",
            claim: "without any deviation, each draw is the median",
            both: &[("network.delay", "{ median = '2ms', sigma = '0/1' }")],
            with: &[("network.delay.median", "9ms")],
            shows: |without, with| {
                without.transits("c1", "A").iter().all(|transit| *transit == 2 * MS)
                    && with.transits("c1", "A").iter().all(|transit| *transit == 9 * MS)
            },
            ..Row::on(ONE)
        },
        Row {
            word: "law.sigma",
            claim: "with a deviation of a half, draws lie on both sides of the median, some further than one, none than six",
            both: &[
                ("clients.0.program", "['acquire', 'release']"),
                ("clients.0.rounds", "30"),
                ("network.delay", "{ median = '2ms', sigma = '0/1' }"),
            ],
            with: &[("network.delay.sigma", "1/2")],
            shows: |_, with| {
                let transits = with.transits("c1", "A");
                let (below, above) = transits.iter().partition::<Vec<u64>, _>(|transit| **transit < 2 * MS);
                // e^(±3): the tails end at six deviations.
                transits.iter().all(|transit| (99_000..=40_200_000).contains(transit))
                    // e^(±1/2)
                    && transits.iter().any(|transit| *transit > 3_300_000)
                    && transits.iter().any(|transit| *transit < 1_210_000)
                    && below.len() > transits.len() / 4
                    && above.len() > transits.len() / 4
            },
            ..Row::on(ONE)
        },
    ]
}

#[test]
fn the_keys_of_a_law_do_what_they_say() {
    check(&rows());
}

/// How long each of many messages was on its way under a law.
fn drawn(law: &str) -> Vec<u64> {
    let sets =
        [("clients.0.program", "['acquire', 'release']"), ("clients.0.rounds", "30"), ("network.delay", law)];
    run(ONE, &sets, 1).transits("c1", "A")
}

#[test]
fn a_law_of_each_form_draws_what_it_says() {
    assert_eq!(BTreeSet::from_iter(drawn("3ms")), BTreeSet::from([3 * MS]));
    let range = drawn("3ms..9ms");
    assert!(range.iter().all(|transit| (3 * MS..=9 * MS).contains(transit)), "{range:?}");
    assert!(range.iter().any(|t| *t < 5 * MS) && range.iter().any(|t| *t > 7 * MS), "{range:?}");
    // Nothing is drawn from between two quantiles that are alike, and half of the draws are each.
    let halves = drawn("['2ms', '2ms', '50ms', '50ms']");
    assert!(halves.contains(&(2 * MS)) && halves.contains(&(50 * MS)), "{halves:?}");
    assert!(halves.iter().all(|transit| (2 * MS..=50 * MS).contains(transit)), "{halves:?}");
}
