//! `doublehold judge`: the verdicts on a history, whoever recorded it: one of our runs, or a system in production.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

use clap::Args;
use doublehold_history::{History, Overall, judge};
use doublehold_render::{json, text};
use doublehold_sweeps::records::opening;
use doublehold_text::shorten;

use super::kind_hints::{self, InputKind};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output;
use crate::output_options::{Format, OutputOptions};

/// As typed.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// A history as `run --history` writes it, or `-` for standard input
    #[arg(value_name = "HISTORY")]
    history: String,
    #[command(flatten)]
    show: OutputOptions,
}

pub(crate) fn execute(arguments: &Arguments) -> Result<Exit, CliError> {
    let name = &arguments.history;
    let history = read_history(name)
        .map_err(|error| kind_hints::other_kind(name, InputKind::History).unwrap_or(error))?;
    let verdicts = judge(&history);
    output::print(&match arguments.show.format {
        Format::Text => text::history(&history, &verdicts, &arguments.show.style()),
        Format::Json => json::history(&history, &verdicts)?,
    })?;
    Ok(match verdicts.overall(&history) {
        Overall::Holds => Exit::AsExpected,
        Overall::Violated => Exit::Contradicted,
        Overall::Inconclusive => Exit::Inconclusive,
    })
}

fn read_history(name: &str) -> Result<History, CliError> {
    let refused = |cause: String| CliError::History { file: shorten(name), cause };
    let history = if name == "-" {
        History::read_jsonl(io::stdin().lock())
    } else {
        // A shell's process substitution names a pipe, and there is a command that writes to it.
        let is_shells = ["/dev/fd/", "/dev/stdin", "/proc/self/fd/"].iter().any(|it| name.starts_with(it));
        let file = if is_shells { File::open(name) } else { opening::open_for_reading(Path::new(name)) };
        let file = file.map_err(|error| refused(error.to_string()))?;
        History::read_jsonl(BufReader::new(file))
    };
    history.map_err(|error| refused(error.to_string()))
}
