//! `doublehold studies`: the studies that come with the program; of one its file; and with `--new` the file of a study
//! for a service of the user's own.

use std::time::Duration;

use clap::Args;
use doublehold_render::layout::{hanging_paragraph, widest};
use doublehold_sweeps::study::{NewStudy, NewStudyError, RUNS_A_SECOND, Study, bundled_studies};
use doublehold_text::{group_digits, several};

use super::kind_hints::{InputKind, other_kind};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output;
use crate::output_options;

/// As typed.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// A study's name: its file is printed, to be copied and changed
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// Print the file of a new study for your service, with a comment on each line
    #[arg(long, conflicts_with = "name")]
    new: bool,
    #[command(flatten)]
    service: ServiceOptions,
}

/// The facts known of a service.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of --new")]
struct ServiceOptions {
    /// A lock to compare (see `locks`); may be given several times [default: single, replicated and redlock]
    #[arg(long = "lock", value_name = "NAME", requires = "new")]
    locks: Vec<String>,
    /// The number of nodes of each lock that takes so many [default: what fits it]
    #[arg(long, value_name = "N", requires = "new", value_parser = clap::value_parser!(u64).range(1..=100))]
    nodes: Option<u64>,
    /// The lease: how long a grant lasts [default: 30s]
    #[arg(long, value_name = "DURATION", requires = "new", value_parser = doublehold_scenarios::format::duration)]
    ttl: Option<Duration>,
    /// The mean time between two long pauses of one client [default: 24h]
    #[arg(long, value_name = "DURATION", requires = "new", value_parser = doublehold_scenarios::format::duration)]
    pauses: Option<Duration>,
    /// The mean time between two failovers, for locks on a master with replicas [default: 720h]
    #[arg(long, value_name = "DURATION", requires = "new", value_parser = doublehold_scenarios::format::duration)]
    failovers: Option<Duration>,
    /// The grants of the lock: "200 grants an hour" [default: that]
    #[arg(long, value_name = "GRANTS", requires = "new")]
    grants: Option<String>,
}

pub(crate) fn execute(arguments: &Arguments) -> Result<Exit, CliError> {
    match &arguments.name {
        Some(name) => output::print(
            &Study::load(name)
                .map_err(|error| other_kind(name, InputKind::Study).unwrap_or(error.into()))?
                .text,
        )?,
        None if arguments.new => print_new(&arguments.service)?,
        None => output::print(&list()?)?,
    }
    Ok(Exit::AsExpected)
}

fn list() -> Result<String, CliError> {
    let width = widest(bundled_studies().map(|study| study.name));
    let mut text = String::new();
    for found in bundled_studies() {
        let study = Study::load(found.name)?;
        let cells = several(study.grid().cells(), "cell");
        let about = format!("{} ({cells}; about {})", study.question, study.usual_time());
        text += &hanging_paragraph(found.name, width, &about, output_options::columns());
    }
    text +=
        &format!("\ntimes: two cores, {} runs a second, fewer with Sentinels\n", group_digits(RUNS_A_SECOND));
    text += "run one: doublehold sweep which-lock\nits file, to copy: doublehold studies which-lock\n";
    Ok(text + "a new one for your service: doublehold studies --new --lock redlock --ttl 30s\n")
}

/// Prints a new study, and on standard error what does not fit all of its locks.
fn print_new(typed: &ServiceOptions) -> Result<(), CliError> {
    let study = NewStudy {
        locks: typed.locks.clone(),
        nodes: typed.nodes,
        ttl: typed.ttl,
        pauses: typed.pauses,
        failovers: typed.failovers,
        grants: typed.grants.clone(),
    };
    let text = study.text().map_err(refusal)?;
    study.notes().iter().for_each(|note| output::inform(&format!("note: {note}")));
    output::print(&text)
}

/// An error of the library: of a name that is none of a lock, what it is of.
fn refusal(error: NewStudyError) -> CliError {
    let other = match &error {
        NewStudyError::UnknownLock { name, .. } => other_kind(name, InputKind::Lock),
        _ => None,
    };
    let words = error.to_string();
    let (problem, hint) = words.split_once("\nhint: ").unwrap_or((&words, ""));
    other.unwrap_or(CliError::Usage { problem: problem.to_owned(), hint: hint.to_owned() })
}
