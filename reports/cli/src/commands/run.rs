//! `doublehold run`: one scenario, one seed, and what it came to.
//!
//! Files are opened before the run, so that a bad path fails at once, and filled after it.

mod variants;

use clap::Args;
use doublehold_diagnosis::{Explained, explain};
use doublehold_render::json;
use doublehold_render::white_box::render_rules;
use doublehold_scenarios::catalog;
use doublehold_scenarios::detail::Detail;
use doublehold_scenarios::plan::Plan;
use doublehold_scenarios::{Detailed, Engine, Prepared, Scenario, Seed};
use doublehold_text::clean;
use doublehold_text::shell;
use serde::Serialize;

use super::shared::Changes;
use super::timeline::TimelineFile;
use crate::engine::EngineChoice;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{self, OutputFile, Written};
use crate::output_options::{Format, OutputOptions};

/// The help of `--set`: here a scenario's own faults may be changed as well.
const CHANGES: &str =
    "Change the scenario, such as `lock.elapsed_check=false` or `faults.0.for=3s`; may be repeated";

/// As typed.
#[derive(Debug, Args)]
#[command(mut_arg("set", |it| it.help(CHANGES)))]
pub(crate) struct Arguments {
    /// A scenario of the catalogue (see `list`), or a scenario's file
    #[arg(value_name = "NAME|FILE")]
    scenario: String,
    /// Which of the scenario's worlds to run [default: the scenario's own, or 1]
    #[arg(long, value_name = "N")]
    seed: Option<Seed>,
    #[command(flatten)]
    changes: Changes,
    #[command(flatten)]
    engine: EngineChoice,
    /// Run the scenario and each of its variants, a line for each; the exit status is the worst
    #[arg(long, conflicts_with_all = ["trace", "history", "plan", "timeline"])]
    all_variants: bool,
    /// Say below the result which white-box rules the lock breaks, and by what
    #[arg(long, conflicts_with = "all_variants")]
    white_box: bool,
    #[command(flatten)]
    show: OutputOptions,
    #[command(flatten)]
    files: Files,
}

/// Files to write beside the result.
#[derive(Debug, Args)]
struct Files {
    /// Write every event of the simulation to FILE, one JSON object a line
    #[arg(long, value_name = "FILE")]
    trace: Option<String>,
    /// Write what clients and resource did to FILE, one JSON object a line
    #[arg(long, value_name = "FILE")]
    history: Option<String>,
    /// Write the run to FILE for `replay`
    #[arg(long, value_name = "FILE")]
    plan: Option<String>,
    /// Draw the run to scale, with every message and clock, to FILE: .svg, .png, or .html to zoom in
    #[arg(long, value_name = "FILE")]
    timeline: Option<String>,
}

pub(crate) fn execute(arguments: &Arguments) -> Result<Exit, CliError> {
    if arguments.all_variants {
        return variants::execute(arguments);
    }
    let scenario = super::scenario(&arguments.scenario, &arguments.changes.pairs()?, arguments.engine)?;
    let files = OpenFiles::open(&arguments.files)?;
    files.spare(&arguments.scenario)?;
    let prepared = arguments.engine.one().prepare(&scenario)?;
    let seed = arguments.seed_of(&scenario);
    let (report, trace, detail) = match (&files.trace, &files.timeline) {
        (_, Some(_)) => prepared.run_with_detail(seed),
        (Some(_), None) => {
            let (report, trace) = prepared.run_traced(seed);
            (report, trace, Detail::default())
        }
        (None, None) => (prepared.run(seed), Vec::new(), Detail::default()),
    };
    let run = explain(&prepared, report);
    files.fill(&run, &trace, detail)?;
    // JSON has them in any case.
    let tells_rules = arguments.white_box && arguments.show.format == Format::Text;
    let rules = tells_rules.then(|| render_rules(&run.report, &arguments.show.style()));
    let exit = super::print_run(run, &arguments.replay_line(&arguments.scenario, seed), arguments.show)?;
    rules.map_or(Ok(()), |rules| output::print(&format!("\n{rules}")))?;
    Ok(exit)
}

impl Arguments {
    /// What was typed, or what the scenario says.
    fn seed_of(&self, scenario: &Scenario) -> Seed {
        self.seed.unwrap_or_else(|| scenario.own_seed())
    }

    /// The command that shows the same run again.
    fn replay_line(&self, scenario: &str, seed: Seed) -> String {
        let seed = seed.to_string();
        let mut line = vec!["doublehold", "run", scenario, "--seed", &seed];
        line.extend(self.changes.options());
        line.extend(self.engine.options());
        shell::line(line)
    }
}

struct OpenFiles {
    trace: Option<OutputFile>,
    history: Option<OutputFile>,
    plan: Option<OutputFile>,
    timeline: Option<TimelineFile>,
}

impl OpenFiles {
    fn open(files: &Files) -> Result<OpenFiles, CliError> {
        let open = |what, path: &Option<String>| {
            path.as_ref().map(|path| OutputFile::create(what, path)).transpose()
        };
        let files = OpenFiles {
            trace: open("the trace", &files.trace)?,
            history: open("the history", &files.history)?,
            plan: open("the plan", &files.plan)?,
            timeline: files.timeline.as_deref().map(TimelineFile::open).transpose()?,
        };
        files.refuse_one_for_two()?;
        Ok(files)
    }

    fn all(&self) -> Vec<&OutputFile> {
        let timeline = self.timeline.iter().map(|timeline| &timeline.file);
        [&self.trace, &self.history, &self.plan].into_iter().flatten().chain(timeline).collect()
    }

    fn refuse_one_for_two(&self) -> Result<(), CliError> {
        let all = self.all();
        let is_earlier = |index: &usize| all[..*index].iter().any(|other| other.is_same_file(all[*index]));
        match (1..all.len()).find(is_earlier) {
            None => Ok(()),
            Some(twice) => Err(CliError::Usage {
                problem: format!("two results cannot both be written to `{}`", clean(all[twice].path())),
                hint: "name a file for each".to_owned(),
            }),
        }
    }

    /// Refuses to write a result over the scenario's own file.
    fn spare(&self, scenario: &str) -> Result<(), CliError> {
        let Some(scenario) = catalog::file_of(scenario) else { return Ok(()) };
        match self.all().into_iter().find(|file| file.is_file_at(&scenario)) {
            None => Ok(()),
            Some(file) => Err(CliError::Usage {
                problem: format!("a result cannot be written over the scenario `{}`", clean(file.path())),
                hint: "name another file".to_owned(),
            }),
        }
    }

    /// Writes all results, and puts them in their places when none has failed.
    fn fill(self, run: &Explained, trace: &[impl Serialize], detail: Detail) -> Result<(), CliError> {
        let mut written = Vec::new();
        if let Some(file) = self.trace {
            written.push(file.write(|output| json::write_trace(&run.report, trace, output))?);
        }
        if let Some(file) = self.history {
            written.push(file.write(|output| run.report.history.write_jsonl(output))?);
        }
        if let Some(file) = self.plan {
            let text = Plan::from_report(&run.report)
                .to_toml()
                .map_err(|error| CliError::Format(error.to_string()))?;
            written.push(file.write(|output| output.write_all(text.as_bytes()))?);
        }
        if let Some(timeline) = self.timeline {
            written.push(timeline.write(run, detail)?);
        }
        written.into_iter().try_for_each(Written::keep)
    }
}
