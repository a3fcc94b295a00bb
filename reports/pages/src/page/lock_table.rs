//! Locks by checks: where the designs of a study are both combined, one table that is read at a glance.

use doublehold_history::Predicate;

use super::document::{Block, Entry, Line, Table};
use super::factors::Choices;
use super::model::PageModel;
use super::outcome;
use super::rates::Figures;

/// The rates of damaged data by lock and by check; nothing where designs are no such table.
pub(crate) fn lock_table(model: &PageModel<'_>, point: u64) -> Vec<Block> {
    let choices = Choices::from_designs(&model.results.header.designs);
    let Some(table) = choices.table() else { return Vec::new() };
    let cells: Vec<&Figures> = model.at(point).collect();
    let letters = model.letters(point, Predicate::P4);
    let entry = |design: &Option<usize>| {
        let place = design.and_then(|design| cells.iter().position(|cell| cell.design == design));
        let Some(place) = place else { return Entry::from_text("not in the study") };
        let (value, _) = model.words(cells[place], Predicate::P4);
        let entry = Entry::from_text(value);
        letters[place].iter().fold(entry, |entry, it| entry.below(Line::default().code(it)))
    };
    let row = |designs: &Vec<Option<usize>>| {
        let first = designs.iter().flatten().min().copied().unwrap_or_default();
        [Entry::from_text(model.name(first))].into_iter().chain(designs.iter().map(entry)).collect()
    };
    let check = |column: usize| {
        let design = table.iter().find_map(|row| row[column]);
        Entry::from_text(design.map_or(String::new(), |design| choices.check_words(design)))
    };
    let columns = table.first().map_or(0, Vec::len);
    let head = [Entry::from_text(format!(
        "{}, by lock and by what the resource checks",
        outcome::heading(Predicate::P4)
    ))];
    vec![Block::Table(Table {
        head: head.into_iter().chain((0..columns).map(check)).collect(),
        rows: table.iter().map(row).collect(),
        words: 1,
    })]
}
