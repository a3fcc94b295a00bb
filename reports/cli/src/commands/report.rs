//! `doublehold report`: one page from the records of a sweep, or of several.
//!
//! Reads records and writes files; runs nothing.

use std::path::Path;

use clap::Args;
use doublehold_pages::page::{Material, pages};
use doublehold_sweeps::records::{examples_in, file_name, files_in};
use doublehold_sweeps::results::{RateChange, Results};
use doublehold_sweeps::study::Usage;
use doublehold_sweeps::sweep::Shard;
use doublehold_text::shell;
use doublehold_text::{clean, mark_controls};

use crate::commands::merge::folder_of;
use crate::error::CliError;
use crate::exit::Exit;
use crate::folder::Folder;
use crate::output;
use crate::output_options;
use crate::png::{png, require};

/// As typed.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Folders that `sweep` wrote to; several make one page with a part for each
    #[arg(value_name = "DIR", required = true)]
    folders: Vec<String>,
    /// Where the page goes [default: beside the first folder's records]
    #[arg(long, value_name = "DIR")]
    out: Option<String>,
    /// Write each plot as PNG too
    #[arg(long)]
    png: bool,
    /// Put in a rate of faults, without a run: `weather.pause.every=6h`, `=5x` for five times as often, `=never`
    #[arg(long = "set", value_name = "FAULT=RATE")]
    changes: Vec<String>,
    /// The grants of the lock, for rates a month: "200 grants an hour" [default: as the study says]
    #[arg(long = "use", value_name = "GRANTS")]
    grants: Option<String>,
    /// In which share of grants somebody else waits: "one in ten" [default: as the study says, or always]
    #[arg(long, value_name = "SHARE")]
    busy: Option<String>,
}

pub(crate) fn execute(arguments: &Arguments) -> Result<Exit, CliError> {
    if arguments.png {
        require("`--png`")?;
    }
    let changes: Vec<RateChange> =
        arguments.changes.iter().map(|typed| typed.parse()).collect::<Result<_, _>>().map_err(refusal)?;
    let materials = arguments
        .folders
        .iter()
        .map(|folder| adapt(material(folder)?, &changes, arguments))
        .collect::<Result<Vec<_>, CliError>>()?;
    let beside = folder_of(&arguments.folders[0]);
    let folder = Folder::open("the report", arguments.out.as_ref().unwrap_or(&beside))?;
    let pages =
        pages(&materials, output_options::columns()).map_err(|error| CliError::Format(error.to_string()))?;
    let mut files = vec![
        ("report.html".to_owned(), pages.html.into_bytes()),
        ("report.md".to_owned(), pages.markdown.into_bytes()),
        ("cells.csv".to_owned(), pages.csv.into_bytes()),
        ("cells.json".to_owned(), pages.json.into_bytes()),
    ];
    if arguments.png {
        for (name, svg) in &pages.plots {
            let drawn = png(svg).map_err(|error| {
                CliError::Format(format!("the plot `{name}`: {}", clean(&error.to_string())))
            })?;
            files.push((format!("{name}.png"), drawn));
        }
    }
    // All are written before any takes its place.
    let write = |(name, content): &(String, Vec<u8>)| {
        let file = folder.create("the report", name)?.write(|output| output.write_all(content))?;
        Ok((folder.file(name), file))
    };
    let written = files.iter().map(write).collect::<Result<Vec<_>, CliError>>()?;
    let mut paths = String::new();
    for (path, file) in written {
        file.keep()?;
        paths += &format!("{}\n", clean(&path));
    }
    pages.notes.iter().for_each(|note| output::inform(&mark_controls(note)));
    output::print(&(paths + "\n" + &mark_controls(&pages.summary)))?;
    Ok(Exit::AsExpected)
}

/// The records with the rates and the use that the reader names.
fn adapt(material: Material, changes: &[RateChange], arguments: &Arguments) -> Result<Material, CliError> {
    let mut results = material.results;
    if !changes.is_empty() {
        results = results.with_rates(changes).map_err(refusal)?;
    }
    let usage = &mut results.header.usage;
    if let Some(grants) = &arguments.grants {
        usage.grants.clone_from(grants);
    }
    if let Some(busy) = &arguments.busy {
        usage.busy.clone_from(busy);
    }
    if arguments.grants.is_some() || arguments.busy.is_some() {
        Usage::parse(&usage.grants, &usage.busy).map_err(refusal)?;
    }
    Ok(Material { results, ..material })
}

/// An error of a library, whose way out stands on its last line.
fn refusal(error: impl std::fmt::Display) -> CliError {
    let words = error.to_string();
    let (problem, hint) = words.split_once("\nhint: ").unwrap_or((&words, ""));
    CliError::Usage { problem: problem.to_owned(), hint: hint.to_owned() }
}

/// The records of a folder, or of a file, and the examples beside them.
fn material(place: &str) -> Result<Material, CliError> {
    let path = Path::new(place);
    let whole = path.join(file_name(Shard::WHOLE));
    let file = match files_in(path)? {
        _ if whole.is_file() => whole,
        _ if path.is_file() => path.to_owned(),
        _ => return Err(unmerged_error(place)),
    };
    let mut results = Results::read_file(&file)?;
    if results.header.shard[1] != 1 {
        return Err(unmerged_error(place));
    }
    let examples = examples_in(Path::new(&folder_of(place)))?;
    // Made small, some turn out to need no fault.
    for example in examples.iter().filter(|example| example.size.to.get("faults") == Some(&0)) {
        let design = results.place(example.cell).0;
        results.refute_quiet(design, example.predicate);
    }
    Ok(Material { place: clean(place), results, examples })
}

fn unmerged_error(place: &str) -> CliError {
    CliError::Usage {
        problem: format!("`{}` has only shards of a sweep", clean(place)),
        hint: format!("merge them first: {}", shell::line(["doublehold", "merge", place])),
    }
}
