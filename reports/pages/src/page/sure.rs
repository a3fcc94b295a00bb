//! The certainty of the numbers: how many runs there were, and in how many anything struck; what is taken for
//! granted; what nobody simulated.

use doublehold_statistics::{Proportion, Scale, bound_words};
use doublehold_text::{digits, several};

use super::document::{Block, Line};
use super::measure::Measure;
use super::model::PageModel;
use super::rates::SURE;
use super::world;

/// The questions of readers that no design of any study answers.
const NOT_SIMULATED: &str = "Consul, Redis Cluster, and the failovers of a cloud's own Redis: not simulated, so that no \
                             number here says how they compare.";
/// The way from a study of Redis to the other answers.
const SERVICES_ELSEWHERE: &str = "ZooKeeper, etcd and a row in a database are not in this study. The ready study \
                                  `which-service` has them.";
/// The part of services that is taken as correct.
const GROUP_IS_CORRECT: &str = "ZooKeeper, etcd and a database are one host each. The group behind it is taken as correct: \
                                no fault strikes a part of it, and no number here says how often that happens.";

pub(crate) fn sure(model: &PageModel<'_>) -> Vec<Block> {
    let mut lines = vec![basis(model), struck(model), intervals(model)];
    lines.extend(quiet(model));
    lines.extend(month(model));
    let has_service = model.results.header.designs.iter().any(|design| world::has_service(&design.world));
    lines.push(Line::from_backticks(if has_service { GROUP_IS_CORRECT } else { SERVICES_ELSEWHERE }));
    lines.push(Line::from_text(NOT_SIMULATED));
    vec![Block::anchored("How sure this is", format!("sure-{}", model.part + 1)), Block::List(lines)]
}

/// The ground of the numbers.
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
        return Line::from_text(format!(
            "A fault was made to strike in {}; each counts for as much as chance would bring it.",
            several(runs, "run")
        ));
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
        " Two designs differ where a test says so; on one page in twenty such a test is wrong about some pair. Those that \
         share a letter need not be equal."
    } else {
        ""
    };
    Line::from_text(format!(
        "Each interval holds the truth of this simulated world 19 times in 20, and so does each bound. How well its faults \
         are like yours is another question: that depends on their rates and lengths, many of which are guesses.{compared}"
    ))
}

/// The ground of the word that runs without a fault hold.
fn quiet(model: &PageModel<'_>) -> Option<Line> {
    let rows = || model.results.cells.values().filter_map(|cell| cell.strata.get(&0));
    let runs = rows().map(|row| row.runs).min().filter(|_| model.results.header.quiet_holds)?;
    let bound = Proportion::new(0, runs).upper_bound(SURE)?;
    let is_quiet = rows().all(|row| row.predicates.values().all(|count| count.violated == 0));
    let seen = if is_quiet { "none of them went wrong" } else { "some went wrong, as is said above" };
    Some(Line::from_text(format!(
        "That nothing goes wrong without a fault is taken for granted. {} without one were made of each design, and {seen}; \
         so few show no more than that it is {}. The word rests on how the lock works, and not on them.",
        several(runs, "run"),
        bound_words(bound, Scale::Share)
    )))
}

fn month(model: &PageModel<'_>) -> Option<Line> {
    let usage = match model.measure {
        Measure::Months(usage) => usage,
        Measure::Grants => {
            return Some(
                Line::from_text("With ")
                    .code("--use \"200 grants an hour\"")
                    .text(" this page tells months in place of grants."),
            );
        }
        Measure::Runs => return None,
    };
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
