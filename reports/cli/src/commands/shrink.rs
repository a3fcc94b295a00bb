//! `doublehold shrink`: the least scenario that still violates what a run violates, as a file.
//!
//! What there is to say about it stands in the file as comments, so that what is printed is a scenario that can be run.

use std::fmt::Write as _;

use clap::Args;
use doublehold::findings::name_of;
use doublehold_history::Predicate;
use doublehold_scenarios::plan::Plan;
use doublehold_scenarios::{Engine, Prepared, Scenario, Seed};
use doublehold_search::shrink::{Case, Effort, ShrinkError, Shrunk, Target, shrink};
use doublehold_text::shell;
use doublehold_text::{clean, list};

use super::kind_hints;
use super::node_options::NodeOptions;
use super::shared::predicate;
use crate::engine::EngineChoice;
use crate::error::CliError;
use crate::exit::Exit;
use crate::numbers;
use crate::output::{self, OutputFile};
use crate::scenario_file;

/// As typed.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// A file written by `run --plan`, a scenario of the catalogue (see `list`), or a scenario's file
    #[arg(value_name = "PLAN|NAME|FILE")]
    run: String,
    /// From which seed a scenario is run; a plan has its own [default: the scenario's own, or 1]
    #[arg(long, value_name = "N")]
    seed: Option<Seed>,
    /// What is to be kept [default: a panic, or the first that is violated of P2, P1, P3, P4, WR, LV]
    #[arg(long, value_name = "P", value_parser = predicate)]
    predicate: Option<Predicate>,
    #[command(flatten)]
    engine: EngineChoice,
    #[command(flatten)]
    nodes: NodeOptions,
    /// How many runs may be made; more than 140, which it takes to tell how often other seeds do the same
    #[arg(long, value_name = "N", default_value_t = Effort::default().replays_max, value_parser = replays)]
    replays: u64,
    /// Write the scenario to FILE, and print only what there is to say about it
    #[arg(long, value_name = "FILE")]
    out: Option<String>,
}

pub(crate) fn execute(arguments: &Arguments) -> Result<Exit, CliError> {
    let (scenario, seed, engine) = read_run(arguments)?;
    let out = arguments.out.as_ref().map(|path| OutputFile::create("the scenario", path)).transpose()?;
    if let Some(out) = out.as_ref().filter(|out| out.is_file_at(&arguments.run)) {
        return Err(CliError::Usage {
            problem: format!(
                "the result cannot be written over `{}`, which it is made of",
                clean(out.path())
            ),
            hint: "name another file".to_owned(),
        });
    }
    let run = engine.one().prepare(&scenario)?.judge(seed);
    let shown: Vec<Target> = Target::ALL.into_iter().filter(|target| target.is_in(&run)).collect();
    let asked = arguments.predicate.map(Target::Violates);
    let name = clean(&scenario.name);
    let Some(target) = shown.iter().copied().find(|target| asked.is_none_or(|asked| asked == *target)) else {
        output::inform(&nothing_to_shrink(arguments, &format!("{name} from seed {seed}"), asked, &shown));
        return Ok(Exit::Inconclusive);
    };
    output::inform(&format!("shrinking the run of {name} from seed {seed}, if {target}"));
    let effort = Effort { replays_max: arguments.replays, nodes: arguments.nodes.choice(), is_steady: false };
    let shrunk = match shrink(&engine.one(), &Case { scenario: &scenario, seed, target }, &effort) {
        Err(error @ ShrinkError::NoExample { .. }) => {
            output::inform(&error.to_string());
            return Ok(Exit::Inconclusive);
        }
        other => other?,
    };
    show(&scenario, &shrunk, engine, out)?;
    Ok(Exit::AsExpected)
}

/// The message that there is nothing to shrink, with a hint at where there would be.
fn nothing_to_shrink(arguments: &Arguments, run: &str, asked: Option<Target>, shown: &[Target]) -> String {
    let shown: Vec<String> = shown.iter().copied().map(name_of).collect();
    match asked {
        Some(asked) if !shown.is_empty() => format!(
            "the run of {run} does not show that {asked}\nhint: it violates {}: name one of these, or leave out \
             `--predicate`",
            list(&shown)
        ),
        _ => format!(
            "the run of {run} violates nothing, so there is nothing to shrink\nhint: {}",
            search(&arguments.run)
        ),
    }
}

