//! The answer in words: which designs are violated less often than others, and which are not told apart.
//!
//! Only what the numbers say, about these runs; no word of which design to take.

use std::cmp::Reverse;

use doublehold_history::Predicate;
use doublehold_statistics::{Reason, Scale, Unsupported, bound_words, range_parts, rate_parts};
use doublehold_text::{group_digits, several};

use super::document::{Block, Line};
use super::model::{PageModel, RANKED};
use super::rates::{Figures, Rate, SURE};

/// Up to so many designs are named in a row.
const NAMED: usize = 6;

pub(crate) fn answer(model: &PageModel<'_>) -> Vec<Block> {
    let mut lines = vec![basis(model)];
    let points = model.points_shown();
    if model.points.len() > points.len() {
        lines.extend(grid_lines(model));
        return vec![Block::Note(lines)];
    }
    let mut blocks = Vec::new();
    for point in points {
        if points.len() > 1 {
            lines.push(Line::from_text("With ").then(model.values_in_code(*point)).text(":"));
        }
        lines.extend(point_lines(model, *point));
        blocks.push(Block::Note(std::mem::take(&mut lines)));
    }
    blocks
}

/// What the answer rests on.
fn basis(model: &PageModel<'_>) -> Line {
    let header = &model.results.header;
    let designs = several(header.designs.len() as u64, "design");
    let points = match model.points.len() {
        1 => String::new(),
        points => format!(" at {} of the grid", several(points as u64, "point")),
    };
    let runs = several(model.results.runs(), "run");
    let line = Line::from_text(format!("{designs}{points}, {runs} in all, by doublehold {}", header.program));
    match header.other_engine() {
        None => line.text("."),
        Some(engine) => line.text(" on its engine ").code(engine).text("."),
    }
}

/// What the numbers of one point say.
fn point_lines(model: &PageModel<'_>, point: u64) -> Vec<Line> {
    let cells = model.cells_by_rank(point);
    if cells.iter().all(|cell| cell.runs == 0) {
        return vec![Line::from_text("There are no runs yet.")];
    }
    RANKED.map(|it| sentence(model, &cells, (it, model.scale(point, it)))).into()
}

fn begin(predicate: Predicate) -> Line {
    Line::default().strong(format!("{}, {}: ", predicate.as_str(), predicate.name()))
}

