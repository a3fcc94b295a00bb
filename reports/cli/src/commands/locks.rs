//! `doublehold locks`: the locks there are; of one lock all that is known, and a scenario to copy.
//!
//! Everything comes from the locks' descriptors: a lock that is added is shown here without a word.

use std::fmt::Write as _;

use clap::Args;
use doublehold::json;
use doublehold::layout::{left, to_ascii, widest, wrap};
use doublehold::style::{Paint, Style};
use doublehold_lockimpl::{Descriptor, Facts, Nodes, Switch, Switches, Value, descriptors};
use doublehold_words::shorten;
use doublehold_words::suggest;
use serde::Serialize;

use super::meant::{Kind, other_kind};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output;
use crate::show::{Format, Show};

/// As typed.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Show all that is known of this lock, and a scenario to copy
    #[arg(value_name = "NAME")]
    name: Option<String>,
    #[command(flatten)]
    show: Show,
}

pub(crate) fn execute(arguments: &Arguments) -> Result<Exit, CliError> {
    let locks = descriptors();
    let style = arguments.show.style();
    output::print(&match (&arguments.name, arguments.show.format) {
        (None, Format::Text) => list(&locks, &style),
        (None, Format::Json) => json::pretty(&locks.iter().map(Shown::of).collect::<Vec<_>>())?,
        (Some(name), Format::Text) => page(find(&locks, name)?, &style),
        (Some(name), Format::Json) => json::pretty(&Shown::of(find(&locks, name)?))?,
    })?;
    Ok(Exit::AsExpected)
}

fn find<'a>(locks: &'a [Descriptor], name: &str) -> Result<&'a Descriptor, CliError> {
    let names: Vec<&str> = locks.iter().map(|lock| lock.name).collect();
    let unknown = || CliError::Usage {
        problem: format!("unknown lock `{}`", shorten(name)),
        hint: suggest::hint(name, &names),
    };
    let lock = locks.iter().find(|lock| lock.name == name);
    lock.ok_or_else(|| other_kind(name, Kind::Lock).unwrap_or_else(unknown))
}

/// One lock a paragraph.
fn list(locks: &[Descriptor], style: &Style) -> String {
    let width = widest(locks.iter().map(|lock| lock.name));
    let mut text = String::new();
    for lock in locks {
        text += &row(lock.name, width, &[lock.meaning], style);
    }
    text += "\nall of one: doublehold locks NAME\n";
    finish(text, style)
}

/// All that is known of one lock, and last what one copies.
fn page(lock: &Descriptor, style: &Style) -> String {
    let mut text = format!("{}\n", style.paint(lock.name, Paint::Strong));
    text += &wrap(lock.meaning, "  ", "  ", style.width);
    text += &wrap(&format!("source: {}", lock.source), "  ", "          ", style.width);
    for fact in facts(lock) {
        text += &wrap(&fact, "  ", "    ", style.width);
    }
    text += &match lock.switches.as_slice() {
        [] => "\nNo switches.\n".to_owned(),
        switches => switch_table(switches, style),
    };
    text += "\nA scenario to copy:\n\n";
    finish(text, style) + &scenario(lock)
}

fn finish(text: String, style: &Style) -> String {
    if style.unicode { text } else { to_ascii(&text) }
}

/// A name in the margin, and paragraphs beside it.
fn row(name: &str, width: usize, paragraphs: &[&str], style: &Style) -> String {
    let indent = " ".repeat(width + 2);
    let beside: String =
        paragraphs.iter().map(|paragraph| wrap(paragraph, &indent, &indent, style.width)).collect();
    let margin = style.paint(&left(name, width), Paint::Strong);
    format!("{margin}  {}", beside.trim_start())
}

fn switch_table(switches: &[Switch], style: &Style) -> String {
    let title = "Switches, as keys of `[lock]` or with `--set lock.NAME=VALUE`:";
    let mut text = format!("\n{}\n", wrap(title, "", "", style.width));
    let width = widest(switches.iter().map(|switch| switch.name));
    for switch in switches {
        let default = switch.default.as_ref().map_or("none".to_owned(), Value::to_string);
        let mut takes = format!("{}; default {default}", switch.takes());
        if let Some(needs) = switch.needs {
            write!(takes, "; does nothing without `{needs}`").expect("a string takes everything");
        }
        text += &row(switch.name, width, &[switch.meaning, &takes], style);
    }
    text
}

