//! `doublehold sweep`: every cell of a study, run as often as the study says, into a folder of records.
//!
//! What is in the folder is gone on with. So a sweep that was interrupted, or killed, is begun again by the same
//! command, and no run is lost or made twice but those of the batches that were under way.

mod examples;
mod shard;

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use doublehold_scenarios::{Engine, Prepared, ScenarioError, Seed};
use doublehold_sweeps::records::{Begun, Journal, file_name, is_precise};
use doublehold_sweeps::study::{CellId, Study};
use doublehold_sweeps::sweep::{Order, Shard, StudyHeader, SweepEffort, SweepError, SweepEvent, sweep};
use doublehold_text::clean;
use doublehold_text::shell;
use doublehold_text::{group_digits, several};

use super::kind_hints::{InputKind, other_kind};
use super::shared::{Jobs, parse_shard};
use crate::engine::EngineChoice;
use crate::error::CliError;
use crate::exit::Exit;
use crate::folder::Folder;
use crate::output;
use crate::progress::{bar, speed};
use crate::stopping::{self, Stopping};

/// How long no run may end until it is said that the program does not come back.
const PATIENCE: Duration = Duration::from_secs(60);
/// What takes longer is begun only by those who have said so.
const LONG: Duration = Duration::from_secs(3600);
/// How long runs are tried to tell how long all will take.
const TRIAL: Duration = Duration::from_millis(400);
/// Beside the bar: how far the sweep is, how fast, and how long it will take.
pub(crate) const WORDS: &str = "{human_pos} of {human_len} runs, {per_sec}, {eta} left";

/// As typed.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// A study that comes with the program (see `studies`), or a study's file
    #[arg(value_name = "NAME|FILE")]
    study: String,
    /// Where records go; what is there is gone on with [default: the study's name]
    #[arg(long, value_name = "DIR")]
    out: Option<String>,
    /// Run only this part of the study, such as 3/8 [default: as a job array of Slurm, Kubernetes, AWS Batch or Grid
    /// Engine says, or all]
    #[arg(long, value_name = "I/N", value_parser = parse_shard)]
    shard: Option<Shard>,
    #[command(flatten)]
    engine: EngineChoice,
    #[command(flatten)]
    jobs: Jobs,
    /// Begin also what takes longer than an hour
    #[arg(long)]
    yes: bool,
}

pub(crate) fn execute(arguments: &Arguments) -> Result<Exit, CliError> {
    let meant = |error: ScenarioError| other_kind(&arguments.study, InputKind::Study).unwrap_or(error.into());
    let study = Arc::new(Study::load(&arguments.study).map_err(meant)?);
    let shard = shard::shard(arguments.shard)?;
    let precise = study.precision.map(|precision| precision.width.as_f64());
    let mut order = Order::from_study(&study, shard, is_precise(precise));
    arguments.refuse_long(&study, (&order, shard))?;
    let header = StudyHeader::new(&arguments.engine.many(), &study, shard)?;
    let stopping = stopping::listen();
    let out = arguments.out.clone().unwrap_or_else(|| study.name.clone());
    let folder = Folder::open("records", &out)?;
    let path = folder.file(&file_name(shard));
    let all = order.runs();
    let (mut journal, begun) = Journal::open(Path::new(&path), &header, &mut order)?;
    tell_of(&begun, &path);
    let made = run_sweep(arguments, (&study, order), (&mut journal, begun.runs, all), &stopping)?;
    if let Some(status) = stopping.signal_status() {
        let again = arguments.again(&out, shard);
        output::inform(&format!("stopped after {}; to go on: {again}", several(made, "run")));
        std::process::exit(i32::from(status));
    }
    if shard == Shard::WHOLE {
        tell_of_examples(arguments, &folder, &study, &stopping)?;
    }
    output::print(&format!("{}\n", clean(&path)))?;
    Ok(Exit::AsExpected)
}

/// Makes the examples, and says how many.
fn tell_of_examples(
    arguments: &Arguments,
    folder: &Folder,
    study: &Study,
    stopping: &Stopping,
) -> Result<(), CliError> {
    let began = Instant::now();
    let (count, failed) =
        examples::write(folder, (study, arguments.engine), arguments.jobs.count(), stopping)?;
    for error in failed {
        output::inform(&format!("one example is left out: {error}"));
    }
    output::inform(&format!(
        "{} in {:.1} s",
        several(count as u64, "example"),
        began.elapsed().as_secs_f64()
    ));
    Ok(())
}

/// What was there before.
fn tell_of(begun: &Begun, path: &str) {
    if begun.is_torn {
        output::inform(&format!("`{}` ended in the middle of a line, which was dropped", clean(path)));
    }
    if begun.runs > 0 {
        output::inform(&format!("going on after {} in `{}`", several(begun.runs, "run"), clean(path)));
    }
}

