//! `doublehold why`: when it was decided that a run violates what it violates, and what would have changed it.

use std::num::NonZeroUsize;

use clap::Args;
use doublehold_history::Predicate;
use doublehold_history::words::{clean, duration};
use doublehold_scenarios::many::cores;
use doublehold_scenarios::plan::Plan;
use doublehold_scenarios::scenario::Expected;
use doublehold_scenarios::shrink::Target;
use doublehold_scenarios::why::{Changed, FUTURES, OTHERS, Why, WhyError, why};
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
    /// Which run of a scenario; a plan has its own [default: the scenario's own, or 1]
    #[arg(long, value_name = "N")]
    seed: Option<Seed>,
    /// Which violation [default: the first that the scenario expects, or else the run shows, of P2, P1, P3, P4, WR, LV]
    #[arg(long, value_name = "P2", value_parser = super::check::predicate)]
    predicate: Option<Predicate>,
    /// How many threads [default: as many as there are cores]
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
}

pub(crate) fn execute(arguments: &Arguments) -> Result<Exit, CliError> {
    let (scenario, seed) = subject(arguments)?;
    let target = arguments.predicate.map(Target::Violates).or_else(|| expected(&scenario));
    let jobs = arguments.jobs.unwrap_or_else(cores);
    match why(&SimEngine, &scenario, seed, target, jobs) {
        Ok(found) => {
            output::print(&text(&found, &scenario, seed))?;
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
fn expected(scenario: &Scenario) -> Option<Target> {
    Target::ALL.into_iter().find(|target| match target {
        Target::Violates(predicate) => scenario.expect.get(predicate) == Some(&Expected::Violated),
        Target::Panics => false,
    })
}

/// A plan and its seed, or a scenario and the seed that was typed.
fn subject(arguments: &Arguments) -> Result<(Scenario, Seed), CliError> {
    match Plan::read(&arguments.subject) {
        Ok(plan) => match arguments.seed {
            Some(_) => Err(CliError::Usage {
                problem: format!("the plan is of seed {}, and has no other", plan.seed),
                hint: "leave out `--seed`, or name the scenario".to_owned(),
            }),
            None => Ok((plan.scenario, plan.seed)),
        },
        Err(error) => match super::scenario(&arguments.subject, &[]) {
            Ok(scenario) => {
                let seed = arguments.seed.unwrap_or_else(|| scenario.own_seed());
                Ok((scenario, seed))
            }
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
    text += match jumps.is_empty() {
        true => "\nno moment decided it: it is as likely from the beginning as at the end\n",
        false => "\n  <==  more or fewer than before, beyond chance: something was decided here\n",
    };
    text + &changes(why)
}

/// What was changed, and what came of it.
fn changes(why: &Why) -> String {
    let as_it_is = format!("(as it is, {} of {OTHERS} other seeds do the same)", why.others);
    let mut text = format!("\nWhat would have changed it {as_it_is}\n\n  this run  other seeds\n");
    for changed in &why.changes {
        let head = format!("  {:<8}  {:>5} of {OTHERS}  ", verdict(changed, why.others), changed.others);
        text += &wrap(&changed.what, &head, &" ".repeat(head.len()), Style::DEFAULT_WIDTH);
    }
    text += "\n  GONE: this run does it no more, and other seeds seldom or never\n";
    text += "  luck: this run does it no more, and other seeds do it as often\n";
    text += "  no lock: nobody is granted the lock any more, which prevents everything\n";
    if !why.changes.iter().any(|changed| verdict(changed, why.others) == GONE) {
        text += "\nno single change removes it: two things would each have been enough\n";
    }
    text
}

const GONE: &str = "GONE";

/// What came of a change, beside how many of the other seeds did it without.
fn verdict(changed: &Changed, others: u64) -> &'static str {
    let is_rarer = changed.others == 0 || changed.others * 2 < others;
    match (changed.is_granted, changed.still_at_seed) {
        (_, true) => "still",
        (false, false) => "no lock",
        (true, false) if is_rarer => GONE,
        (true, false) => "luck",
    }
}
