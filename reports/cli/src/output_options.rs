//! How a command is to show its result: the options for it, and what the terminal can do.
//!
//! Assumes nothing about the command. Reads the environment as other programs do: NO_COLOR, COLUMNS, TERM and the
//! locale.

use std::io::IsTerminal;

use clap::{Args, ValueEnum};
use doublehold_render::style::Style;

/// How a result is to be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    #[default]
    Text,
    /// For programs: one JSON value
    Json,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Options of every command that shows something.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct OutputOptions {
    /// How to write the result
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: Format,
    #[command(flatten)]
    look: StyleOptions,
}

impl OutputOptions {
    /// What the place that standard output goes to can show.
    pub(crate) fn style(self) -> Style {
        self.look.style()
    }
}

/// Options of a command that has formats of its own.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct StyleOptions {
    /// Draw with ASCII characters only (the default where the locale is not UTF-8)
    #[arg(long)]
    ascii: bool,
    /// When to use colours
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    color: Color,
}

impl StyleOptions {
    /// What the place that standard output goes to can show.
    pub(crate) fn style(self) -> Style {
        let terminal = std::io::stdout().is_terminal();
        let color = match self.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => terminal && !is_set("NO_COLOR") && std::env::var("TERM").as_deref() != Ok("dumb"),
        };
        Style { width: width(terminal), unicode: !self.ascii && utf8_locale(), color }
    }
}

/// As <https://no-color.org> has it: set and not empty.
fn is_set(variable: &str) -> bool {
    std::env::var_os(variable).is_some_and(|value| !value.is_empty())
}

/// The columns of the place that standard output goes to, for commands that take no options of this kind.
pub(crate) fn columns() -> usize {
    width(std::io::stdout().is_terminal())
}

fn width(terminal: bool) -> usize {
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let measured =
        || terminal.then(terminal_size::terminal_size).flatten().map(|(width, _)| usize::from(width.0));
    columns.or_else(measured).unwrap_or(Style::DEFAULT_WIDTH).clamp(Style::NARROWEST, Style::MAX_WIDTH)
}

/// The first of these that is set decides, as in POSIX.
fn utf8_locale() -> bool {
    let value = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .find(|variable| is_set(variable))
        .and_then(std::env::var_os);
    match value {
        Some(value) => {
            let value = value.to_string_lossy().to_ascii_lowercase();
            value.contains("utf-8") || value.contains("utf8")
        }
        // Windows has no such variables, and terminals there show Unicode.
        None => cfg!(windows),
    }
}
