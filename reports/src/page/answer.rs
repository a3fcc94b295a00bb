//! The answer in words: which design is violated least often, and which are not told apart from it.
//!
//! Only what the numbers say, about these runs; no word of which design to take.

use std::cmp::Reverse;

use doublehold_history::Predicate;

use super::document::{Block, Line};
use super::numbers::share;
use super::rates::{Figures, Rate};
use super::sheet::{Apart, RANKED, Sheet, lower_first};
use crate::findings::several;
use crate::statistics::{Scale, Unsupported, bound_words, rate_parts};

/// Up to so many designs are named in a row.
const NAMED: usize = 6;

pub(crate) fn answer(sheet: &Sheet<'_>) -> Vec<Block> {
    let mut lines = vec![basis(sheet)];
    let points = sheet.shown();
    if sheet.points.len() > points.len() {
        lines.extend(RANKED.map(|it| over_grid(sheet, it)));
        return vec![Block::Note(lines)];
    }
    let mut blocks = Vec::new();
    for point in points {
        if points.len() > 1 {
            lines.push(Line::of("With ").then(sheet.values_in_code(*point)).text(":"));
        }
        lines.extend(at_point(sheet, *point));
        blocks.push(Block::Note(std::mem::take(&mut lines)));
    }
    blocks
}

/// What the answer rests on.
fn basis(sheet: &Sheet<'_>) -> Line {
    let header = &sheet.results.header;
    let designs = several(header.designs.len() as u64, "design");
    let points = match sheet.points.len() {
        1 => String::new(),
        points => format!(" at {}", several(points as u64, "point of the grid").replace("grids", "grid")),
    };
    Line::of(format!(
        "{designs}{points}, {} in all, by doublehold {}.",
        several(sheet.results.runs(), "run"),
        header.program
    ))
}

/// What the numbers of one point say.
fn at_point(sheet: &Sheet<'_>, point: u64) -> Vec<Line> {
    let cells = sheet.ranked(point);
    if cells.iter().all(|cell| cell.runs == 0) {
        return vec![Line::of("There are no runs yet.")];
    }
    RANKED.map(|it| sentence(sheet, point, &cells, it)).into()
}

fn begin(predicate: Predicate) -> Line {
    Line::default().strong(format!("{}, {}: ", predicate.as_str(), predicate.name()))
}

fn sentence(sheet: &Sheet<'_>, point: u64, cells: &[&Figures], predicate: Predicate) -> Line {
    let rate = |cell: &Figures| cell.rate(predicate).value();
    let mut known: Vec<&Figures> = cells.iter().copied().filter(|cell| rate(cell).is_some()).collect();
    known.sort_by(|one, other| lower_first(&one.rate(predicate), &other.rate(predicate)));
    let start = begin(predicate);
    let Some((best, others)) = known.split_first() else {
        return start.text("no run decided it.");
    };
    let name = |cell: &Figures| {
        Line::default().code(sheet.name(cell.design)).text(format!(" ({})", words(&cell.rate(predicate))))
    };
    if others.is_empty() {
        return start.text(format!("{}.", words(&best.rate(predicate))));
    }
    if known.iter().all(|cell| cell.rate(predicate).violated > 0 && cell.rate(predicate).per_run.is_err()) {
        return start.text("no rate can be stated for any design; ").then(names(&known, &name)).text(".");
    }
    if known.iter().all(|cell| cell.rate(predicate).violated == 0) {
        let worst = known.iter().filter_map(|cell| cell.rate(predicate).high()).fold(0.0, f64::max);
        return start.text(format!("seen with no design; {} of runs.", bound_words(worst, Scale::Share)));
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
fn words(rate: &Rate) -> String {
    match &rate.per_run {
        Ok(it) => {
            let (value, _) = rate_parts(it.value, it.interval, Scale::Share);
            format!("{value} of runs")
        }
        Err(Unsupported { at_most: Some(bound), .. }) if rate.violated > 0 => {
            format!("{} of runs", bound_words(*bound, Scale::Share))
        }
        Err(Unsupported { at_most: Some(bound), .. }) if rate.is_divided => {
            format!("not seen, {} of runs", bound_words(*bound, Scale::Share))
        }
        Err(Unsupported { at_most: Some(bound), .. }) => {
            format!("none in {}, so {}", several(rate.decided, "run"), bound_words(*bound, Scale::Share))
        }
        Err(_) => "no run decided it".to_owned(),
    }
}

/// At how many points of a large grid each design is the best.
fn over_grid(sheet: &Sheet<'_>, predicate: Predicate) -> Line {
    let designs = sheet.results.header.designs.len();
    let mut lowest = vec![0u64; designs];
    for point in &sheet.points {
        let rate = |cell: &&Figures| cell.rate(predicate).value();
        let best = sheet.at(*point).filter_map(|cell| rate(&cell)).fold(f64::INFINITY, f64::min);
        sheet.at(*point).filter(|cell| rate(cell) == Some(best)).for_each(|cell| lowest[cell.design] += 1);
    }
    let mut order: Vec<usize> = (0..designs).collect();
    order.sort_by_key(|design| Reverse(lowest[*design]));
    let mut line = begin(predicate);
    for (place, design) in order.iter().take(NAMED).enumerate() {
        line = line.text(if place == 0 { "" } else { "; " }).code(sheet.name(*design));
        line = line.text(format!(" {}", range(sheet, *design, predicate)));
        if designs > 1 {
            let points = several(lowest[*design], "point");
            line = line.text(format!(", lowest (or as low as the lowest) at {points}"));
        }
    }
    line.text(if designs > NAMED {
        format!("; and {} more designs.", designs - NAMED)
    } else {
        ".".to_owned()
    })
}

/// From which rate to which a design goes over the grid.
fn range(sheet: &Sheet<'_>, design: usize, predicate: Predicate) -> String {
    let of_design = sheet.cells.values().filter(|cell| cell.design == design);
    let values: Vec<f64> = of_design.filter_map(|cell| cell.rate(predicate).value()).collect();
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(0.0, f64::max);
    match values.len() {
        0 => "decided nowhere".to_owned(),
        _ if high == 0.0 => "seen nowhere".to_owned(),
        _ if low == 0.0 => format!("from not seen to {} of runs", share(high)),
        _ => format!("from {} to {} of runs", share(low), share(high)),
    }
}
