//! `doublehold weather`: the weathers that come with the program; of one its file, with the reason for each number.

use clap::Args;
use doublehold_render::layout::{hanging_paragraph, widest};
use doublehold_scenarios::weather::{preset, presets};

use super::kind_hints::{InputKind, other_kind};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output;
use crate::output_options;

/// As typed.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// A weather's name: its file is printed, to be copied and changed
    #[arg(value_name = "NAME")]
    name: Option<String>,
}

pub(crate) fn execute(arguments: &Arguments) -> Result<Exit, CliError> {
    match &arguments.name {
        Some(name) => output::print(
            preset(name).map_err(|error| other_kind(name, InputKind::Weather).unwrap_or(error.into()))?.text,
        )?,
        None => output::print(&list()?)?,
    }
    Ok(Exit::AsExpected)
}

fn list() -> Result<String, CliError> {
    let presets = presets()?;
    let width = widest(presets.iter().map(|preset| preset.name));
    let mut text = String::new();
    for preset in &presets {
        text += &hanging_paragraph(preset.name, width, &preset.about, output_options::columns());
    }
    Ok(text + "\none of them with the reason for each number: doublehold weather cloud\n")
}
