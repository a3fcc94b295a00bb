//! `doublehold merge`: the records of all shards of a study as those of one sweep.

use std::path::Path;

use clap::Args;
use doublehold_sweeps::records::{Merged, file_name, files_in, merge, shards};
use doublehold_sweeps::sweep::Shard;
use doublehold_text::clean;

use crate::error::CliError;
use crate::exit::Exit;
use crate::folder::Folder;
use crate::output;

/// As typed.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The shards' folders, or their files, in any order
    #[arg(value_name = "DIR|FILE", required = true)]
    shards: Vec<String>,
    /// Where the whole goes, as `runs.jsonl` [default: the first folder]
    #[arg(long, value_name = "DIR")]
    out: Option<String>,
    /// Take what there is where shards are missing or not finished; the result says so
    #[arg(long)]
    partial: bool,
}

pub(crate) fn execute(arguments: &Arguments) -> Result<Exit, CliError> {
    let mut files = Vec::new();
    for place in &arguments.shards {
        let mut found = files_in(Path::new(place))?;
        if found.len() > 1 {
            // The result of an earlier merge of the shards beside it.
            found.retain(|file| !file.ends_with(file_name(Shard::WHOLE)));
        }
        files.extend(found);
    }
    let out = arguments.out.clone().unwrap_or_else(|| folder_of(&arguments.shards[0]));
    let folder = Folder::open("records", &out)?;
    let path = folder.file("runs.jsonl");
    let mut merged = None;
    let written = folder.create("the records", "runs.jsonl")?.write(|output| {
        merged = Some(merge(&files, arguments.partial, output));
        Ok(())
    })?;
    let Some(Merged { header, torn }) = merged.transpose()? else { return Ok(Exit::AsExpected) };
    for file in torn {
        output::inform(&format!("`{file}` ended in the middle of a line, which was dropped"));
    }
    if let Some(partial) = header.partial {
        output::inform(&format!("these records are partial: {}", shards(&partial)));
    }
    written.keep()?;
    output::print(&format!("{}\n", clean(&path)))?;
    Ok(Exit::AsExpected)
}

/// The folder that a place is, or that it is in.
pub(super) fn folder_of(place: &str) -> String {
    let path = Path::new(place);
    let folder = if path.is_file() { path.parent().unwrap_or(Path::new(".")) } else { path };
    if folder.as_os_str().is_empty() { ".".to_owned() } else { folder.to_string_lossy().into_owned() }
}
