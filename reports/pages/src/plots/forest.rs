//! Rates of designs under one rule, with their intervals, on an axis of powers of ten.
//!
//! Zero has no place on such an axis: if nothing was seen, an arrow comes from the left edge and ends at the bound. If
//! only the ends are known, nothing stands between them. Beside each stand its letters: designs that share one are not
//! told apart.

use super::Bar;
use super::canvas::{Canvas, GREY, Look, SMALL, Side, draw};
use super::frame::Field;
use super::rows::{LETTER, Rows};
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

/// Draws it.
pub(crate) fn forest(plot: &Forest) -> String {
    let letters = plot.rows.iter().map(|row| row.letters.chars().count()).max().unwrap_or(0) as f64;
    let rows = Rows::new(plot.rows.iter().map(|row| row.name.as_str()), letters * LETTER);
    let ends = plot.rows.iter().filter_map(|row| row.bar.as_ref()).flat_map(Bar::places);
    let scale = Scale::log(ends.filter(|place| *place > 0.0), plot.quantity);
    draw(rows.size(), |canvas| {
        rows.frame(canvas, &plot.title, &scale, &plot.axis);
        for (place, row) in plot.rows.iter().enumerate() {
            let y = rows.row(canvas, place);
            draw_bar(canvas, &rows.field, &scale, (row, y));
            canvas.write(&row.letters, (rows.field.right + 10.0, y), Side::Right, (SMALL, GREY));
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
