//! `doublehold judge`: the verdicts on a history, whoever recorded it: one of our runs, or a system in production.

mod ci;

use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

use clap::Args;
use doublehold_history::{History, Overall, Predicate, judge};
use doublehold_render::picture::view::View;
use doublehold_render::{json, text};
use doublehold_sweeps::records::opening;
use doublehold_text::shorten;

use super::kind_hints::{self, InputKind};
use super::shared::predicate;
use super::timeline::TimelineFile;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{self, OutputFile, Written};
use crate::output_options::{Format, OutputOptions};

/// As typed.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// A history as `run --history` writes it, or `-` for standard input
    #[arg(value_name = "HISTORY")]
    history: String,
    /// What the exit status is about [default: all that the history can show]
    #[arg(long, value_name = "P1,P2,…", value_delimiter = ',', value_parser = predicate)]
    predicate: Vec<Predicate>,
    /// Draw the history to scale to FILE: .svg, .png, or .html to zoom in
    #[arg(long, value_name = "FILE")]
    timeline: Option<String>,
    /// Write the result for CI as JUnit XML
    #[arg(long, value_name = "FILE")]
    junit: Option<String>,
    /// Write the result for CI as Markdown
    #[arg(long, value_name = "FILE")]
    markdown: Option<String>,
    #[command(flatten)]
    show: OutputOptions,
}

pub(crate) fn execute(arguments: &Arguments) -> Result<Exit, CliError> {
    let files = OpenFiles::open(arguments)?;
    let name = &arguments.history;
    let history = read_history(name)
        .map_err(|error| kind_hints::other_kind(name, InputKind::History).unwrap_or(error))?;
    let (verdicts, asked) = (judge(&history), &arguments.predicate);
    let judged = ci::Judged { history: &history, verdicts: &verdicts, asked };
    files.fill(&judged)?;
    output::print(&match arguments.show.format {
        Format::Text => text::history(&history, &verdicts, asked, &arguments.show.style()),
        Format::Json => json::history(&history, &verdicts, asked)?,
    })?;
    Ok(match verdicts.overall(&history, asked) {
        Overall::Holds => Exit::AsExpected,
        Overall::Violated => Exit::Contradicted,
        Overall::Inconclusive => Exit::Inconclusive,
    })
}

/// The files that were asked for beside what is printed.
struct OpenFiles {
    timeline: Option<TimelineFile>,
    junit: Option<OutputFile>,
    markdown: Option<OutputFile>,
}

impl OpenFiles {
    /// Opens them before anything is read. None is to be written over the history, or over another.
    fn open(arguments: &Arguments) -> Result<OpenFiles, CliError> {
        let open = |what, path: &Option<String>| {
            path.as_ref().map(|path| OutputFile::create(what, path)).transpose()
        };
        let files = OpenFiles {
            timeline: arguments.timeline.as_deref().map(TimelineFile::open).transpose()?,
            junit: open("the JUnit file", &arguments.junit)?,
            markdown: open("the Markdown file", &arguments.markdown)?,
        };
        let all: Vec<&OutputFile> =
            files.timeline.iter().map(|it| &it.file).chain(&files.junit).chain(&files.markdown).collect();
        let is_twice = |place: usize| all[..place].iter().any(|other| other.is_same_file(all[place]));
        let over_history = all.iter().any(|file| file.is_file_at(&arguments.history));
        if over_history || (0..all.len()).any(is_twice) {
            return Err(CliError::Usage {
                problem: "two results, or a result and the history, have the same file".to_owned(),
                hint: "name a file of its own for each".to_owned(),
            });
        }
        Ok(files)
    }

    /// Writes all of them, and puts them in their places when none has failed.
    fn fill(self, judged: &ci::Judged<'_>) -> Result<(), CliError> {
        let mut written = Vec::new();
        if let Some(timeline) = self.timeline {
            written.push(timeline.write_view(&View::from_history(judged.history, judged.verdicts))?);
        }
        if let Some(file) = self.junit {
            let xml = judged.junit().map_err(|error| CliError::Format(error.to_string()))?;
            written.push(file.write(|output| output.write_all(xml.as_bytes()))?);
        }
        if let Some(file) = self.markdown {
            written.push(file.write(|output| output.write_all(judged.markdown().as_bytes()))?);
        }
        written.into_iter().try_for_each(Written::keep)
    }
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
