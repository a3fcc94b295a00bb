//! Where runs are divided by their faults: what each stratum says, how heavy it is, what lies beyond, and where no
//! number can be stated.

use std::collections::BTreeMap;

use doublehold_history::Predicate;
use doublehold_statistics::{
    Part, PartlyDecided, Proportion, Reason, Scale, Unsupported, bound_words, range_parts, rate_parts,
};
use doublehold_sweeps::results::Cell;
use doublehold_sweeps::sweep::Batch;
use doublehold_text::{digits, share};
use doublehold_text::{group_digits, several};

use super::document::{Block, Entry, Line, Table};
use super::model::{COLUMNS, PageModel};
use super::rates::{Figures, SURE};

/// A warning that the runs themselves decide which numbers are stated. Its figures are from a test, which draws worlds
/// whose rate is known.
const SELECTED: &str = "Which numbers are stated is decided by the runs that they are made of, from about five \
                        violations on: lucky draws are stated, and others are not. Where three violations are \
                        expected, what is stated is on average 1.9 times too high, and 82 of 100 of its intervals hold \
                        the truth; where five are, 1.3 times and 93; where ten are, 1.0 times and 97. Of all numbers \
                        and bounds together 95 of 100 are right.";

/// Nothing where runs are not divided.
pub(crate) fn strata(model: &PageModel<'_>, point: u64) -> Vec<Block> {
    let header = &model.results.header;
    if !model.results.is_divided() {
        return Vec::new();
    }
    let cells: Vec<&Figures> = model.at(point).collect();
    let quiet = quiet(model, &cells);
    let mut blocks = vec![
        Block::text(format!(
            "With these rates of faults nearly all runs see none, and counting runs would show nothing. So runs are \
             divided by how many faults of each sort they have, into {}. How likely a run is to be of each is known \
             exactly from the rates; how often such a run goes wrong is counted. The rate is the sum of these shares, \
             each times its weight.{quiet} What has more faults than any stratum is not run: its whole weight is added \
             to the upper end. So is that of undecided runs, which the lower end counts as if they held.",
            several(header.strata.len() as u64, "stratum").replace("stratums", "strata")
        )),
        Block::Table(estimates(model, point, &cells)),
    ];
    let refusals: Vec<Line> = cells.iter().flat_map(|cell| refusals(model, cell)).collect();
    if !refusals.is_empty() {
        blocks.push(Block::text("No number is stated where it could not be supported:"));
        blocks.push(Block::List(refusals));
    }
    blocks.push(Block::text(SELECTED));
    blocks.extend(cells.iter().map(|cell| {
        let summary = Line::from_text("The strata of ").code(model.name(cell.design));
        Block::details(summary, vec![Block::Table(table(model, cell))])
    }));
    vec![Block::details(Line::from_text("Rare faults: how the rates come about"), blocks)]
}

/// The ground of the word that runs without a fault hold.
fn quiet(model: &PageModel<'_>, cells: &[&Figures]) -> String {
    let rows = cells.iter().filter_map(|cell| model.results.cells.get(&cell.cell)?.strata.get(&0));
    let runs = rows.map(|row| row.runs).min().unwrap_or(0);
    match Proportion::new(0, runs).upper_bound(SURE) {
        Some(bound) if model.results.header.quiet_holds => format!(
            " That nothing goes wrong without a fault is taken for granted: {} without one were made of each design, \
             and if none of so many goes wrong, it may still be {}.",
            several(runs, "run"),
            bound_words(bound, Scale::Share)
        ),
        _ => String::new(),
    }
}

