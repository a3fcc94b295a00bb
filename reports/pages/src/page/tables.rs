//! The tables of rates at one point of the grid: in the page's unit, by run, by grant and by hour; waits and overlaps.

use doublehold_history::Predicate;
use doublehold_statistics::{
    Estimate, Interval, Reason, Scale, Unsupported, bound_words, range_parts, rate_parts,
};
use doublehold_text::clean;
use doublehold_text::{digits, rough, rough_beside, share};
use doublehold_text::{group_digits, several};

use super::distribution::Distribution;
use super::document::{Block, Entry, Line, Table};
use super::measure::Measure;
use super::model::{COLUMNS, PageModel};
use super::outcome::{self, ASKED};
use super::rates::{Figures, Rate, SURE};

/// What a rate is told in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    MillionGrants,
    ThousandHours,
}

/// The explanation of letters that stands on the page.
const RULE: &str = "Designs that share a letter in a column are not told apart by it, whatever their numbers seem to say; \
                    any two that share none are. Rows are in the order of the study, which is no ranking.";
/// The reason for which some locks are not compared by P2.
const NO_DEADLINE: &str = "have no deadline that a holder could look at. By P2 they are as by P1, so they have no letter \
                           there: they cannot be compared by it with locks that have a deadline.";

/// The rates in the page's unit, and what has to be known to read them.
pub(crate) fn tables(model: &PageModel<'_>, point: u64) -> Vec<Block> {
    let cells: Vec<&Figures> = model.at(point).collect();
    let mut blocks = vec![Block::Table(rates(model, point, &cells))];
    // Said once, below the first of several tables.
    let is_first = model.points_shown().first() == Some(&point);
    if cells.len() > 1 && is_first {
        blocks.push(Block::text(RULE));
    }
    let without: Vec<&str> =
        cells.iter().filter(|cell| model.has_no_deadline(cell)).map(|cell| model.name(cell.design)).collect();
    if !without.is_empty() && without.len() < cells.len() && is_first {
        blocks.push(Block::Paragraph(Line::default().codes(&without).text(format!(" {NO_DEADLINE}"))));
    }
    let panicked = cells.iter().filter(|cell| cell.panicked > 0);
    blocks.extend(panicked.map(|cell| {
        let runs = several(cell.panicked, "run");
        Block::Note(vec![Line::from_text("The code of ").code(model.name(cell.design)).text(format!(
            " panicked in {runs}. Such a run ends there, so these numbers say too little of it."
        ))])
    }));
    blocks.push(folded("Waiting for the lock, and how long two held it", times(model, &cells)));
    blocks.push(folded("Shares of runs, as they were counted", by_run(model, point, &cells)));
    blocks.push(folded("Per million granted calls", scaled_table(model, &cells, Unit::MillionGrants)));
    if model.measure != Measure::Runs {
        let title = "Per 1,000 hours of such work without a break";
        blocks.push(folded(title, scaled_table(model, &cells, Unit::ThousandHours)));
    }
    blocks
}

fn folded(title: &str, table: Table) -> Block {
    Block::details(Line::from_text(title), vec![Block::Table(table)])
}

/// The rates in the page's unit, with letters and ways to examples.
fn rates(model: &PageModel<'_>, point: u64, cells: &[&Figures]) -> Table {
    let letters = COLUMNS.map(|it| model.letters(point, it));
    let row = |(place, cell): (usize, &&Figures)| {
        let rates = COLUMNS.iter().zip(&letters).map(|(it, letters)| {
            let (value, interval) = model.words(cell, *it);
            let mut entry = Entry::line(Line::default().strong(value));
            if !interval.is_empty() {
                entry = entry.below(Line::from_text(interval));
            }
            entry = letters[place].iter().fold(entry, |entry, it| entry.below(Line::default().code(it)));
            match model.example(cell.cell, *it) {
                Some(anchor) => entry.below(Line::default().link("example", anchor)),
                None => entry,
            }
        });
        [design(model, cell)].into_iter().chain(rates).collect()
    };
    let head = heading(&["design"], &COLUMNS);
    Table { head, rows: cells.iter().enumerate().map(row).collect(), words: 1 }
}

fn heading(first: &[&str], predicates: &[Predicate]) -> Vec<Entry> {
    let names = predicates.iter().map(|it| {
        Entry::line(Line::default().strong(it.as_str()))
            .below(Line::from_text(outcome::heading(*it)))
            .with_title(it.meaning())
    });
    first.iter().map(|word| Entry::from_text(*word)).chain(names).collect()
}

/// The design's name; what it is, where somebody points at it.
fn design(model: &PageModel<'_>, cell: &Figures) -> Entry {
    let about = model.results.header.designs.get(cell.design).map_or("", |design| &design.about);
    let name = Entry::line(Line::default().code(model.name(cell.design)));
    if about.is_empty() { name } else { name.with_title(about) }
}

