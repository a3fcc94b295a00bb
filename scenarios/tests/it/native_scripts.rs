//! The scripts of our locks run without Lua, all of them. Every run of the catalogue is the same with it, to the last
//! event.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use doublehold_scenarios::scenario::Scenario;
use doublehold_scenarios::{Engine, Prepared, SimEngine, catalog};
use doublehold_sim_redis::core::runs_natively;

const SEEDS: std::ops::RangeInclusive<u64> = 1..=20;

#[test]
fn every_run_of_the_catalogue_is_the_same_with_lua() {
    let entries = catalog::entries().expect("the catalogue is well formed");
    let next = AtomicUsize::new(0);
    let differences: Vec<String> = thread::scope(|scope| {
        let work = || {
            let mut differences = Vec::new();
            while let Some(entry) = entries.get(next.fetch_add(1, Ordering::Relaxed)) {
                let scenario = catalog::load(&entry.name, &[]).expect("it was listed");
                differences.extend(SEEDS.filter_map(|seed| difference(&entry.name, &scenario, seed)));
            }
            differences
        };
        let workers: Vec<_> = (0..2).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("no run panics")).collect()
    });
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// Where the locks keep their scripts.
const SCRIPTS: &str = include_str!("../../../lockimpl/src/connection/scripts.rs");

#[test]
fn every_script_of_our_locks_runs_without_lua() {
    let literals = SCRIPTS.split("Script::new(").filter_map(|rest| rest.trim_start().strip_prefix('"'));
    let scripts: Vec<String> = literals
        .map(|rest| rest.split('"').next().expect("a literal ends"))
        // As Rust reads it: a backslash at the end of a line takes the next line's margin with it.
        .map(|literal| literal.split("\\\n").map(str::trim_start).collect())
        .collect();
    assert!(scripts.len() >= 4, "only {} scripts are found in lockimpl", scripts.len());
    for script in scripts {
        assert!(runs_natively(script.as_bytes()), "no node runs this without Lua:\n{script}");
    }
}

/// How the run differs from the same with Lua.
fn difference(name: &str, scenario: &Scenario, seed: u64) -> Option<String> {
    let prepared = || SimEngine.prepare(scenario).expect("it can be run");
    let [native, lua] = [prepared(), prepared().with_lua()].map(|prepared| prepared.run(seed));
    let (ours, theirs) = ((native.trace_hash, native.history), (lua.trace_hash, lua.history));
    (ours != theirs).then(|| format!("{name} --seed {seed}: {} without Lua, {} with it", ours.0, theirs.0))
}