/// What is known of a lock as published, and which switch makes it otherwise.
fn facts(lock: &Descriptor) -> Vec<String> {
    let published = Switches::new();
    let facts = lock.facts(&published);
    let nodes = match lock.nodes {
        Nodes::One => "one node",
        Nodes::Replicated => "a master and the nodes that replicate it",
        Nodes::Independent => "any number of nodes that know nothing of each other",
    };
    let mut lines = vec![format!("runs on: {nodes}")];
    if let Some(sends) = &facts.sends {
        lines.push(format!("sends: {}", sends.to_hold.join(", ")));
        if facts.extends {
            lines.push(format!("sends to extend: {}", sends.to_extend.join(", ")));
        }
    }
    let mut fact = |what: &str, wanted: fn(&Facts) -> bool| {
        let answer = match lock.flag_for(&published, wanted) {
            _ if wanted(&facts) => "yes".to_owned(),
            Some(switch) => format!("with `{switch} = true`"),
            None => "no".to_owned(),
        };
        lines.push(format!("{what}: {answer}"));
    };
    fact("computes a deadline", |facts| facts.deadline);
    fact("gives fencing numbers", |facts| facts.fencing);
    fact("can be extended", |facts| facts.extends);
    fact("renews a lease by itself", |facts| facts.renews);
    fact("waits for a lock that is taken", |facts| facts.waits);
    fact("admits its holder again", |facts| facts.readmits);
    lines
}

/// The shortest scenario in which this lock is asked for twice.
fn scenario(lock: &Descriptor) -> String {
    let nodes = match lock.nodes {
        Nodes::One => "names = [\"A\"]",
        Nodes::Replicated => "names = [\"M\", \"R1\", \"R2\"]\nmaster = \"M\"",
        Nodes::Independent => "names = [\"A\", \"B\", \"C\", \"D\", \"E\"]",
    };
    format!(
        r#"claim = "Two clients take turns with the lock `{}`"

[lock]
algorithm = "{}"
ttl = "10s"

[nodes]
{nodes}

[[clients]]
name = "c1"
program = ["acquire", "read", "work 1s", "write", "release"]

[[clients]]
name = "c2"
program = ["acquire", "read", "work 1s", "write", "release"]
start = "c1's grant"

[limits]
obtain_within = "30s"
"#,
        lock.name, lock.name
    )
}

/// A lock as JSON.
#[derive(Serialize)]
struct Shown {
    name: &'static str,
    meaning: &'static str,
    source: &'static str,
    /// `one`, `replicated` or `independent`.
    nodes: &'static str,
    /// As published; a switch may make it otherwise.
    facts: ShownFacts,
    switches: Vec<ShownSwitch>,
    /// A scenario file that runs.
    scenario: String,
}

#[derive(Serialize)]
struct ShownFacts {
    deadline: bool,
    fencing: bool,
    extends: bool,
    waits: bool,
    renews: bool,
    readmits: bool,
    /// `null` if nobody knows.
    sends: Option<ShownCommands>,
}

#[derive(Serialize)]
struct ShownCommands {
    to_hold: Vec<&'static str>,
    to_extend: Vec<&'static str>,
}

#[derive(Serialize)]
struct ShownSwitch {
    name: &'static str,
    meaning: &'static str,
    takes: String,
    /// The words among what it takes.
    words: Vec<&'static str>,
    /// As a scenario file writes it, without quotes; `null` if there is none unless somebody says.
    default: Option<String>,
    needs: Option<&'static str>,
}

impl Shown {
    fn of(lock: &Descriptor) -> Shown {
        let Facts { sends, extends, deadline, fencing, waits, renews, readmits } =
            lock.facts(&Switches::new());
        let sends = sends.map(|sends| ShownCommands { to_hold: sends.to_hold, to_extend: sends.to_extend });
        Shown {
            name: lock.name,
            meaning: lock.meaning,
            source: lock.source,
            nodes: match lock.nodes {
                Nodes::One => "one",
                Nodes::Replicated => "replicated",
                Nodes::Independent => "independent",
            },
            facts: ShownFacts { deadline, fencing, extends, waits, renews, readmits, sends },
            switches: lock.switches.iter().map(ShownSwitch::of).collect(),
            scenario: scenario(lock),
        }
    }
}

impl ShownSwitch {
    fn of(switch: &Switch) -> ShownSwitch {
        ShownSwitch {
            name: switch.name,
            meaning: switch.meaning,
            takes: switch.takes(),
            words: switch.words.clone(),
            default: switch.default.as_ref().map(Value::to_string),
            needs: switch.needs,
        }
    }
}
