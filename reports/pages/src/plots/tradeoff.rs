//! What safety costs in recovery: how often a late write is applied, against how long it takes to have the lock again
//! after its holder died.

use super::Bar;
use super::canvas::{Canvas, GREY, Look, SMALL, Side};
use super::frame::Field;
use super::panels::{Dot, Panel, Style, draw_curve, ends, panels, spot};
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

pub(crate) fn tradeoff(plot: &Tradeoff) -> Vec<String> {
    let dots = || plot.lines.iter().flat_map(|(_, dots)| dots).map(|(dot, _)| dot);
    let ends = |of: fn(&Dot) -> Bar| -> Vec<f64> { dots().map(of).flat_map(|bar| bar.places()).collect() };
    let words = |(design, dots): &(usize, Vec<(Dot, String)>)| {
        (*design, dots.iter().map(|(_, word)| word.clone()).collect())
    };
    let is_few = dots().count() <= WORDS;
    let panel = Panel {
        title: String::new(),
        across: Scale::fitting(&ends(|dot| dot.across), Quantity::Seconds),
        up: Scale::fitting(&ends(|dot| dot.up), Quantity::Share),
        lines: plot
            .lines
            .iter()
            .map(|(design, dots)| (*design, dots.iter().map(|(dot, _)| *dot).collect()))
            .collect(),
        words: plot.lines.iter().filter(|_| is_few).map(words).collect(),
    };
    let style = Style {
        below: "time to have it again after a death",
        left: &plot.left,
        legend: &plot.designs,
        draw: line,
    };
    panels(&[panel], &style)
}

fn line(canvas: &mut Canvas, field: &Field, panel: &Panel, line: &(usize, Vec<Dot>)) {
    let (design, dots) = line;
    let look = Look::new(*design);
    draw_curve(canvas, field, panel, line);
    let words = panel.words.get(design);
    for (place, dot) in dots.iter().enumerate() {
        let [low, high] = ends(field, panel, dot);
        canvas.whisker(low, high, look);
        let x = |value: f64| field.at(panel.across.place(value), 0.0).0;
        let at = spot(field, panel, dot);
        if let Some(at) = at {
            canvas.whisker_across((x(dot.across.low), at.1), (x(dot.across.high), at.1), look);
            canvas.marker(at, look);
        }
        if let Some(word) = words.and_then(|words| words.get(place)) {
            let at = at.unwrap_or(high);
            canvas.write(word, (at.0 + 8.0, at.1 - 10.0), Side::Right, (SMALL, GREY));
        }
    }
}
