//! A small world in which the true difference of two locks is known: all its runs are made a second time, one by one,
//! with neither survey nor pairs, and counted here.
//!
//! The faults strike at times, so that they depend on the seed alone. Both ways use one engine: from one seed another
//! one may come to another verdict.

use std::collections::BTreeMap;

use doublehold_beside::{BesideOutcome, RuleFound};
use doublehold_history::{Predicate, Verdict};
use doublehold_scenarios::weather::Climate;
use doublehold_scenarios::{Engine, LeanEngine, Prepared, Scenario, Searchable, Seed};
use doublehold_statistics::{Confidence, Paired};

use crate::kit::{TWO_TURNS, budget, compare, count, in_world, scenario};

/// All seeds there are in the model.
const SEEDS: u64 = 1_200;
/// The lock that gives back what is not its own, but looks at how late a reply came.
const MINE: [(&str, &str); 2] = [("lock.release", "plain-delete"), ("lock.elapsed_check", "true")];

fn with_sets(sets: &[(&str, &str)]) -> Scenario {
    let lock: String = sets.iter().map(|(key, value)| format!("{key} = \"{value}\"\n")).collect();
    let text = format!("{}{TWO_TURNS}", lock.replace("\"true\"", "true"));
    scenario(&text.replace(
        "lock = { algorithm = \"single\", ttl = \"1s\" }",
        "lock.algorithm = \"single\"\nlock.ttl = \"1s\"",
    ))
}

/// What each seed comes to: for each predicate, whether mine and theirs break it.
fn enumerate() -> BTreeMap<Predicate, Vec<(bool, bool)>> {
    let (mine, theirs) = (with_sets(&MINE), with_sets(&[]));
    let weather = mine.weather.clone().expect("the text has one");
    let calm = |scenario: &Scenario| Scenario { weather: None, ..scenario.clone() };
    let climate = Climate::new(&weather, &calm(&mine), &[]);
    let prepare = |scenario| LeanEngine.prepare(&calm(scenario)).expect("it can be run");
    let (mine, theirs) = (prepare(&mine), prepare(&theirs));
    let mut all: BTreeMap<Predicate, Vec<(bool, bool)>> = BTreeMap::new();
    for seed in (1..=SEEDS).map(Seed) {
        let faults = climate.draw(seed);
        let runs =
            [&mine, &theirs].map(|it| it.with_faults(faults.clone()).expect("hosts there are").judge(seed));
        for predicate in Predicate::ALL {
            let [mine, theirs] =
                [0, 1].map(|it| matches!(runs[it].verdicts.get(predicate), Verdict::Violated(_)));
            all.entry(predicate).or_default().push((mine, theirs));
        }
    }
    all
}

fn table(pairs: &[(bool, bool)]) -> Paired {
    let of = |wanted| pairs.iter().filter(|it| **it == wanted).count() as u64;
    Paired {
        both: of((true, true)),
        only_first: of((true, false)),
        only_second: of((false, true)),
        neither: of((false, false)),
    }
}

#[test]
fn pairs_are_counted_as_a_list_of_all_runs_says() {
    let truth = enumerate();
    let beside = in_world("single release=plain-delete elapsed_check=true", "single", TWO_TURNS);
    let both = count(&beside.expect("they go together"), &budget(SEEDS, 2));
    let counted = &both.1;
    assert_eq!((counted.pairs, counted.conditions.len()), (SEEDS, 1));
    for (predicate, pairs) in &truth {
        let found = counted.conditions[0].of(*predicate);
        // Without a bound nobody can say that a wait is too long.
        let truth = if *predicate == Predicate::LV { Paired::default() } else { table(pairs) };
        assert_eq!(found.decided, truth, "{predicate}");
    }
    // This model tells the two apart both ways, or it would be a poor one.
    let [wrong_release, valid_overlap] = [Predicate::WR, Predicate::P2].map(|it| table(&truth[&it]));
    assert!(wrong_release.only_first >= 30 && wrong_release.only_second == 0, "{wrong_release:?}");
    assert!(valid_overlap.only_second >= 20 && valid_overlap.only_first == 0, "{valid_overlap:?}");
    let comparison = compare(&both);
    let row =
        |predicate| comparison.rows.iter().find(|row| row.predicate == predicate).expect("all are asked");
    assert_eq!((row(Predicate::WR).found, row(Predicate::P2).found), (RuleFound::Worse, RuleFound::Better));
    assert_eq!(comparison.outcome(), BesideOutcome::Mixed);
    let interval = row(Predicate::WR).interval().expect("there were pairs");
    assert_eq!(Some(interval), wrong_release.interval(Confidence::P95));
}

#[test]
fn intervals_of_parts_have_the_difference_of_all_runs_in_them() {
    let truth = enumerate();
    let (mut parts, mut missed) = (0, Vec::new());
    for predicate in [Predicate::P1, Predicate::P2, Predicate::WR] {
        let all = table(&truth[&predicate]).difference().expect("there are runs");
        for (place, part) in truth[&predicate].chunks(60).enumerate() {
            let interval = table(part).interval(Confidence::P95).expect("there are runs");
            parts += 1;
            if !(interval.low..=interval.high).contains(&all) {
                missed.push((predicate, place, interval, all));
            }
        }
    }
    // Of 60 intervals at 95 % three miss the truth; the seeds are fixed, so this is no matter of luck.
    assert!(parts == 60 && missed.len() <= 6, "{missed:?}");
}
