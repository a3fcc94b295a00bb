//! What draws lanes: the sheet, where each moment is on it, and which signs were used so far.

use std::collections::BTreeSet;

use doublehold_history::TrueNs;

use crate::picture::axis::Axis;
use crate::picture::canvas::{Canvas, Row};
use crate::picture::legend::{Sign, UsedSigns};
use crate::style::{Paint, Style};

/// Draws in the row that was begun last.
pub(super) struct Pen<'a> {
    canvas: &'a mut Canvas,
    axis: &'a Axis,
    pub(super) style: &'a Style,
    used: UsedSigns,
}

impl<'a> Pen<'a> {
    pub(super) fn new(canvas: &'a mut Canvas, axis: &'a Axis, style: &'a Style) -> Pen<'a> {
        Pen { canvas, axis, style, used: UsedSigns { signs: BTreeSet::new(), clients: BTreeSet::new() } }
    }

    /// The signs that were used.
    pub(super) fn into_used(self) -> UsedSigns {
        self.used
    }

    /// Begins a new row below the others.
    pub(super) fn row(&mut self, label: &str, paint: Paint) -> &mut Row {
        self.canvas.row(label, paint)
    }

    pub(super) fn last_row(&mut self) -> &mut Row {
        self.canvas.last_row()
    }

    pub(super) fn column(&self, at: TrueNs) -> usize {
        self.axis.column(at)
    }

    /// Draws a sign from one moment to another.
    pub(super) fn fill(&mut self, from: TrueNs, to: TrueNs, sign: Sign, paint: Paint) {
        let (from, to) = (self.column(from), self.column(to));
        self.fill_columns(from, to, sign, paint);
    }

    pub(super) fn fill_columns(&mut self, from: usize, to: usize, sign: Sign, paint: Paint) {
        self.used.signs.insert(sign);
        let glyph = sign.glyph(self.style);
        self.last_row().fill(from, to, glyph, paint);
    }

    /// Draws the key of a client, by its place in the scenario.
    pub(super) fn fill_key(&mut self, from: TrueNs, to: TrueNs, client: usize, glyph: char) {
        let (from, to) = (self.column(from), self.column(to));
        self.used.signs.insert(Sign::Key);
        self.used.clients.insert(client);
        self.last_row().fill(from, to, glyph, Paint::Client(client));
    }
}
