//! `doublehold report`: one page from the records of a sweep, or of several.
//!
//! Reads records and writes files; runs nothing.

use std::path::Path;

use clap::Args;
use doublehold_history::words::clean;

use crate::error::CliError;
use crate::exit::Exit;
use crate::folder::Folder;
use crate::output::{self, OutputFile};
use crate::page::{Material, pages};
use crate::results::Results;

/// As typed.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Folders that `sweep` wrote to; several make one page with a part for each
    #[arg(value_name = "DIR", required = true)]
    folders: Vec<String>,
    /// Where the page goes [default: beside the first folder's records]
    #[arg(long, value_name = "DIR")]
    out: Option<String>,
}

pub(crate) fn execute(arguments: &Arguments) -> Result<Exit, CliError> {
    let materials = arguments.folders.iter().map(|folder| material(folder)).collect::<Result<Vec<_>, _>>()?;
    let folder = Folder::open("the report", arguments.out.as_ref().unwrap_or(&arguments.folders[0]))?;
    let pages = pages(&materials);
    let files = [("report.html", pages.html), ("report.md", pages.markdown)];
    let mut text = String::new();
    for (name, content) in files {
        let path = folder.file(name);
        OutputFile::create("the report", &path)?
            .write(|output| output.write_all(content.as_bytes()))?
            .keep()?;
        text += &format!("{}\n", clean(&path));
    }
    pages.notes.iter().for_each(|note| output::inform(note));
    output::print(&(text + "\n" + &pages.summary))?;
    Ok(Exit::AsExpected)
}

fn material(folder: &str) -> Result<Material, CliError> {
    let results = Results::read(&Path::new(folder).join("runs.jsonl"))?;
    Ok(Material { place: clean(folder), results })
}
