//! Panels with lines or points of several designs, one axis below and one to the left, and a legend beside them.

use std::collections::BTreeMap;

use super::Bar;
use super::canvas::{Canvas, GREY, INK, Look, Side, Spot, TEXT, WIDTH, draw};
use super::frame::Field;
use super::scale::Scale;

/// A panel.
pub(super) struct Panel {
    pub(super) title: String,
    pub(super) across: Scale,
    pub(super) up: Scale,
    /// What is shown, by the designs' numbers.
    pub(super) lines: Vec<(usize, Vec<Dot>)>,
    /// Words beside the dots of a line, by its design's number.
    pub(super) words: BTreeMap<usize, Vec<String>>,
}

/// A number over a place, both perhaps with bars.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Dot {
    pub(crate) across: Bar,
    pub(crate) up: Bar,
}

/// How panels are drawn.
pub(super) struct Style<'a> {
    /// What the axes say.
    pub(super) below: &'a str,
    pub(super) left: &'a str,
    /// The designs, with their numbers.
    pub(super) legend: &'a [(usize, String)],
    /// How many panels stand side by side.
    pub(super) beside: usize,
    /// What is drawn of a line.
    pub(super) draw: fn(&mut Canvas, &Field, &Panel, &(usize, Vec<Dot>)),
}

const PANEL: f64 = 250.0;
const LEGEND: f64 = 260.0;
const LINE: f64 = 20.0;

pub(super) fn panels(panels: &[Panel], style: &Style<'_>) -> String {
    let beside = style.beside.min(panels.len()).max(1);
    let rows = panels.len().div_ceil(beside);
    let each = PANEL + 92.0;
    let height = (each * rows as f64).max(style.legend.len() as f64 * LINE + 50.0);
    let wide = (WIDTH - LEGEND) / beside as f64;
    draw((WIDTH, height), |canvas| {
        for (number, panel) in panels.iter().enumerate() {
            let (left, top) = ((number % beside) as f64 * wide, (number / beside) as f64 * each + 34.0);
            let field = Field { left: left + 74.0, top, right: left + wide - 16.0, bottom: top + PANEL };
            field.title(canvas, &panel.title);
            field.axis_left(canvas, &panel.up, 5);
            field.axis_below(canvas, &panel.across, 6, style.below);
            canvas.upward(style.left, (left + 10.0, f64::midpoint(field.top, field.bottom)));
            for line in &panel.lines {
                (style.draw)(canvas, &field, panel, line);
            }
        }
        legend(canvas, style.legend);
    })
}

fn legend(canvas: &mut Canvas, designs: &[(usize, String)]) {
    let left = WIDTH - LEGEND + 16.0;
    for (place, (design, name)) in designs.iter().enumerate() {
        let (y, look) = (34.0 + 10.0 + place as f64 * LINE, Look::new(*design));
        canvas.curve(&[(left, y), (left + 36.0, y)], look);
        canvas.marker((left + 18.0, y), look);
        let short: String = name.chars().take(32).collect();
        canvas.write(&short, (left + 46.0, y), Side::Right, (TEXT - 1.5, INK));
    }
}

/// A dot's place in a field, if it has a number.
pub(super) fn spot(field: &Field, panel: &Panel, dot: &Dot) -> Option<Spot> {
    let (across, up) = dot.across.value.zip(dot.up.value)?;
    Some(field.at(panel.across.place(across), panel.up.place(up)))
}

/// The ends of a dot's bar, the lower one first, above the number across or the middle of its bar.
pub(super) fn ends(field: &Field, panel: &Panel, dot: &Dot) -> [Spot; 2] {
    let across = dot.across.value.unwrap_or(f64::midpoint(dot.across.low, dot.across.high));
    [dot.up.low, dot.up.high].map(|up| field.at(panel.across.place(across), panel.up.place(up)))
}

/// A line through the dots that have numbers, with a gap where one has none. Pieces narrower than this are left to the
/// band: of thousands of values they would be most of a page, and nobody saw them.
const NARROWEST: f64 = 1.0;

/// Draws it.
pub(super) fn draw_curve(
    canvas: &mut Canvas,
    field: &Field,
    panel: &Panel,
    (design, dots): &(usize, Vec<Dot>),
) {
    let places: Vec<Option<Spot>> = dots.iter().map(|dot| spot(field, panel, dot)).collect();
    for piece in places.split(Option::is_none) {
        let piece: Vec<Spot> = piece.iter().flatten().copied().collect();
        let is_seen =
            piece.first().zip(piece.last()).is_some_and(|(one, other)| other.0 - one.0 >= NARROWEST);
        if is_seen {
            canvas.curve(&piece, Look::new(*design));
        }
    }
}

/// What lies between the ends of a line's bars.
pub(super) fn band(canvas: &mut Canvas, field: &Field, panel: &Panel, (design, dots): &(usize, Vec<Dot>)) {
    let all: Vec<[Spot; 2]> = dots.iter().map(|dot| ends(field, panel, dot)).collect();
    let mut outline: Vec<Spot> = all.iter().map(|[_, high]| *high).collect();
    outline.extend(all.iter().rev().map(|[low, _]| *low));
    canvas.band(&outline, Look::new(*design));
}

/// Says that there is nothing to see.
pub(super) fn nothing(canvas: &mut Canvas, field: &Field, words: &str) {
    canvas.write(words, field.at(0.5, 0.5), Side::Centre, (TEXT, GREY));
}
