//! White-box rules, asked of many runs.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use doublehold_scenarios::report::white_box::Rule;
use doublehold_scenarios::{Engine, LeanEngine, Seed, catalog};
use doublehold_search::many::Many;
use doublehold_search::rules::{RuleTally, ask_many, asked_of};

/// Runs of a lock that leaves keys behind in some of them, and computes no deadline.
fn tally(jobs: usize) -> RuleTally {
    let sets =
        [("clients.0.rounds", "3"), ("clients.1.rounds", "3")].map(|(key, value)| (key.into(), value.into()));
    let scenario = catalog::load("redis-plus-plus-tx-leftovers", &sets).expect("it is in the catalogue");
    let prepared = Arc::new(LeanEngine.prepare(&scenario).expect("it can be run"));
    let jobs = NonZeroUsize::new(jobs).expect("some");
    ask_many(&prepared, &Many { jobs, ..Many::new(Seed(5)..=Seed(44), Duration::from_secs(60)) })
        .expect("all come back")
}

#[test]
fn rules_come_to_the_same_on_any_number_of_threads() {
    let one = tally(1);
    assert_eq!(one.runs, 40);
    let left = one.count(Rule::LeftKey);
    assert!(left.broken > 0, "{one:?}");
    assert_eq!(left.first.map(|(seed, _)| seed), Some(Seed(5)), "the first of many");
    assert_eq!(left.broken + left.holds + left.off, 40);
    let margin = one.count(Rule::Margin);
    assert_eq!((margin.off, margin.why_off), (40, Some("the lock computed no deadline")));
    assert!(!one.holds(Rule::Margin), "what was never judged holds for nobody");
    assert_eq!(one, tally(3));
}

#[test]
fn a_fifth_of_the_runs_is_asked_within_bounds() {
    assert_eq!([0, 1, 20, 99, 500, 1_000, 1_000_000].map(asked_of), [0, 1, 20, 20, 100, 200, 200]);
}
