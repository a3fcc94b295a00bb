//! Panels with lines or points of several designs, one axis below and one to the left. A
//! legend follows them.

use std::collections::BTreeMap;

use super::Bar;
use super::canvas::{Canvas, GREY, INK, Look, SMALL, Side, Spot, TEXT, WIDTH, draw};
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
    /// What is drawn of a line.
    pub(super) draw: fn(&mut Canvas, &Field, &Panel, &(usize, Vec<Dot>)),
}

const PANEL: f64 = 270.0;
const LINE: f64 = 22.0;

/// Draws each panel as a picture of its own, and the legend as the last one.
pub(super) fn panels(panels: &[Panel], style: &Style<'_>) -> Vec<String> {
    let panel = |panel: &Panel| {
        draw((WIDTH, PANEL + 106.0), |canvas| {
            let field = Field { left: 86.0, top: 34.0, right: WIDTH - 14.0, bottom: 34.0 + PANEL };
            field.title(canvas, &panel.title);
            field.axis_left(canvas, &panel.up, 5);
            field.axis_below(canvas, &panel.across, 4, style.below);
            canvas.upward(style.left, (10.0, f64::midpoint(field.top, field.bottom)));
            for line in &panel.lines {
                (style.draw)(canvas, &field, panel, line);
            }
        })
    };
    panels.iter().map(panel).chain([legend(style.legend)]).collect()
}

fn legend(designs: &[(usize, String)]) -> String {
    draw((WIDTH, designs.len() as f64 * LINE + 20.0), |canvas| {
        for (place, (design, name)) in designs.iter().enumerate() {
            let (y, look) = (16.0 + place as f64 * LINE, Look::new(*design));
            canvas.curve(&[(10.0, y), (50.0, y)], look);
            canvas.marker((30.0, y), look);
            canvas.write(name, (62.0, y), Side::Right, (SMALL, INK));
        }
    })
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