/// A hint at the command that finds a run with a violation.
fn search(name: &str) -> String {
    let searches = "looks for seeds and faults that do, and shrinks what it finds";
    match Plan::read(name) {
        Ok(_) => format!("`doublehold check` {searches}; `doublehold list` has scenarios that do"),
        Err(_) => format!("`{}` {searches}", shell::line(["doublehold", "check", name])),
    }
}

/// More runs than are made in any case, and fewer than anybody waits for.
fn replays(typed: &str) -> Result<u64, String> {
    let least = Effort::REPLAYS_MIN + 1;
    if let Some(digits) = numbers::to_digits(typed) {
        return Err(format!("numbers are written in digits: did you mean `{digits}`?"));
    }
    match typed.parse() {
        Ok(replays) if replays < least => {
            Err(format!("use at least {least}: of fewer, none are left to take anything away with"))
        }
        Ok(replays) if replays <= 1_000_000_000 => Ok(replays),
        _ => Err(format!("use a number from {least} to 1000000000")),
    }
}

/// What was run, and from which seed.
fn read_run(arguments: &Arguments) -> Result<(Scenario, Seed, EngineChoice), CliError> {
    let name = &arguments.run;
    match Plan::read(name) {
        Ok(plan) => match arguments.seed.filter(|seed| *seed != plan.seed) {
            None => {
                let engine = arguments.engine.choice_for_plan(&plan)?;
                Ok((plan.scenario, plan.seed, engine))
            }
            Some(seed) => Err(CliError::Usage {
                problem: format!("`--seed {seed}`: the plan `{}` is of seed {}", clean(name), plan.seed),
                hint: "leave `--seed` out, or name a scenario in place of the plan".to_owned(),
            }),
        },
        Err(refusal) => match super::scenario(name, &[], arguments.engine) {
            Ok(scenario) => {
                let seed = arguments.seed.unwrap_or_else(|| scenario.own_seed());
                Ok((scenario, seed, arguments.engine))
            }
            // What looks like a plan is told what is wrong with it as a plan.
            Err(_) if name.ends_with(".plan") => {
                Err(kind_hints::other_kind(name, kind_hints::InputKind::Plan).unwrap_or(refusal.into()))
            }
            Err(error) => Err(error),
        },
    }
}

fn show(
    scenario: &Scenario,
    shrunk: &Shrunk,
    engine: EngineChoice,
    out: Option<OutputFile>,
) -> Result<(), CliError> {
    let path = out.as_ref().map_or(scenario_file::UNNAMED, OutputFile::path);
    let about = summary(scenario, shrunk, engine, path);
    let file = scenario_file::text(&about, &shrunk.scenario);
    let Some(out) = out else { return output::print(&file) };
    out.write(|output| output.write_all(file.as_bytes()))?.keep()?;
    output::print(&about)
}

/// What there is to say beside the scenario.
fn summary(scenario: &Scenario, shrunk: &Shrunk, engine: EngineChoice, path: &str) -> String {
    let Shrunk { before, after, replays, others: (others, of), .. } = shrunk;
    let mut text = String::new();
    let mut line = |line: String| writeln!(text, "{line}").expect("a text can be written to");
    line(format!(
        "shrunk from a run of {} with seed {}: {}",
        clean(&scenario.name),
        shrunk.seed,
        shrunk.target
    ));
    line(format!(
        "faults {} -> {}, clients {} -> {}, steps {} -> {}, nodes {} -> {}; {replays} replays",
        before.faults,
        after.faults,
        before.clients,
        after.clients,
        before.steps,
        after.steps,
        before.nodes,
        after.nodes
    ));
    let stay = if shrunk.keeps_nodes { " but nodes, which were to stay" } else { "" };
    line(match shrunk.is_minimal {
        true => format!("minimal: nothing can go{stay}, and no length can be the next shorter round one"),
        false => "NOT MINIMAL: there were no more replays (`--replays`)".to_owned(),
    });
    line(format!("the {of} seeds that follow: {others} violate it too"));
    if !shrunk.windows.is_empty() {
        line("what violates as well, each alone, as far as bisection shows:".to_owned());
    }
    shrunk.windows.iter().for_each(|window| line(format!("  {window}")));
    line(clean(&scenario_file::run_it(path, shrunk.seed, engine, Some(shrunk.others))));
    text
}
