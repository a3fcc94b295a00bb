//! `doublehold replay`: a plan run again; the trace must come to the same digest.

use clap::Args;
use doublehold_diagnosis::explain;
use doublehold_scenarios::detail::Detail;
use doublehold_scenarios::plan::Plan;
use doublehold_scenarios::{Detailed, Engine, Prepared};
use doublehold_text::clean;
use doublehold_text::shell;

use super::kind_hints::{self, InputKind};
use super::timeline::TimelineFile;
use crate::engine::EngineChoice;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output;
use crate::output_options::OutputOptions;

/// As typed.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// A file written by `run --plan`
    #[arg(value_name = "PLAN")]
    plan: String,
    /// Draw the run to scale, with every message and clock, to FILE: .svg, .png, or .html to zoom in
    #[arg(long, value_name = "FILE")]
    timeline: Option<String>,
    #[command(flatten)]
    engine: EngineChoice,
    #[command(flatten)]
    show: OutputOptions,
}

pub(crate) fn execute(arguments: &Arguments) -> Result<Exit, CliError> {
    let plan = Plan::read(&arguments.plan)
        .map_err(|error| kind_hints::other_kind(&arguments.plan, InputKind::Plan).unwrap_or(error.into()))?;
    let timeline = arguments.timeline.as_deref().map(TimelineFile::open).transpose()?;
    timeline.iter().try_for_each(|timeline| spare(timeline, &arguments.plan))?;
    let prepared = arguments.engine.choice_for_plan(&plan)?.one().prepare(&plan.scenario)?;
    let (report, detail) = match timeline {
        None => (prepared.run(plan.seed), Detail::default()),
        Some(_) => {
            let (report, _, detail) = prepared.run_with_detail(plan.seed);
            (report, detail)
        }
    };
    let mut run = explain(&prepared, report);
    let replay = plan.compare_replay(&run.report);
    let contradicts = replay.contradicts();
    let hash = run.report.trace_hash.to_string();
    run.report.notes.push(replay.words(&hash));
    run.report.replays = Some(replay);
    if let Some(timeline) = timeline {
        timeline.write(&run, detail)?.keep()?;
    }
    let shown =
        super::print_run(run, &shell::line(["doublehold", "replay", &arguments.plan]), arguments.show)?;
    if !contradicts {
        return Ok(shown);
    }
    output::inform("hint: the plan or the program was changed since the plan was written");
    Ok(Exit::Contradicted)
}

/// Refuses to write the figure over the plan.
fn spare(timeline: &TimelineFile, plan: &str) -> Result<(), CliError> {
    if !timeline.file.is_file_at(plan) {
        return Ok(());
    }
    Err(CliError::Usage {
        problem: format!("a result cannot be written over the plan `{}`", clean(plan)),
        hint: "name another file".to_owned(),
    })
}
