//! Many runs come to the same on any number of threads, also where the search stops early.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use doublehold_history::Predicate;
use doublehold_scenarios::report::StruckAt;
use doublehold_scenarios::weather::preset;
use doublehold_scenarios::{Engine, LeanEngine, PreparedSim, Scenario, Seed, catalog};
use doublehold_search::many::{Many, Tally, run_many};

fn under(weather: &str, name: &str) -> Arc<PreparedSim> {
    let scenario = catalog::load(name, &[]).unwrap();
    let scenario = Scenario { weather: Some(preset(weather).unwrap().weather), ..scenario };
    Arc::new(LeanEngine.prepare(&scenario).unwrap())
}

fn many(last: u64, jobs: usize) -> Many {
    let jobs = NonZeroUsize::new(jobs).unwrap();
    Many { seeds: Seed(1)..=Seed(last), jobs, patience: Duration::from_secs(60) }
}

#[test]
fn a_search_that_stops_early_comes_to_the_same_on_any_number_of_threads() {
    let prepared = under("hostile", "quiet");
    let until_p1 = |tally: &Tally| match tally.count(Predicate::P1).first {
        Some(_) => ControlFlow::Break(()),
        None => ControlFlow::Continue(()),
    };
    let tallies = [1, 2, 5].map(|jobs| run_many(&prepared, &many(100_000, jobs), until_p1).unwrap());
    assert!(tallies[0].count(Predicate::P1).first.is_some());
    assert!(tallies[0].runs < 1_000, "{}", tallies[0].runs);
    assert_eq!(tallies[0], tallies[1]);
    assert_eq!(tallies[0], tallies[2]);
}

#[test]
fn every_seed_is_counted_once_and_in_order() {
    let prepared = under("cloud", "quiet");
    let mut runs = Vec::new();
    let tally = run_many(&prepared, &many(100, 2), |tally| {
        runs.push(tally.runs);
        ControlFlow::Continue(())
    });
    let tally = tally.unwrap();
    assert_eq!(tally.runs, 100);
    runs.dedup();
    assert_eq!(runs, [0, 32, 64, 96, 100]);
    let of_p1 = tally.count(Predicate::P1);
    assert_eq!(of_p1.holds + of_p1.violated + of_p1.inconclusive, 100);
}

#[test]
fn coverage_counts_what_struck_and_where() {
    let tally = run_many(&under("hostile", "quiet"), &many(300, 2), |_| ControlFlow::Continue(())).unwrap();
    let pauses = tally.coverage.kind("pause");
    assert!(pauses.struck > 100 && pauses.struck <= pauses.drawn, "{pauses:?}");
    assert_eq!(pauses.at.values().sum::<u64>(), pauses.struck);
    assert!(pauses.at[&StruckAt::Time] > 0);
    assert!(pauses.at.len() > 6, "{pauses:?}");
    assert_eq!(tally.coverage.kind("promote").drawn, 0, "there is no replica");
}

/// A fault that cannot strike is there, and is not counted as having struck.
#[test]
fn what_never_strikes_is_not_covered() {
    let mut scenario = catalog::load("quiet", &[]).unwrap();
    let late = Duration::from_secs(500);
    scenario.faults.push(doublehold_scenarios::fault::Fault::pause("c1").at(late).lasting(late).optional());
    let prepared = Arc::new(LeanEngine.prepare(&scenario).unwrap());
    let tally = run_many(&prepared, &many(10, 1), |_| ControlFlow::Continue(())).unwrap();
    let pauses = tally.coverage.kind("pause");
    assert_eq!((pauses.drawn, pauses.struck, pauses.at.len()), (10, 0, 0));
}
