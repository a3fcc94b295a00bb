//! The mean time between two of a fault, over all hosts of a design together, whatever its line says of one: a
//! failover in ten days where each of two replicas has one a month and partitions bring a third.
//!
//! From the weights of strata, so exact; what other faults bring is counted in the runs.

use doublehold_scenarios::format;
use doublehold_sweeps::results::Cell;
use doublehold_sweeps::sweep::StudyHeader;
use doublehold_text::digits;

use super::document::{Entry, Line};
use super::model::PageModel;
use super::rates::Figures;

/// The mean time between two of a cause, over all hosts of each design together, and with what others bring of it.
pub(crate) fn entry(model: &PageModel<'_>, cells: &[&Figures], cause: &str) -> Entry {
    let header = &model.results.header;
    let of = |cell: &&Figures| {
        let window = window_seconds(header, cell.design)?;
        let sums = model.results.cells.get(&cell.cell)?;
        let own = *sums.mean_faults(header).get(cause)?;
        let all = own + brought(header, sums, cause);
        (own > 0.0).then_some((window / own, window / all))
    };
    let all: Vec<(f64, f64)> = cells.iter().filter_map(of).collect();
    if all.is_empty() {
        return Entry::from_text("never");
    }
    let ends = |of: fn(&(f64, f64)) -> f64| {
        let values = all.iter().map(of);
        values.fold((f64::INFINITY, 0.0_f64), |(low, high), it| (low.min(it), high.max(it)))
    };
    let (own, together) = (ends(|it| it.0), ends(|it| it.1));
    let entry = Entry::from_text(format!("every {}", span(own)));
    let is_more = together.1 < own.1 * 0.95;
    if is_more {
        return entry
            .below(Line::from_text(format!("with those that others bring every {}", span(together))));
    }
    entry
}

/// The mean time between two of a cause, over all hosts of the first design that has any, in seconds.
pub(crate) fn mean_seconds(model: &PageModel<'_>, cells: &[&Figures], cause: &str) -> Option<f64> {
    let header = &model.results.header;
    cells.iter().find_map(|cell| {
        let own = *model.results.cells.get(&cell.cell)?.mean_faults(header).get(cause)?;
        (own > 0.0).then_some(window_seconds(header, cell.design)? / own)
    })
}

/// For how many seconds of a run faults strike.
fn window_seconds(header: &StudyHeader, design: usize) -> Option<f64> {
    let window = format::duration(&header.designs.get(design)?.strikes_for).ok()?;
    Some(window.as_secs_f64())
}

/// The mean number of faults of this kind in a run that faults of other kinds brought.
fn brought(header: &StudyHeader, cell: &Cell, cause: &str) -> f64 {
    let kind = cause.split('[').next().unwrap_or(cause);
    let of_stratum = |(number, row): (&u64, &doublehold_sweeps::sweep::Batch)| {
        let faults = header.strata.get(*number as usize)?;
        let is_kind = |(name, _): &(&String, &u32)| name.split('[').next() == Some(kind);
        let own: u32 = faults.iter().filter(is_kind).map(|(_, count)| count).sum();
        let struck = *row.faults.get(kind)? as f64 / row.runs.max(1) as f64;
        Some(row.weight() * (struck - f64::from(own)).max(0.0))
    };
    cell.strata.iter().filter_map(of_stratum).sum()
}

/// `8 h`, `9 to 11 d`.
fn span((low, high): (f64, f64)) -> String {
    const UNITS: [(&str, f64); 4] = [("d", 86_400.0), ("h", 3_600.0), ("min", 60.0), ("s", 1.0)];
    let (unit, length) =
        *UNITS.iter().find(|(_, length)| low >= 2.0 * length).unwrap_or(&UNITS[UNITS.len() - 1]);
    let number = |seconds: f64| {
        let number = seconds / length;
        digits(if number >= 10.0 { number.round() } else { (number * 10.0).round() / 10.0 })
    };
    match (number(low), number(high)) {
        (low, high) if low == high => format!("{high} {unit}"),
        (low, high) => format!("{low} to {high} {unit}"),
    }
}
