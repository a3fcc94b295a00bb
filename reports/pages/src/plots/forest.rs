//! Rates of designs with their intervals, a panel for each predicate, on axes of powers of ten.
//!
//! Zero has no place on such an axis: if nothing was seen, an arrow comes from the left edge and ends at the bound. If
//! only the ends are known, nothing stands between them.

use super::Bar;
use super::canvas::{Canvas, FAINT, GREY, Look, Side, TEXT, WIDTH, draw};
use super::frame::Field;
use super::scale::{Quantity, Scale};

/// What the plot shows.
pub(crate) struct Forest {
    /// The designs' names, from top to bottom, with their numbers in the study.
    pub(crate) designs: Vec<(usize, String)>,
    /// The panels: a title, and a rate for each design, if it is known.
    pub(crate) panels: Vec<(String, Vec<Option<Bar>>)>,
}

const ROW: f64 = 26.0;
const ACROSS: usize = 3;

/// Draws it.
pub(crate) fn forest(plot: &Forest) -> String {
    let names = plot.designs.iter().map(|(_, name)| name.chars().count()).max().unwrap_or(0);
    let left = (names.min(34) as f64 * 7.6 + 24.0).max(60.0);
    let rows = plot.panels.len().div_ceil(ACROSS).max(1);
    let height = plot.designs.len().max(1) as f64 * ROW;
    let each = height + 84.0;
    let bars = plot.panels.iter().flat_map(|(_, bars)| bars).flatten();
    let ends = bars.flat_map(Bar::places).filter(|place| *place > 0.0);
    let scale = Scale::log(ends, Quantity::Share);
    let across = plot.panels.len().min(ACROSS) as f64;
    let wide = (WIDTH - left - 16.0) / across;
    draw((WIDTH, each * rows as f64 + 6.0), |canvas| {
        for (number, (title, bars)) in plot.panels.iter().enumerate() {
            let (row, column) = (number / ACROSS, number % ACROSS);
            let (x, top) = (left + wide * column as f64, each * row as f64 + 30.0);
            let field = Field { left: x, top, right: x + wide - 44.0, bottom: top + height };
            panel(canvas, &field, &scale, (title, bars), plot);
            if column == 0 {
                names_of(canvas, &field, plot);
            }
        }
    })
}

fn names_of(canvas: &mut Canvas, field: &Field, plot: &Forest) {
    for (place, (_, name)) in plot.designs.iter().enumerate() {
        let y = row(field, place);
        let short: String = name.chars().take(34).collect();
        canvas.text(&short, (field.left - 10.0, y), Side::Left);
    }
}

fn row(field: &Field, place: usize) -> f64 {
    field.top + ROW * (place as f64 + 0.5)
}

fn panel(
    canvas: &mut Canvas,
    field: &Field,
    scale: &Scale,
    (title, bars): (&str, &[Option<Bar>]),
    plot: &Forest,
) {
    field.title(canvas, title);
    for place in 0..plot.designs.len() {
        let y = row(field, place);
        canvas.line(&[(field.left, y), (field.right, y)], FAINT, 0.5);
    }
    field.axis_below(canvas, scale, 4, "share of runs");
    for (place, (bar, (design, _))) in bars.iter().zip(&plot.designs).enumerate() {
        let (y, look) = (row(field, place), Look::new(*design));
        match bar {
            Some(bar) if bar.low > 0.0 => interval(canvas, field, scale, (bar, y), look),
            Some(bar) => draw_bound(canvas, field, scale, (bar.high, y), look),
            None => canvas.write("not decided", (field.left + 6.0, y), Side::Right, (TEXT - 2.0, GREY)),
        }
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
