//! A panel: a field with axes, ticks and their words.

use super::canvas::{Canvas, FAINT, GREY, INK, SMALL, Side, Spot, TEXT};
use super::scale::Scale;

/// A field on the sheet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
}

impl Field {
    /// The place on the sheet of a place in the field: both between 0 and 1, from the lower left corner.
    pub(super) fn at(&self, across: f64, up: f64) -> Spot {
        (self.left + (self.right - self.left) * across, self.bottom - (self.bottom - self.top) * up)
    }

    /// The title above it.
    pub(super) fn title(&self, canvas: &mut Canvas, title: &str) {
        canvas.write(title, (self.left, self.top - 12.0), Side::Right, (TEXT + 1.0, INK));
    }

    /// The axis below, with lines up from its ticks.
    pub(super) fn axis_below(&self, canvas: &mut Canvas, scale: &Scale, most: usize, label: &str) {
        for (value, words) in scale.ticks(most) {
            let (x, _) = self.at(scale.place(value), 0.0);
            if let Some(words) = words {
                canvas.line(&[(x, self.top), (x, self.bottom)], FAINT, 1.0);
                canvas.line(&[(x, self.bottom), (x, self.bottom + 4.0)], INK, 1.0);
                canvas.write(&words, (x, self.bottom + 8.0), Side::Below, (SMALL, INK));
            } else {
                canvas.line(&[(x, self.bottom), (x, self.bottom + 2.0)], INK, 1.0);
            }
        }
        canvas.line(&[(self.left, self.bottom), (self.right, self.bottom)], INK, 1.0);
        if !label.is_empty() {
            let middle = f64::midpoint(self.left, self.right);
            canvas.write(label, (middle, self.bottom + 30.0), Side::Below, (SMALL, GREY));
        }
    }

    /// The axis to the left, with lines across from its ticks.
    pub(super) fn axis_left(&self, canvas: &mut Canvas, scale: &Scale, most: usize) {
        for (value, words) in scale.ticks(most) {
            let (_, y) = self.at(0.0, scale.place(value));
            if let Some(words) = words {
                canvas.line(&[(self.left, y), (self.right, y)], FAINT, 1.0);
                canvas.line(&[(self.left - 4.0, y), (self.left, y)], INK, 1.0);
                canvas.write(&words, (self.left - 7.0, y), Side::Left, (SMALL, INK));
            } else {
                canvas.line(&[(self.left - 2.0, y), (self.left, y)], INK, 1.0);
            }
        }
        canvas.line(&[(self.left, self.top), (self.left, self.bottom)], INK, 1.0);
    }
}
