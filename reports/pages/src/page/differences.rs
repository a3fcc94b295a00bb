//! The designs that are told apart: differences on the same seeds, each with its interval.
//!
//! The tests are corrected for the number of comparisons on the page; the intervals are not.

use std::cmp::Ordering;

use doublehold_history::Predicate;
use doublehold_statistics::{Scale, rate_parts};
use doublehold_text::several;

use super::document::{Block, Entry, Line, Table};
use super::model::{COLUMNS, PageModel};
use super::rates::Figures;

/// More pairs than this are not listed: the page would be nothing else.
const PAIRS: usize = 200;

pub(crate) fn differences(model: &PageModel<'_>, point: u64) -> Vec<Block> {
    let cells: Vec<&Figures> = model.at(point).collect();
    let Some((best, others)) = cells.split_first().filter(|(_, others)| !others.is_empty()) else {
        return Vec::new();
    };
    let mut blocks = vec![Block::Paragraph(lead(model, best))];
    let against: Vec<(&Figures, &Figures)> = others.iter().map(|cell| (*cell, *best)).collect();
    blocks.push(Block::Table(table(model, point, &against)));
    let pairs: Vec<(&Figures, &Figures)> = (0..cells.len())
        .flat_map(|one| (one + 1..cells.len()).map(move |other| (one, other)))
        .map(|(one, other)| (cells[other], cells[one]))
        .collect();
    if pairs.len() > against.len() {
        blocks.push(all(model, point, &pairs));
    }
    vec![Block::details(Line::from_text("Which designs are told apart, and by how much"), blocks)]
}

fn lead(model: &PageModel<'_>, best: &Figures) -> Line {
    let line = Line::from_text("Each design against ").code(model.name(best.design));
    if model.results.is_divided() {
        return line.text(
            ", the first design of the study. Runs are divided by their faults, and a run counts for as much as its \
             part weighs: designs are not compared seed by seed, which would tell more apart. They are told apart \
             where zero is not in the interval of their difference, after these were widened so much that all of the \
             tables hold at once 19 times in 20: of pages on which all designs are the same, one in twenty at most \
             tells any apart.",
        );
    }
    line.text(
        ", the first design of the study, over the seeds that both ran from: how much more of the runs violate the \
         predicate, and the 95 % interval of that difference. The same seed means the same faults to both as far as \
         they have the same hosts. Designs are told apart by McNemar's exact test of the seeds in which they differ, \
         corrected by Holm for all comparisons of these tables: of pages on which all designs are the same, one in \
         twenty at most tells any apart. So a difference may have an interval without zero and not be told apart. \
         Undecided runs count against either side.",
    )
}

fn all(model: &PageModel<'_>, point: u64, pairs: &[(&Figures, &Figures)]) -> Block {
    let summary = Line::from_text(format!("All {}", several(pairs.len() as u64, "pair")));
    let shown = &pairs[..pairs.len().min(PAIRS)];
    let mut blocks = vec![Block::Table(table(model, point, shown))];
    if shown.len() < pairs.len() {
        let rest = several((pairs.len() - shown.len()) as u64, "pair");
        blocks.push(Block::text(format!("{rest} of the last designs are left out.")));
    }
    Block::details(summary, blocks)
}

fn table(model: &PageModel<'_>, point: u64, pairs: &[(&Figures, &Figures)]) -> Table {
    let names =
        COLUMNS.map(|it| Entry::line(Line::default().strong(it.as_str())).below(Line::from_text(it.name())));
    let head = [Entry::from_text("design"), Entry::from_text("against")].into_iter().chain(names).collect();
    let code = |cell: &Figures| Entry::line(Line::default().code(model.name(cell.design)));
    let row = |(one, other): &(&Figures, &Figures)| {
        let differences = COLUMNS.map(|it| entry(model, point, (one, other), it));
        [code(one), code(other)].into_iter().chain(differences).collect()
    };
    Table { head, rows: pairs.iter().map(row).collect(), words: 2 }
}

fn entry(
    model: &PageModel<'_>,
    point: u64,
    (one, other): (&Figures, &Figures),
    predicate: Predicate,
) -> Entry {
    let verdict = match model.compare(point, (one, other), predicate) {
        Some(Ordering::Greater) => Line::default().strong("higher"),
        Some(Ordering::Less) => Line::default().strong("lower"),
        Some(Ordering::Equal) => Line::from_text("not told apart"),
        None => return Entry::from_text("nothing to compare"),
    };
    let entry = Entry::line(verdict);
    let Some(it) = model.difference(point, (one.design, other.design), predicate) else { return entry };
    let (value, interval) = rate_parts(it.value.unwrap_or(0.0), it.interval, Scale::Share);
    let value = match it.value {
        Some(number) if number > 0.0 => format!("+{value}"),
        Some(_) => value,
        None => format!("open: {} undecided", several(it.undecided, "pair")),
    };
    entry.below(Line::from_text(value)).below(Line::from_text(interval)).with_title(several(it.pairs, "pair"))
}
