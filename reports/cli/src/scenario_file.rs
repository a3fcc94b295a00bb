//! A scenario that a search found, as a file: above it, as comments, what is known of it and the command that runs it.
//!
//! A counterexample is one seed's. From another it may show nothing, and then contradicts what it expects: so the
//! command names the seed, wherever it is said.

use doublehold_scenarios::{Scenario, Seed};
use doublehold_text::shell;

use crate::engine::EngineChoice;

/// What stands for the file in a command where nobody has named one yet.
pub(crate) const UNNAMED: &str = "FILE";

/// The file's text, with what there is to say above the scenario.
pub(crate) fn text(about: &str, scenario: &Scenario) -> String {
    let comments: String = about.lines().map(|line| format!("# {line}\n")).collect();
    format!("{comments}\n{}", scenario.to_toml())
}

/// The command that runs the file from the seed that it is about.
pub(crate) fn command(path: &str, seed: Seed, engine: EngineChoice) -> String {
    let seed = seed.to_string();
    let line = ["doublehold", "run", path, "--seed", &seed].into_iter();
    shell::line(line.chain(engine.options().iter().copied()))
}

/// The line that says how to run it, and what another seed would come to.
pub(crate) fn run_it(path: &str, seed: Seed, engine: EngineChoice, others: Option<(u64, u64)>) -> String {
    let command = command(path, seed, engine);
    match others {
        Some((same, of)) if same == of => format!("run it: {command}"),
        _ => format!("run it with its seed, since another may not show what it expects: {command}"),
    }
}
