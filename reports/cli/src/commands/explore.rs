//! `doublehold explore`: every placement of a few faults at the steps of a run, each of them run.
//!
//! What is printed is the same for any number of threads and any interruption. Speed goes to standard error.

mod checkpoint;
mod render;
mod world;

use std::cell::RefCell;
use std::time::{Duration, Instant};

use clap::Args;
use doublehold_render::json;
use doublehold_scenarios::Scenario;
use doublehold_search::explore::{CLIENTS, Exploration, Explored, Kinds, small_world};
use doublehold_search::shrink::Target;
use doublehold_text::group_digits;
use doublehold_text::shell;

use self::checkpoint::{Checkpoint, Scenarios};
use self::render::{ExploreOutput, Source};
use super::check::apply_changes;
use super::shared::Search;
use crate::engine::EngineChoice;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output;
use crate::output_options::{Format, OutputOptions};
use crate::progress::{bar, speed};
use crate::stopping::{self, Stopping};
use crate::warnings::Warnings;

/// How many placements are tried without being asked twice: some minutes.
const WITHOUT_YES: u128 = 1_000_000;
/// The longest exploration that is begun at all: a longer one is a slip, and `--yes` would not make it end.
const ENDLESS: Duration = Duration::from_secs(366 * 24 * 3600);
/// How many runs tell how long all of them will take.
const TO_MEASURE: u32 = 20;
/// How long is searched at first, and at most, until what was found is kept.
const FIRST_SITTING: Duration = Duration::from_millis(250);
const LAST_SITTING: Duration = Duration::from_secs(60);

/// As typed.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// A lock (see `locks`), which is tried in a small world, or a scenario or its file, whose own faults are left out
    #[arg(value_name = "LOCK|NAME|FILE")]
    subject: String,
    /// At most how many faults are placed together
    #[arg(long, value_name = "K", default_value_t = 1)]
    faults: usize,
    /// The kinds of faults to place [default: all that have something to strike]
    #[arg(long, value_name = "KIND,…", value_delimiter = ',')]
    kinds: Vec<String>,
    #[command(flatten)]
    engine: EngineChoice,
    #[command(flatten)]
    search: Search,
    /// How many clients a lock's small world has [default: 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100))]
    clients: Option<u64>,
    /// How many turns each client of a lock's small world takes [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: Option<u32>,
    /// Keep what was tried and found in FILE, each minute and at the end, and go on from there if it is there
    #[arg(long, value_name = "FILE")]
    resume: Option<String>,
    /// Write a scenario for each minimal kind of placement into DIR
    #[arg(long, value_name = "DIR")]
    out: Option<String>,
    /// Begin also if it takes long
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    show: OutputOptions,
}

pub(crate) fn execute(arguments: &Arguments) -> Result<Exit, CliError> {
    let scenario = scenario(arguments)?;
    let (engine, kinds) = (arguments.engine.many(), arguments.kinds(&scenario));
    let exploration =
        Exploration::with_engine(&engine, &scenario, &kinds, arguments.faults, arguments.search.seed)?;
    let kept = Checkpoint::open(arguments.resume.as_deref())?;
    let begun = kept.resume_or_begin(&exploration)?;
    refuse_endless(&exploration, arguments)?;
    let folder = arguments.out.as_deref().map(Scenarios::open).transpose()?;
    let stopping = stopping::listen();
    let found = search(arguments, &exploration, &kept, begun, &stopping);
    let warnings = RefCell::new(Warnings::default());
    let kept_in = warnings.borrow_mut().note(kept.keep(&exploration, &found)).flatten();
    let asked = (arguments.engine, &arguments.asked_targets()[..], arguments.source(&scenario));
    let shown = ExploreOutput::gather(&exploration, &found, asked, (folder.as_ref(), &warnings))?;
    let mut warnings = warnings.into_inner();
    warnings.note(output::print(&match arguments.show.format {
        Format::Text => shown.text(&arguments.show.style()),
        Format::Json => json::pretty(&shown)?,
    }));
    folder.iter().for_each(|folder| folder.tell_of_others(&shown.files()));
    if let (Some(status), Some(file)) = (stopping.signal_status(), kept_in) {
        warnings.print();
        output::inform(&format!("stopped; to go on: {}", arguments.again(&file)));
        std::process::exit(i32::from(status));
    }
    warnings.into_result()?;
    Ok(shown.exit())
}

/// A lock's small world, or the scenario under a name.
fn scenario(arguments: &Arguments) -> Result<Scenario, CliError> {
    let sets = arguments.search.changes.pairs()?;
    let locks = doublehold_lockimpl::descriptors();
    let Some(lock) = locks.iter().find(|lock| lock.name == arguments.subject) else {
        return match arguments.clients.is_some() || arguments.rounds.is_some() {
            false => super::scenario(&arguments.subject, &sets, arguments.engine),
            true => Err(CliError::Usage {
                problem: "a scenario has its own clients and rounds".to_owned(),
                hint: "leave out `--clients` and `--rounds`, or name a lock (see `locks`)".to_owned(),
            }),
        };
    };
    let clients = arguments.clients.map_or(CLIENTS, |clients| clients as usize);
    let small = small_world(lock, clients, arguments.rounds.unwrap_or(1));
    apply_changes(&small.scenario(lock.name, locks.clone())?, sets)
}

