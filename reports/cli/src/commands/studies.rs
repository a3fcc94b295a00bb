//! `doublehold studies`: the studies that come with the program; of one its file.

use clap::Args;
use doublehold_render::layout::{hanging_paragraph, widest};
use doublehold_sweeps::study::{RUNS_A_SECOND, Study, bundled_studies};
use doublehold_text::{group_digits, several};

use super::kind_hints::{InputKind, other_kind};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output;
use crate::output_options;

/// As typed.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// A study's name: its file is printed, to be copied and changed
    #[arg(value_name = "NAME")]
    name: Option<String>,
}

pub(crate) fn execute(arguments: &Arguments) -> Result<Exit, CliError> {
    match &arguments.name {
        Some(name) => output::print(
            &Study::load(name)
                .map_err(|error| other_kind(name, InputKind::Study).unwrap_or(error.into()))?
                .text,
        )?,
        None => output::print(&list()?)?,
    }
    Ok(Exit::AsExpected)
}

fn list() -> Result<String, CliError> {
    let width = widest(bundled_studies().map(|study| study.name));
    let mut text = String::new();
    for found in bundled_studies() {
        let study = Study::load(found.name)?;
        let cells = several(study.grid().cells(), "cell");
        let about = format!("{} ({cells}; about {})", study.question, study.usual_time());
        text += &hanging_paragraph(found.name, width, &about, output_options::columns());
    }
    text += &format!("\ntimes are those of two cores, at {} runs a second\n", group_digits(RUNS_A_SECOND));
    Ok(text + "run one: doublehold sweep which-lock\nits file, to copy: doublehold studies which-lock\n")
}
