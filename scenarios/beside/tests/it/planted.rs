//! Mistakes that a comparison of two locks could make, each with a question that shows it. `selftest/mutation-tests`
//! plants them.

use std::ops::ControlFlow;

use doublehold_beside::{
    Beside, BesideComparison, BesideOutcome, Condition, CountedPairs, Counts, PairBudget, PairWorlds,
    RuleFound, Weathers,
};
use doublehold_history::{FencingCheck, Predicate, RunOutcome};
use doublehold_scenarios::build::World;
use doublehold_scenarios::scenario::Step;
use doublehold_scenarios::weather::{Climate, preset};
use doublehold_scenarios::{Engine as _, LeanEngine, Prepared as _, Searchable as _, Seed, Stepped as _};
use doublehold_statistics::Paired;

use crate::kit::{TWO_TURNS, budget, compare, count, in_world, side};

/// TWO_TURNS, where pauses are seldom: the reference breaks P1 in about one of twenty runs.
fn seldom() -> String {
    TWO_TURNS.replace("every = \"700ms\"", "every = \"12s\"")
}

/// Under faults of its own the reference would break as often as the first lock, but in other pairs.
#[test]
fn a_lock_beside_itself_never_differs_under_the_same_faults() {
    let beside = in_world("single", "single", TWO_TURNS).expect("they go together");
    let both = count(&beside, &budget(200, 2));
    let p1 = both.1.conditions[0].of(Predicate::P1).decided;
    assert!(p1.both >= 20, "there is something to break: {p1:?}");
    assert_eq!((p1.only_first, p1.only_second), (0, 0));
    assert_eq!(compare(&both).outcome(), BesideOutcome::NeverReached);
}

/// If the seeds of the survey were those of the comparison, the reference would look better than it is wherever chance
/// made it keep a rule.
#[test]
fn a_reference_may_break_in_a_comparison_what_it_kept_in_the_survey() {
    let beside = in_world("single elapsed_check=true", "single", &seldom()).expect("they go together");
    let mut unlucky = 0;
    for first in (0..40).map(|block| Seed(1 + 16 * block)) {
        let budget = PairBudget { first, ..budget(16, 2) };
        let survey = beside.survey(&budget).expect("all come back");
        if !survey.keeps(0, Predicate::P1) {
            continue;
        }
        let counted = beside.count(&survey, &budget, |_| ControlFlow::Continue(())).expect("all come back");
        let Paired { both, only_second, .. } = counted.conditions[0].of(Predicate::P1).decided;
        unlucky += both + only_second;
    }
    assert!(unlucky > 5, "{unlucky} violations of the reference, and its chance is one in twenty");
}

/// `--seed` may be any number: also one from which the survey would begin.
#[test]
fn no_first_seed_makes_the_survey_use_seeds_of_the_comparison() {
    let of = |first: u64| {
        let beside = in_world("single elapsed_check=true", "single", &seldom()).expect("they go together");
        let budget = PairBudget { first: Seed(first), ..budget(1, 1) };
        beside.survey(&budget).expect("all come back")
    };
    assert_eq!(of(1), of(1_000), "it does not depend on the first seed");
    assert_ne!(of(1), of(1 << 40), "what happens in a run depends on its seed, and the usual ones are taken");
    assert_eq!(of(1 << 40), of(u64::MAX));
}

/// What a condition in which the reference breaks a rule says is no evidence that the first lock does worse there.
#[test]
fn what_the_reference_breaks_alone_is_not_asked_where_it_broke_it_before() {
    let often = TWO_TURNS.replace("every = \"700ms\"", "every = \"300ms\"");
    let beside = in_world("single", "single elapsed_check=true", &often).expect("they go together");
    let both = count(&beside, &budget(200, 2));
    let comparison: BesideComparison = compare(&both);
    let row =
        |predicate| *comparison.rows.iter().find(|row| row.predicate == predicate).expect("all are asked");
    let p1 = row(Predicate::P1);
    assert!(!both.0.keeps(0, Predicate::P1) && p1.kept.pairs() == 0 && p1.rest.pairs() == 200, "{p1:?}");
    assert_eq!(p1.found, RuleFound::NotAsked, "both break it alike");
    let p2 = row(Predicate::P2);
    assert!(both.0.keeps(0, Predicate::P2) && p2.found == RuleFound::Worse, "{p2:?}");
}

