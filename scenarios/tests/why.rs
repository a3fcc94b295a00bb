//! `why` names what decided a run, and what would have changed it.

use std::num::NonZeroUsize;

use doublehold_history::Predicate;
use doublehold_scenarios::shrink::Target;
use doublehold_scenarios::why::{FUTURES, OTHERS, Why, WhyError, why};
use doublehold_scenarios::{LeanEngine, Seed, catalog};

fn why_of(name: &str, predicate: Option<Predicate>, jobs: usize) -> Result<Why, WhyError> {
    let scenario = catalog::load(name, &[]).unwrap();
    let jobs = NonZeroUsize::new(jobs).unwrap();
    why(&LeanEngine, &scenario, Seed(1), predicate.map(Target::Violates), jobs)
}

/// What happened where it was decided.
fn decided(why: &Why) -> Vec<String> {
    why.jumps().flat_map(|point| why.points[point].happened.clone()).collect()
}

#[test]
fn of_a_clock_jump_the_step_decides_and_each_of_its_conditions_is_named() {
    let why = why_of("clock-jump", None, 2).unwrap();
    assert_eq!(why.target, Target::Violates(Predicate::P2));
    let decided = decided(&why);
    assert_eq!(why.jumps().count(), 1, "{:#?}", why.points);
    assert!(
        decided.iter().any(|what| what.starts_with("C has its wall clock stepped by +10 s")),
        "{decided:?}"
    );
    assert_eq!((why.points[0].same, why.points.last().unwrap().same), (0, FUTURES));
    assert_eq!(why.others, OTHERS);
    let change = |what: &str| why.changes.iter().find(|change| change.what.contains(what)).unwrap();
    for gone in
        ["without: C has its wall clock", "without: the link", "without the client c2", "more-than-majority"]
    {
        assert!(!change(gone).still_at_seed && change(gone).others == 0, "{:?}", change(gone));
    }
    for still in ["lock.jitter", "persistence = always", "lock.release = plain-delete"] {
        assert!(change(still).still_at_seed && change(still).others == OTHERS, "{:?}", change(still));
    }
}

#[test]
fn of_a_pause_before_the_write_the_pause_decides() {
    let why = why_of("lease-pause", Some(Predicate::P3), 1).unwrap();
    let decided = decided(&why);
    assert!(decided.iter().any(|what| what.contains("c1 pauses for 20 s")), "{decided:?} {:#?}", why.points);
}

#[test]
fn a_run_that_violates_nothing_has_no_why() {
    let error = why_of("quiet", None, 1).unwrap_err();
    assert!(matches!(error, WhyError::NothingViolated { seed: Seed(1), .. }), "{error}");
    let error = why_of("lease-pause", Some(Predicate::P2), 1).unwrap_err();
    assert!(matches!(error, WhyError::NothingViolated { .. }), "{error}");
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let of = |jobs| why_of("lease-pause", None, jobs).unwrap();
    assert_eq!(of(1), of(2));
}
