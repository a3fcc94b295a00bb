//! Rows of a plot, each with a name and a bar from left to right: names stand beside the bars if all are short, and
//! otherwise above them, since a name is never cut.

use super::canvas::{Canvas, FAINT, INK, SMALL, Side, TEXT, WIDTH};
use super::frame::Field;
use super::scale::Scale;

/// Names that are longer stand above their bars.
const BESIDE: usize = 24;
/// Room for a letter of the smallest text.
pub(super) const LETTER: f64 = 8.0;
const LINE: f64 = 22.0;
const BELOW: f64 = 64.0;
const ABOVE: f64 = 32.0;

/// The places of rows.
pub(super) struct Rows<'a> {
    names: Vec<&'a str>,
    is_beside: bool,
    /// The unit of the bars.
    pub(super) field: Field,
}

impl<'a> Rows<'a> {
    /// From top to bottom, with so much room for what stands at the right.
    pub(super) fn new(names: impl Iterator<Item = &'a str>, at_right: f64) -> Rows<'a> {
        let names: Vec<&str> = names.collect();
        let is_beside = is_beside(&names);
        let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0) as f64;
        let left = if is_beside { longest * LETTER + 14.0 } else { 30.0 };
        let bottom = ABOVE + height_of_row(is_beside) * names.len().max(1) as f64;
        let field = Field { left, top: ABOVE, right: WIDTH - 16.0 - at_right, bottom };
        Rows { names, is_beside, field }
    }

    /// The size of the picture.
    pub(super) fn size(&self) -> (f64, f64) {
        (WIDTH, self.field.bottom + BELOW)
    }

    /// Draws the title and the axis.
    pub(super) fn frame(&self, canvas: &mut Canvas, title: &str, scale: &Scale, axis: &str) {
        canvas.write(title, (10.0, 14.0), Side::Right, (TEXT + 1.0, INK));
        self.field.axis_below(canvas, scale, 4, axis);
    }

    /// Draws the name of a row and a faint line below its bar, and returns the height of both.
    pub(super) fn row(&self, canvas: &mut Canvas, place: usize) -> f64 {
        let Field { left, top, right, .. } = self.field;
        let height = height_of_row(self.is_beside);
        let top = top + height * place as f64;
        let y = if self.is_beside { top + height / 2.0 } else { top + height - 9.0 };
        match self.is_beside {
            true => canvas.write(self.names[place], (left - 8.0, y), Side::Left, (SMALL, INK)),
            false => canvas.write(self.names[place], (10.0, top + 11.0), Side::Right, (SMALL, INK)),
        }
        canvas.line(&[(left, y), (right, y)], FAINT, 0.5);
        y
    }
}

/// So many rows fit into a picture that ends above the fold of a screen.
pub(crate) fn rows_that_fit(names: &[&str]) -> usize {
    const TALLEST: f64 = 490.0;
    ((TALLEST - ABOVE - BELOW) / height_of_row(is_beside(names))) as usize
}

fn is_beside(names: &[&str]) -> bool {
    names.iter().all(|name| name.chars().count() <= BESIDE)
}

fn height_of_row(is_beside: bool) -> f64 {
    if is_beside { LINE } else { LINE + 13.0 }
}
