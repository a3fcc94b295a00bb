//! `doublehold why`: when it was decided that a run violates what it violates, and what would have changed it.

use std::fmt::Write as _;
use std::num::NonZeroUsize;

use clap::Args;
use doublehold_history::Predicate;
use doublehold_history::words::{clean, duration};
use doublehold_scenarios::many::cores;
use doublehold_scenarios::plan::Plan;
use doublehold_scenarios::shrink::Target;
use doublehold_scenarios::why::{FUTURES, OTHERS, Why, why};
use doublehold_scenarios::{Scenario, Seed, SimEngine};

use super::meant::{self, Kind};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output;
use crate::style::Style;
use crate::words::wrap;

/// As typed.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// A plan that `run`, `check` or `shrink` wrote, or a scenario or its file
    #[arg(value_name = "PLAN|NAME|FILE")]
    subject: String,
    /// Which run of a scenario; a plan has its own
    #[arg(long, value_name = "N")]
    seed: Option<Seed>,
    /// Which violation [default: the gravest of the run: P2, P1, P3, P4, WR, LV]
    #[arg(long, value_name = "P2", value_parser = super::check::predicate)]
    predicate: Option<Predicate>,
    /// How many threads [default: as many as there are cores]
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
}

pub(crate) fn execute(arguments: &Arguments) -> Result<Exit, CliError> {
    let (scenario, seed) = subject(arguments)?;
    let target = arguments.predicate.map(Target::Violates);
    let jobs = arguments.jobs.unwrap_or_else(cores);
    let found = why(&SimEngine, &scenario, seed, target, jobs).map_err(|error| CliError::Usage {
        problem: error.to_string(),
        hint: "name a run that does: `check` finds some, and `list` has scenarios that expect it".to_owned(),
    })?;
    output::print(&text(&found, &scenario, seed))?;
    Ok(Exit::AsExpected)
}

/// A plan and its seed, or a scenario and the seed that was typed.
fn subject(arguments: &Arguments) -> Result<(Scenario, Seed), CliError> {
    match Plan::read(&arguments.subject) {
        Ok(plan) => Ok((plan.scenario, arguments.seed.unwrap_or(plan.seed))),
        Err(error) => match super::scenario(&arguments.subject, &[]) {
            Ok(scenario) => Ok((scenario, arguments.seed.unwrap_or(Seed(1)))),
            Err(_) if arguments.subject.ends_with(".plan") => Err(error.into()),
            Err(other) => Err(meant::other_kind(&arguments.subject, Kind::Scenario).unwrap_or(other)),
        },
    }
}

fn text(why: &Why, scenario: &Scenario, seed: Seed) -> String {
    let name = clean(&scenario.name);
    let mut text = format!("why {} in the run of {name} from seed {seed}\n\n", why.target);
    let title = format!(
        "When it was decided: of {FUTURES} futures with the same past up to a moment, fresh randomness after it and \
         none of the faults that had not struck, so many come out the same."
    );
    text += &wrap(&title, "", "", Style::DEFAULT_WIDTH);
    text += "\n        time   the same\n";
    let jumps: Vec<usize> = why.jumps().collect();
    for (place, point) in why.points.iter().enumerate() {
        let mark = if jumps.contains(&place) { "<==" } else { "" };
        let head = format!("{:>12}  {:>4} of {FUTURES}  {mark:<3}  ", duration(point.at.0), point.same);
        let what = point.happened.join("; ");
        text += &wrap(&what, &head, &" ".repeat(head.len()), Style::DEFAULT_WIDTH);
    }
    if jumps.is_empty() {
        text += "\nno moment decided it: it is as likely from the beginning as at the end\n";
    }
    writeln!(
        text,
        "\nWhat would have changed it (as it is, {} of {OTHERS} other seeds do the same)\n",
        why.others
    )
    .expect("a string takes everything");
    for changed in &why.changes {
        let verdict = if changed.still_at_seed { "still" } else { "GONE" };
        let head = format!("  {verdict:<5}  {:>4} of {OTHERS}  ", changed.others);
        text += &wrap(&changed.what, &head, &" ".repeat(head.len()), Style::DEFAULT_WIDTH);
    }
    if why.changes.iter().all(|changed| changed.still_at_seed) {
        text += "\nno single change removes it: two things would each have been enough\n";
    }
    text
}
