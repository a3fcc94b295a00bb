//! The things that would change the answer: the share of each rate by the faults it comes from, what a rate that is
//! five times too high or too low does, where two designs change places, and what each choice of a design does.
//!
//! No run is made for it. Where runs are not divided by their faults, their shares are not known, and the page says
//! with which command they would be.

use doublehold_history::Predicate;

use super::causes;
use super::document::{Block, Entry, Line, Table};
use super::effective;
use super::guesses;
use super::model::PageModel;
use super::outcome::{self, ASKED};
use super::rates::Figures;
use super::sliders;

/// A cause with a smaller share of every rate has no row.
const SMALLEST: f64 = 0.005;

pub(crate) fn change(model: &PageModel<'_>, point: u64) -> Vec<Block> {
    let mut blocks = vec![Block::anchored("What would change it", format!("change-{}", model.part + 1))];
    if !model.results.is_divided() {
        if model.has_weather() {
            blocks.push(Block::Paragraph(undivided()));
        }
        return blocks;
    }
    let cells: Vec<&Figures> = model.at(point).filter(|cell| cell.runs > 0).collect();
    let study = &model.results.header.study;
    blocks.push(Block::Paragraph(
        Line::from_text(
            "The rates are sums over runs whose faults are known, so that other rates of faults need no new run. With your own: ",
        )
        .code(format!(
            "doublehold report {} --set weather.pause.every=6h",
            doublehold_text::shell::line([study.as_str()])
        ))
        .text(". Lengths of faults and the lease need a new sweep. Ranges are over designs. A fault comes as often as it strikes any of the hosts."),
    ));
    blocks.push(Block::Table(shares(model, &cells)));
    blocks.push(by_design(model, &cells));
    // A page has one script, and it knows of one place.
    if model.part == 0 {
        blocks.extend(sliders::data(model, point).map(Block::Sliders));
    }
    blocks.extend(guesses::guesses(model, &cells));
    blocks
}

fn undivided() -> Line {
    Line::from_text(
        "How often faults come is part of these runs: they are not divided by their faults, so that other rates need \
         other runs. A study with ",
    )
    .code("[strata]")
    .text(" divides them, and its page says which fault each rate comes from and what other rates would do. Of the studies \
           that come with the program, ")
    .code("field-rates")
    .text(" is one.")
}

/// For each cause how often it comes, who says so, and its share of what readers ask about.
fn shares(model: &PageModel<'_>, cells: &[&Figures]) -> Table {
    let header = &model.results.header;
    let asked: Vec<Predicate> =
        ASKED.into_iter().filter(|it| cells.iter().any(|cell| model.has_rate(cell, *it))).collect();
    let of_rule = |predicate: &Predicate| -> Vec<Vec<(Vec<String>, f64)>> {
        let stated = cells.iter().filter(|cell| model.has_rate(cell, *predicate));
        stated.map(|cell| causes::shares(model.results, cell, *predicate)).collect()
    };
    let by_rule: Vec<_> = asked.iter().map(of_rule).collect();
    let alone = |cause: &str| -> Vec<(f64, f64)> {
        by_rule.iter().map(|all| ends(all.iter().map(|shares| causes::share_of(shares, cause)))).collect()
    };
    let together: Vec<(f64, f64)> = by_rule
        .iter()
        .map(|all| {
            ends(all.iter().map(|shares| {
                shares.iter().filter(|(names, _)| names.len() != 1).map(|(_, share)| share).sum::<f64>()
            }))
        })
        .collect();
    let percent = |(low, high): &(f64, f64)| Entry::from_text(range(*low, *high));
    let row = |cause: &String| {
        let shares = alone(cause);
        let is_shown = shares.iter().any(|(_, high)| *high >= SMALLEST);
        is_shown.then(|| {
            let name = causes::lengths(header, cause)
                .into_iter()
                .fold(Entry::from_text(causes::words(cause)), |entry, it| entry.below(Line::from_text(it)));
            let comes = effective::entry(model, cells, cause);
            [name, comes, origin(model, cause)].into_iter().chain(shares.iter().map(percent)).collect()
        })
    };
    let mut rows: Vec<Vec<Entry>> = header.causes().into_iter().filter_map(row).collect();
    let words = ["two or more of them in one run", "", ""].map(Entry::from_text);
    rows.push(words.into_iter().chain(together.iter().map(percent)).collect());
    let names = asked.iter().map(|it| format!("share of: {}", outcome::heading(*it)));
    let head = ["fault", "comes", "who says so"].map(str::to_owned).into_iter().chain(names);
    Table { head: head.map(Entry::from_text).collect(), rows, words: 3 }
}

/// The shares of each design, with each combination by name: they add up to the whole.
fn by_design(model: &PageModel<'_>, cells: &[&Figures]) -> Block {
    let names = |names: &[String]| {
        if names.is_empty() {
            return "no fault".to_owned();
        }
        names.iter().map(|name| causes::words(name)).collect::<Vec<_>>().join(" with ")
    };
    let entry = |cell: &Figures, predicate: Predicate| {
        let shares = causes::shares(model.results, cell, predicate);
        let mut parts = shares
            .iter()
            .map(|(of, share)| Line::from_text(format!("{} {}", names(of), doublehold_text::share(*share))));
        let Some(first) = parts.next() else { return Entry::from_text("not seen") };
        parts.fold(Entry::line(first), Entry::below)
    };
    let row = |cell: &&Figures| {
        let name = Entry::line(Line::default().code(model.name(cell.design)));
        [name].into_iter().chain(ASKED.map(|it| entry(cell, it))).collect()
    };
    let head = ["design"].into_iter().chain(ASKED.map(outcome::heading)).map(Entry::from_text).collect();
    Block::details(
        Line::from_text("The shares of each design, combinations by name"),
        vec![Block::Table(Table { head, rows: cells.iter().map(row).collect(), words: 5 })],
    )
}

fn origin(model: &PageModel<'_>, cause: &str) -> Entry {
    let header = &model.results.header;
    Entry::from_text(match () {
        () if causes::is_set(header, cause) => "set",
        () if causes::is_guess(header, cause) => "a guess",
        () => "see Faults",
    })
}

fn ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, 0.0), |(low, high), it| (low.min(it), high.max(it)))
}

/// `85 to 88 %`.
fn range(low: f64, high: f64) -> String {
    let percent = |value: f64| (value * 100.0).round();
    if high == 0.0 {
        return "none seen".to_owned();
    }
    match (percent(low), percent(high)) {
        (_, 0.0) => "under 1 %".to_owned(),
        (low, high) if low == high => format!("{high} %"),
        (low, high) => format!("{low} to {high} %"),
    }
}
