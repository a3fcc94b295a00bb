//! A tenth of the known-bad locks, each beside its repair, with nobody saying in which world or weather: a comparison
//! calls the bug worse, by a rule that it breaks, and shows it by an example that convinces.
//!
//! The ones that take least time. `cargo bench -p doublehold-known-bad-locks --bench beside` tries all.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::time::Duration;

use doublehold::check::{LockKind as _, Predicate, Switches, World};
use doublehold_beside::{
    Beside, BesideComparison, BesideError, BesideExample, BesideOutcome, CountedPairs, LockSide, PairBudget,
    PairWorlds, Weathers,
};
use doublehold_known_bad_locks::{BadLock, Kind, all};
use doublehold_scenarios::pool::cores;
use doublehold_scenarios::weather::preset;
use doublehold_scenarios::{OwnLocks, Seed, builtin_locks};

/// As many pairs as are made of each.
const PAIRS: u64 = 960;

/// Those that are tried.
const TENTH: [&str; 8] = [
    "set-without-nx",
    "get-then-set",
    "sleeps-out-the-lease",
    "delete-unchecked",
    "clean-up-in-the-background",
    "token-per-object",
    "lease-truncated-to-seconds",
    "renewal-interval-underflows",
];

fn side(kind: &Kind) -> LockSide<OwnLocks> {
    let engine = OwnLocks(builtin_locks().with(kind.clone()));
    let lock = kind.descriptor().name.to_owned();
    LockSide { engine, title: lock.clone(), lock, switches: Switches::new() }
}

/// What a comparison of so many pairs comes to, and its example.
fn compare(
    bad: &BadLock,
    jobs: NonZeroUsize,
) -> Result<(BesideComparison, Option<BesideExample>), BesideError> {
    let weathers = Weathers::Drawn(preset("cloud")?.weather);
    let theirs = side(&bad.control);
    let beside =
        Beside::new(side(&bad.lock), side(&bad.control), &PairWorlds::Family(World::family()), &weathers)?;
    let budget = PairBudget { jobs, patience: Duration::from_secs(60), pairs: Some(PAIRS), first: Seed(1) };
    let survey = beside.survey(&budget)?;
    let counted = beside.count(&survey, &budget, |_| ControlFlow::Continue(()))?;
    let compared = |counted: &CountedPairs, shown: &[Predicate]| {
        BesideComparison::new(&survey, counted, &Predicate::ALL, shown)
    };
    let mut example: Option<BesideExample> = None;
    let real = side(&bad.lock).engine;
    for predicate in compared(&counted, &[]).to_show() {
        example = beside.example((&real, &theirs), (&survey, &counted), predicate, || false)?;
        if example.as_ref().is_some_and(BesideExample::convinces) {
            break;
        }
    }
    let convinces = example.iter().filter(|it| it.convinces());
    let shown: Vec<Predicate> = convinces.map(|it| it.wanted.predicate).collect();
    Ok((compared(&counted, &shown), example))
}

#[test]
fn a_tenth_of_the_known_bad_locks_is_told_from_its_repair() {
    let bad_locks = all();
    for name in TENTH {
        let bad = bad_locks.iter().find(|it| it.name == name).unwrap_or_else(|| panic!("there is no {name}"));
        let (comparison, example) = compare(bad, cores()).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(comparison.outcome(), BesideOutcome::Worse, "{name}: {:?}", comparison.rows);
        let example = example.unwrap_or_else(|| panic!("{name}: there is no example"));
        assert!(example.convinces(), "{name}: it separates in {} futures", example.separates);
        let worse = comparison.worse();
        assert!(worse.contains(&example.wanted.predicate), "{name}: {worse:?}");
        assert!(bad.breaks.iter().any(|it| worse.contains(it)), "{name} breaks {:?}: {worse:?}", bad.breaks);
    }
}
