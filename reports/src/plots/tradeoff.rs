//! What safety costs in recovery: how often a late write is applied, against how long it takes to have the lock again
//! after its holder died.

use super::canvas::{Canvas, GREY, Look, Side, TEXT};
use super::frame::Field;
use super::panels::{Dot, Panel, Style, panels, spots};
use super::scale::{Quantity, Scale};

/// Both numbers of designs.
pub(crate) struct Tradeoff {
    /// What the axis to the left counts.
    pub(crate) left: String,
    /// The designs' names, with their numbers in the study.
    pub(crate) designs: Vec<(usize, String)>,
    /// The designs' cells in the order of the grid, each perhaps with a word.
    pub(crate) lines: Vec<(usize, Vec<(Dot, String)>)>,
}

/// More words than this would cover each other.
const WORDS: usize = 24;

pub(crate) fn tradeoff(plot: &Tradeoff) -> String {
    let dots = || plot.lines.iter().flat_map(|(_, dots)| dots).map(|(dot, _)| dot);
    let across: Vec<f64> =
        dots().flat_map(|dot| [dot.across.low.max(0.0), dot.across.value, dot.across.high]).collect();
    let up: Vec<f64> = dots().flat_map(|dot| [dot.up.low, dot.up.value, dot.up.high]).collect();
    let panel = Panel {
        title: String::new(),
        across: Scale::fitting(&across, Quantity::Seconds),
        up: Scale::fitting(&up, Quantity::Share),
        lines: plot
            .lines
            .iter()
            .map(|(design, dots)| (*design, dots.iter().map(|(dot, _)| *dot).collect()))
            .collect(),
        words: if dots().count() <= WORDS {
            plot.lines.iter().flat_map(|(_, dots)| dots).map(|(dot, word)| (*dot, word.clone())).collect()
        } else {
            Vec::new()
        },
    };
    let style = Style {
        below: "mean time until the lock was had again after its holder died",
        left: &plot.left,
        legend: &plot.designs,
        beside: 1,
        draw: line,
    };
    panels(&[panel], &style)
}

fn line(canvas: &Canvas<'_>, field: &Field, panel: &Panel, (design, dots): &(usize, Vec<Dot>)) {
    let look = Look::of(*design);
    let places = spots(field, panel, dots, |bar| bar.value);
    if places.len() > 1 {
        canvas.curve(&places, look);
    }
    for (dot, at) in dots.iter().zip(&places) {
        let y = |value: f64| field.at(0.0, panel.up.place(value)).1;
        let x = |value: f64| field.at(panel.across.place(value), 0.0).0;
        canvas.whisker((at.0, y(dot.up.low)), (at.0, y(dot.up.high)), look);
        canvas.whisker_across((x(dot.across.low), at.1), (x(dot.across.high), at.1), look);
        canvas.marker(*at, look);
        if let Some((_, word)) = panel.words.iter().find(|(known, _)| known == dot) {
            canvas.write(word, (at.0 + 8.0, at.1 - 10.0), Side::Right, (TEXT - 2.5, GREY));
        }
    }
}
