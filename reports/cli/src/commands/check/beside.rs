//! `check LOCK --beside REFERENCE`: what only one of two locks does.

pub(super) mod junit;
mod refusals;

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use clap::Args;
use doublehold::beside::{self, BesideFindings, Question, SearchedPairs, ShownExample, Stage};
use doublehold_beside::{Beside, BesideExample, BesideOutcome, LockSide, PairWorlds, Weathers};
use doublehold_history::Predicate;
use doublehold_lockimpl::Switches;
use doublehold_render::style::Style;
use doublehold_scenarios::build::World;
use doublehold_scenarios::{Engine, LeanEngine, Scenario, SimEngine, weather};
use doublehold_text::{duration, several, shorten};

use super::destination::Destination;
use super::{Arguments, WEATHER, apply_changes, neither};
use crate::commands;
use crate::engine::EngineChoice;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output;
use crate::output_options::Format;
use crate::progress::{bar, speed};
use crate::stopping;
use crate::warnings::Warnings;

/// How long pairs are made where nobody says.
const LASTING: Duration = Duration::from_secs(10);
/// How long no run may end until it is said that the program does not come back.
const PATIENCE: Duration = Duration::from_secs(60);
/// The word for worlds that are drawn.
const FAMILY: &str = "family";
/// The word for the world of a lock that has one.
const USUAL: &str = "usual";

/// As typed.
#[derive(Debug, Args)]
pub(super) struct BesideOptions {
    /// What only LOCK does, and a reference does not: a lock with its switches, in quotes, or a scenario
    #[arg(long, value_name = "REFERENCE")]
    pub(super) beside: Option<String>,
    /// Beside a reference, where both run: `family` (worlds that differ), `usual`, or a scenario [default: family]
    #[arg(long, value_name = "WORLD", requires = "beside")]
    world: Option<String>,
}

impl BesideOptions {
    /// The options as they are typed.
    pub(super) fn typed(&self) -> impl Iterator<Item = &str> {
        let beside = self.beside.iter().flat_map(|reference| ["--beside", reference]);
        beside.chain(self.world.iter().flat_map(|world| ["--world", world]))
    }
}

/// One of the two locks, as it was typed: what it is and where it runs.
struct Subject {
    lock: String,
    switches: Switches,
    title: String,
    /// The scenario, if a scenario was named and no lock.
    scenario: Option<Scenario>,
}