/// Without its switches a lock that gives numbers gives none, and is refused in every world whose resource checks them.
#[test]
fn a_family_has_worlds_for_locks_whose_numbers_a_switch_turns_on() {
    let cloud = Weathers::Drawn(preset("cloud").expect("it is there").weather);
    let (mine, theirs) = (side("single fencing=true release=plain-delete"), side("single fencing=true"));
    let beside =
        Beside::new(mine, theirs, &PairWorlds::Family(World::family()), &cloud).expect("they go together");
    let checks = |it: &&Condition| it.scenario.resource.rules.fencing != FencingCheck::Off;
    let checking = beside.conditions().iter().filter(checks).count();
    assert!(beside.conditions().len() > 150 && checking > 50, "{checking} of {}", beside.conditions().len());
}

/// By default redis-py has no lease that could be extended.
#[test]
fn a_family_has_programs_for_locks_whose_extension_a_switch_turns_on() {
    let cloud = Weathers::Drawn(preset("cloud").expect("it is there").weather);
    let (mine, theirs) = (side("redis-py expiry=px"), side("redis-py expiry=px extend_adds=false"));
    let beside =
        Beside::new(mine, theirs, &PairWorlds::Family(World::family()), &cloud).expect("they go together");
    let extends = |it: &&Condition| {
        it.scenario.clients.iter().any(|client| client.program.iter().any(|it| matches!(it, Step::Extend(_))))
    };
    let extending = beside.conditions().iter().filter(extends).count();
    assert!(beside.conditions().len() == 160 && extending > 40, "{extending} programs extend");
}

/// A limit that ends the work of six clients would hide what they do at its end.
#[test]
fn no_run_of_a_lock_that_lets_go_is_ended_by_the_limit_of_its_world() {
    let cloud = Weathers::Drawn(preset("cloud").expect("it is there").weather);
    let family = PairWorlds::Family(World::family());
    let beside = Beside::new(side("redisson"), side("redisson"), &family, &cloud).expect("they go together");
    for condition in beside.conditions() {
        let prepared = LeanEngine.prepare(&condition.scenario).expect("it can be run");
        let climate = Climate::new(&condition.weather, &condition.scenario, &prepared.steps(Seed(1)));
        let stormy = prepared.with_faults(climate.draw(Seed(1))).expect("they strike hosts that there are");
        let outcome = stormy.run(Seed(1)).history.outcome();
        assert_eq!(outcome, Some(RunOutcome::Completed), "{}", condition.scenario.name);
    }
}

/// Few pairs that speak against the first lock are followed up, where they did; of two locks that are alike none are.
#[test]
fn half_as_many_pairs_again_follow_up_what_speaks_against_the_first_lock() {
    let pairs =
        |mine| count(&in_world(mine, "single", TWO_TURNS).expect("they go together"), &budget(40, 2)).1.pairs;
    assert_eq!((pairs("single release=plain-delete"), pairs("single")), (60, 40));
}

/// A rare bug shows in a few conditions, and a second round of all would spend itself on the others.
#[test]
fn every_second_round_is_of_the_conditions_that_speak_against_the_first_lock() {
    let (calm, _) = TWO_TURNS.split_once("[weather]").expect("there is one");
    let beside = in_world("single release=plain-delete", "single", calm).expect("they go together");
    let budget = PairBudget { pairs: None, ..budget(0, 2) };
    let survey = beside.survey(&budget).expect("all come back");
    let mut after_two_rounds = None;
    let is_third = |counted: &CountedPairs| match counted.rounds {
        0..3 => ControlFlow::Continue(()),
        _ => {
            after_two_rounds.get_or_insert_with(|| counted.clone());
            ControlFlow::Break(())
        }
    };
    beside.count(&survey, &budget, is_third).expect("all come back");
    let counted = after_two_rounds.expect("there is a third round");
    let breaks = |counts: &&Counts| {
        Predicate::ALL.into_iter().any(|predicate| counts.of(predicate).decided.only_first > 0)
            || counts.inside.rules.values().any(|pairs| pairs.only_first > 0)
    };
    let followed = |counts: &&Counts| counts.pairs > 8;
    let speaking = counted.conditions.iter().filter(breaks).filter(followed).count();
    assert!(speaking >= 1, "{speaking} conditions speak against the first lock");
    assert_eq!(counted.conditions.iter().filter(followed).count(), speaking, "and no other is followed");
}
