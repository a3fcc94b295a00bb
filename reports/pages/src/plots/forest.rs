//! Rates of designs under one rule, with their intervals, on an axis of powers of ten.
//!
//! Zero has no place on such an axis: if nothing was seen, an arrow comes from the left edge and ends at the bound. If
//! only the ends are known, nothing stands between them. Beside each stand its letters: designs that share one are not
//! told apart.

use super::Bar;
use super::canvas::{Canvas, FAINT, GREY, INK, Look, SMALL, Side, TEXT, WIDTH, draw};
use super::frame::Field;
use super::scale::{Quantity, Scale};

/// What the plot shows.
pub(crate) struct Forest {
    /// What is counted.
    pub(crate) title: String,
    /// In what.
    pub(crate) axis: String,
    pub(crate) quantity: Quantity,
    /// From top to bottom.
    pub(crate) rows: Vec<Row>,
}

/// A design.
pub(crate) struct Row {
    /// Its number in the study.
    pub(crate) design: usize,
    pub(crate) name: String,
    /// Its rate, if it is known.
    pub(crate) bar: Option<Bar>,
    /// Its letters; empty where nothing is compared.
    pub(crate) letters: String,
}

/// Names that are longer stand above their bars.
const BESIDE: usize = 24;
const LETTER: f64 = 8.0;
const LINE: f64 = 22.0;
const BELOW: f64 = 64.0;
const ABOVE: f64 = 32.0;

/// So many rows fit into a picture that ends above the fold of a screen.
pub(crate) fn rows_that_fit(names: &[&str]) -> usize {
    const TALLEST: f64 = 490.0;
    ((TALLEST - ABOVE - BELOW) / height_of_row(is_beside(names.iter().copied()))) as usize
}

fn is_beside<'a>(mut names: impl Iterator<Item = &'a str>) -> bool {
    names.all(|name| name.chars().count() <= BESIDE)
}

fn height_of_row(is_beside: bool) -> f64 {
    if is_beside { LINE } else { LINE + 13.0 }
}

/// Draws it.
pub(crate) fn forest(plot: &Forest) -> String {
    let names = || plot.rows.iter().map(|row| row.name.as_str());
    let is_beside = is_beside(names());
    let longest = names().map(|name| name.chars().count()).max().unwrap_or(0) as f64;
    let left = if is_beside { longest * LETTER + 14.0 } else { 30.0 };
    let letters = plot.rows.iter().map(|row| row.letters.chars().count()).max().unwrap_or(0) as f64;
    let height = height_of_row(is_beside);
    let bottom = ABOVE + height * plot.rows.len().max(1) as f64;
    let ends = plot.rows.iter().filter_map(|row| row.bar.as_ref()).flat_map(Bar::places);
    let scale = Scale::log(ends.filter(|place| *place > 0.0), plot.quantity);
    draw((WIDTH, bottom + BELOW), |canvas| {
        let right = WIDTH - 16.0 - letters * LETTER;
        let field = Field { left, top: ABOVE, right, bottom };
        canvas.write(&plot.title, (10.0, 14.0), Side::Right, (TEXT + 1.0, INK));
        field.axis_below(canvas, &scale, 4, &plot.axis);
        for (place, row) in plot.rows.iter().enumerate() {
            let top = field.top + height * place as f64;
            let y = if is_beside { top + height / 2.0 } else { top + height - 9.0 };
            match is_beside {
                true => canvas.write(&row.name, (left - 8.0, y), Side::Left, (SMALL, INK)),
                false => canvas.write(&row.name, (10.0, top + 11.0), Side::Right, (SMALL, INK)),
            }
            canvas.line(&[(field.left, y), (field.right, y)], FAINT, 0.5);
            draw_bar(canvas, &field, &scale, (row, y));
            canvas.write(&row.letters, (right + 10.0, y), Side::Right, (SMALL, GREY));
        }
    })
}

fn draw_bar(canvas: &mut Canvas, field: &Field, scale: &Scale, (row, y): (&Row, f64)) {
    let look = Look::new(row.design);
    match &row.bar {
        Some(bar) if bar.low > 0.0 => interval(canvas, field, scale, (bar, y), look),
        Some(bar) => draw_bound(canvas, field, scale, (bar.high, y), look),
        None => canvas.write("not decided", (field.left + 6.0, y), Side::Right, (SMALL, GREY)),
    }
}

fn interval(canvas: &mut Canvas, field: &Field, scale: &Scale, (bar, y): (&Bar, f64), look: Look) {
    let x = |value: f64| field.at(scale.place(value), 0.0).0;
    let (low, high) = (x(bar.low), x(bar.high));
    canvas.line(&[(low, y), (high, y)], look.colour(), 1.5);
    for end in [low, high] {
        canvas.line(&[(end, y - 4.0), (end, y + 4.0)], look.colour(), 1.5);
    }
    bar.value.iter().for_each(|value| canvas.marker((x(*value), y), look));
}

/// An arrow to the left, from the bound.
fn draw_bound(canvas: &mut Canvas, field: &Field, scale: &Scale, (high, y): (f64, f64), look: Look) {
    let (from, to) = (field.left + 2.0, field.at(scale.place(high), 0.0).0);
    canvas.line(&[(from, y), (to, y)], look.colour(), 1.5);
    canvas.line(&[(to, y - 4.0), (to, y + 4.0)], look.colour(), 1.5);
    canvas.line(&[(from + 6.0, y - 4.0), (from, y), (from + 6.0, y + 4.0)], look.colour(), 1.5);
}