/// Runs what is left, and returns how many runs there are in all.
fn run_sweep(
    arguments: &Arguments,
    (study, order): (&Arc<Study>, Order),
    (journal, before, all): (&mut Journal, u64, u64),
    stopping: &Stopping,
) -> Result<u64, CliError> {
    let effort = SweepEffort { jobs: arguments.jobs.count(), patience: PATIENCE };
    let bar = bar(all, WORDS).with_position(before);
    // Runs of an earlier sitting tell nothing of how fast this one is.
    bar.reset_eta();
    let began = Instant::now();
    let mut failed = None;
    let mut made = before;
    sweep(&Arc::new(arguments.engine.many()), study, order, &effort, |told| {
        match told {
            SweepEvent::Tick(begun) => bar.set_position(before + begun),
            SweepEvent::Batch(batch) => {
                made += batch.runs;
                failed = journal.add(batch).err();
            }
        }
        let is_late = study.budget.is_some_and(|budget| began.elapsed() >= budget);
        let stop = failed.is_some() || is_late || stopping.signal_status().is_some();
        if stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    bar.finish_and_clear();
    failed.map_or(Ok(()), Err)?;
    if made > before {
        output::inform(&speed(made - before, "run", began.elapsed(), effort.jobs));
    }
    Ok(made)
}

impl Arguments {
    /// Says how many runs there are and how long they will take; refuses what takes long, unless that is meant.
    fn refuse_long(&self, study: &Study, (order, shard): (&Order, Shard)) -> Result<(), CliError> {
        let (cells, runs) = (study.grid().cells(), order.runs());
        let rate = rate(study, self.engine)? * self.jobs.count().get() as f64;
        let seconds = runs as f64 / rate;
        let size = format!(
            "{} of at most {} each, {} {}: about {} at {} a second{}",
            several(cells, "cell"),
            several(study.runs_of_a_cell(), "run"),
            group_digits(runs),
            if shard == Shard::WHOLE { "in all" } else { "in this part" },
            words(seconds),
            group_digits(rate as u64),
            // Examples are made of the whole study, not of its parts.
            if shard == Shard::WHOLE { examples_estimate(study, rate) } else { String::new() },
        );
        if seconds > LONG.as_secs_f64() && study.budget.is_none() && !self.yes {
            return Err(CliError::Usage {
                problem: format!("this study is long: {size}"),
                hint: "take fewer values or `runs`, share it with `--shard`, or say `--yes`".to_owned(),
            });
        }
        output::inform(&size);
        Ok(())
    }

    /// The command that goes on, wherever it is typed.
    fn again(&self, out: &str, shard: Shard) -> String {
        let shard = (shard != Shard::WHOLE).then(|| format!("{}/{}", shard.number(), shard.total()));
        let jobs = self.jobs.number().map(|jobs| jobs.to_string());
        let mut line = vec!["doublehold", "sweep", &self.study, "--out", out];
        line.extend(shard.iter().flat_map(|shard| ["--shard", shard]));
        line.extend(self.engine.options());
        line.extend(jobs.iter().flat_map(|jobs| ["--jobs", jobs]));
        line.extend(self.yes.then_some("--yes"));
        shell::line(line)
    }
}

/// `, and about 8 seconds for up to 24 examples`.
fn examples_estimate(study: &Study, rate: f64) -> String {
    let most = examples::max_examples(study.designs.len());
    let seconds = (most * examples::RUNS_OF_AN_EXAMPLE) as f64 / rate;
    format!(", and about {} for up to {}", words(seconds), several(most, "example"))
}

/// How many runs one thread makes in a second, over cells from all of the grid: each cell has as many runs, so that
/// slow ones count for as much as they take.
fn rate(study: &Study, engine: EngineChoice) -> Result<f64, SweepError> {
    const CELLS: u64 = 12;
    let cells = study.grid().cells();
    let tried = cells.min(CELLS);
    let mut seconds_a_run = 0.0;
    for number in 0..tried {
        let cell = CellId((u128::from(cells) * u128::from(number) / u128::from(tried)) as u64);
        let prepared = engine.many().prepare(&study.scenario(cell)?)?;
        let began = Instant::now();
        let mut runs = 0u64;
        while runs == 0 || (runs < 200 && began.elapsed() < TRIAL / tried as u32) {
            runs += 1;
            prepared.judge(Seed(study.seed.0 + runs));
        }
        seconds_a_run += began.elapsed().as_secs_f64() / runs as f64;
    }
    Ok(tried as f64 / seconds_a_run.max(1e-9))
}

/// A length of time in words, from seconds to years.
fn words(seconds: f64) -> String {
    let units = [("year", 31_557_600.0), ("day", 86_400.0), ("hour", 3_600.0), ("minute", 60.0)];
    match units.into_iter().find(|(_, unit)| seconds >= 2.0 * unit) {
        Some((unit, length)) => several((seconds / length).round() as u64, unit),
        None => several(seconds.ceil() as u64, "second"),
    }
}