/// Rates, and how many plain runs would say as much.
fn estimates(model: &PageModel<'_>, point: u64, cells: &[&Figures]) -> Table {
    let entry = |cell: &Figures, predicate: Predicate| match cell.rate(predicate).per_run {
        Ok(it) => {
            let (value, interval) = rate_parts(it.value, it.interval, model.scale(point, predicate));
            Entry::line(Line::default().strong(value))
                .below(Line::from_text(interval))
                .below(Line::from_text(format!("as {} plain runs", digits(it.plain_runs))))
        }
        Err(Unsupported { reason: Reason::Undecided { range, interval }, .. }) => {
            let (range, interval) = range_parts(range, interval, model.scale(point, predicate));
            Entry::from_text(range).below(Line::from_text(interval)).below(Line::from_text("no number"))
        }
        Err(it) => Entry::from_text(
            it.at_most
                .map_or("unknown".to_owned(), |bound| bound_words(bound, model.scale(point, predicate))),
        )
        .below(Line::from_text("no number")),
    };
    let row = |cell: &&Figures| {
        let name = Entry::line(Line::default().code(model.name(cell.design)));
        let runs = Entry::from_text(group_digits(cell.runs));
        [name].into_iter().chain(COLUMNS.map(|it| entry(cell, it))).chain([runs]).collect()
    };
    let names =
        COLUMNS.map(|it| Entry::line(Line::default().strong(it.as_str())).below(Line::from_text(it.name())));
    let head = [Entry::from_text("design")]
        .into_iter()
        .chain(names)
        .chain([Entry::from_text("runs made")])
        .collect();
    Table { head, rows: cells.iter().map(row).collect(), words: 1 }
}

fn refusals(model: &PageModel<'_>, cell: &Figures) -> Vec<Line> {
    let mut why: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for predicate in COLUMNS {
        if let Err(it) = cell.rate(predicate).per_run {
            why.entry(it.to_string()).or_default().push(predicate.as_str());
        }
    }
    let line = |(why, predicates): (String, Vec<&str>)| {
        Line::default()
            .code(model.name(cell.design))
            .text(format!(", {}: {why}.", doublehold_text::list(&predicates)))
    };
    why.into_iter().map(line).collect()
}

fn table(model: &PageModel<'_>, cell: &Figures) -> Table {
    let header = &model.results.header;
    let names = COLUMNS.iter().map(|it| Entry::line(Line::default().strong(it.as_str())));
    let head = ["faults", "weight", "runs"].map(Entry::from_text).into_iter().chain(names).collect();
    let cell = model.results.cells.get(&cell.cell);
    let mut rows: Vec<Vec<Entry>> = Vec::new();
    for (number, faults) in (0..).zip(&header.strata) {
        let row = cell.and_then(|cell| Some((cell, cell.strata.get(&number)?)));
        let weight = row.and_then(|(_, it)| it.weight).map_or("not known".to_owned(), share);
        let runs = row.map_or(0, |(_, it)| it.runs);
        let shares = COLUMNS
            .map(|it| row.map_or_else(|| Entry::from_text("not run"), |row| predicate_entry(model, row, it)));
        let first =
            [Entry::from_text(words(faults)), Entry::from_text(weight), Entry::from_text(group_digits(runs))];
        rows.push(first.into_iter().chain(shares).collect());
    }
    let beyond = cell.and_then(|cell| cell.strata.values().find_map(|row| row.beyond));
    if let Some(beyond) = beyond {
        let first = ["more than these".to_owned(), share(beyond), "0".to_owned()].map(Entry::from_text);
        rows.push(first.into_iter().chain(COLUMNS.map(|_| Entry::from_text("not run"))).collect());
    }
    Table { head, rows, words: 1 }
}

fn predicate_entry(model: &PageModel<'_>, (cell, row): (&Cell, &Batch), predicate: Predicate) -> Entry {
    match cell.part(&model.results.header, row, predicate) {
        Part::Impossible => Entry::from_text("0, as taken for granted"),
        Part::Counted(part) => match part.decided_part().estimate() {
            None if row.weight() == 0.0 => Entry::from_text("cannot come"),
            None => Entry::from_text("not decided"),
            Some(value) => stratum_entry(part, value),
        },
    }
}

fn stratum_entry(part: PartlyDecided, value: f64) -> Entry {
    let of = |runs: Proportion| format!("{} of {}", group_digits(runs.hits()), group_digits(runs.runs()));
    match part.range().filter(|_| part.undecided_runs() > 0) {
        None => Entry::from_text(share(value)).below(Line::from_text(of(part.decided_part()))),
        Some(range) => Entry::from_text(format!("{} to {}", share(range.low), share(range.high)))
            .below(Line::from_text(of(part.decided_part())))
            .below(Line::from_text(format!("{} undecided", group_digits(part.undecided_runs())))),
    }
}

/// `no fault`, `1 pause and 2 promote`.
fn words(faults: &BTreeMap<String, u32>) -> String {
    let parts: Vec<String> = faults.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    if parts.is_empty() { "no fault".to_owned() } else { doublehold_text::list(&parts) }
}
