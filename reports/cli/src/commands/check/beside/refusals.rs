//! What cannot be asked of two locks: options that mean nothing beside a reference, and changes that are of a
//! world and not of a lock.

use doublehold_scenarios::{Scenario, ScenarioError};
use doublehold_text::shorten;

use super::super::Arguments;
use crate::engine::EngineChoice;
use crate::error::CliError;

/// Refuses options that mean nothing beside a reference.
pub(super) fn refuse_other_options(arguments: &Arguments) -> Result<(), CliError> {
    let named = [
        (arguments.part.shard.is_some(), "--shard"),
        (!arguments.part.sum.is_empty(), "--sum"),
        (arguments.obtain_within.is_some(), "--obtain-within"),
        (arguments.engine != EngineChoice::default(), "--engine"),
    ];
    if let Some((_, option)) = named.into_iter().find(|(is_named, _)| *is_named) {
        return refused(option, "leave it out");
    }
    if !arguments.rule.is_empty() {
        return refused("--rule", "leave it out: beside a reference all white-box rules are asked");
    }
    match arguments.nodes.option() {
        Some(option) => refused(option, "leave it out: an example keeps the nodes of a quorum"),
        None => Ok(()),
    }
}

fn refused(option: &str, hint: &str) -> Result<(), CliError> {
    Err(CliError::Usage {
        problem: format!("`{option}` and `--beside` do not go together"),
        hint: hint.to_owned(),
    })
}

/// Refuses changes to a lock that are none of its switches: both locks run in the same worlds.
pub(super) fn refuse_more_than_switches(
    usual: &Scenario,
    changed: &Scenario,
    sets: &[String],
) -> Result<(), CliError> {
    let mut rest = changed.clone();
    rest.lock.switches = usual.lock.switches.clone();
    rest.sets.clone_from(&usual.sets);
    if rest.lock.algorithm == usual.lock.algorithm && rest.to_toml() == usual.to_toml() {
        return Ok(());
    }
    let sets: Vec<String> = sets.iter().map(|set| format!("`{}`", shorten(set))).collect();
    Err(CliError::Usage {
        problem: format!(
            "{} changes more than the switches of `{}`, and both locks run in the same worlds",
            sets.join(" "),
            usual.lock.algorithm
        ),
        hint: "set it in a scenario file, and name that with `--world FILE`".to_owned(),
    })
}

/// What is no scenario may be a word for worlds that was mistyped.
pub(super) fn no_world(error: CliError) -> CliError {
    let CliError::Scenario(ScenarioError::Unknown { name, hint }) = error else { return error };
    CliError::Usage {
        problem: format!("`--world {}` is neither `family` nor `usual` nor a scenario", shorten(&name)),
        hint,
    }
}
