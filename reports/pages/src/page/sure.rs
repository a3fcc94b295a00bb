//! How sure the numbers are: how many runs there were, and in how many anything struck; what is taken for granted; what
//! nobody simulated.

use doublehold_statistics::{Proportion, Scale, bound_words};
use doublehold_text::{digits, several};

use super::document::{Block, Line};
use super::measure::Measure;
use super::model::PageModel;
use super::rates::SURE;

/// What readers ask that no design of any study answers.
const NOT_SIMULATED: &str = "ZooKeeper, etcd, Consul, a row in a database, and Redis with Sentinels that decide by \
                             themselves: not simulated, so that no number here says how they compare.";

pub(crate) fn sure(model: &PageModel<'_>) -> Vec<Block> {
    let mut lines = vec![basis(model), struck(model), intervals(model)];
    lines.extend(quiet(model));
    lines.extend(month(model));
    lines.push(Line::from_text(NOT_SIMULATED));
    vec![Block::anchored("How sure this is", format!("sure-{}", model.part + 1)), Block::List(lines)]
}

/// What the numbers rest on.
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

/// In how many runs anything struck; where that was not counted, how many faults struck.
fn struck(model: &PageModel<'_>) -> Line {
    let rows = || model.results.cells.values().flat_map(|cell| &cell.strata);
    if model.results.is_divided() {
        let runs: u64 = rows().filter(|(number, _)| **number > 0).map(|(_, row)| row.runs).sum();
        return Line::from_text(format!("A fault struck in {}: that was so arranged.", several(runs, "run")));
    }
    let faults: u64 = rows().flat_map(|(_, row)| row.faults.values()).sum();
    let runs = model.results.runs().max(1);
    Line::from_text(format!(
        "{} struck, {} in a run on average.",
        several(faults, "fault"),
        digits(faults as f64 / runs as f64)
    ))
}

fn intervals(model: &PageModel<'_>) -> Line {
    let compared = if model.results.header.designs.len() > 1 {
        " Designs are told apart by tests that are wrong about any pair on one page in twenty at most."
    } else {
        ""
    };
    Line::from_text(format!(
        "Intervals hold the truth of this simulated world 19 times in 20. They say nothing of how well its faults are \
         like yours: that is for the rates and lengths of faults, most of which are guesses.{compared}"
    ))
}

/// What the word that runs without a fault hold rests on.
fn quiet(model: &PageModel<'_>) -> Option<Line> {
    let rows = model.results.cells.values().filter_map(|cell| cell.strata.get(&0));
    let runs = rows.map(|row| row.runs).min().filter(|_| model.results.header.quiet_holds)?;
    let bound = Proportion::new(0, runs).upper_bound(SURE)?;
    Some(Line::from_text(format!(
        "That nothing goes wrong without a fault is taken for granted. {} without one were made of each design; if none \
         of so many goes wrong, it may still be {}.",
        several(runs, "run"),
        bound_words(bound, Scale::Share)
    )))
}

fn month(model: &PageModel<'_>) -> Option<Line> {
    let Measure::Months(usage) = model.measure else { return None };
    let busy = if usage.busy < 1.0 {
        format!(
            " Somebody else asks during {} of grants: rates of a world where somebody always waits are multiplied by that.",
            doublehold_text::share(usage.busy)
        )
    } else {
        " Somebody always waits: where others seldom ask, all of it is less often.".to_owned()
    };
    Some(Line::from_text(format!("A month has 730 hours, a twelfth of a year, and {usage}.{busy}")))
}
