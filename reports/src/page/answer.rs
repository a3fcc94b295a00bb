//! The answer in words: which design is violated least often, and which are not told apart from it.
//!
//! Only what the numbers say, about these runs; no word of which design to take.

use doublehold_history::Predicate;

use super::document::{Block, Line};
use super::numbers::{bound as bounded, share};
use super::rates::{Figures, Known, Rate};
use super::sheet::{Apart, RANKED, Sheet};
use crate::findings::{grouped, several};

/// Up to so many designs are named in a row.
const NAMED: usize = 6;

pub(crate) fn answer(sheet: &Sheet<'_>) -> Vec<Block> {
    let points = sheet.shown();
    if let ([point], 1) = (points, sheet.points.len()) {
        return vec![Block::Note(at_point(sheet, *point))];
    }
    if points.len() == sheet.points.len() {
        let of = |point: &u64| {
            Line::of("With ").then(codes(&sheet.values(*point))).text(": ").then(at_point(sheet, *point))
        };
        return vec![Block::List(points.iter().map(of).collect())];
    }
    vec![Block::Note(over_grid(sheet))]
}

/// What the numbers of one point say.
fn at_point(sheet: &Sheet<'_>, point: u64) -> Line {
    let cells = sheet.ranked(point);
    if cells.iter().all(|cell| cell.runs == 0) {
        return Line::of("There are no runs yet.");
    }
    let sentences = RANKED.iter().map(|it| sentence(sheet, point, &cells, *it));
    let mut line = Line::default();
    for (place, sentence) in sentences.enumerate() {
        line = if place == 0 { sentence } else { line.text(" ").then(sentence) };
    }
    line
}

fn sentence(sheet: &Sheet<'_>, point: u64, cells: &[&Figures], predicate: Predicate) -> Line {
    let mut known: Vec<&Figures> =
        cells.iter().copied().filter(|cell| cell.rate(predicate).value().is_some()).collect();
    known.sort_by(|one, other| {
        let key = |cell: &Figures| (cell.rate(predicate).value(), cell.rate(predicate).high());
        let ((value, high), (other, other_high)) = (key(one), key(other));
        value
            .partial_cmp(&other)
            .into_iter()
            .chain(high.partial_cmp(&other_high))
            .fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
    });
    let start = Line::default().strong(format!("{} ({}): ", predicate.as_str(), predicate.name()));
    let Some((best, others)) = known.split_first() else {
        return start.text("no run decided it.");
    };
    let name = |cell: &Figures| {
        Line::default().code(sheet.name(cell.design)).text(format!(" ({})", words(cell.rate(predicate))))
    };
    if others.is_empty() {
        return start.text(format!("{}.", words(best.rate(predicate))));
    }
    if known.iter().all(|cell| cell.rate(predicate).value() == Some(0.0)) {
        return start.text("seen with no design").then(bounds(&known, predicate));
    }
    let of = |wanted: &[Apart]| -> Vec<&Figures> {
        let is = |cell: &&&Figures| wanted.contains(&sheet.apart(point, (cell, best), predicate));
        others.iter().filter(is).copied().collect()
    };
    let (same, worse) = (of(&[Apart::No, Apart::Unknown]), of(&[Apart::Higher, Apart::Lower]));
    let mut line = start.text("lowest with ").then(name(best));
    if !same.is_empty() {
        let not = if same.len() == 1 { " is" } else { " are" };
        line = line.text("; ").then(names(&same, &name)).text(format!("{not} not told apart from it"));
    }
    if !worse.is_empty() {
        line = line.text("; higher with ").then(names(&worse, &name));
    }
    line.text(".")
}

/// Where nothing was seen, what follows from that.
fn bounds(cells: &[&Figures], predicate: Predicate) -> Line {
    let worst = cells.iter().filter_map(|cell| cell.rate(predicate).high()).fold(0.0, f64::max);
    Line::of(format!(", so at most in {} of runs of each.", bounded(worst)))
}

fn names(cells: &[&Figures], name: &dyn Fn(&Figures) -> Line) -> Line {
    let mut line = Line::default();
    let shown = cells.len().min(NAMED);
    for (place, cell) in cells[..shown].iter().enumerate() {
        let is_last = place + 1 == cells.len();
        line = match place {
            0 => line,
            _ if is_last => line.text(" and "),
            _ => line.text(", "),
        };
        line = line.then(name(cell));
    }
    if cells.len() > shown { line.text(format!(" and {} more", cells.len() - shown)) } else { line }
}

/// `1.2 % of runs`.
pub(crate) fn words(rate: &Rate) -> String {
    match &rate.known {
        Known::Estimated { value, .. } => format!("{} of runs", share(*value)),
        Known::AtMost { bound, why } => {
            let seen = if why.is_some() && rate.violated > 0 { "no number" } else { "none" };
            format!("{seen} in {}, at most {}", several(rate.decided, "run"), bounded(*bound))
        }
        Known::Nothing => "no run decided it".to_owned(),
    }
}

fn codes(values: &[String]) -> Line {
    Line::default().codes(&values.iter().map(String::as_str).collect::<Vec<_>>())
}

/// At how many points of a large grid each design is the best.
fn over_grid(sheet: &Sheet<'_>) -> Line {
    let designs = sheet.results.header.designs.len();
    let mut line = Line::of(format!("Over {} points of the grid. ", grouped(sheet.points.len() as u64)));
    for predicate in RANKED {
        line = line.strong(format!("{} ({}): ", predicate.as_str(), predicate.name()));
        let mut lowest = vec![0usize; designs];
        for point in &sheet.points {
            let best =
                sheet.at(*point).filter_map(|it| it.rate(predicate).value()).fold(f64::INFINITY, f64::min);
            for cell in sheet.at(*point).filter(|it| it.rate(predicate).value() == Some(best)) {
                lowest[cell.design] += 1;
            }
        }
        let range = |design: usize| range(sheet, design, predicate);
        let mut order: Vec<usize> = (0..designs).collect();
        order.sort_by_key(|design| std::cmp::Reverse(lowest[*design]));
        for (place, design) in order.iter().take(NAMED).enumerate() {
            let comma = if place == 0 { "" } else { "; " };
            line = line.text(comma).code(sheet.name(*design)).text(format!(" {}", range(*design)));
            if designs > 1 {
                line = line.text(format!(
                    ", lowest or among the lowest at {}",
                    several(lowest[*design] as u64, "point")
                ));
            }
        }
        line = line.text(if designs > NAMED {
            format!("; and {} more designs. ", designs - NAMED)
        } else {
            ". ".to_owned()
        });
    }
    line
}

/// From which rate to which a design goes over the grid.
fn range(sheet: &Sheet<'_>, design: usize, predicate: Predicate) -> String {
    let of_design = sheet.cells.values().filter(|cell| cell.design == design);
    let values: Vec<f64> = of_design.filter_map(|cell| cell.rate(predicate).value()).collect();
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(0.0, f64::max);
    match values.len() {
        0 => "undecided everywhere".to_owned(),
        _ if high == 0.0 => "seen nowhere".to_owned(),
        _ => format!("from {} to {} of runs", share(low), share(high)),
    }
}
