//! How long two clients held a lock at once: for each length, the share of overlaps that were no longer.
//!
//! The band is that of Dvoretzky, Kiefer and Wolfowitz: the whole line lies in it 19 times in 20, if overlaps came one
//! by one. Several of one run come together, so that it is rather too narrow.

use super::Bar;
use super::canvas::{Canvas, Look, Spot};
use super::frame::Field;
use super::panels::{Dot, Panel, Style, band, nothing, panels};
use super::scale::{Quantity, Scale};

/// Distributions of lengths.
pub(crate) struct Lengths {
    /// The designs' names, with their numbers in the study.
    pub(crate) designs: Vec<(usize, String)>,
    /// The panels: a title, and the designs' distributions.
    pub(crate) panels: Vec<(String, Vec<Distribution>)>,
}

/// One design's lengths.
pub(crate) struct Distribution {
    pub(crate) design: usize,
    /// How many there are.
    pub(crate) count: u64,
    /// Lengths in seconds, and the share that is no longer.
    pub(crate) steps: Vec<(f64, f64)>,
}

pub(crate) fn lengths(plot: &Lengths) -> String {
    let all = plot.panels.iter().flat_map(|(_, of)| of).flat_map(|it| &it.steps).map(|(length, _)| *length);
    let across = Scale::log(all.filter(|it| *it > 0.0), Quantity::Seconds);
    let panel = |(title, of): &(String, Vec<Distribution>)| Panel {
        title: title.clone(),
        across: across.clone(),
        up: Scale::linear([1.0].into_iter(), Quantity::Share),
        lines: of.iter().map(|it| (it.design, dots(it))).collect(),
        words: Vec::new(),
    };
    let all: Vec<Panel> = plot.panels.iter().map(panel).collect();
    let style = Style {
        below: "length of an overlap",
        left: "share of overlaps that are no longer",
        legend: &plot.designs,
        beside: 2,
        draw: line,
    };
    panels(&all, &style)
}

fn dots(of: &Distribution) -> Vec<Dot> {
    let off = ((2.0_f64 / 0.05).ln() / (2.0 * of.count.max(1) as f64)).sqrt();
    let dot = |(length, share): &(f64, f64)| Dot {
        across: Bar { value: *length, low: *length, high: *length },
        up: Bar { value: *share, low: (share - off).max(0.0), high: (share + off).min(1.0) },
    };
    of.steps.iter().map(dot).collect()
}

fn line(canvas: &Canvas<'_>, field: &Field, panel: &Panel, line: &(usize, Vec<Dot>)) {
    let (design, dots) = line;
    if dots.is_empty() {
        return nothing(canvas, field, "none");
    }
    let look = Look::of(*design);
    band(canvas, field, panel, line);
    let mut stairs: Vec<Spot> = Vec::new();
    let mut height = 0.0;
    for dot in dots {
        let across = panel.across.place(dot.across.value);
        stairs.push(field.at(across, panel.up.place(height)));
        height = dot.up.value;
        stairs.push(field.at(across, panel.up.place(height)));
    }
    canvas.curve(&stairs, look);
    // The median, where the design's sign is.
    if let Some(dot) = dots.iter().find(|dot| dot.up.value >= 0.5) {
        canvas.marker(field.at(panel.across.place(dot.across.value), panel.up.place(0.5)), look);
    }
}
