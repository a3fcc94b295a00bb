//! `doublehold locks`: the locks there are; of one lock all that is known, and a scenario to copy.
//!
//! Everything comes from the locks' descriptors: a lock that is added is shown here without a word.

mod behind_sentinel;
mod json;
mod library;
mod markdown;
mod measurements;
mod outcome;

use std::fmt::Write as _;

use clap::{Args, ValueEnum};
use doublehold_lockimpl::{Descriptor, Facts, Nodes, ServiceKind, Switch, Switches, Value, descriptors};
use doublehold_render::json::pretty;
use doublehold_render::layout::{align_left, to_ascii, widest, wrap};
use doublehold_render::style::{Paint, Style};
use doublehold_scenarios::locks::{find_aliases, find_lock, hint};
use doublehold_text::shorten;

use self::json::LockOutput;
use super::kind_hints::{InputKind, other_kind};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output;
use crate::output_options::StyleOptions;

/// As typed.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Show all that is known of this lock, and a scenario to copy
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// How to write the result
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    #[command(flatten)]
    look: StyleOptions,
}

/// A form of the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    #[default]
    Text,
    /// For programs: one JSON value
    Json,
    /// For people: a page about the libraries, with what came of each flaw when it was run
    Md,
}

pub(crate) fn execute(arguments: &Arguments) -> Result<Exit, CliError> {
    let locks = descriptors();
    let style = arguments.look.style();
    output::print(&match (&arguments.name, arguments.format) {
        (None, Format::Text) => list(&locks, &style),
        (None, Format::Json) => pretty(&locks.iter().map(LockOutput::new).collect::<Vec<_>>())?,
        (Some(name), Format::Text) => page(find(&locks, name)?, &style),
        (None, Format::Md) => markdown::page(&locks)?,
        (Some(name), Format::Md) => markdown::section(find(&locks, name)?)?,
        (Some(name), Format::Json) => pretty(&LockOutput::new(find(&locks, name)?))?,
    })?;
    Ok(Exit::AsExpected)
}

/// The lock of that name, or the one library that people call so.
fn find<'a>(locks: &'a [Descriptor], name: &str) -> Result<&'a Descriptor, CliError> {
    if let Some(lock) = find_lock(locks, name) {
        return Ok(lock);
    }
    if let Some(error) = other_kind(name, InputKind::Lock) {
        return Err(error);
    }
    match find_aliases(locks, name)[..] {
        [lock] => Ok(lock),
        _ => Err(CliError::Usage {
            problem: format!("unknown lock `{}`", shorten(name)),
            hint: hint(locks, name),
        }),
    }
}

/// One lock a paragraph: first those whose switches are open, then the libraries by their language.
fn list(locks: &[Descriptor], style: &Style) -> String {
    let width = widest(locks.iter().map(|lock| lock.name));
    let rows = |wanted: &dyn Fn(&&Descriptor) -> bool| -> String {
        locks.iter().filter(wanted).map(|lock| row(lock.name, width, &[lock.meaning], style)).collect()
    };
    let mut text = rows(&|lock| lock.profile.is_none());
    for language in library::languages(locks) {
        let title = format!("Libraries for {language}");
        text += &format!("\n{}\n", style.paint(&title, Paint::Strong));
        text += &rows(&|lock| lock.profile.is_some_and(|(profile, _)| profile.language == language));
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
    if let Some((profile, engine)) = lock.profile {
        text += &library::page(profile, engine, style);
    }
    text += &match &lock.switches[..] {
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
    let margin = style.paint(&align_left(name, width), Paint::Strong);
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
        Nodes::One if lock.service.is_some() => lock.service.map_or("", |service| match service {
            ServiceKind::ZooKeeper => "ZooKeeper",
            ServiceKind::Etcd => "etcd",
            ServiceKind::Database => "a database, such as PostgreSQL",
        }),
        Nodes::One => "one node, or a master that other nodes replicate",
        Nodes::Replicated => "a master and the nodes that replicate it",
        Nodes::Independent if lock.least_nodes > 1 => "two nodes or more that know nothing of each other",
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
            None => word_for(lock, wanted).map_or("no".to_owned(), |setting| format!("with `{setting}`")),
        };
        lines.push(format!("{what}: {answer}"));
    };
    fact("computes a deadline", |facts| facts.deadline);
    fact("gives fencing numbers", |facts| facts.fencing);
    fact("can be extended", |facts| facts.extends);
    fact("renews a lease by itself", |facts| facts.renews);
    fact("can be told how long to wait", |facts| facts.waits);
    fact("admits its holder again", |facts| facts.readmits);
    lines
}

/// The setting of one word by which a lock has what it has not as published: `expiry = px`.
fn word_for(lock: &Descriptor, wanted: fn(&Facts) -> bool) -> Option<String> {
    let settings =
        lock.switches.iter().flat_map(|switch| switch.words.iter().map(move |word| (switch.name, *word)));
    let mut having = settings.filter(|(name, word)| {
        let set = Switches::new().with(name, Value::Word((*word).to_owned()));
        wanted(&lock.facts(&lock.effective_switches(&set)))
    });
    having.next().map(|(name, word)| format!("{name} = {word}"))
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
