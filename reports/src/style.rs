//! How a report may be drawn: how wide, with which characters, in which colours.
//!
//! A [`Style`] is decided once, by the command line; renderers only read it. Colours are of [`crate::palette`], and
//! never carry a meaning alone: everything coloured is also a character.

use crate::palette::terminal;

/// What the place a report goes to can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Columns.
    pub width: usize,
    /// Whether it shows more than ASCII.
    pub unicode: bool,
    /// Whether it shows colours.
    pub color: bool,
}

impl Style {
    /// Narrower than this, lanes cannot be read, and none are drawn.
    pub const MIN_WIDTH: usize = 72;
    /// Narrower than this, not even sentences can be read.
    pub const NARROWEST: usize = 40;
    /// Wider than this, lines cannot be read.
    pub const MAX_WIDTH: usize = 140;
    /// For files and pipes, which have no width.
    pub const DEFAULT_WIDTH: usize = 100;

    /// Plain ASCII at the default width: what a CI log shows.
    pub const ASCII: Style = Style { width: Style::DEFAULT_WIDTH, unicode: false, color: false };
    /// Unicode without colours at the default width.
    pub const UNICODE: Style = Style { width: Style::DEFAULT_WIDTH, unicode: true, color: false };

    /// One of two characters.
    pub(crate) fn glyph(&self, unicode: char, ascii: char) -> char {
        if self.unicode { unicode } else { ascii }
    }

    /// `text` in a colour, if colours are shown.
    pub fn paint(&self, text: &str, paint: Paint) -> String {
        match paint.code() {
            Some(code) if self.color && !text.is_empty() => format!("\x1b[{code}m{text}\x1b[0m"),
            _ => text.to_owned(),
        }
    }
}

/// What a piece of output is, as far as its colour is concerned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Paint {
    /// Plain text.
    #[default]
    Plain,
    /// Frame and small print.
    Dim,
    /// Headings.
    Strong,
    /// Belongs to the client with this number.
    Client(usize),
    /// A double hold, a violation, a late write.
    Bad,
    /// A fault.
    Fault,
    /// As it should be.
    Good,
    /// Not decided.
    Unsure,
}

impl Paint {
    /// The parameters of the terminal's "select graphic rendition" sequence.
    fn code(self) -> Option<&'static str> {
        Some(match self {
            Paint::Plain => return None,
            Paint::Dim => terminal::DIM,
            Paint::Strong => terminal::STRONG,
            Paint::Client(number) => terminal::CLIENTS[number % terminal::CLIENTS.len()],
            Paint::Bad => terminal::VIOLATION,
            Paint::Fault => terminal::FAULT,
            Paint::Good => terminal::GOOD,
            Paint::Unsure => terminal::UNSURE,
        })
    }
}
