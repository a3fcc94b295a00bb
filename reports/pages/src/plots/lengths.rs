//! How long two clients held a lock at once: for each length, the share of overlaps that were no longer.
//!
//! Each median has its error bar, from the lengths at shares of half ± 0.98 / √n. Of few designs the whole line has a
//! band too, that of Dvoretzky, Kiefer and Wolfowitz. Both hold 19 times in 20, if overlaps came one by one. Several of
//! one run come together, so that they are rather too narrow.

use std::collections::BTreeMap;

use super::Bar;
use super::canvas::{Canvas, Look, Spot};
use super::frame::Field;
use super::panels::{Dot, Panel, Style, band, panels};
use super::scale::{Quantity, Scale};

/// Distributions of lengths.
pub(crate) struct Lengths {
    /// The designs' names, with their numbers in the study.
    pub(crate) designs: Vec<(usize, String)>,
    /// The panels: a title, and the designs' distributions.
    pub(crate) panels: Vec<(String, Vec<DistributionCurve>)>,
}

/// One design's lengths.
pub(crate) struct DistributionCurve {
    pub(crate) design: usize,
    /// The number of lengths; if they have weights, the number of equally weighted ones that would say as much.
    pub(crate) effective: f64,
    /// Lengths in seconds, and the share that is no longer.
    pub(crate) steps: Vec<(f64, f64)>,
}

pub(crate) fn lengths(plot: &Lengths) -> Vec<String> {
    let all = plot.panels.iter().flat_map(|(_, of)| of).flat_map(|it| &it.steps).map(|(length, _)| *length);
    let across = Scale::log(all.filter(|it| *it > 0.0), Quantity::Seconds);
    let panel = |(title, of): &(String, Vec<DistributionCurve>)| Panel {
        title: title.clone(),
        across: across.clone(),
        up: Scale::linear([1.0].into_iter(), Quantity::Share),
        lines: of.iter().map(|it| (it.design, dots(it))).collect(),
        words: BTreeMap::new(),
    };
    let all: Vec<Panel> = plot.panels.iter().map(panel).collect();
    let is_few = plot.designs.len() <= BANDS;
    let style = Style {
        below: "length of an overlap",
        left: "share of overlaps that are no longer",
        legend: &plot.designs,
        draw: if is_few { draw_band } else { line },
    };
    panels(&all, &style)
}

/// Steps with their bands; across, each has the error bar of the median.
fn dots(of: &DistributionCurve) -> Vec<Dot> {
    let count = of.effective.max(1.0);
    let off = ((2.0_f64 / 0.05).ln() / (2.0 * count)).sqrt();
    let median = 0.98 / count.sqrt();
    let at = |share: f64| {
        let reached =
            of.steps.iter().find(|(_, reached)| *reached >= share * (1.0 - 1e-12)).or(of.steps.last());
        reached.map_or(0.0, |(length, _)| *length)
    };
    let ends = (at(0.5 - median), at(0.5 + median));
    let dot = |(length, share): &(f64, f64)| Dot {
        across: Bar { value: Some(*length), low: ends.0, high: ends.1 },
        up: Bar { value: Some(*share), low: (share - off).max(0.0), high: (share + off).min(1.0) },
    };
    of.steps.iter().map(dot).collect()
}

/// More bands than this would be one.
const BANDS: usize = 3;

fn draw_band(canvas: &mut Canvas, field: &Field, panel: &Panel, of: &(usize, Vec<Dot>)) {
    band(canvas, field, panel, of);
    line(canvas, field, panel, of);
}

fn line(canvas: &mut Canvas, field: &Field, panel: &Panel, (design, dots): &(usize, Vec<Dot>)) {
    let look = Look::new(*design);
    let mut stairs: Vec<Spot> = Vec::new();
    let mut height = 0.0;
    for (length, share) in dots.iter().filter_map(|dot| dot.across.value.zip(dot.up.value)) {
        let across = panel.across.place(length);
        stairs.push(field.at(across, panel.up.place(height)));
        height = share;
        stairs.push(field.at(across, panel.up.place(height)));
    }
    canvas.curve(&stairs, look);
    let is_median = |dot: &&Dot| dot.up.value.is_some_and(|share| share >= 0.5 * (1.0 - 1e-12));
    if let Some(median) = dots.iter().find(is_median).map(|dot| dot.across) {
        let at = |length: f64| field.at(panel.across.place(length), panel.up.place(0.5));
        canvas.whisker_across(at(median.low), at(median.high), look);
        median.value.iter().for_each(|length| canvas.marker(at(*length), look));
    }
}