pub(super) fn execute(arguments: &Arguments, reference: &str) -> Result<Exit, CliError> {
    refusals::refuse_other_options(arguments)?;
    let mine = subject(&arguments.subject, arguments.search.changes.pairs()?, arguments.engine)?;
    let theirs = typed_reference(reference, arguments.engine)?;
    if mine.lock == theirs.lock && mine.switches == theirs.switches {
        return Err(CliError::Usage {
            problem: format!(
                "`{}` stands beside itself: the same lock with the same switches",
                shorten(&mine.title)
            ),
            hint: "set one of its switches otherwise, or name another lock".to_owned(),
        });
    }
    let worlds = worlds(arguments, &mine, &theirs)?;
    let weathers = weathers(arguments, &mine, &worlds)?;
    let (mine, theirs) = (mine.side(LeanEngine), theirs.side(LeanEngine));
    let (real, real_theirs) = (SimEngine, again(&theirs));
    let titles = (mine.title.clone(), theirs.title.clone());
    let beside = Beside::new(mine, theirs, &worlds, &weathers)?;
    let stopping = stopping::listen();
    let place = Destination::open(arguments)?;
    let question = Question { folder: Some(place.folder()), ..question(arguments, &worlds) };
    let began = Instant::now();
    let lasting = question.lasting.unwrap_or(LASTING);
    let bar = bar(question.pairs.unwrap_or(lasting.as_secs()), "{msg}");
    let found = beside::search(&beside, (&real, &real_theirs), &question, |stage| {
        bar.set_message(stage_words(&stage));
        match stage {
            Stage::Counting(counted) => {
                bar.set_position(question.pairs.map_or(began.elapsed().as_secs(), |_| counted.pairs));
            }
            Stage::Surveying | Stage::Example(..) => {}
        }
        if stopping.signal_status().is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    bar.finish_and_clear();
    let found = found?;
    tell_costs(&found, began.elapsed(), question.jobs);
    let mut warnings = Warnings::default();
    let examples = shown(&found.examples, &real, &place, &titles.1, &mut warnings)?;
    let conditions = found.survey.places().count();
    let findings = BesideFindings {
        mine: titles.0,
        theirs: titles.1,
        worlds: worlds_words(&worlds, &weathers, conditions),
        kept: beside::kept_conditions(&beside, &found.survey, &question.asked),
        survey_runs: found.survey.runs,
        notes: beside.left_out().map(ToString::to_string).into_iter().collect(),
        inside: found.inside,
        comparison: found.comparison,
        examples,
        command: arguments.question(),
    };
    warnings.note(place.keep_beside(&findings));
    warnings.note(output::print(&text(&findings, arguments)?));
    if let Some(status) = stopping.signal_status() {
        warnings.print();
        std::process::exit(i32::from(status));
    }
    warnings.into_result()?;
    Ok(match findings.outcome() {
        BesideOutcome::Worse | BesideOutcome::Mixed => Exit::Contradicted,
        BesideOutcome::Better | BesideOutcome::NoWorse => Exit::AsExpected,
        BesideOutcome::NotToldApart | BesideOutcome::NeverReached => Exit::Inconclusive,
    })
}

fn text(findings: &BesideFindings, arguments: &Arguments) -> Result<String, CliError> {
    match arguments.show.format {
        Format::Json => Ok(findings.json()?),
        _ => Ok(findings.text(&arguments.show.style())),
    }
}

/// How far a search is, in words.
fn stage_words(stage: &Stage<'_>) -> String {
    match stage {
        Stage::Surveying => "the reference alone".to_owned(),
        Stage::Counting(counted) => several(counted.pairs, "pair"),
        Stage::Example(predicate, None) => format!("an example of {predicate}"),
        Stage::Example(predicate, Some(best)) => {
            format!("an example of {predicate}; one of {} is there", best.wanted.predicate)
        }
    }
}

/// What the survey took, and how many pairs were made a second: to standard error, since no two machines agree.
fn tell_costs(found: &SearchedPairs, took: Duration, jobs: NonZeroUsize) {
    let nanos =
        |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX).saturating_mul(1_000_000);
    let survey = duration(nanos(found.survey_took));
    output::inform(&match found.survey.runs {
        0 => format!(
            "what the reference keeps where was known from a check before this one; {survey} to look it up"
        ),
        runs => format!(
            "{} of the reference alone in {survey}, to know what it keeps where",
            several(runs, "run")
        ),
    });
    output::inform(&speed(found.counted.pairs, "pair", took.saturating_sub(found.survey_took), jobs));
}

impl Subject {
    fn side<E: Engine>(self, engine: E) -> LockSide<E> {
        let Subject { lock, switches, title, .. } = self;
        LockSide { engine, lock, switches, title }
    }
}

/// The same lock, through redis-rs.
fn again(side: &LockSide<LeanEngine>) -> LockSide<SimEngine> {
    let (lock, switches, title) = (side.lock.clone(), side.switches.clone(), side.title.clone());
    LockSide { engine: SimEngine, lock, switches, title }
}

/// A lock by its name, or the lock of a scenario.
fn subject(typed: &str, sets: Vec<(String, String)>, engine: EngineChoice) -> Result<Subject, CliError> {
    let locks = doublehold_lockimpl::descriptors();
    let known = locks.iter().find(|lock| lock.name == typed);
    let words: Vec<String> = sets.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let title =
        if words.is_empty() { typed.to_owned() } else { format!("{typed} with {}", words.join(", ")) };
    let scenario = match known {
        Some(lock) => {
            let usual = World::usual(lock).scenario(lock.name, locks.clone())?;
            let changed = apply_changes(&usual, sets)?;
            refusals::refuse_more_than_switches(&usual, &changed, &words)?;
            changed
        }
        None => commands::scenario(typed, &sets, engine).map_err(|error| neither(error, &locks))?,
    };
    Ok(Subject {
        lock: scenario.lock.algorithm.clone(),
        switches: scenario.lock.switches.clone(),
        title,
        scenario: known.is_none().then_some(scenario),
    })
}

/// The reference as it is typed, in quotes: `single --set lock.deadline_from=send`, where `--set` and `lock.` may be
/// left out.
fn typed_reference(typed: &str, engine: EngineChoice) -> Result<Subject, CliError> {
    let mut words = typed.split_whitespace();
    let name = words.next().ok_or_else(|| CliError::Usage {
        problem: "`--beside` names no lock".to_owned(),
        hint: "name a lock with its switches, in quotes: `--beside 'single lock.elapsed_check=true'`"
            .to_owned(),
    })?;
    let sets = words.filter(|word| *word != "--set").map(reference_change);
    subject(name, sets.collect::<Result<_, _>>()?, engine)
}

fn reference_change(word: &str) -> Result<(String, String), CliError> {
    let word = word.strip_prefix("--set=").unwrap_or(word);
    match word.split_once('=') {
        Some((key, value)) if !key.is_empty() && key.contains('.') => Ok((key.to_owned(), value.to_owned())),
        Some((key, value)) if !key.is_empty() => Ok((format!("lock.{key}"), value.to_owned())),
        _ => Err(CliError::Usage {
            problem: format!("`{}` in `--beside` is no switch of the reference", shorten(word)),
            hint: "write a switch, `=` and a value: `--beside 'single lock.elapsed_check=true'`".to_owned(),
        }),
    }
}

fn worlds(arguments: &Arguments, mine: &Subject, theirs: &Subject) -> Result<PairWorlds, CliError> {
    if let (Some(my), Some(their)) = (&mine.scenario, &theirs.scenario) {
        refuse_other_hosts(my, their)?;
    }
    let locks = doublehold_lockimpl::descriptors();
    let usual = || -> Result<PairWorlds, CliError> {
        let lock = locks.iter().find(|lock| lock.name == mine.lock);
        let world = lock.map_or_else(World::family, World::usual).scenario(&mine.lock, locks.clone())?;
        Ok(PairWorlds::One(Box::new(world)))
    };
    match (arguments.reference.world.as_deref(), &mine.scenario) {
        (None, Some(scenario)) => Ok(PairWorlds::One(Box::new(scenario.clone()))),
        (None | Some(FAMILY), _) => Ok(PairWorlds::Family(World::family())),
        (Some(USUAL), _) => usual(),
        (Some(other), _) => {
            let scenario = commands::scenario(other, &[], arguments.engine).map_err(refusals::no_world)?;
            Ok(PairWorlds::One(Box::new(scenario)))
        }
    }
}

/// Refuses a reference whose scenario has other hosts: faults would strike nobody.
fn refuse_other_hosts(mine: &Scenario, theirs: &Scenario) -> Result<(), CliError> {
    let names = |scenario: &Scenario| -> Vec<String> {
        scenario.hosts.iter().map(|host| host.name.clone()).collect()
    };
    if names(mine) == names(theirs) {
        return Ok(());
    }
    Err(CliError::Usage {
        problem: format!(
            "`{}` and `{}` have other nodes or clients: no run can be the same for both",
            mine.name, theirs.name
        ),
        hint: "name a scenario with the same hosts, or only its lock with its switches".to_owned(),
    })
}

/// The weather that was named, or a scenario's own, or some of `cloud` in each condition.
fn weathers(arguments: &Arguments, mine: &Subject, worlds: &PairWorlds) -> Result<Weathers, CliError> {
    let scenario = match worlds {
        PairWorlds::One(scenario) => Some(&**scenario),
        PairWorlds::Family(_) => mine.scenario.as_ref(),
    };
    let own = scenario.and_then(|scenario| scenario.weather.clone());
    Ok(match (&arguments.weather, own) {
        (Some(typed), _) => Weathers::Fixed(weather::load(typed)?),
        (None, Some(own)) => Weathers::Fixed(own),
        (None, None) => Weathers::Drawn(weather::load(WEATHER)?),
    })
}

fn question(arguments: &Arguments, worlds: &PairWorlds) -> Question {
    let named = &arguments.search.predicate;
    let asked = if named.is_empty() { Predicate::ALL.to_vec() } else { named.clone() };
    // A world of one's own may be made to break a rule; the simplest of a family is not.
    let calm = match worlds {
        PairWorlds::Family(_) => asked.clone(),
        PairWorlds::One(_) => named.clone(),
    };
    Question {
        asked,
        calm,
        pairs: arguments.runs,
        lasting: arguments.runs.is_none().then(|| arguments.lasting.unwrap_or(LASTING)),
        jobs: arguments.search.jobs.count(),
        patience: PATIENCE,
        first: arguments.search.seed,
        keeps_going: arguments.keep_going,
        folder: None,
    }
}

fn worlds_words(worlds: &PairWorlds, weathers: &Weathers, conditions: usize) -> String {
    match (worlds, weathers) {
        (PairWorlds::Family(_), Weathers::Drawn(_)) => {
            format!("{conditions} worlds of the family, each under a weather of its own")
        }
        (PairWorlds::Family(_), Weathers::Fixed(_)) => format!("{conditions} worlds of the family"),
        (PairWorlds::One(scenario), Weathers::Drawn(_)) => {
            format!("`{}` under {conditions} weathers", scenario.name)
        }
        (PairWorlds::One(scenario), Weathers::Fixed(_)) => format!("`{}`", scenario.name),
    }
}

/// Runs each example with both locks, and writes it.
fn shown(
    examples: &[BesideExample],
    real: &SimEngine,
    place: &Destination,
    title: &str,
    warnings: &mut Warnings,
) -> Result<Vec<ShownExample>, CliError> {
    let mut all = Vec::new();
    for example in examples {
        let (mine, theirs) = (real.prepare(&example.shrunk.scenario)?, real.prepare(&example.theirs)?);
        let mut shown = ShownExample::from_runs(example.clone(), mine, theirs, PATIENCE);
        let (hints, written) =
            place.write_beside(&shown, |replay| shown.picture_with(replay, title, &Style::UNICODE));
        warnings.note(written);
        shown.hints = hints;
        all.push(shown);
    }
    Ok(all)
}
