//! Shrinking: whatever violates is made as small as it can be, and what is left is looked at by brute force that knows
//! nothing of how the shrinker proposes its changes.

mod brute;

use doublehold_scenarios::shrink::{Case, Options, Shrunk, Target, shrink};
use doublehold_scenarios::{Engine, LeanEngine, Prepared, Scenario, Seed, catalog};

fn load(name: &str) -> Scenario {
    catalog::load(name, &[]).unwrap_or_else(|error| panic!("{error}"))
}

fn shrunk(scenario: &Scenario, seed: u64, target: Target, options: Options) -> Shrunk {
    let case = Case { scenario, seed: Seed(seed), target };
    shrink(&LeanEngine, &case, &options).unwrap_or_else(|error| panic!("{}: {error}", scenario.name))
}

/// What the run from a seed shows first.
fn target(scenario: &Scenario, seed: u64) -> Option<Target> {
    Target::of(&LeanEngine.prepare(scenario).expect("a file can be run").judge(seed))
}

#[test]
fn of_what_is_left_of_the_catalogue_nothing_can_go() {
    for entry in catalog::entries().expect("the catalogue is right") {
        let scenario = load(&entry.name);
        let Some(target) = target(&scenario, 1) else { continue };
        let Shrunk { scenario, seed, is_minimal, .. } = shrunk(&scenario, 1, target, Options::default());
        assert!(is_minimal, "{}", entry.name);
        assert!(brute::violates(&scenario, seed, target), "{}: {target}", entry.name);
        let superfluous = brute::superfluous(&scenario, seed, target, false);
        assert_eq!(superfluous, Vec::<String>::new(), "{}\n{}", entry.name, scenario.to_toml());
    }
}
