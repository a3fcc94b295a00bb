//! `doublehold list`: the catalogue, each scenario with its claim and what it shows, its variants indented.

use std::collections::BTreeMap;

use clap::Args;
use doublehold_history::Predicate;
use doublehold_scenarios::catalog::{self, Entry};
use doublehold_scenarios::scenario::Expected;

use crate::error::CliError;
use crate::exit::Exit;
use crate::show::{Format, Show};
use crate::style::{Paint, Style};
use crate::words::{clean, columns, to_ascii, wrap};
use crate::{json, output};

/// As typed.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    show: Show,
}

pub(crate) fn execute(arguments: Arguments) -> Result<Exit, CliError> {
    let entries = catalog::entries()?;
    output::print(&match arguments.show.format {
        Format::Json => json::list(&entries)?,
        Format::Text => table(&entries, &arguments.show.style()),
    })?;
    Ok(Exit::AsExpected)
}

fn table(entries: &[Entry], style: &Style) -> String {
    let name_width = entries.iter().map(|entry| columns(&indented(&entry.name))).max().unwrap_or(0);
    let indent = " ".repeat(name_width + 2);
    let mut text = String::new();
    let mut shown: Option<&Entry> = None;
    for entry in entries {
        let variant = entry.name.contains('/');
        let name = indented(&entry.name);
        let paint = if variant { Paint::Plain } else { Paint::Strong };
        let margin = format!("{}  ", style.paint(&format!("{name:<name_width$}"), paint));
        // A variant says only what it does not share with its scenario.
        let base = shown.filter(|base| variant && base.claim == entry.claim);
        let lines = match base {
            Some(_) => wrap(&shows(&entry.expect), &indent, &indent, style.width),
            None => {
                wrap(&entry.claim, &indent, &indent, style.width)
                    + &wrap(&shows(&entry.expect), &indent, &indent, style.width)
            }
        };
        if !variant {
            shown = Some(entry);
            text.push_str(if text.is_empty() { "" } else { "\n" });
        }
        text.push_str(&margin);
        text.push_str(lines.get(indent.len()..).unwrap_or("\n"));
    }
    text.push_str("\nP1 claim overlap   P2 valid overlap   P3 stale effect   P4 data anomaly   WR wrong release   LV liveness\n");
    text.push_str("run one: doublehold run NAME\n");
    if style.unicode { text } else { to_ascii(&text) }
}

fn indented(name: &str) -> String {
    let name = clean(name);
    if name.contains('/') { format!("  {name}") } else { name }
}

/// `shows P1, P3 violated; P2 holds`.
fn shows(expect: &BTreeMap<Predicate, Expected>) -> String {
    let those = |wanted: Expected| {
        let named = expect.iter().filter(move |(_, expected)| **expected == wanted);
        named.map(|(predicate, _)| predicate.as_str()).collect::<Vec<_>>()
    };
    let (violated, holds) = (those(Expected::Violated), those(Expected::Holds));
    match (violated.is_empty(), holds.is_empty()) {
        (true, true) => "shows whatever comes out".to_owned(),
        (true, false) => format!("shows {} hold", holds.join(" ")),
        (false, true) => format!("shows {} violated", violated.join(" ")),
        (false, false) => format!("shows {} violated; {} hold", violated.join(" "), holds.join(" ")),
    }
}
