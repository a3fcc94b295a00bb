//! The question that every change is asked, for every way in which a run can end and everything that one can show.

use doublehold_history::{Predicate, Verdict};
use doublehold_scenarios::build::World;
use doublehold_scenarios::{LeanEngine, catalog};

use super::*;

const ENDS: [RunOutcome; 6] = [
    RunOutcome::Completed,
    RunOutcome::Stalled,
    RunOutcome::EventBudget,
    RunOutcome::TimeBudget,
    RunOutcome::MemoryBudget,
    RunOutcome::Halted,
];

fn searched(scenario: &Scenario, target: Target) -> ShrinkSearch<'static, LeanEngine> {
    let case = Case { scenario, seed: Seed(1), target };
    ShrinkSearch::new(&LeanEngine, &case, &Effort::default()).expect("it violates")
}

#[test]
fn every_predicate_is_one_target() {
    let mut targets = Target::ALL;
    targets.sort_unstable();
    assert_eq!(targets.to_vec(), [&Predicate::ALL.map(Target::Violates)[..], &[Target::Panics]].concat());
}

/// A run that was cut short proves a violation as well, and counts only if the run to be shrunk was cut short like it.
#[test]
fn a_run_counts_that_shows_it_and_came_to_its_end_or_ended_as_the_first_did() {
    let scenario = catalog::load("lease-pause", &[]).expect("in the catalogue");
    let whole = LeanEngine.prepare(&scenario).expect("it can be run").judge(1);
    let all_but_the_end = format!("{}ns", whole.ended.0 - 1);
    let cut = catalog::load("lease-pause", &[("limits.time".to_owned(), all_but_the_end)]);
    let mut firsts = Vec::new();
    for scenario in [scenario, cut.expect("in the catalogue")] {
        let run = LeanEngine.prepare(&scenario).expect("it can be run").judge(1);
        firsts.push(run.outcome);
        let target = Target::find_in(&run).unwrap_or_else(|| panic!("{:?} {:?}", run.outcome, run.verdicts));
        let mut search = searched(&scenario, target);
        assert_eq!(search.replays(), 1, "the run itself");
        for outcome in ENDS {
            let is_end = [RunOutcome::Completed, RunOutcome::Stalled, run.outcome].contains(&outcome);
            for of in Target::ALL {
                for panicked in [None, Some("the year is wrong".to_owned())] {
                    search.target = of;
                    let other = Summary { outcome, panicked: panicked.clone(), ..run.clone() };
                    let is_hit = match of {
                        Target::Panics => panicked.is_some(),
                        Target::Violates(predicate) => {
                            is_end && matches!(other.verdicts.get(predicate), Verdict::Violated(_))
                        }
                    };
                    assert_eq!(search.is_hit(&other), is_hit, "{of:?}, {outcome:?} after {:?}", run.outcome);
                }
            }
        }
    }
    assert_eq!(firsts, [RunOutcome::Completed, RunOutcome::TimeBudget], "one run is cut short");
}

/// Seeds that come after the run's own, each once, and counted one by one; in a run that luck has a part in.
#[test]
fn the_other_seeds_are_those_that_follow() {
    let locks = doublehold_lockimpl::descriptors();
    let lock = locks.iter().find(|lock| lock.name == "setnx-getset").expect("a lock");
    let world = World::usual(lock).weather("hostile").scenario(lock.name, locks.clone()).expect("a world");
    let prepared = LeanEngine.prepare(&world).expect("it can be run");
    let mut lucky = (1..).filter_map(|seed| {
        let scenario = prepared.run(seed).scenario;
        let target = Target::find_in(&prepared.judge(seed))?;
        let case = Case { scenario: &scenario, seed: Seed(seed), target };
        let search = ShrinkSearch::new(&LeanEngine, &case, &Effort::default()).expect("it violates");
        let is_hit = |step: &u64| search.is_hit(&search.current.judge(Seed(seed + step)));
        let hits = (1..=8).filter(is_hit).count() as u64;
        (1..8).contains(&hits).then_some((search, hits))
    });
    let (mut search, hits) = lucky.next().expect("most take a race");
    let others = search.others(8);
    assert_eq!(
        others.iter().filter(|run| run.is_hit).count() as u64,
        hits,
        "they are the seeds after that of the run"
    );
    let made = search.replays();
    assert_eq!((search.steadiness(), search.steadiness(), search.is_steady()), (hits, hits, false));
    assert_eq!(search.replays(), made + 8, "what was counted is not counted again");
    let same = Candidate::Faults(search.scenario().faults.clone());
    let prepared = search.prepare(same.clone()).expect("it can be run");
    for wanted in 0..=8 {
        assert_eq!(
            search.violating_probes(&prepared, wanted),
            (wanted <= hits).then_some(hits),
            "{wanted} of {hits}"
        );
    }
    // The same again is as good at all seeds and no better.
    let changes = search.changes;
    assert!(!search.accepts(same.clone(), Keep::MoreSeeds) && search.changes == changes);
    assert!(search.accepts(same.clone(), Keep::Seeds) && search.accepts(same, Keep::Seed));
    assert_eq!(search.changes, changes + 2);
}