fn by_run(model: &PageModel<'_>, point: u64, cells: &[&Figures]) -> Table {
    let row = |cell: &&Figures| {
        let rates = COLUMNS.map(|it| rate(&cell.rate(it), model.scale(point, it)));
        [design(model, cell)]
            .into_iter()
            .chain(rates)
            .chain([Entry::from_text(group_digits(cell.runs))])
            .collect()
    };
    let mut head = heading(&["design"], &COLUMNS);
    head.push(Entry::from_text("runs"));
    Table { head, rows: cells.iter().map(row).collect(), words: 1 }
}

/// `1.2 %`, and below it the interval and what was not decided.
fn rate(rate: &Rate, scale: Scale) -> Entry {
    let counted = format!("{} of {}", group_digits(rate.violated), group_digits(rate.decided));
    let mut entry = match &rate.per_run {
        Ok(it) => {
            let (value, interval) = rate_parts(it.value, it.interval, scale);
            let more = match rate.exact() {
                Some(exact) => {
                    let (_, exact) = rate_parts(it.value, exact, scale);
                    format!("; exact interval {exact}")
                }
                None => format!("; as precise as {} plain runs", digits(it.plain_runs)),
            };
            Entry::line(Line::default().strong(value))
                .below(Line::from_text(interval))
                .with_title(format!("{counted} runs that decided violated it{more}"))
        }
        Err(Unsupported { reason: Reason::Undecided { range, interval }, .. }) => {
            let (range, interval) = range_parts(*range, *interval, scale);
            Entry::line(Line::default().strong(range))
                .below(Line::from_text(interval))
                .with_title(format!("{counted} runs that decided violated it; the others count both ways"))
        }
        // Of runs that weigh differently, how many they are says nothing of the bound.
        Err(Unsupported { reason: Reason::NoneSeen { .. }, at_most: Some(bound) }) if rate.is_divided => {
            let bound = bound_words(*bound, scale);
            Entry::line(Line::default().strong("not seen")).below(Line::from_text(bound)).with_title(counted)
        }
        Err(Unsupported { reason: Reason::NoneSeen { .. }, at_most: Some(bound) }) => {
            Entry::line(Line::default().strong(counted)).below(Line::from_text(bound_words(*bound, scale)))
        }
        Err(it @ Unsupported { at_most: Some(bound), .. }) => {
            Entry::line(Line::default().strong(bound_words(*bound, scale)))
                .below(Line::from_text(if rate.is_divided { "no number" } else { &counted }))
                .with_title(format!("{counted} runs that decided violated it; {it}"))
        }
        Err(_) => Entry::from_text("not decided"),
    };
    if rate.undecided > 0 {
        entry = entry.below(Line::from_text(format!("{} undecided", group_digits(rate.undecided))));
    }
    entry
}

fn scaled_table(model: &PageModel<'_>, cells: &[&Figures], unit: Unit) -> Table {
    let scale = |predicate| {
        let size = |cell: &&Figures| match unit.rate(cell, &cell.rate(predicate)) {
            Ok(it) => Some(it.value * unit.many()),
            Err(it) => it.at_most.map(|bound| bound * unit.many()),
        };
        Scale::Number.common_scale(cells.iter().filter_map(size))
    };
    let row = |cell: &&Figures| {
        let name = Entry::line(Line::default().code(model.name(cell.design)));
        let rates = COLUMNS.map(|it| unit_rate(unit.rate(cell, &cell.rate(it)), unit.many(), scale(it)));
        [name].into_iter().chain(rates).chain([Entry::from_text(unit.mean(cell))]).collect()
    };
    let mut head = heading(&["design"], &COLUMNS);
    head.push(Entry::from_text(match unit {
        Unit::MillionGrants => "grants in a run",
        Unit::ThousandHours => "a run's length",
    }));
    Table { head, rows: cells.iter().map(row).collect(), words: 1 }
}

impl Unit {
    fn many(self) -> f64 {
        match self {
            Unit::MillionGrants => 1e6,
            Unit::ThousandHours => 1e3,
        }
    }

    /// The rate per one grant or hour.
    fn rate(self, cell: &Figures, rate: &Rate) -> Result<Estimate, Unsupported> {
        let exposure = match self {
            Unit::MillionGrants => &cell.grants,
            Unit::ThousandHours => &cell.hours,
        };
        exposure.rate(rate.per_run, SURE)
    }