/// Refuses what would take long, unless somebody wants it, and what nobody lives to see.
fn refuse_endless(exploration: &Exploration, arguments: &Arguments) -> Result<(), CliError> {
    let placements = exploration.estimate();
    if placements <= WITHOUT_YES {
        return Ok(());
    }
    let began = Instant::now();
    (0..TO_MEASURE).for_each(|_| drop(exploration.begin()));
    let a_run = began.elapsed().as_secs_f64() / f64::from(TO_MEASURE);
    let seconds = a_run * placements as f64 / arguments.search.jobs.count().get() as f64;
    let is_endless = seconds > ENDLESS.as_secs_f64();
    if arguments.yes && !is_endless {
        return Ok(());
    }
    let fewer = "name fewer `--kinds` or `--faults`, or make the world smaller";
    let faults = exploration.faults();
    Err(CliError::Usage {
        problem: format!(
            "about {} placements of at most {faults} faults would be tried, which takes {} or longer",
            group_digits(u64::try_from(placements).unwrap_or(u64::MAX)),
            long(seconds),
        ),
        hint: match is_endless {
            true => format!("{fewer}; `check` draws as many faults at random, and tells what it covered"),
            false => format!("{fewer}, or say `--yes`"),
        },
    })
}

/// A long time in the largest unit that has a whole one.
fn long(seconds: f64) -> String {
    let units = [("years", 31_557_600.0), ("days", 86_400.0), ("hours", 3_600.0), ("minutes", 60.0)];
    let (unit, scale) = units.into_iter().find(|(_, scale)| seconds >= *scale).unwrap_or(("seconds", 1.0));
    format!("about {} {unit}", group_digits((seconds / scale).ceil() as u64))
}

/// Tries everything, or as much as there is until it is stopped.
fn search(
    arguments: &Arguments,
    exploration: &Exploration,
    kept: &Checkpoint,
    begun: Explored,
    stopping: &Stopping,
) -> Explored {
    let (began, before) = (Instant::now(), begun.placements());
    let bar = bar(u64::try_from(exploration.estimate()).unwrap_or(u64::MAX), "{msg}");
    let mut tried = before;
    let rate = |tried: u64| (tried - before) as f64 / began.elapsed().as_secs_f64().max(0.001);
    let mut found = begun;
    loop {
        let sitting = Sitting::new(began.elapsed());
        let rests = || stopping.signal_status().is_some() || kept.is_named() && sitting.is_over();
        found = exploration.run(found, arguments.search.jobs.count(), rests, |_, _| {
            tried += 1;
            if tried.is_multiple_of(1_000) {
                bar.set_position(tried);
                bar.set_message(format!("{} placements, {:.0}/s", group_digits(tried), rate(tried)));
            }
        });
        if found.complete || stopping.signal_status().is_some() {
            break;
        }
        // Where that fails it is tried again at the end, which says so: the search itself goes on.
        let _tried_again = kept.keep(exploration, &found);
    }
    bar.finish_and_clear();
    let made = found.placements() - before;
    output::inform(&speed(made, "placement", began.elapsed(), arguments.search.jobs.count()));
    found
}

/// How long is searched until what was found is kept, so that a search that is killed loses no more than that. Each
/// lasts as long as all before it, since what was tried is listed again after each.
struct Sitting {
    began: Instant,
    lasts: Duration,
}

impl Sitting {
    fn new(before: Duration) -> Sitting {
        Sitting { began: Instant::now(), lasts: before.clamp(FIRST_SITTING, LAST_SITTING) }
    }

    fn is_over(&self) -> bool {
        self.began.elapsed() >= self.lasts
    }
}

impl Arguments {
    fn kinds(&self, scenario: &Scenario) -> Vec<String> {
        match &self.kinds[..] {
            [] => Kinds::applicable_words(scenario).into_iter().map(str::to_owned).collect(),
            // Nothing between two commas is no kind; where that is all, it is refused.
            typed => typed.iter().map(|it| it.trim().to_owned()).filter(|it| !it.is_empty()).collect(),
        }
    }

    /// What is looked for. A panic always is.
    fn asked_targets(&self) -> Vec<Target> {
        let is_asked = |target: &Target| match target {
            Target::Violates(predicate) => {
                self.search.predicate.is_empty() || self.search.predicate.contains(predicate)
            }
            Target::Panics => true,
        };
        Target::ALL.into_iter().filter(is_asked).collect()
    }

    /// The name to `run` the scenario by, with changes; `None` for a lock's world, which only files have.
    fn source(&self, scenario: &Scenario) -> Option<Source> {
        let is_lock = doublehold_lockimpl::descriptors().iter().any(|lock| lock.name == self.subject);
        (!is_lock).then(|| Source {
            name: self.subject.clone(),
            sets: self.search.changes.options().map(str::to_owned).collect(),
            counts_after_faults: scenario.limits.after_faults,
        })
    }

    /// The command that goes on with what a file has.
    fn again(&self, file: &str) -> String {
        let [faults, seed] = [self.faults.to_string(), self.search.seed.to_string()];
        let kinds = self.kinds.join(",");
        let numbers = [("--clients", self.clients), ("--rounds", self.rounds.map(u64::from))];
        let numbers = numbers.map(|(flag, number)| (flag, number.map(|number| number.to_string())));
        let search = self.search.question();
        let mut line = vec!["doublehold", "explore", &self.subject, "--faults", &faults, "--seed", &seed];
        line.extend(self.engine.options());
        line.extend((!kinds.is_empty()).then_some(["--kinds", &kinds]).into_iter().flatten());
        line.extend(search.iter().map(String::as_str));
        line.extend(
            numbers.iter().flat_map(|(flag, number)| number.iter().flat_map(|it| [*flag, it.as_str()])),
        );
        line.extend(self.out.iter().flat_map(|out| ["--out", out]));
        line.extend(self.yes.then_some("--yes"));
        line.extend(["--resume", file]);
        shell::line(line)
    }
}
