//! `doublehold why`: when it was decided that a run violates what it violates, and what would have changed it.

mod text;

use clap::Args;
use doublehold_diagnosis::why::{WhyError, why};
use doublehold_history::Predicate;
use doublehold_scenarios::plan::Plan;
use doublehold_scenarios::scenario::Expected;
use doublehold_scenarios::{Scenario, Seed};
use doublehold_search::shrink::Target;

use super::kind_hints::{self, InputKind};
use super::shared::{Jobs, predicate};
use crate::engine::EngineChoice;
use crate::error::CliError;
use crate::exit::Exit;
use crate::{output, output_options};

/// As typed.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// A plan that `run`, `check` or `shrink` wrote, or a scenario or its file
    #[arg(value_name = "PLAN|NAME|FILE")]
    subject: String,
    /// Which run of a scenario; a plan has its own [default: the scenario's own, or 1]
    #[arg(long, value_name = "N")]
    seed: Option<Seed>,
    /// Which violation [default: the first that the scenario expects, or else the run shows, of P2, P1, P3, P4, WR, LV]
    #[arg(long, value_name = "P2", value_parser = predicate)]
    predicate: Option<Predicate>,
    #[command(flatten)]
    jobs: Jobs,
    #[command(flatten)]
    engine: EngineChoice,
}

pub(crate) fn execute(arguments: &Arguments) -> Result<Exit, CliError> {
    let (scenario, seed, engine) = subject(arguments)?;
    let target = arguments.predicate.map(Target::Violates).or_else(|| expected_target(&scenario));
    match why((&engine.one(), &engine.many()), &scenario, seed, target, arguments.jobs.count()) {
        Ok(found) => {
            output::print(&text::text(&found, &scenario, seed, output_options::columns()))?;
            Ok(Exit::AsExpected)
        }
        Err(WhyError::Prepare(error)) => Err(error.into()),
        Err(error) => {
            output::inform(&format!("{error}\nhint: `check` finds runs that do, and `list` has scenarios"));
            Ok(Exit::Inconclusive)
        }
    }
}

/// What the scenario says it shows, the gravest first: one that was shrunk for P3 alone is asked about P3.
fn expected_target(scenario: &Scenario) -> Option<Target> {
    Target::ALL.into_iter().find(|target| match target {
        Target::Violates(predicate) => scenario.expect.get(predicate) == Some(&Expected::Violated),
        Target::Panics => false,
    })
}

/// A plan and its seed, or a scenario and the seed that was typed.
fn subject(arguments: &Arguments) -> Result<(Scenario, Seed, EngineChoice), CliError> {
    match Plan::read(&arguments.subject) {
        Ok(plan) => match arguments.seed {
            Some(_) => Err(CliError::Usage {
                problem: format!("the plan is of seed {}, and has no other", plan.seed),
                hint: "leave out `--seed`, or name the scenario".to_owned(),
            }),
            None => {
                let engine = arguments.engine.choice_for_plan(&plan)?;
                Ok((plan.scenario, plan.seed, engine))
            }
        },
        Err(error) => match super::scenario(&arguments.subject, &[], arguments.engine) {
            Ok(scenario) => {
                let seed = arguments.seed.unwrap_or_else(|| scenario.own_seed());
                Ok((scenario, seed, arguments.engine))
            }
            Err(_) if arguments.subject.ends_with(".plan") => Err(error.into()),
            Err(other) => {
                Err(kind_hints::other_kind(&arguments.subject, InputKind::Scenario).unwrap_or(other))
            }
        },
    }
}
