//! One panel: all rows over one stretch of true time, to scale, with its axis.
//!
//! What is drawn later covers what was drawn earlier: shades, double holds, messages, bars, marks, and last the labels,
//! of which one that would cover another is left out. Whatever has a label has its words as a tooltip as well.
//!
//! Decision: "Words in a picture give way to each other" (docs/decisions/pictures.md).

use std::collections::BTreeSet;

use doublehold_history::instant;
use doublehold_history::{LockId, TrueNs};
use doublehold_render::picture::view::View;
use doublehold_scenarios::detail::{Message, Phrase};

use super::colours::{self, FAINT, GRID, INK, LANE, VIOLATION};
use super::lettering::{Font, clip_text, width};
use super::paper::{Align, Box2, Paper};
use super::rows::{Row, RowContent, row_of};
use super::scale::Scale;

/// A message whose arrow is less wide than this cannot be followed.
const UPRIGHT: f64 = 3.0;

/// The least gap between two labels: with less, two are read as one.
const APART: f64 = 6.0;

/// A run with more bars than these is drawn without those that nobody could see.
const MANY: usize = 4_000;

/// A panel while it is drawn.
pub(super) struct Panel<'v> {
    pub(super) view: &'v View,
    pub(super) id: &'v str,
    pub(super) scale: Scale,
    pub(super) rows: &'v [Row<'v>],
    pub(super) paper: Paper,
    /// In a run of very many bars, those that were drawn: in half pixels, so that none is drawn on its like.
    drawn: Option<BTreeSet<(i64, i64, i64, Bar)>>,
    /// Where labels are.
    taken: Vec<Box2>,
    /// Labels that are drawn when everything else is.
    labels: Vec<Label>,
    /// Messages stand upright in it, for want of room.
    pub(super) bundles: bool,
}

/// What a bar is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Bar {
    Wait,
    Claim,
    Valid,
    Key,
}

/// A label, if there is room for it.
struct Label {
    at: (f64, f64),
    align: Align,
    ink: String,
    text: String,
    bold: bool,
    /// How far to the right it may move to find room.
    slack: f64,
}

