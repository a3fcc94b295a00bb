//! The same question has the same answer, on any number of threads.

use doublehold_beside::{Beside, CountedPairs, PairWorlds, Survey, Weathers};
use doublehold_history::Predicate;
use doublehold_scenarios::build::World;
use doublehold_scenarios::weather::preset;

use crate::kit::{TWO_TURNS, budget, compare, count, in_world, side};

#[test]
fn one_world_comes_to_the_same_on_one_thread_and_on_two() {
    let of = |jobs| {
        let beside = in_world("single release=plain-delete", "single", TWO_TURNS).expect("they go together");
        let budget = budget(300, jobs);
        let both = count(&beside, &budget);
        (both.clone(), compare(&both), both.1.inside())
    };
    let (one, two) = (of(1), of(2));
    assert!(one.0.1.rounds > 3, "rounds are planned from those before: {}", one.0.1.rounds);
    assert_eq!(one, two);
}

#[test]
fn a_family_comes_to_the_same_on_one_thread_and_on_two() {
    let of = |jobs: usize| -> (Survey, CountedPairs) {
        let cloud = Weathers::Drawn(preset("cloud").expect("it is there").weather);
        let (mine, theirs) = (side("single release=plain-delete"), side("single"));
        let beside = Beside::new(mine, theirs, &PairWorlds::Family(World::family()), &cloud)
            .expect("they go together");
        count(&beside, &budget(400, jobs))
    };
    let (one, two) = (of(1), of(2));
    assert_eq!(one, two);
    assert!(one.1.pairs >= 400 && compare(&one).worse().contains(&Predicate::WR));
}
