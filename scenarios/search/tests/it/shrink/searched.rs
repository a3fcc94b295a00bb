//! What a search finds: every lock in its usual world, under random faults that have all to do with its violations.

use std::collections::BTreeSet;

use doublehold_scenarios::build::World;
use doublehold_scenarios::{Engine, LeanEngine, Prepared, Scenario, weather};
use doublehold_search::shrink::{Shrunk, Target};

use crate::shrink::{is_minimal, words};

/// Shrinks the first violation of each predicate that a lock shows under some weather, and says what is left.
pub(crate) fn found(lock: &str, preset: &str, runs: u64) -> Vec<(String, Shrunk)> {
    let locks = doublehold_lockimpl::descriptors();
    let descriptor = locks.iter().find(|known| known.name == lock).expect("a lock");
    let usual = World::usual(descriptor).scenario(lock, locks.clone()).expect("a world");
    let scenario = Scenario { weather: Some(weather::load(preset).expect("a preset")), ..usual };
    let prepared = LeanEngine.prepare(&scenario).expect("it can be run");
    let (mut seen, mut lines) = (BTreeSet::new(), Vec::new());
    for seed in 1..=runs {
        let run = prepared.judge(seed);
        for target in Target::ALL {
            if target.is_in(&run) && seen.insert(target) {
                let shrunk = is_minimal(&scenario, seed, target);
                let what = format!("{lock}, {preset}, seed {seed}: {target}");
                let line = format!("{what}: {}\n    {}", words(&shrunk), shrunk.scenario.story);
                lines.push((line, shrunk));
            }
        }
    }
    lines
}