    /// What a run has of it, on average.
    fn mean(self, cell: &Figures) -> String {
        let mean = match self {
            Unit::MillionGrants => cell.mean_grants().map(digits),
            Unit::ThousandHours => cell.mean_hours().map(|hours| rough(hours * 3_600.0)),
        };
        mean.unwrap_or_else(|| "unknown".to_owned())
    }
}

fn unit_rate(rate: Result<Estimate, Unsupported>, many: f64, scale: Scale) -> Entry {
    match rate {
        Ok(it) => {
            let interval = Interval { low: it.interval.low * many, high: it.interval.high * many };
            let (value, interval) = rate_parts(it.value * many, interval, scale);
            Entry::from_text(value).below(Line::from_text(interval))
        }
        Err(Unsupported { reason: Reason::Undecided { range, interval }, .. }) => {
            let scaled = |it: Interval| Interval { low: it.low * many, high: it.high * many };
            let (range, interval) = range_parts(scaled(range), scaled(interval), scale);
            Entry::from_text(range).below(Line::from_text(interval))
        }
        Err(Unsupported { at_most: Some(bound), .. }) => Entry::from_text(bound_words(bound * many, scale)),
        Err(_) => Entry::from_text("unknown"),
    }
}

fn times(model: &PageModel<'_>, cells: &[&Figures]) -> Table {
    let words = ["design", "waits that ended with the lock", "time to acquire", "overlap, P2", "overlap, P1"];
    let largest = |of: fn(&Figures) -> f64| cells.iter().map(|cell| of(cell)).fold(0.0, f64::max);
    let longest = |of: Option<&Distribution>| of.map_or(0.0, |it| it.longest);
    let waits = largest(|cell| cell.obtained.quantile(0.99).unwrap_or(cell.obtained.longest));
    let overlaps = |it| cells.iter().map(|cell| longest(cell.overlaps.get(&it))).fold(0.0, f64::max);
    let row = |cell: &&Figures| {
        let available = cell.available.map_or_else(
            || Entry::from_text("no waits"),
            |share| {
                Entry::from_text(availability(share))
                    .below(Line::from_text(format!("of {}", group_digits(cell.waits))))
            },
        );
        let overlap = |it| {
            let none = || Entry::from_text("none");
            cell.overlaps
                .get(&it)
                .map_or_else(none, |of| distribution_entry(of, overlaps(it), Some("overlap")))
        };
        vec![
            Entry::line(Line::default().code(model.name(cell.design))),
            available,
            distribution_entry(&cell.obtained, waits, None),
            overlap(Predicate::P2),
            overlap(Predicate::P1),
        ]
    };
    let head = words.iter().map(|word| Entry::from_text(*word)).collect();
    Table { head, rows: cells.iter().map(row).collect(), words: 1 }
}

/// Close to one, what is lacking is what matters.
fn availability(value: f64) -> String {
    if value > 0.999 && value < 1.0 { format!("all but {}", share(1.0 - value)) } else { share(value) }
}

/// Median and 99th percentile, and the longest of what is named; of a handful only how many there are, and that. In the
/// unit of the largest of the column.
fn distribution_entry(spread: &Distribution, largest: f64, named: Option<&str>) -> Entry {
    let length = |value: f64| rough_beside(value, largest);
    let mut lines = Vec::new();
    match spread.quantile(0.5) {
        None if spread.count == 0 => return Entry::from_text("none"),
        None => lines.push(several(spread.count, named.unwrap_or("wait"))),
        Some(median) => lines.push(format!("median {}", length(median))),
    }
    lines.extend(spread.quantile(0.99).map(|high| format!("99 % within {}", length(high))));
    if named.is_some() || lines.len() == 1 {
        lines.push(format!("longest {}", length(spread.longest)));
    }
    let mut lines = lines.into_iter().map(Line::from_text);
    let first = Entry::line(lines.next().unwrap_or_default());
    let entry = lines.fold(first, Entry::below);
    match named {
        Some(what) => entry.with_title(several(spread.count, what)),
        None => entry,
    }
}

/// The rates for a terminal: rows of words, the first of them the heading.
pub(crate) fn rows(model: &PageModel<'_>, point: u64) -> Vec<Vec<String>> {
    let letters = ASKED.map(|it| model.letters(point, it));
    let row = |(place, cell): (usize, &Figures)| {
        let rates = ASKED.iter().zip(&letters).map(|(it, letters)| {
            let (value, _) = model.words(cell, *it);
            letters[place].as_ref().map_or(value.clone(), |letters| format!("{value} {letters}"))
        });
        [clean(model.name(cell.design))].into_iter().chain(rates).collect()
    };
    let heading = ["design".to_owned()].into_iter().chain(ASKED.map(|it| it.as_str().to_owned())).collect();
    [heading].into_iter().chain(model.at(point).enumerate().map(row)).collect()
}