impl<'v> Panel<'v> {
    pub(super) fn new(view: &'v View, id: &'v str, scale: Scale, rows: &'v [Row<'v>]) -> Panel<'v> {
        let claims = view.lanes.clients.iter().map(|lane| lane.claims.len() + lane.waits.len());
        let bars: usize = claims.chain(view.lanes.nodes.iter().map(|lane| lane.keys.len())).sum();
        let drawn = (bars > MANY).then(BTreeSet::new);
        Panel {
            view,
            id,
            scale,
            rows,
            paper: Paper::default(),
            drawn,
            taken: Vec::new(),
            labels: Vec::new(),
            bundles: false,
        }
    }

    /// Everything but the axis.
    pub(super) fn draw(&mut self) {
        self.lanes();
        self.shades();
        self.double_holds();
        self.messages(true);
        self.bars();
        self.messages(false);
        self.finish();
    }

    pub(super) fn top(&self) -> f64 {
        self.rows.first().map_or(0.0, |row| row.top)
    }

    pub(super) fn bottom(&self) -> f64 {
        self.rows.last().map_or(0.0, Row::bottom)
    }

    /// What stands beside the rows.
    pub(super) fn row_labels(&mut self) {
        let left = self.scale.left;
        for row in self.rows {
            let middle = row.middle();
            if let Some(label) = clip_text(&row.label, Font::STRONG, left - 14.0) {
                self.paper.text((left - 10.0, middle + 4.0), Align::End, r#"font-weight="bold""#, &label);
            }
            if let RowContent::Client { place, .. } = row.shown {
                let mark = Box2 { x: left - 7.0, y: middle - 8.0, width: 4.0, height: 16.0 };
                self.paper.rect(mark, &format!(r#"fill="{}""#, colours::client(place)), "");
            }
        }
    }

    /// Lines that hold the rows together.
    fn lanes(&mut self) {
        let (left, right) = (self.scale.left, self.scale.right_edge());
        for (at, _) in self.scale.ticks() {
            let x = self.scale.x(at);
            self.paper.line((x, self.top()), (x, self.bottom()), &format!(r#"stroke="{GRID}""#), "");
        }
        for middle in self.rows.iter().map(Row::middle) {
            self.paper.line((left, middle), (right, middle), &format!(r#"stroke="{LANE}""#), "");
        }
    }

    /// Messages that have any part in the panel: those that are nearly upright, or those that can be followed. Of those
    /// that would be drawn on each other, one.
    fn messages(&mut self, upright: bool) {
        let mut drawn = BTreeSet::new();
        let view = self.view;
        let locks = view.message_locks.iter().copied().chain(std::iter::repeat(None));
        for (message, lock) in view.messages.iter().zip(locks) {
            let arrived = message.arrived.unwrap_or(view.ended);
            let (x1, x2) = (self.scale.x(message.sent), self.scale.x(arrived));
            if !self.scale.shows(message.sent, arrived) || ((x2 - x1).abs() < UPRIGHT) != upright {
                continue;
            }
            let place =
                ((x1 * 2.0) as i64, (x2 * 2.0) as i64, message.from, message.to, lock, is_held(message));
            if drawn.insert(place) {
                self.message(message, lock, (x1, x2));
            }
        }
    }

    fn message(&mut self, message: &Message, lock: Option<LockId>, (x1, x2): (f64, f64)) {
        let middle = |host| row_of(self.rows, host, lock).map(Row::middle);
        let (Some(from), Some(to)) = (middle(message.from), middle(message.to)) else { return };
        let sign = if to > from { 1.0 } else { -1.0 };
        let (start, end) = ((x1, from + sign * 8.0), (x2, to - sign * 8.0));
        let is_upright = (x2 - x1).abs() < UPRIGHT;
        self.bundles |= is_upright && !is_held(message);
        // An upright arrow shows that something was sent, and no more.
        let (ink, marker, dashes) = match (is_held(message), is_upright) {
            (true, _) => (VIOLATION, "held", r#" stroke-dasharray="4 2""#),
            (false, true) => (LANE, "", ""),
            (false, false) => (FAINT, "arrow", ""),
        };
        let arrow = match (message.arrived, marker) {
            (None, _) | (_, "") => String::new(),
            _ => format!(r#" marker-end="url(#{}-{marker})""#, self.id),
        };
        let attributes = format!(r#"class="message" stroke="{ink}" stroke-width="0.9"{dashes}{arrow}"#);
        let words = words_of(message);
        let title = format!(
            "{}: sent {}, {}",
            all_words_of(message),
            instant(message.sent),
            when_arrived(message.arrived)
        );
        self.paper.line(start, end, &attributes, &title);
        // Words where the arrow is wide enough to be followed, beside the part of it that is in the panel.
        let (left, right) = (x1.max(self.scale.left), x2.min(self.scale.right_edge()));
        if right - left > 6.0 {
            let x = left + (right - left) * 0.4;
            let y = start.1 + (end.1 - start.1) * (x - x1) / (x2 - x1);
            self.label(
                (x + 5.0, y + 3.0),
                Align::Start,
                if is_held(message) { VIOLATION } else { INK },
                &words,
                false,
            );
        }
    }

    /// Whether a bar is to be drawn: in a run of very many, only if its like was not drawn at the same place.
    pub(super) fn is_new(&mut self, area: Box2, bar: Bar) -> bool {
        let half = |place: f64| (place * 2.0) as i64;
        let place = (half(area.x), half(area.x + area.width), half(area.y), bar);
        self.drawn.as_mut().is_none_or(|drawn| drawn.insert(place))
    }

    /// A label to be drawn last, if there is room for it then. Those asked for first come first.
    pub(super) fn label(&mut self, at: (f64, f64), align: Align, ink: &str, text: &str, bold: bool) {
        self.labels.push(Label { at, align, ink: ink.to_owned(), text: text.to_owned(), bold, slack: 0.0 });
    }

    /// A label to the right of a mark, or to its left where the panel ends too soon.
    pub(super) fn label_beside(
        &mut self,
        (x, y): (f64, f64),
        gap: f64,
        (ink, bold): (&str, bool),
        text: &str,
    ) {
        let font = if bold { Font::STRONG_LABEL } else { Font::LABEL };
        let is_right = x + gap + width(text, font) <= self.scale.right_edge();
        let (x, align) = if is_right { (x + gap, Align::Start) } else { (x - gap, Align::End) };
        self.label((x, y), align, ink, text, bold);
    }

    /// A label inside of a bar, as far to the left as there is room: the first of these texts that fits. None if none
    /// does, for the room beside a bar is another's.
    pub(super) fn label_in(&mut self, area: Box2, ink: &str, texts: &[&str]) {
        let room = area.width - 6.0;
        let wide = |text: &str| width(text, Font::STRONG_LABEL);
        let Some(text) = texts.iter().find(|text| wide(text) <= room) else { return };
        let at = (area.x + 3.0, area.y + area.height / 2.0 + 4.0);
        let (slack, ink, text) = (room - wide(text), ink.to_owned(), (*text).to_owned());
        self.labels.push(Label { at, align: Align::Start, ink, text, bold: true, slack });
    }

    /// Draws the labels that there is room for.
    fn finish(&mut self) {
        for label in std::mem::take(&mut self.labels) {
            let (left, right) = (self.scale.left, self.scale.right_edge());
            let font = if label.bold { Font::STRONG_LABEL } else { Font::LABEL };
            let Some(text) = clip_text(&label.text, font, right - left) else { continue };
            let wide = width(&text, font);
            let x = match label.align {
                Align::Start => label.at.0,
                Align::Middle => label.at.0 - wide / 2.0,
                Align::End => label.at.0 - wide,
            };
            // At the right edge a label moves to the left; at the left edge it begins there.
            let x = x.min(right - wide).max(left);
            let area = Box2 { x: x - APART / 2.0, y: label.at.1 - 9.0, width: wide + APART, height: 11.0 };
            let Some(area) = self.free_place(area, label.slack) else { continue };
            self.taken.push(area);
            let weight = if label.bold { r#" font-weight="bold""# } else { "" };
            let attributes = format!(r#"class="label" fill="{}"{weight}"#, label.ink);
            self.paper.text((area.x + APART / 2.0, area.y + 9.0), Align::Start, &attributes, &text);
        }
    }

    /// The first place from here to the right that no other label has.
    fn free_place(&self, area: Box2, slack: f64) -> Option<Box2> {
        let last = (area.x + slack).min(self.scale.right_edge() + APART / 2.0 - area.width).max(area.x);
        let mut place = area;
        while let Some(taken) = self.taken.iter().find(|taken| taken.meets(&place)) {
            place.x = taken.x + taken.width + 1.0;
        }
        (place.x <= last).then_some(place)
    }

    /// The axis below the rows.
    pub(super) fn axis(&mut self) {
        let (left, right, y) = (self.scale.left, self.scale.right_edge(), self.bottom() + 4.0);
        self.paper.line((left, y), (right, y), &format!(r#"stroke="{INK}""#), "");
        let mut free = left;
        for (at, label) in self.scale.ticks() {
            let x = self.scale.x(at);
            self.paper.line((x, y), (x, y + 5.0), &format!(r#"stroke="{INK}""#), "");
            let half = width(&label, Font::LABEL) / 2.0;
            let place = x.max(left + half).min(right - half);
            // At the right edge a label stands beside its tick, where the one before it may be.
            if place - half >= free {
                self.paper.text((place, y + 16.0), Align::Middle, r#"class="label""#, &label);
                free = place + half + APART;
            }
        }
        let attributes = format!(r#"class="label" fill="{FAINT}""#);
        self.paper.text((left - 10.0, y + 16.0), Align::End, &attributes, "true time");
    }
}

fn is_held(message: &Message) -> bool {
    !message.held.is_empty() || message.arrived.is_none()
}

/// What a message says in short, or how long it is.
fn words_of(message: &Message) -> String {
    let words: Vec<&str> = message.phrases.iter().map(Phrase::in_short).collect();
    if words.is_empty() { format!("{} bytes", message.bytes) } else { words.join("; ") }
}

/// The same, and of a script that is told in words, the command as it was sent.
fn all_words_of(message: &Message) -> String {
    let words = |phrase: &Phrase| match &phrase.meaning {
        Some(meaning) => format!("{meaning} ({})", phrase.words),
        None => phrase.short.clone(),
    };
    let words: Vec<String> = message.phrases.iter().map(words).collect();
    if words.is_empty() { words_of(message) } else { words.join("; ") }
}

fn when_arrived(arrived: Option<TrueNs>) -> String {
    arrived.map_or_else(
        || "had not arrived when the run ended".to_owned(),
        |at| format!("arrived {}", instant(at)),
    )
}
