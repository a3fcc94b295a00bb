//! A lock beside variants of it that are as good: how often a comparison calls one of them worse or better.
//!
//! All predicates, all looks, white-box rules and examples count. `cargo test --release -p doublehold-known-bad-locks
//! --test calibration -- --ignored --nocapture` makes 200 comparisons; the rest of the tests makes a few.

#![expect(clippy::print_stdout, reason = "whoever makes 200 comparisons wants their counts")]

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::time::Duration;

use doublehold::check::{LockKind as _, Predicate, Switches, World};
use doublehold_beside::{
    Beside, BesideComparison, BesideExample, BesideOutcome, CountedPairs, LockSide, PairBudget, PairWorlds,
    Survey, Weathers,
};
use doublehold_known_bad_locks::Kind;
use doublehold_known_bad_locks::harmless::{VARIANTS, Variant};
use doublehold_scenarios::pool::cores;
use doublehold_scenarios::weather::preset;
use doublehold_scenarios::{OwnLocks, Seed, builtin_locks};

/// So many pairs of a comparison must tell the two locks apart, or it says nothing.
const DISCORDANT_MIN: u64 = 20;
/// So many pairs are made first.
const PAIRS: u64 = 1_500;
/// So many are made at most.
const PAIRS_MAX: u64 = 20_000;
/// The seeds of a comparison begin so far from those of another.
const APART: u64 = 100_000;
/// How many predicates get an example, as in a check.
const EXAMPLES: usize = 3;

type Both = Beside<OwnLocks, OwnLocks>;

fn side(kind: &Kind) -> LockSide<OwnLocks> {
    let engine = OwnLocks(builtin_locks().with(kind.clone()));
    let lock = kind.descriptor().name.to_owned();
    LockSide { engine, title: lock.clone(), lock, switches: Switches::new() }
}

/// How many pairs tell the two apart by one predicate, at least.
fn discordant(counted: &CountedPairs) -> u64 {
    let of = |predicate: Predicate| {
        let tables = counted.conditions.iter().map(|counts| counts.of(predicate).decided);
        tables.map(|table| table.only_first + table.only_second).sum()
    };
    Predicate::ALL.into_iter().map(of).max().unwrap_or(0)
}

fn is_alarm(outcome: BesideOutcome) -> bool {
    matches!(outcome, BesideOutcome::Worse | BesideOutcome::Better | BesideOutcome::Mixed)
}

/// What a comparison came to, and whether it was an alarm at any look.
struct ComparedRule {
    pairs: u64,
    discordant: u64,
    looks: u32,
    alarm: Option<String>,
    tried: usize,
    best: u64,
}

fn compare(
    beside: &Both,
    survey: &Survey,
    (mine, theirs): (&Kind, &Kind),
    first: Seed,
    jobs: NonZeroUsize,
) -> ComparedRule {
    let budget = PairBudget { jobs, patience: Duration::from_secs(60), pairs: Some(PAIRS_MAX), first };
    let compared = |counted: &CountedPairs, shown: &[Predicate]| {
        BesideComparison::new(survey, counted, &Predicate::ALL, shown)
    };
    let (mut looked, mut alarm) = (0, None);
    let counted = beside.count(survey, &budget, |counted| {
        if counted.rounds > looked {
            looked = counted.rounds;
            let comparison = compared(counted, &[]);
            if is_alarm(comparison.outcome()) {
                alarm = Some(format!("by counts at look {looked}: {:?}", comparison.rows));
            }
        }
        let is_enough = counted.pairs >= PAIRS && discordant(counted) >= DISCORDANT_MIN;
        if is_enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let counted = counted.expect("all come back");
    let (mine, theirs) = (side(mine), side(theirs));
    let mut examples: Vec<BesideExample> = Vec::new();
    for predicate in compared(&counted, &[]).to_show().into_iter().take(EXAMPLES) {
        let found = beside.example((&mine.engine, &theirs), (survey, &counted), predicate, || false);
        examples.extend(found.expect("it can be run"));
    }
    for example in examples.iter().filter(|it| it.convinces()) {
        let groups = &example.groups;
        let (predicate, separates) = (example.wanted.predicate, example.separates);
        let table =
            compared(&counted, &[]).rows.iter().find(|row| row.predicate == predicate).map(|row| row.kept);
        alarm = Some(format!(
            "by an example of {predicate}: {separates} futures, {groups:?} {table:?}\n{}",
            example.shrunk.scenario.to_toml()
        ));
    }
    let comparison = compared(&counted, &[]);
    if !comparison.broken.is_empty() {
        alarm = Some(format!("by rules: {:?}", comparison.broken));
    }
    ComparedRule {
        pairs: counted.pairs,
        discordant: discordant(&counted),
        looks: counted.rounds,
        alarm,
        tried: examples.len(),
        best: examples.iter().map(|it| it.separates).max().unwrap_or(0),
    }
}

/// So many comparisons of each variant, each way round by turns; the alarms.
fn alarms(variants: &[Variant], of_each: u64, jobs: NonZeroUsize) -> Vec<String> {
    let hostile = || Weathers::Drawn(preset("hostile").expect("it is there").weather);
    let mut alarms = Vec::new();
    for variant in variants {
        for is_swapped in [false, true] {
            let (one, other) = (variant.kind(), Variant::Same.kind());
            let (mine, theirs) = if is_swapped { (other, one) } else { (one, other) };
            let worlds = PairWorlds::Family(World::family());
            let beside =
                Beside::new(side(&mine), side(&theirs), &worlds, &hostile()).expect("they go together");
            let budget = PairBudget { jobs, patience: Duration::from_secs(60), pairs: None, first: Seed(1) };
            let survey = beside.survey(&budget).expect("all come back");
            for number in (0..of_each).filter(|number| (number % 2 == 1) == is_swapped) {
                let row = compare(&beside, &survey, (&mine, &theirs), Seed(1 + number * APART), jobs);
                let ComparedRule { pairs, discordant, looks, tried, best, .. } = row;
                println!(
                    "{variant:?} {number}: {pairs} pairs, {discordant} discordant, {looks} looks, {tried} examples, best of {best}"
                );
                assert!(discordant >= DISCORDANT_MIN, "{variant:?} {number}: too few pairs tell them apart");
                alarms.extend(row.alarm.map(|alarm| format!("{variant:?} {number}: {alarm}")));
            }
        }
    }
    alarms
}

#[test]
fn a_variant_that_is_as_good_raises_no_alarm() {
    let alarms = alarms(&[Variant::ExtraGet], 1, cores());
    assert!(alarms.is_empty(), "{}", alarms.join("\n"));
}

#[test]
#[ignore = "200 comparisons take half an hour"]
fn of_200_comparisons_with_variants_that_are_as_good_one_raises_an_alarm_at_most() {
    let only = std::env::var("VARIANT").ok();
    let is_wanted = |it: &&Variant| only.as_ref().is_none_or(|only| *only == format!("{it:?}"));
    let variants: Vec<Variant> = VARIANTS.iter().filter(is_wanted).copied().collect();
    let alarms = alarms(&variants, 50, cores());
    println!("{} alarms\n{}", alarms.len(), alarms.join("\n"));
    assert!(alarms.len() <= 1, "{} alarms", alarms.len());
}
