//! `doublehold judge`: the verdicts on a history, whoever recorded it: one of our runs, or a system in production.

mod ci;

use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

use clap::Args;
use doublehold_history::{History, Overall, Predicate};
use doublehold_render::picture::view::View;
use doublehold_render::{json, text};
use doublehold_sweeps::records::opening;
use doublehold_text::shorten;

use ci::Judged;

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
    #[command(flatten)]
    results: Results,
    #[command(flatten)]
    show: OutputOptions,
}

/// Files for what a judge has found, beside what is printed.
#[derive(Debug, Args)]
pub(super) struct Results {
    /// Draw the history to scale to FILE: .svg, .png, or .html to zoom in
    #[arg(long, value_name = "FILE")]
    timeline: Option<String>,
    /// Write the result for CI as JUnit XML
    #[arg(long, value_name = "FILE")]
    junit: Option<String>,
    /// Write the result for CI as Markdown
    #[arg(long, value_name = "FILE")]
    markdown: Option<String>,
}

impl Results {
    /// The option of a file, if any is asked for.
    pub(super) fn first_option(&self) -> Option<&'static str> {
        let options =
            [("--timeline", &self.timeline), ("--junit", &self.junit), ("--markdown", &self.markdown)];
        options.into_iter().find_map(|(option, file)| file.as_ref().map(|_| option))
    }
}

pub(crate) fn execute(arguments: &Arguments) -> Result<Exit, CliError> {
    let name = &arguments.history;
    let files = OpenFiles::open(&arguments.results, &[name])?;
    let history = read_history(name)
        .map_err(|error| kind_hints::other_kind(name, InputKind::History).unwrap_or(error))?;
    judge_and_show(&[history], &arguments.predicate, files, &arguments.show)
}

/// Judges histories: fills the files, prints each with its verdicts. The exit status is that of the worst.
pub(super) fn judge_and_show(
    histories: &[History],
    asked: &[Predicate],
    files: OpenFiles,
    show: &OutputOptions,
) -> Result<Exit, CliError> {
    let judged: Vec<Judged<'_>> = histories.iter().map(|history| Judged::new(history, asked)).collect();
    files.fill(&judged)?;
    for Judged { history, verdicts, .. } in &judged {
        output::print(&match show.format {
            Format::Text => text::history(history, verdicts, asked, &show.style()),
            Format::Json => json::history(history, verdicts, asked)?,
        })?;
    }
    let overall: Vec<Overall> = judged.iter().map(Judged::overall).collect();
    Ok(if overall.contains(&Overall::Violated) {
        Exit::Contradicted
    } else if overall.contains(&Overall::Inconclusive) {
        Exit::Inconclusive
    } else {
        Exit::AsExpected
    })
}

/// The files that were asked for beside what is printed.
pub(super) struct OpenFiles {
    timeline: Option<TimelineFile>,
    junit: Option<OutputFile>,
    markdown: Option<OutputFile>,
}

impl OpenFiles {
    /// Opens them before anything is read. None is to be written over one of `others`, or over another.
    pub(super) fn open(results: &Results, others: &[&str]) -> Result<OpenFiles, CliError> {
        let open = |what, path: &Option<String>| {
            path.as_ref().map(|path| OutputFile::create(what, path)).transpose()
        };
        let files = OpenFiles {
            timeline: results.timeline.as_deref().map(TimelineFile::open).transpose()?,
            junit: open("the JUnit file", &results.junit)?,
            markdown: open("the Markdown file", &results.markdown)?,
        };
        let all: Vec<&OutputFile> =
            files.timeline.iter().map(|it| &it.file).chain(&files.junit).chain(&files.markdown).collect();
        let is_twice = |place: usize| all[..place].iter().any(|other| other.is_same_file(all[place]));
        let over_other = all.iter().any(|file| others.iter().any(|other| file.is_file_at(other)));
        if over_other || (0..all.len()).any(is_twice) {
            return Err(CliError::Usage {
                problem: "two results, or a result and the history, have the same file".to_owned(),
                hint: "name a file of its own for each".to_owned(),
            });
        }
        Ok(files)
    }

    /// Writes all of them, and puts them in their places when none has failed. Of several histories the first that
    /// breaks a rule is drawn, or else the last.
    fn fill(self, judged: &[Judged<'_>]) -> Result<(), CliError> {
        let mut written = Vec::new();
        let drawn = judged.iter().find(|it| it.overall() == Overall::Violated).or(judged.last());
        if let Some((timeline, Judged { history, verdicts, .. })) = self.timeline.zip(drawn) {
            written.push(timeline.write_view(&View::from_history(history, verdicts))?);
        }
        if let Some(file) = self.junit {
            let xml = ci::junit(judged).map_err(|error| CliError::Format(error.to_string()))?;
            written.push(file.write(|output| output.write_all(xml.as_bytes()))?);
        }
        if let Some(file) = self.markdown {
            let text: Vec<String> = judged.iter().map(Judged::markdown).collect();
            written.push(file.write(|output| output.write_all(text.join("\n").as_bytes()))?);
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
