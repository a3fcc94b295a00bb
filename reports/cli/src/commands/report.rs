//! `doublehold report`: one page from the records of a sweep, or of several.
//!
//! Reads records and writes files; runs nothing.

use std::path::Path;

use clap::Args;
use doublehold_pages::page::{Material, pages};
use doublehold_sweeps::records::{examples_in, file_name, files_in};
use doublehold_sweeps::results::Results;
use doublehold_sweeps::sweep::Shard;
use doublehold_text::shell;
use doublehold_text::{clean, mark_controls};

use crate::commands::merge::folder_of;
use crate::error::CliError;
use crate::exit::Exit;
use crate::folder::Folder;
use crate::output;
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
}

pub(crate) fn execute(arguments: &Arguments) -> Result<Exit, CliError> {
    if arguments.png {
        require("`--png`")?;
    }
    let materials = arguments.folders.iter().map(|folder| material(folder)).collect::<Result<Vec<_>, _>>()?;
    let beside = folder_of(&arguments.folders[0]);
    let folder = Folder::open("the report", arguments.out.as_ref().unwrap_or(&beside))?;
    let pages = pages(&materials).map_err(|error| CliError::Format(error.to_string()))?;
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
        results.refute_quiet(design);
    }
    Ok(Material { place: clean(place), results, examples })
}

fn unmerged_error(place: &str) -> CliError {
    CliError::Usage {
        problem: format!("`{}` has only shards of a sweep", clean(place)),
        hint: format!("merge them first: {}", shell::line(["doublehold", "merge", place])),
    }
}
