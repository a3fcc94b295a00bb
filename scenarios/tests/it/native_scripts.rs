//! The scripts of our locks run without Lua, all of them. Every run of the catalogue is the same with it, to the last
//! event: `catalogue` compares its own.

use doublehold_scenarios::report::Report;
use doublehold_scenarios::{Prepared, PreparedSim};
use doublehold_sim_redis::core::runs_natively;

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

/// The difference between a run and the same one with Lua.
pub(crate) fn difference(native: &Report, with_lua: &PreparedSim) -> Option<String> {
    let lua = with_lua.run(native.seed);
    let (ours, theirs) = ((native.trace_hash, &native.history), (lua.trace_hash, &lua.history));
    let name = &native.scenario.name;
    (ours != theirs)
        .then(|| format!("{name} --seed {}: {} without Lua, {} with it", native.seed, ours.0, theirs.0))
}