fn sentence(model: &PageModel<'_>, cells: &[&Figures], (predicate, scale): (Predicate, Scale)) -> Line {
    let start = begin(predicate);
    let rank = |cell: &Figures| model.rank(cell, predicate);
    let mut known: Vec<&Figures> = cells.iter().copied().filter(|cell| rank(cell).is_some()).collect();
    // Designs of one rank are in the order of the study.
    known.sort_by_key(|cell| (rank(cell), cell.design));
    let name = |cell: &Figures| {
        Line::default()
            .code(model.name(cell.design))
            .text(format!(" ({})", words(&cell.rate(predicate), scale)))
    };
    let all = |is: fn(&Rate) -> bool| known.iter().all(|cell| is(&cell.rate(predicate)));
    match &known[..] {
        [] => return start.text("no run decided it."),
        [one] => return start.text(format!("{}.", words(&one.rate(predicate), scale))),
        _ => {}
    }
    if all(|rate| rate.violated == 0) {
        let worst = known.iter().filter_map(|cell| cell.rate(predicate).high()).fold(0.0, f64::max);
        return start.text(format!("seen with no design; {} of runs.", bound_words(worst, Scale::Share)));
    }
    let ranks: Vec<&[&Figures]> = known.chunk_by(|a, b| rank(a) == rank(b)).collect();
    if let [alike] = ranks[..] {
        let what = if all(|rate| rate.per_run.is_err()) { "no rate can be stated, and no" } else { "no" };
        return start
            .text(format!("{what} two designs are told apart: "))
            .then(names(alike, &name))
            .text(".");
    }
    ranks
        .iter()
        .enumerate()
        .fold(start, |line, (place, cells)| {
            let not_apart = if cells.len() > 1 { ", not told apart" } else { "" };
            let so = if place == 0 { "rank" } else { "; rank" };
            line.text(format!("{so} {}{not_apart}: ", rank(cells[0]).unwrap_or_default()))
                .then(names(cells, &name))
        })
        .text(".")
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
fn words(rate: &Rate, scale: Scale) -> String {
    match &rate.per_run {
        Ok(it) => {
            let (value, _) = rate_parts(it.value, it.interval, scale);
            format!("{value} of runs")
        }
        Err(Unsupported { reason: Reason::Undecided { range, interval }, .. }) => {
            let (range, _) = range_parts(*range, *interval, scale);
            format!("{range} of runs, as {} are undecided", group_digits(rate.undecided))
        }
        Err(Unsupported { at_most: Some(bound), .. }) if rate.violated > 0 => {
            format!("{} of runs", bound_words(*bound, scale))
        }
        Err(Unsupported { at_most: Some(bound), .. }) if rate.is_divided => {
            format!("not seen, {} of runs", bound_words(*bound, scale))
        }
        Err(Unsupported { at_most: Some(bound), .. }) if rate.undecided > 0 => format!(
            "none in {}, and {} undecided, so {}",
            several(rate.decided, "run"),
            group_digits(rate.undecided),
            bound_words(*bound, scale)
        ),
        Err(Unsupported { at_most: Some(bound), .. }) => {
            format!("none in {}, so {}", several(rate.decided, "run"), bound_words(*bound, scale))
        }
        Err(_) => "no run decided it".to_owned(),
    }
}

/// The results of each design over a large grid: its lowest and highest rate, and at how many points it has rank 1.
fn grid_lines(model: &PageModel<'_>) -> Vec<Line> {
    let designs = model.results.header.designs.len();
    let points = model.points.len();
    let apart = model.results.rank_designs(&model.points, &RANKED, SURE);
    let of = |predicate: Predicate| {
        let firsts = |design: usize| {
            let is_first = |point: &&u64| apart.rank(**point, design, predicate) == Some(1);
            model.points.iter().filter(is_first).count()
        };
        let mut order: Vec<(usize, usize)> = (0..designs).map(|design| (firsts(design), design)).collect();
        order.sort_by_key(|(firsts, design)| (Reverse(*firsts), *design));
        let mut line = begin(predicate);
        for (place, (firsts, design)) in order.iter().take(NAMED).enumerate() {
            line = line.text(if place == 0 { "" } else { "; " }).code(model.name(*design));
            line = line.text(format!(" {}", range(model, *design, predicate)));
            if designs > 1 {
                line = line.text(format!(", rank 1 at {firsts} of {}", several(points as u64, "point")));
            }
        }
        line.text(match designs.saturating_sub(NAMED) {
            0 => ".".to_owned(),
            more => format!("; and {}.", several(more as u64, "more design")),
        })
    };
    RANKED.map(of).into()
}

/// From which rate to which a design goes over the grid; bounds are told as such, beside the rates.
fn range(model: &PageModel<'_>, design: usize, predicate: Predicate) -> String {
    let of_design = || model.cells.values().filter(|cell| cell.design == design);
    let rates: Vec<Rate> =
        of_design().map(|cell| cell.rate(predicate)).filter(|rate| rate.high().is_some()).collect();
    let values: Vec<(f64, &Rate)> =
        rates.iter().filter_map(|rate| rate.stated_rate().map(|it| (it, rate))).collect();
    let of_value = |(_, rate): &(f64, &Rate)| words(rate, Scale::Share);
    let low = values.iter().min_by(|a, b| a.0.total_cmp(&b.0));
    let high = values.iter().max_by(|a, b| a.0.total_cmp(&b.0));
    let stated = match low.zip(high) {
        None if rates.is_empty() => return "decided nowhere".to_owned(),
        None => String::new(),
        Some((_, (0.0, _))) if values.len() == rates.len() => return "seen nowhere".to_owned(),
        Some((_, (0.0, _))) => format!("not seen at {}, ", several(values.len() as u64, "point")),
        Some(((0.0, _), high)) => format!("from not seen to {}, ", of_value(high)),
        Some((low, high)) if low.0 < high.0 => {
            format!("from {} to {}, ", of_value(low).trim_end_matches(" of runs"), of_value(high))
        }
        Some((_, high)) => format!("{}, ", of_value(high)),
    };
    let unstated = rates.iter().filter(|rate| rate.stated_rate().is_none());
    let highest = unstated.clone().filter_map(Rate::high).fold(0.0, f64::max);
    let text = match unstated.count() {
        0 => stated,
        unstated => {
            let bound = bound_words(highest, Scale::Share);
            format!("{stated}without a number at {} ({bound} there), ", several(unstated as u64, "point"))
        }
    };
    text.trim_end_matches(", ").to_owned()
}
