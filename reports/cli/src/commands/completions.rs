//! `doublehold completions`: a script that lets a shell complete commands, options and their values.

use clap::Args;
use clap_complete::Shell;

use crate::error::CliError;
use crate::exit::Exit;
use crate::output;

/// As typed.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The shell that is to read the script
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

pub(crate) fn execute(arguments: &Arguments, mut program: clap::Command) -> Result<Exit, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut program, "doublehold", &mut script);
    output::print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::AsExpected)
}
