//! Rates over one parameter: a panel for each predicate, a line with its band for each design.
//!
//! Where rates go over several powers of ten, the axis has them, with a place for zero below the lowest. Values that
//! are no numbers stand side by side, without lines between them.

use std::collections::BTreeMap;

use super::Bar;
use super::canvas::{Canvas, Look};
use super::frame::Field;
use super::panels::{Dot, Panel, Style, band, draw_curve, ends, nothing, panels, spot};
use super::scale::{Quantity, Scale};

/// Rates over a parameter.
pub(crate) struct Curves {
    /// The parameter, and what its values are.
    pub(crate) parameter: String,
    pub(crate) values: Values,
    /// The designs' names, with their numbers in the study.
    pub(crate) designs: Vec<(usize, String)>,
    /// The panels, by their titles.
    pub(crate) panels: Vec<(String, Vec<Course>)>,
}

/// One design's rates over the parameter.
pub(crate) struct Course {
    pub(crate) design: usize,
    /// The rates it has, by the values' places.
    pub(crate) rates: Vec<(usize, Bar)>,
}

/// The values of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Values {
    /// Numbers of something.
    Numbers(Vec<f64>, Quantity),
    /// Words.
    Words(Vec<String>),
}

/// More points than this, and signs would hide the line.
const SIGNS: usize = 40;

pub(crate) fn curves(plot: &Curves) -> Vec<String> {
    let across = match &plot.values {
        Values::Numbers(numbers, quantity) => Scale::around(numbers, *quantity),
        Values::Words(words) => Scale::words_of(words),
    };
    let place = |value: usize| match &plot.values {
        Values::Numbers(numbers, _) => numbers[value],
        Values::Words(_) => value as f64,
    };
    let dot = |(value, up): &(usize, Bar)| Dot { across: Bar::exact(place(*value)), up: *up };
    let panel = |(title, lines): &(String, Vec<Course>)| {
        let ends = lines.iter().flat_map(|line| &line.rates).flat_map(|(_, bar)| bar.places());
        Panel {
            title: title.clone(),
            across: across.clone(),
            up: Scale::fitting(&ends.collect::<Vec<f64>>(), Quantity::Share),
            lines: lines.iter().map(|line| (line.design, line.rates.iter().map(dot).collect())).collect(),
            words: BTreeMap::new(),
        }
    };
    let all: Vec<Panel> = plot.panels.iter().map(panel).collect();
    let is_words = matches!(plot.values, Values::Words(_));
    let style = Style {
        below: &plot.parameter,
        left: "share of runs",
        legend: &plot.designs,
        draw: if is_words { signs } else { line },
    };
    panels(&all, &style)
}

fn line(canvas: &mut Canvas, field: &Field, panel: &Panel, line: &(usize, Vec<Dot>)) {
    let (_, dots) = line;
    if dots.is_empty() {
        return nothing(canvas, field, "not decided");
    }
    band(canvas, field, panel, line);
    draw_curve(canvas, field, panel, line);
    if dots.len() <= SIGNS {
        signs(canvas, field, panel, line);
    }
}

fn signs(canvas: &mut Canvas, field: &Field, panel: &Panel, (design, dots): &(usize, Vec<Dot>)) {
    let look = Look::new(*design);
    for dot in dots {
        let [low, high] = ends(field, panel, dot);
        canvas.whisker(low, high, look);
        spot(field, panel, dot).iter().for_each(|at| canvas.marker(*at, look));
    }
}
