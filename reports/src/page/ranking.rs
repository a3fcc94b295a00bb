//! The ranking of designs at one point of the grid: rates by run, by grant and by hour; waits and overlaps.

use doublehold_history::Predicate;

use super::document::{Block, Entry, Line, Table};
use super::numbers::{bound as bounded, digits, end, seconds, share, shares};
use super::rates::{Figures, Known, Rate};
use super::sheet::{COLUMNS, Sheet};
use super::spread::Spread;
use crate::findings::{grouped, several};

/// What a rate is told in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    MillionGrants,
    ThousandHours,
}

pub(crate) fn ranking(sheet: &Sheet<'_>, point: u64) -> Vec<Block> {
    let cells = sheet.ranked(point);
    let mut blocks = vec![Block::Table(rates(sheet, &cells))];
    let panicked = cells.iter().filter(|cell| cell.panicked > 0);
    blocks.extend(panicked.map(|cell| {
        let runs = several(cell.panicked, "run");
        Block::Note(Line::of("The code of ").code(sheet.name(cell.design)).text(format!(
            " panicked in {runs}. Such a run ends there, so these numbers say too little of it."
        )))
    }));
    blocks.push(Block::heading(4, "Waiting for the lock, and how long two held it"));
    blocks.push(Block::Table(times(sheet, &cells)));
    for (unit, title) in [
        (Unit::MillionGrants, "Per million granted calls"),
        (Unit::ThousandHours, "Per 1,000 hours of operation"),
    ] {
        blocks.push(Block::heading(4, title));
        blocks.push(Block::Table(scaled(sheet, &cells, unit)));
    }
    blocks
}

fn heading(first: &[&str], predicates: &[Predicate]) -> Vec<Entry> {
    let names = predicates.iter().map(|it| {
        Entry::line(Line::default().strong(it.as_str())).below(Line::of(it.name())).titled(it.meaning())
    });
    first.iter().map(|word| Entry::of(*word)).chain(names).collect()
}

/// The design's name, with what it is.
fn design(sheet: &Sheet<'_>, cell: &Figures) -> Entry {
    let about = sheet.results.header.designs.get(cell.design).map_or("", |design| &design.about);
    let name = Entry::line(Line::default().code(sheet.name(cell.design)));
    if about.is_empty() { name } else { name.below(Line::of(about)) }
}

fn rates(sheet: &Sheet<'_>, cells: &[&Figures]) -> Table {
    let row = |(place, cell): (u64, &&Figures)| {
        let first = [Entry::of(place.to_string()), design(sheet, cell)];
        let rates = COLUMNS.map(|it| rate(cell.rate(it)));
        first.into_iter().chain(rates).chain([Entry::of(grouped(cell.runs))]).collect()
    };
    let mut head = heading(&["", "design"], &COLUMNS);
    head.push(Entry::of("runs"));
    Table { head, rows: (1..).zip(cells).map(row).collect(), words: 2 }
}

/// `1.2 %`, and below it the interval and what was not decided.
pub(crate) fn rate(rate: &Rate) -> Entry {
    let mut entry = match &rate.known {
        Known::Estimated { value, interval, exact, plain_runs } => {
            let entry = Entry::line(Line::default().strong(share(*value)))
                .below(Line::of(shares(interval.low, interval.high)));
            let counted =
                format!("{} of {} violated it", grouped(rate.violated), several(rate.decided, "run"));
            let more = match (exact, plain_runs) {
                (Some(it), _) => format!("; exact interval {}", shares(it.low, it.high)),
                (_, Some(runs)) => format!("; as precise as {} plain runs", digits(*runs)),
                _ => String::new(),
            };
            entry.titled(counted + &more)
        }
        Known::AtMost { bound, why: None } => {
            Entry::line(Line::default().strong(format!("0 of {}", grouped(rate.decided))))
                .below(Line::of(format!("at most {}", bounded(*bound))))
        }
        Known::AtMost { bound, why: Some(why) } => {
            Entry::line(Line::default().strong(format!("at most {}", bounded(*bound))))
                .below(Line::of(format!("{} of {}", grouped(rate.violated), grouped(rate.decided))))
                .titled(why.clone())
        }
        Known::Nothing => Entry::of("not decided"),
    };
    if rate.undecided > 0 {
        entry = entry.below(Line::of(format!("{} undecided", grouped(rate.undecided))));
    }
    entry
}

