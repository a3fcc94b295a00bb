//! One panel: all rows over one stretch of true time, to scale, with its axis.
//!
//! What is drawn later covers what was drawn earlier: shades, double holds, messages, bars, marks, and last the labels,
//! of which one that would cover another is left out. Whatever has a label has its words as a tooltip as well.

use std::collections::BTreeSet;

use doublehold_history::TrueNs;
use doublehold_history::words::{duration, instant};
use doublehold_scenarios::scenario::HostIndex;

use super::inks::{self, BAD, FAINT, INK, Pattern, RULE};
use super::lettering::{self, SMALL, clipped};
use super::paper::{Align, Box2, Paper};
use super::rows::{Row, Shown};
use super::scale::Scale;
use crate::picture::view::View;

/// A panel while it is drawn.
pub(super) struct Panel<'v> {
    pub(super) view: &'v View,
    pub(super) id: &'v str,
    pub(super) scale: Scale,
    pub(super) rows: &'v [Row<'v>],
    pub(super) paper: Paper,
    /// Where labels are.
    taken: Vec<Box2>,
    /// Labels that are drawn when everything else is.
    labels: Vec<Label>,
}

/// A label, if there is room for it.
struct Label {
    at: (f64, f64),
    align: Align,
    ink: String,
    text: String,
    bold: bool,
}

