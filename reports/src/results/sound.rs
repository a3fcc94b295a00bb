//! What no sweep writes: records that were changed by hand or by another program are refused where they are read, so
//! that whoever adds up and divides can rely on them.

use doublehold_scenarios::sweep::{Batch, StudyHeader};

use super::{Cell, Totals};

/// What is wrong with a header.
pub(super) fn of_header(header: &StudyHeader) -> Option<String> {
    if header.designs.is_empty() {
        return Some("the study has no designs".to_owned());
    }
    let empty = header.axes.iter().find(|axis| axis.values.is_empty());
    empty.map(|axis| format!("the axis `{}` has no values", axis.key))
}

/// What is wrong with a batch.
pub(super) fn of_batch(header: &StudyHeader, batch: &Batch) -> Option<String> {
    let values = header.axes.iter().map(|axis| axis.values.len() as u64);
    let cells = values.fold(header.designs.len() as u64, u64::saturating_mul);
    let weight = if header.strata.len() > 1 { batch.weight } else { batch.weight.or(Some(1.0)) };
    let is_over = |(violated, undecided): (u64, u64)| violated.saturating_add(undecided) > batch.runs;
    let wrong = if batch.cell >= cells {
        "is of a cell that the study does not have"
    } else if batch.stratum >= header.strata.len() as u64 {
        "is of a stratum that the study does not have"
    } else if batch.runs > header.batch {
        "has more runs than batches have"
    } else if batch.predicates.values().any(|it| is_over((it.violated, it.undecided))) {
        "counts more runs than it has"
    } else if !weight.is_some_and(is_probability) {
        "does not say how likely its stratum is"
    } else {
        return None;
    };
    Some(format!("the batch {} of cell {} {wrong}", batch.batch, batch.cell))
}

/// What is wrong with all of a cell.
pub(super) fn of_cell(number: u64, cell: &Cell) -> Option<String> {
    let beyond = cell.strata.values().find_map(|totals| totals.beyond).unwrap_or(0.0);
    let weights: f64 = cell.strata.values().map(Totals::weight).sum();
    (!is_probability(beyond) || !is_probability(weights + beyond))
        .then(|| format!("the strata of cell {number} weigh more than all runs do"))
}

/// But for what sums of floats are off.
fn is_probability(weight: f64) -> bool {
    (0.0..=1.0 + 1e-9).contains(&weight)
}
