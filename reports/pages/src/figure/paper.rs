//! The writer of SVG: shapes and texts, escaped, numbers with two decimals.
//!
//! Only this file writes a picture's markup. Texts are user input (names of hosts, keys, locks): all of them are
//! escaped here. Attributes are the caller's own, and stand in the picture as they are given; one that holds what a
//! user wrote takes it through [`escape_xml`].
//!
//! ```
//! use doublehold_pages::figure::paper::{Align, Paper};
//!
//! let mut paper = Paper::default();
//! paper.line((0.0, 20.0), (80.0, 20.0), r#"stroke="black""#, "");
//! paper.text((40.0, 16.0), Align::Middle, r#"font-size="12""#, "c1 < c2");
//! let svg = paper.into_svg((80.0, 40.0), r#"font-family="sans-serif""#, "");
//! assert!(svg.contains(r#"<text x="40" y="16" text-anchor="middle" font-size="12">c1 &lt; c2</text>"#));
//! ```
//!
//! Decision: "One writer makes every SVG" (docs/decisions/pictures.md).

use std::fmt::Write;

use doublehold_render::palette::PAPER;

/// Elements under each other, in the order in which they are drawn.
#[derive(Debug, Default)]
pub struct Paper {
    markup: String,
}

/// The side on which a text is aligned to its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// It begins there.
    Start,
    /// Its middle is there.
    Middle,
    /// It ends there.
    End,
}

/// A rectangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Box2 {
    /// Its left edge.
    pub x: f64,
    /// Its upper edge.
    pub y: f64,
    /// From the left to the right.
    pub width: f64,
    /// From the top to the bottom.
    pub height: f64,
}

impl Box2 {
    pub(super) fn meets(&self, other: &Box2) -> bool {
        self.x < other.x + other.width
            && other.x < self.x + self.width
            && self.y < other.y + other.height
            && other.y < self.y + self.height
    }
}

impl Paper {
    /// The markup that was drawn, without a picture around it.
    pub(super) fn into_markup(self) -> String {
        self.markup
    }

    /// The picture: white paper of this size, then `beneath`, which is markup, and all that was drawn. Attributes are
    /// the picture's.
    pub fn into_svg(self, (width, height): (f64, f64), attributes: &str, beneath: &str) -> String {
        let (width, height) = (number(width), number(height));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" {attributes}>\n{beneath}<rect width=\"{width}\" height=\"{height}\" \
             fill=\"{PAPER}\"/>\n{}</svg>\n",
            self.markup
        )
    }

    /// Opens a group, with attributes as they are.
    pub fn open(&mut self, attributes: &str) {
        let _ignored = writeln!(self.markup, "<g {attributes}>");
    }

    /// Closes the group that was opened last.
    pub fn close(&mut self) {
        self.markup.push_str("</g>\n");
    }

    /// Markup that was made elsewhere.
    pub fn raw(&mut self, markup: &str) {
        self.markup.push_str(markup);
    }

    /// A rectangle with attributes, and what a reader who points at it is told.
    pub fn rect(&mut self, area: Box2, attributes: &str, title: &str) {
        let Box2 { x, y, width, height } = area;
        let (x, y, width, height) = (number(x), number(y), number(width), number(height));
        let start = format!(r#"<rect x="{x}" y="{y}" width="{width}" height="{height}" {attributes}"#);
        self.element(&start, "rect", title);
    }

    /// A line between two points, likewise.
    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), attributes: &str, title: &str) {
        let (x1, y1, x2, y2) = (number(from.0), number(from.1), number(to.0), number(to.1));
        let start = format!(r#"<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" {attributes}"#);
        self.element(&start, "line", title);
    }

    /// A circle around a point, likewise.
    pub fn circle(&mut self, at: (f64, f64), radius: f64, attributes: &str, title: &str) {
        let (x, y, radius) = (number(at.0), number(at.1), number(radius));
        self.element(&format!(r#"<circle cx="{x}" cy="{y}" r="{radius}" {attributes}"#), "circle", title);
    }

    /// A line through points, or what it encloses if the attributes fill it, likewise.
    pub fn path(&mut self, points: &[(f64, f64)], attributes: &str, title: &str) {
        let mut path = String::new();
        for (place, (x, y)) in points.iter().enumerate() {
            let command = if place == 0 { 'M' } else { 'L' };
            let _ignored = write!(path, "{command}{} {}", number(*x), number(*y));
        }
        self.element(&format!(r#"<path d="{path}" {attributes}"#), "path", title);
    }

    /// A text on one line. `attributes` may set its colour, size and weight.
    pub fn text(&mut self, at: (f64, f64), align: Align, attributes: &str, text: &str) {
        let anchor = match align {
            Align::Start => "",
            Align::Middle => r#" text-anchor="middle""#,
            Align::End => r#" text-anchor="end""#,
        };
        let (x, y) = (number(at.0), number(at.1));
        let _ignored = writeln!(
            self.markup,
            r#"<text x="{x}" y="{y}"{anchor} {attributes}>{}</text>"#,
            escape_xml(text)
        );
    }

    fn element(&mut self, start: &str, name: &str, title: &str) {
        let _ignored = if title.is_empty() {
            writeln!(self.markup, "{start}/>")
        } else {
            writeln!(self.markup, "{start}><title>{}</title></{name}>", escape_xml(title))
        };
    }
}

/// Two decimals at most.
pub fn number(value: f64) -> String {
    let digits = format!("{value:.2}");
    let short = digits.trim_end_matches('0').trim_end_matches('.');
    if short == "-0" { "0".to_owned() } else { short.to_owned() }
}

/// The text in one line, with a mark for each character that no document may hold.
pub(super) fn printable(text: &str) -> String {
    let printable = |letter: char| match letter {
        '\n' | '\t' => ' ',
        letter if letter.is_control() || matches!(letter, '\u{fffe}' | '\u{ffff}') => '\u{fffd}',
        letter => letter,
    };
    text.chars().map(printable).collect()
}

/// For texts and for attributes in double quotes. Characters that XML does not have become a mark.
pub fn escape_xml(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in printable(text).chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            letter => escaped.push(letter),
        }
    }
    escaped
}