impl<'v> Panel<'v> {
    pub(super) fn new(view: &'v View, id: &'v str, scale: Scale, rows: &'v [Row<'v>]) -> Panel<'v> {
        Panel { view, id, scale, rows, paper: Paper::default(), taken: Vec::new(), labels: Vec::new() }
    }

    /// Everything but the axis.
    pub(super) fn draw(&mut self) {
        self.lanes();
        self.shades();
        self.double_holds();
        self.messages();
        self.bars();
        self.finish();
    }

    pub(super) fn top(&self) -> f64 {
        self.rows.first().map_or(0.0, |row| row.top)
    }

    pub(super) fn bottom(&self) -> f64 {
        self.rows.last().map_or(0.0, Row::bottom)
    }

    /// Lines that hold the rows together, and their labels.
    fn lanes(&mut self) {
        let (left, right) = (self.scale.left, self.scale.right());
        for row in self.rows {
            let middle = row.middle();
            self.paper.line((left, middle), (right, middle), &format!(r#"stroke="{RULE}""#), "");
            let ink = match row.shown {
                Shown::Client { place, .. } => inks::client(place),
                _ => INK,
            };
            if let Some(label) = clipped(&row.label, lettering::SIZE, left - 14.0) {
                let attributes = format!(r#"font-weight="bold" fill="{INK}""#);
                self.paper.text((left - 10.0, middle + 4.0), Align::End, &attributes, &label);
            }
            if let Shown::Client { .. } = row.shown {
                let mark = Box2 { x: left - 7.0, y: middle - 8.0, width: 4.0, height: 16.0 };
                self.paper.rect(mark, &format!(r#"fill="{ink}""#), "");
            }
        }
        for (at, _) in self.scale.ticks() {
            let x = self.scale.x(at);
            let attributes = r##"stroke="#ececec""##;
            self.paper.line((x, self.top()), (x, self.bottom()), attributes, "");
        }
    }

    /// Double holds, as bands through all lanes.
    fn double_holds(&mut self) {
        let (top, height) = (self.top(), self.bottom() - self.top());
        for overlap in &self.view.lanes.overlaps {
            if !self.scale.shows(overlap.from, overlap.to) {
                continue;
            }
            let (x, to) = (self.scale.inside(overlap.from), self.scale.inside(overlap.to));
            let area = Box2 { x, y: top, width: (to - x).max(1.0), height };
            let (from, until) = (overlap.from.0, overlap.to.0);
            let attributes = format!(
                r#"class="overlap" data-predicate="{}" data-from="{from}" data-to="{until}" fill="{}" fill-opacity="0.55" stroke="{BAD}" stroke-width="0.8""#,
                overlap.predicate,
                Pattern::Double.fill(self.id),
            );
            let words = format!("{}: {}", overlap.predicate, overlap.words);
            let title = format!("{words}, from {} to {}", instant(overlap.from), instant(overlap.to));
            self.paper.rect(area, &attributes, &title);
            self.label((x + 3.0, top + 10.0), Align::Start, BAD, &words, true);
        }
    }

    /// Every message that has any part in the panel; of those that would be drawn on each other, one.
    fn messages(&mut self) {
        let mut drawn = BTreeSet::new();
        let view = self.view;
        for message in &view.messages {
            let arrived = message.arrived.unwrap_or(view.ended);
            let (Some(from), Some(to)) = (self.middle_of(message.from), self.middle_of(message.to)) else {
                continue;
            };
            if !self.scale.shows(message.sent, arrived) {
                continue;
            }
            let (x1, x2) = (self.scale.x(message.sent), self.scale.x(arrived));
            let is_held = !message.held.is_empty() || message.arrived.is_none();
            let place = ((x1 * 2.0) as i64, (x2 * 2.0) as i64, message.from, message.to, is_held);
            if !drawn.insert(place) {
                continue;
            }
            let sign = if to > from { 1.0 } else { -1.0 };
            let (start, end) = ((x1, from + sign * 8.0), (x2, to - sign * 8.0));
            let (ink, marker, dashes) =
                if is_held { (BAD, "held", r#" stroke-dasharray="4 2""#) } else { (FAINT, "arrow", "") };
            let arrow = if message.arrived.is_some() {
                format!(r#" marker-end="url(#{}-{marker})""#, self.id)
            } else {
                String::new()
            };
            let attributes = format!(r#"class="message" stroke="{ink}" stroke-width="0.9"{dashes}{arrow}"#);
            let words: Vec<&str> = message.phrases.iter().map(|phrase| phrase.short.as_str()).collect();
            let words = if words.is_empty() { format!("{} bytes", message.bytes) } else { words.join("; ") };
            let title = format!("{words}: sent {}, {}", instant(message.sent), when_arrived(message.arrived));
            self.paper.line(start, end, &attributes, &title);
            // Room for words only where the arrow is wide enough to be followed.
            if (x2 - x1).abs() > 6.0 && x1 >= self.scale.left && x2 <= self.scale.right() {
                let middle = ((x1 + x2) / 2.0 + 4.0, start.1 + (end.1 - start.1) * 0.35);
                self.label(middle, Align::Start, if is_held { BAD } else { INK }, &words, false);
            }
        }
    }

    fn middle_of(&self, host: HostIndex) -> Option<f64> {
        self.rows.iter().find(|row| row.host() == Some(host)).map(Row::middle)
    }

    /// A label to be drawn last, if there is room for it then. Those asked for first come first.
    pub(super) fn label(&mut self, at: (f64, f64), align: Align, ink: &str, text: &str, bold: bool) {
        self.labels.push(Label { at, align, ink: ink.to_owned(), text: text.to_owned(), bold });
    }

    /// Draws the labels that there is room for.
    fn finish(&mut self) {
        for label in std::mem::take(&mut self.labels) {
            let right = self.scale.right();
            let wide = lettering::width(&label.text, SMALL);
            let x = match label.align {
                Align::Start => label.at.0,
                Align::Middle => label.at.0 - wide / 2.0,
                Align::End => label.at.0 - wide,
            };
            // At the right edge a label moves to the left; at the left edge it begins there.
            let x = x.min(right - wide).max(self.scale.left);
            let Some(text) = clipped(&label.text, SMALL, right - x) else { continue };
            let area = Box2 { x: x - 1.0, y: label.at.1 - 9.0, width: wide + 2.0, height: 11.0 };
            if self.taken.iter().any(|taken| taken.meets(&area)) {
                continue;
            }
            self.taken.push(area);
            let weight = if label.bold { r#" font-weight="bold""# } else { "" };
            let attributes = format!(r#"class="label" fill="{}"{weight}"#, label.ink);
            self.paper.text((x, label.at.1), Align::Start, &attributes, &text);
        }
    }

    /// The axis below the rows.
    pub(super) fn axis(&mut self) {
        let (left, right, y) = (self.scale.left, self.scale.right(), self.bottom() + 4.0);
        self.paper.line((left, y), (right, y), &format!(r#"stroke="{INK}""#), "");
        for (at, label) in self.scale.ticks() {
            let x = self.scale.x(at);
            self.paper.line((x, y), (x, y + 5.0), &format!(r#"stroke="{INK}""#), "");
            let half = lettering::width(&label, SMALL) / 2.0;
            let place = x.max(left + half).min(right - half);
            self.paper.text((place, y + 16.0), Align::Middle, r#"class="label""#, &label);
        }
        let span = TrueNs(self.scale.span());
        let words = format!("true time, {} wide", duration(span.0));
        self.paper.text(
            (left - 10.0, y + 16.0),
            Align::End,
            &format!(r#"class="label" fill="{FAINT}""#),
            "true time",
        );
        self.paper.text((right, y + 28.0), Align::End, &format!(r#"class="label" fill="{FAINT}""#), &words);
    }
}

fn when_arrived(arrived: Option<TrueNs>) -> String {
    arrived.map_or_else(
        || "had not arrived when the run ended".to_owned(),
        |at| format!("arrived {}", instant(at)),
    )
}
