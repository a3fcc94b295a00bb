//! `doublehold list`: the topics of the catalogue; of one topic, each scenario with its claim and what it shows, its
//! variants indented.

use std::collections::BTreeMap;

use clap::Args;
use doublehold_history::Predicate;
use doublehold_render::json;
use doublehold_render::layout::{columns, to_ascii, wrap};
use doublehold_render::style::{Paint, Style};
use doublehold_scenarios::ScenarioError;
use doublehold_scenarios::catalog::{self, Entry};
use doublehold_scenarios::scenario::Expected;
use doublehold_scenarios::topics::{self, TOPICS, Topic};
use doublehold_text::{clean, several, suggest};

use super::kind_hints::{self, InputKind};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output;
use crate::output_options::{Format, OutputOptions};

/// As typed.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// A topic: its scenarios; or a scenario of the catalogue, or a scenario's file: only that, with all it says of
    /// itself
    #[arg(value_name = "TOPIC|NAME|FILE")]
    which: Option<String>,
    /// The whole catalogue, topic by topic
    #[arg(long, conflicts_with = "which")]
    all: bool,
    #[command(flatten)]
    show: OutputOptions,
}

pub(crate) fn execute(arguments: &Arguments) -> Result<Exit, CliError> {
    let style = arguments.show.style();
    let topic = arguments.which.as_deref().and_then(topics::find_topic);
    let entries = match (&arguments.which, topic) {
        (Some(name), None) => find_entries(name)?,
        (_, topic) => filter_topic(catalog::entries()?, topic),
    };
    output::print(&match (arguments.show.format, &arguments.which) {
        (Format::Json, _) => json::list(&entries)?,
        (Format::Text, Some(_)) if topic.is_none() => {
            finish(render_entries(&entries, &style) + LETTERS, &style)
        }
        (Format::Text, None) if !arguments.all => finish(contents(&entries, &style), &style),
        (Format::Text, _) => {
            finish(table(&entries, &style) + LETTERS + "run one: doublehold run NAME\n", &style)
        }
    })?;
    Ok(Exit::AsExpected)
}

/// A scenario and its variants, or what was meant by a name that nothing has.
fn find_entries(name: &str) -> Result<Vec<Entry>, CliError> {
    catalog::entries_of(name).map_err(|error| {
        let names = TOPICS.map(|topic| topic.name);
        match (error, suggest::closest(name, &names)) {
            (ScenarioError::Unknown { name, .. }, Some(topic)) => {
                let hint = format!("did you mean the topic `{topic}`? `doublehold list` has all of them");
                ScenarioError::Unknown { name, hint }.into()
            }
            (error, _) => kind_hints::other_kind(name, InputKind::Scenario).unwrap_or(error.into()),
        }
    })
}

/// The scenarios of one topic, or of all, one topic after the other.
fn filter_topic(entries: Vec<Entry>, topic: Option<&Topic>) -> Vec<Entry> {
    let place = |entry: &Entry| TOPICS.iter().position(|topic| topic.name == entry.topic);
    let wanted = |entry: &Entry| topic.is_none_or(|topic| topic.name == entry.topic);
    let mut entries: Vec<Entry> = entries.into_iter().filter(wanted).collect();
    entries.sort_by_key(place);
    entries
}

/// Each topic: how much there is of it, what it is about, and where to begin.
fn contents(entries: &[Entry], style: &Style) -> String {
    let mut text = String::new();
    for topic in &TOPICS {
        let of_it = || entries.iter().filter(|entry| entry.topic == topic.name);
        let variants = of_it().filter(|entry| entry.name.contains('/')).count();
        let counts = format!(
            "{} with {}",
            several((of_it().count() - variants) as u64, "scenario"),
            several(variants as u64, "variant"),
        );
        text += &format!("{}: {counts}\n", style.paint(topic.name, Paint::Strong));
        text += &indented_text(topic.line, style);
        text += &format!("      start: doublehold run {}\n\n", topic.start);
    }
    text + "the scenarios of one: doublehold list TOPIC; all: doublehold list --all\n\
            what the debate claims, and what came of it: doublehold debate\n"
}

const LETTERS: &str = "\nP1 claim overlap   P2 valid overlap   P3 stale effect   P4 data anomaly   WR wrong release   LV liveness\n";

fn finish(text: String, style: &Style) -> String {
    let fits = |line: &str| {
        if columns(line) > style.width { wrap(line, "", "", style.width) } else { format!("{line}\n") }
    };
    let text: String = text.lines().map(fits).collect();
    if style.unicode { text } else { to_ascii(&text) }
}

/// Each scenario with its claim, and what it shows; a variant says only what it does not share with its scenario.
fn table(entries: &[Entry], style: &Style) -> String {
    let mut text = String::new();
    let mut base: Option<&Entry> = None;
    for entry in entries {
        let is_variant = entry.name.contains('/');
        let shared = base.is_some_and(|base| is_variant && base.claim == entry.claim);
        if !is_variant {
            text.push_str(if base.is_some() { "\n" } else { "" });
            base = Some(entry);
        }
        text.push_str(&head(entry, style));
        if !shared {
            text.push_str(&indented_text(&entry.claim, style));
        }
        text.push_str(&indented_text(&shows(&entry.expect), style));
    }
    text
}

/// All that a scenario and its variants say of themselves.
fn render_entries(entries: &[Entry], style: &Style) -> String {
    let mut text = String::new();
    let mut base: Option<&Entry> = None;
    for entry in entries {
        text.push_str(if base.is_some() { "\n" } else { "" });
        text.push_str(&head(entry, style));
        let of = |of: fn(&Entry) -> &String| {
            Some(of(entry)).filter(|own| base.is_none_or(|base| of(base) != *own))
        };
        for own in [of(|it| &it.claim), of(|it| &it.source), of(|it| &it.story)].into_iter().flatten() {
            text.push_str(&indented_text(own, style));
        }
        text.push_str(&indented_text(&shows(&entry.expect), style));
        base = base.or(Some(entry));
    }
    text
}

fn head(entry: &Entry, style: &Style) -> String {
    let paint = if entry.name.contains('/') { Paint::Plain } else { Paint::Strong };
    style.paint(&indent_variant(&entry.name), paint) + "\n"
}

fn indented_text(text: &str, style: &Style) -> String {
    if text.is_empty() { String::new() } else { wrap(text, "      ", "      ", style.width) }
}

fn indent_variant(name: &str) -> String {
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
