//! Which designs are told apart: differences on the same seeds, each with its interval.
//!
//! Nothing is corrected for how many differences are looked at: of a hundred between designs that are the same, five
//! are told apart by luck.

use doublehold_history::Predicate;

use super::document::{Block, Entry, Line, Table};
use super::rates::Figures;
use super::sheet::{Apart, COLUMNS, Sheet};
use crate::findings::several;
use crate::statistics::{Scale, rate_parts};

/// More pairs than this are not listed: the page would be nothing else.
const PAIRS: usize = 500;

pub(crate) fn differences(sheet: &Sheet<'_>, point: u64) -> Vec<Block> {
    let cells = sheet.ranked(point);
    let Some((best, others)) = cells.split_first().filter(|(_, others)| !others.is_empty()) else {
        return Vec::new();
    };
    let mut blocks =
        vec![Block::heading(3, "Which designs are told apart"), Block::Paragraph(lead(sheet, best))];
    let against: Vec<(&Figures, &Figures)> = others.iter().map(|cell| (*cell, *best)).collect();
    blocks.push(Block::Table(table(sheet, point, &against)));
    let pairs: Vec<(&Figures, &Figures)> = (0..cells.len())
        .flat_map(|one| (one + 1..cells.len()).map(move |other| (one, other)))
        .map(|(one, other)| (cells[other], cells[one]))
        .collect();
    if pairs.len() > against.len() {
        blocks.push(all(sheet, point, &pairs));
    }
    blocks
}

fn lead(sheet: &Sheet<'_>, best: &Figures) -> Line {
    let line = Line::of("Each design against ").code(sheet.name(best.design));
    if sheet.results.is_divided() {
        return line.text(
            ", the first of the ranking. Runs are divided by their faults, and a run counts for as much as its part weighs: \
             designs are not compared seed by seed. They are told apart where their intervals have nothing in common, \
             which tells fewer apart than pairs would.",
        );
    }
    line.text(
        ", the first of the ranking, over the seeds in which both decided: how much more of the runs violate the \
         predicate, and the 95 % interval of that difference. The same seed means the same faults \
         to both as far as they have the same hosts. Designs are told apart where zero is not in the interval.",
    )
}

fn all(sheet: &Sheet<'_>, point: u64, pairs: &[(&Figures, &Figures)]) -> Block {
    let summary = Line::of(format!("All {}", several(pairs.len() as u64, "pair")));
    let shown = &pairs[..pairs.len().min(PAIRS)];
    let mut blocks = vec![Block::Table(table(sheet, point, shown))];
    if shown.len() < pairs.len() {
        let rest = several((pairs.len() - shown.len()) as u64, "pair");
        blocks.push(Block::text(format!("{rest} of the lowest ranked are left out.")));
    }
    Block::Details { summary, blocks }
}

fn table(sheet: &Sheet<'_>, point: u64, pairs: &[(&Figures, &Figures)]) -> Table {
    let names = COLUMNS.map(|it| Entry::line(Line::default().strong(it.as_str())).below(Line::of(it.name())));
    let head = [Entry::of("design"), Entry::of("against")].into_iter().chain(names).collect();
    let code = |cell: &Figures| Entry::line(Line::default().code(sheet.name(cell.design)));
    let row = |(one, other): &(&Figures, &Figures)| {
        let differences = COLUMNS.map(|it| entry(sheet, point, (one, other), it));
        [code(one), code(other)].into_iter().chain(differences).collect()
    };
    Table { head, rows: pairs.iter().map(row).collect(), words: 2 }
}

fn entry(sheet: &Sheet<'_>, point: u64, (one, other): (&Figures, &Figures), predicate: Predicate) -> Entry {
    let verdict = match sheet.apart(point, (one, other), predicate) {
        Apart::Higher => Line::default().strong("higher"),
        Apart::Lower => Line::default().strong("lower"),
        Apart::No => Line::of("not told apart"),
        Apart::Unknown => return Entry::of("nothing to compare"),
    };
    let entry = Entry::line(verdict);
    match sheet.difference(point, (one.design, other.design), predicate) {
        None => entry,
        Some(it) => {
            let (value, interval) = rate_parts(it.value, it.interval, Scale::Share);
            entry
                .below(Line::of(if it.value > 0.0 { format!("+{value}") } else { value }))
                .below(Line::of(interval))
                .titled(several(it.pairs, "pair"))
        }
    }
}
