//! `doublehold replay`: a plan run again; the trace must come to the same digest.

use clap::Args;
use doublehold_scenarios::plan::Plan;
use doublehold_scenarios::{Engine, SimEngine};

use super::meant::{self, Kind};
use crate::error::CliError;
use crate::exit::Exit;
use crate::show::Show;
use crate::{output, shell};

/// As typed.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// A file written by `run --plan`
    #[arg(value_name = "PLAN")]
    plan: String,
    #[command(flatten)]
    show: Show,
}

pub(crate) fn execute(arguments: &Arguments) -> Result<Exit, CliError> {
    let plan = Plan::read(&arguments.plan)
        .map_err(|error| meant::other_kind(&arguments.plan, Kind::Plan).unwrap_or(error.into()))?;
    let mut report = SimEngine.run(&plan.scenario, plan.seed);
    let replay = plan.replayed(&report);
    let contradicts = replay.contradicts();
    report.notes.push(replay.words(&report.trace_hash.to_string()));
    report.replays = Some(replay);
    let shown = super::show(report, &shell::line(["doublehold", "replay", &arguments.plan]), arguments.show)?;
    if !contradicts {
        return Ok(shown);
    }
    output::inform("hint: the plan or the program was changed since the plan was written");
    Ok(Exit::Contradicted)
}
