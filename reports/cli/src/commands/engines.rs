//! `doublehold engines`: the simulators that can execute a run, and what each can do.

use clap::Args;
use doublehold_render::json;
use doublehold_render::layout::{align_left, to_ascii, widest, wrap};
use doublehold_render::style::{Paint, Style};
use doublehold_turmoil_engine::table::{Row, engines, rows};
use serde::Serialize;

use crate::error::CliError;
use crate::exit::Exit;
use crate::output;
use crate::output_options::{Format, OutputOptions};

/// As typed.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    show: OutputOptions,
}

/// One engine, for programs.
#[derive(Serialize)]
struct EngineRow {
    engine: &'static str,
    about: &'static str,
    can: Vec<Ability>,
}

#[derive(Serialize)]
struct Ability {
    sort: &'static str,
    word: &'static str,
    can: bool,
    /// The reason why it cannot.
    why: Option<&'static str>,
}

pub(crate) fn execute(arguments: &Arguments) -> Result<Exit, CliError> {
    output::print(&match arguments.show.format {
        Format::Text => text(&arguments.show.style()),
        Format::Json => json::pretty(&engine_rows())?,
    })?;
    Ok(Exit::AsExpected)
}

fn engine_rows() -> Vec<EngineRow> {
    let rows = rows();
    let of = |(number, (engine, about)): (usize, (&'static str, &'static str))| {
        let can = rows.iter().map(|Row { sort, word, limits }| {
            let why = limits[number];
            Ability { sort, word, can: why.is_none(), why }
        });
        EngineRow { engine, about, can: can.collect() }
    };
    engines().into_iter().enumerate().map(of).collect()
}

fn text(style: &Style) -> String {
    let (engines, rows) = (engines(), rows());
    let names = widest(engines.iter().map(|(name, _)| *name));
    let mut text = String::new();
    for (name, about) in engines {
        let head = format!("{}  ", style.paint(&align_left(name, names), Paint::Strong));
        text += &format!("{head}{about}\n");
    }
    let words = widest(rows.iter().map(|row| row.word));
    let mut reasons: Vec<&str> = Vec::new();
    let mut sort = "";
    for row in &rows {
        if row.sort != sort {
            sort = row.sort;
            let heads: Vec<String> = engines.iter().map(|(name, _)| align_left(name, names)).collect();
            text += &format!("\n{}  {}\n", align_left(sort, words + 2), heads.join("  ").trim_end());
        }
        let answers: Vec<String> =
            row.limits.iter().map(|limit| align_left(&answer(*limit, &mut reasons), names)).collect();
        text += &format!("  {}  {}\n", align_left(row.word, words), answers.join("  ").trim_end());
    }
    text.push('\n');
    for (number, reason) in (1..).zip(reasons) {
        text += &wrap(&format!("({number}) {reason}"), "", "    ", style.width);
    }
    text += "\nwhere both agree, and where not and why: docs/engines.md\n";
    if style.unicode { text } else { to_ascii(&text) }
}

/// `yes`, or `no` with the number of the reason below.
fn answer(limit: Option<&'static str>, reasons: &mut Vec<&'static str>) -> String {
    let Some(reason) = limit else { return "yes".to_owned() };
    let known = reasons.iter().position(|known| *known == reason);
    let number = known.unwrap_or_else(|| {
        reasons.push(reason);
        reasons.len() - 1
    });
    format!("no ({})", number + 1)
}
