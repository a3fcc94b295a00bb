//! What Redlock's published timeouts are worth against a suspended machine: a scan of how long it sleeps.
//!
//! The catalogue has one duration on either side (`suspend-in-flight/node-timeouts` and its variants). A claim that
//! rests on one duration is a claim about the back-off of TCP, so the whole neighbourhood is looked at here.
//!
//! Decision: "Redlock's timeouts per node do not protect against a suspension" (docs/decisions/locks.md).

use std::time::Duration;

use doublehold_history::Predicate;
use doublehold_scenarios::{Engine, SimEngine, catalog};

const SEEDS: std::ops::RangeInclusive<u64> = 1..=10;
/// When a reply of which nothing was acknowledged is sent for the seventh time, after it was sent first: 200 ms × (2⁶
/// − 1).
const RETRANSMISSION: Duration = Duration::from_millis(12_600);
/// The published timeout of one node.
const TIMEOUT: Duration = Duration::from_millis(50);
/// The longest way in the network, and so the longest time between the first and the last node's reply.
const WAY: Duration = Duration::from_millis(5);

/// From how many of the seeds two clients both hold the lock validly if the machine is suspended for that long.
fn double_holds(asleep: Duration) -> usize {
    let set = ("faults.0.for".to_owned(), format!("{}ms", asleep.as_millis()));
    let scenario =
        catalog::load("suspend-in-flight/node-timeouts", &[set]).unwrap_or_else(|it| panic!("{it}"));
    let violated = |seed: &u64| {
        let report = SimEngine.run(&scenario, *seed);
        let [p1, p2] = [Predicate::P1, Predicate::P2].map(|it| report.verdicts.get(it).as_str());
        assert_eq!(
            p1, p2,
            "the clock that was asleep knows of no deadline that passed: {asleep:?}, seed {seed}"
        );
        p1 == "violated"
    };
    SEEDS.filter(violated).count()
}

#[test]
fn a_timeout_per_node_fails_whoever_wakes_within_it_before_a_retransmission_and_nobody_else() {
    let all = SEEDS.count();
    let ms = Duration::from_millis;
    for step in 0..=24 {
        let asleep = RETRANSMISSION - ms(80) + ms(5) * step;
        let found = double_holds(asleep);
        // The timeout had run for at most two ways when the machine was suspended, and a reply needs one way again.
        let expected = if asleep + TIMEOUT <= RETRANSMISSION || asleep >= RETRANSMISSION + WAY {
            0
        } else if asleep + TIMEOUT >= RETRANSMISSION + 3 * WAY && asleep <= RETRANSMISSION {
            all
        } else {
            continue; // the seed's delays decide
        };
        assert_eq!(found, expected, "of {all} seeds, asleep for {asleep:?}");
    }
}

#[test]
fn the_clock_that_runs_through_a_suspension_needs_no_luck() {
    for variant in ["node-timeouts/before-retransmission", "node-timeouts/replies-unread", "while-held"] {
        let name = format!("suspend-in-flight/{variant}");
        for (clock, expected) in [("monotonic", "violated"), ("boot", "holds")] {
            let set = ("lock.clock".to_owned(), clock.to_owned());
            let scenario = catalog::load(&name, &[set]).unwrap_or_else(|it| panic!("{it}"));
            for seed in SEEDS {
                let report = SimEngine.run(&scenario, seed);
                assert_eq!(
                    report.verdicts.get(Predicate::P2).as_str(),
                    expected,
                    "{name} --seed {seed}, {clock}"
                );
            }
        }
    }
}
