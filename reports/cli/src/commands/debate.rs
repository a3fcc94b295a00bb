//! `doublehold debate`: every claim of the debate, run, and who was right on what.

mod json;
mod page;
mod sentences;
mod text;

use clap::{Args, ValueEnum};
use doublehold_debate::{ClaimRow, DebateClaim, Selection, cases, claims, rows};
use doublehold_render::json::pretty;

use super::shared::Jobs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output;
use crate::output_options::StyleOptions;
use crate::progress::bar;

/// Beside the bar.
pub(crate) const WORDS: &str = "{human_pos} of {human_len} cases, {eta} left";

/// As typed.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Only these: topics by name or letter, or claims by number, such as `redlock`, `L,T` or `L4b`
    #[arg(long, value_name = "TOPIC|CLAIM", value_delimiter = ',')]
    only: Vec<String>,
    /// How to write the result
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    #[command(flatten)]
    look: StyleOptions,
    #[command(flatten)]
    jobs: Jobs,
}

/// A form of the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    #[default]
    Text,
    /// For programs: one JSON array, a row for each claim
    Json,
    /// For people: a page, with the two posts paragraph by paragraph
    Md,
}

pub(crate) fn execute(arguments: &Arguments) -> Result<Exit, CliError> {
    let claims = claims()?;
    let selection = Selection::parse(&arguments.only, &claims)?;
    let wanted = |claim: &&DebateClaim| arguments.only.is_empty() || selection.has(claim);
    let chosen: Vec<&DebateClaim> = claims.iter().filter(wanted).collect();
    let bar = bar(cases(&chosen) as u64, WORDS);
    let rows = rows(&chosen, arguments.jobs.count(), || bar.inc(1))?;
    drop(bar);
    output::print(&match arguments.format {
        Format::Text => text::table(&rows, &arguments.look.style()),
        Format::Json => pretty(&json::array(&rows))?,
        Format::Md => page::page(&rows)?,
    })?;
    // A prediction that failed and of which somebody has said why is a result, and what the table is for.
    let unexplained = |row: &ClaimRow<'_>| row.as_expected() == Some(false) && row.claim.note.is_none();
    Ok(if rows.iter().any(unexplained) { Exit::Contradicted } else { Exit::AsExpected })
}