fn scaled(sheet: &Sheet<'_>, cells: &[&Figures], unit: Unit) -> Table {
    let row = |cell: &&Figures| {
        let by = unit.factor(cell);
        let rates = COLUMNS.map(|it| by.map_or_else(|| Entry::of("–"), |by| of_unit(cell.rate(it), by)));
        let mean = match unit {
            Unit::MillionGrants => digits(cell.grants),
            Unit::ThousandHours => seconds(cell.hours * 3_600.0),
        };
        [Entry::line(Line::default().code(sheet.name(cell.design)))]
            .into_iter()
            .chain(rates)
            .chain([Entry::of(mean)])
            .collect()
    };
    let mut head = heading(&["design"], &COLUMNS);
    head.push(Entry::of(match unit {
        Unit::MillionGrants => "grants in a run",
        Unit::ThousandHours => "a run's length",
    }));
    Table { head, rows: cells.iter().map(row).collect(), words: 1 }
}

impl Unit {
    /// What a rate by run is to be multiplied with; none where a run has nothing of it.
    fn factor(self, cell: &Figures) -> Option<f64> {
        let (many, mean) = match self {
            Unit::MillionGrants => (1e6, cell.grants),
            Unit::ThousandHours => (1e3, cell.hours),
        };
        (mean > 0.0).then(|| many / mean)
    }
}

fn of_unit(rate: &Rate, by: f64) -> Entry {
    match &rate.known {
        Known::Estimated { value, interval, .. } => Entry::line(Line::of(digits(value * by)))
            .below(Line::of(format!("{} to {}", end(interval.low * by), end(interval.high * by)))),
        Known::AtMost { bound, .. } => Entry::of(format!("at most {}", end(bound * by))),
        Known::Nothing => Entry::of("not decided"),
    }
}

fn times(sheet: &Sheet<'_>, cells: &[&Figures]) -> Table {
    let words = [
        "design",
        "waits that ended with the lock",
        "time to acquire",
        "overlap, P2",
        "overlap, P1",
        "until had again after a holder died",
    ];
    let row = |cell: &&Figures| {
        let available = cell.available.map_or_else(
            || Entry::of("no waits"),
            |(value, waits)| Entry::of(availability(value)).below(Line::of(format!("of {}", grouped(waits)))),
        );
        let overlap = |it| cell.overlaps.get(&it).map_or_else(|| Entry::of("none"), |it| spread(it, true));
        vec![
            Entry::line(Line::default().code(sheet.name(cell.design))),
            available,
            spread(&cell.obtained, false),
            overlap(Predicate::P2),
            overlap(Predicate::P1),
            recovery(&cell.recovered),
        ]
    };
    let head = words.iter().map(|word| Entry::of(*word)).collect();
    Table { head, rows: cells.iter().map(row).collect(), words: 1 }
}

/// Close to one, what is lacking is what matters.
fn availability(value: f64) -> String {
    if value > 0.999 && value < 1.0 { format!("all but {}", share(1.0 - value)) } else { share(value) }
}

/// Median and 99th percentile, and the longest if it matters.
fn spread(spread: &Spread, with_longest: bool) -> Entry {
    let Some((median, high)) = spread.quantile(0.5).zip(spread.quantile(0.99)) else {
        return Entry::of("none");
    };
    let entry = Entry::line(Line::of(format!("median {}", seconds(median))))
        .below(Line::of(format!("99 % within {}", seconds(high))));
    if with_longest {
        entry
            .below(Line::of(format!("longest {}", seconds(spread.longest))))
            .titled(several(spread.count, "overlap"))
    } else {
        entry
    }
}

fn recovery(spread: &Spread) -> Entry {
    match (spread.mean(), spread.mean_error()) {
        (Some(mean), Some(error)) => Entry::of(format!("mean {} ± {}", seconds(mean), seconds(error)))
            .below(Line::of(several(spread.count, "death"))),
        (Some(mean), None) => Entry::of(seconds(mean)).below(Line::of("one death")),
        _ => Entry::of("no deaths"),
    }
}

/// The ranking for a terminal: a line for each design.
pub(crate) fn lines(sheet: &Sheet<'_>, point: u64) -> Vec<Vec<String>> {
    let short = |it: &Rate| match &it.known {
        Known::Estimated { value, interval, .. } => {
            format!("{} ({})", share(*value), shares(interval.low, interval.high))
        }
        Known::AtMost { bound, why: None } => {
            format!("0 of {} (at most {})", grouped(it.decided), bounded(*bound))
        }
        Known::AtMost { bound, .. } => format!("at most {}", bounded(*bound)),
        Known::Nothing => "not decided".to_owned(),
    };
    let line = |cell: &&Figures| {
        let rates = super::sheet::RANKED.map(|it| short(cell.rate(it)));
        [sheet.name(cell.design).to_owned()].into_iter().chain(rates).collect()
    };
    sheet.ranked(point).iter().map(line).collect()
}
