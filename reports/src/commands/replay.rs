//! `doublehold replay`: a plan run again; the trace must come to the same digest.

use clap::Args;
use doublehold_scenarios::plan::Plan;
use doublehold_scenarios::{Engine, Keep, SimEngine};

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
    let plan = Plan::read(&arguments.plan)?;
    let mut report = SimEngine.run(&plan.scenario, plan.seed, Keep::History);
    let hash = report.trace_hash.to_string();
    let same = hash == plan.trace_hash;
    report.replays = Some(plan.trace_hash.clone());
    report.notes.push(if same {
        format!("same run: trace {hash}, as in the plan")
    } else {
        format!(
            "NOT THE SAME RUN: the plan came to trace {}, this replay to {hash}",
            crate::words::clean(&plan.trace_hash)
        )
    });
    let shown =
        super::show(&report, &shell::line(["doublehold", "replay", &arguments.plan]), arguments.show)?;
    if same {
        return Ok(shown);
    }
    output::inform(&format!(
        "NOT THE SAME RUN: the plan came to trace {}, this replay to {hash}\nhint: the plan or the program was changed since it was written",
        crate::words::clean(&plan.trace_hash)
    ));
    Ok(Exit::Contradicted)
}
