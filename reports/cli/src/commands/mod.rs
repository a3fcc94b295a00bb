//! One file for each subcommand: its arguments as typed, and what it does.

pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod debate;
pub(crate) mod drive;
pub(crate) mod engines;
pub(crate) mod explore;
pub(crate) mod judge;
pub(crate) mod kind_hints;
pub(crate) mod list;
pub(crate) mod locks;
pub(crate) mod man;
pub(crate) mod merge;
mod node_options;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod serve;
pub(crate) mod shared;
pub(crate) mod shrink;
pub(crate) mod studies;
pub(crate) mod sweep;
mod timeline;
pub(crate) mod verify_determinism;
pub(crate) mod weather;
pub(crate) mod why;

use doublehold_diagnosis::Explained;
use doublehold_render::{json, text};
use doublehold_scenarios::report::{Grants, Judgement, Report};
use doublehold_scenarios::scenario::{Role, Scenario};
use doublehold_scenarios::{Engine, PrepareError, ScenarioError, catalog};
use doublehold_text::several;

use self::kind_hints::InputKind;
use crate::engine::EngineChoice;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output;
use crate::output_options::{Format, OutputOptions};

/// Prints a run and says how it came out.
fn print_run(mut run: Explained, replay: &str, how: OutputOptions) -> Result<Exit, CliError> {
    run.report.notes.extend(nothing_granted(&run.report));
    let run = &run;
    output::print(&match how.format {
        Format::Text => text::render_run(run, replay, &how.style()),
        Format::Json => json::render_run(run, replay)?,
    })?;
    Ok(exit(&run.report))
}

/// What never was granted has broken no rule, which the verdicts alone do not tell.
fn nothing_granted(report: &Report) -> Option<String> {
    let Grants { count: 0, refusal } = Grants::from_history(&report.history) else { return None };
    let why = refusal.map(|why| format!("; the last refusal: {why}")).unwrap_or_default();
    Some(format!("nobody was ever granted the lock{why}"))
}

fn exit(report: &Report) -> Exit {
    match report.judgement() {
        Judgement::AsExpected => Exit::AsExpected,
        Judgement::Contradicted => Exit::Contradicted,
        Judgement::Inconclusive => Exit::Inconclusive,
    }
}

/// The scenario under a name; what is there instead, if it is no scenario. What the engine cannot express of it is
/// refused with its lines.
fn scenario(name: &str, sets: &[(String, String)], engine: EngineChoice) -> Result<Scenario, CliError> {
    let not_one =
        |error: ScenarioError| kind_hints::other_kind(name, InputKind::Scenario).unwrap_or(error.into());
    let scenario = catalog::load(name, sets).map_err(not_one)?;
    match engine.one().prepare(&scenario) {
        Err(PrepareError::CannotExpress { engine, mut limits }) => {
            limits.iter_mut().for_each(|limit| limit.place = catalog::place_of(name, sets, &limit.path));
            Err(PrepareError::CannotExpress { engine, limits }.into())
        }
        // Whoever runs it is told what else is wrong.
        _ => Ok(scenario),
    }
}

/// `5 nodes, 3 clients, 2 rounds each`.
fn size_of(scenario: &Scenario) -> String {
    let count = |role| scenario.hosts.iter().filter(|host| host.role == role).count() as u64;
    let mut rounds: Vec<u32> = scenario.clients.iter().map(|client| client.rounds).collect();
    rounds.dedup();
    let rounds = match rounds[..] {
        [one] => format!(", {} each", several(one.into(), "round")),
        _ => String::new(),
    };
    format!(
        "{}, {}{rounds}",
        several(count(Role::Node), "node"),
        several(scenario.clients.len() as u64, "client")
    )
}
