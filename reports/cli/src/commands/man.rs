//! `doublehold man`: the manual pages, from the same declarations as the help.

use std::path::Path;

use clap::Args;

use crate::error::CliError;
use crate::exit::Exit;
use crate::output;

/// As typed.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The folder for the pages, which must exist: one for the program, and one for each command
    #[arg(value_name = "DIR")]
    folder: String,
}

pub(crate) fn execute(arguments: &Arguments, program: clap::Command) -> Result<Exit, CliError> {
    clap_mangen::generate_to(program, Path::new(&arguments.folder)).map_err(|source| CliError::Output {
        what: "the manual pages",
        path: arguments.folder.clone(),
        source,
        hint: "name a folder that exists and that you may write to",
    })?;
    output::inform(&format!("manual pages: `man -l {}/doublehold.1`", arguments.folder));
    Ok(Exit::AsExpected)
}
