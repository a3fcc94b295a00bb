//! What would change the answer: the share of each rate by the faults it comes from, what a rate that is five times too
//! high or too low does, where two designs change places, and what each choice of a design does.
//!
//! No run is made for it. Where runs are not divided by their faults, their shares are not known, and the page says
//! with which command they would be.

use doublehold_history::Predicate;
use doublehold_statistics::{Part, Scale};
use doublehold_sweeps::results::{Factors, Results};
use doublehold_text::list;

use super::causes;
use super::document::{Block, Entry, Line, Table};
use super::effective;
use super::model::PageModel;
use super::outcome::{self, ASKED};
use super::pictures;
use super::rates::Figures;
use super::sliders;
use crate::plots::TornadoRow;

/// How wrong a guess is taken to be.
const TIMES: f64 = 5.0;
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
            "Each rate below is a sum over runs whose faults are known. So other rates of faults need no other run: ",
        )
        .code(format!("doublehold report {} --set weather.pause.every=6h", doublehold_text::shell::line([study.as_str()])))
        .text(" makes this page with yours. A fault that comes twice as often brings twice as much of its share."),
    ));
    blocks.push(Block::Table(shares(model, &cells)));
    blocks.push(by_design(model, &cells));
    // A page has one script, and it knows of one place.
    if model.part == 0 {
        blocks.extend(sliders::data(model, point).map(Block::Sliders));
    }
    blocks.extend(guesses(model, &cells));
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
        ASKED.into_iter().filter(|it| cells.iter().any(|cell| is_stated(model, cell, *it))).collect();
    let of_rule = |predicate: &Predicate| -> Vec<Vec<(Vec<String>, f64)>> {
        let stated = cells.iter().filter(|cell| is_stated(model, cell, *predicate));
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
            let name = Entry::from_text(causes::words(cause));
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

/// True if a cell has a rate of a rule, and that is no other rule's: without a deadline P2 is P1.
fn is_stated(model: &PageModel<'_>, cell: &Figures, predicate: Predicate) -> bool {
    let has_rule = predicate != Predicate::P2 || !model.has_no_deadline(cell);
    has_rule && model.measure.rate(cell, predicate).is_ok()
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
    match (percent(low), percent(high)) {
        (low, high) if low == high && high == 0.0 => "0".to_owned(),
        (low, high) if low == high => format!("{high} %"),
        (low, high) => format!("{low} to {high} %"),
    }
}

/// What each guess does to the rates of the first design that has them, if it is five times too high or too low.
fn guesses(model: &PageModel<'_>, cells: &[&Figures]) -> Vec<Block> {
    let asked = [Predicate::P1, Predicate::P4];
    let Some(cell) = cells.iter().find(|cell| asked.iter().any(|it| is_stated(model, cell, *it))) else {
        return Vec::new();
    };
    let asked: Vec<Predicate> = asked.into_iter().filter(|it| is_stated(model, cell, *it)).collect();
    let header = &model.results.header;
    let mut rows = Vec::new();
    let mut bars: Vec<(Predicate, Vec<TornadoRow>)> = asked.iter().map(|it| (*it, Vec::new())).collect();
    for cause in header.causes().into_iter().filter(|cause| causes::is_guess(header, cause)) {
        let all = asked.iter().map(|it| causes::shares(model.results, cell, *it));
        let is_felt = |shares: Vec<(Vec<String>, f64)>| {
            shares.iter().filter(|(names, _)| names.contains(cause)).map(|(_, share)| share).sum::<f64>()
                >= 0.05
        };
        if !all.into_iter().any(is_felt) {
            continue;
        }
        let with = |factor: f64| model.results.reweigh(&Factors::from([(cause.clone(), factor)])).ok();
        let (more, less) = (with(TIMES), with(1.0 / TIMES));
        let words = |results: &Option<Results>, predicate: Predicate| {
            let told = results
                .as_ref()
                .map(|it| model.measure.rate(&Figures::from_results(it, cell.cell), predicate));
            told.map_or_else(
                || "needs other runs".to_owned(),
                |told| model.measure.words(&told, Scale::Share).0,
            )
        };
        let entries = asked.iter().map(|it| {
            let now = model.measure.words(&model.measure.rate(cell, *it), Scale::Share).0;
            Entry::from_text(format!("{} / {now} / {}", words(&more, *it), words(&less, *it)))
        });
        rows.push([Entry::from_text(causes::words(cause))].into_iter().chain(entries).collect());
        for (predicate, bars) in &mut bars {
            bars.extend(bar(model, (cell, *predicate), cause, (less.as_ref(), more.as_ref())));
        }
    }
    if rows.is_empty() {
        return Vec::new();
    }
    let names = asked.iter().map(|it| outcome::heading(*it).to_owned());
    let head = ["if this guess is wrong".to_owned()].into_iter().chain(names).map(Entry::from_text).collect();
    let lead = Line::from_text("For ")
        .code(model.name(cell.design))
        .text(format!(", with a rate {TIMES:.0} times as high / as guessed / {TIMES:.0} times as low:"));
    let mut blocks = vec![Block::Paragraph(lead), Block::Table(Table { head, rows, words: 1 })];
    let caption = Line::from_text("The same rates of ").code(model.name(cell.design)).text(format!(
        ": bars are hollow towards the fault that comes {TIMES:.0} times less often, and filled towards the one that \
         comes {TIMES:.0} times more often. The line is the rate as guessed.",
    ));
    blocks.extend(pictures::tornadoes(model, bars, caption));
    blocks.push(Block::Paragraph(places(model, cells)));
    blocks
}

/// What a guess does to a rate, if all three rates are stated numbers.
fn bar(
    model: &PageModel<'_>,
    (cell, predicate): (&Figures, Predicate),
    cause: &str,
    (less, more): (Option<&Results>, Option<&Results>),
) -> Option<TornadoRow> {
    let value = |figures: &Figures| model.measure.rate(figures, predicate).ok().map(|it| it.value);
    let with = |results: &Results| value(&Figures::from_results(results, cell.cell));
    let (low, now, high) = (with(less?)?, value(cell)?, with(more?)?);
    Some(TornadoRow { name: causes::words(cause), low, now, high })
}

/// The factors at which two designs change places by what is asked first, among those told apart.
fn places(model: &PageModel<'_>, cells: &[&Figures]) -> Line {
    let point = model.points_shown()[0];
    let header = &model.results.header;
    let mut found: Vec<String> = Vec::new();
    for predicate in [Predicate::P1, Predicate::P4] {
        for (lower, higher) in model.pairs(point, predicate) {
            let cell = |design: usize| cells.iter().find(|cell| cell.design == design);
            let Some((lower, higher)) = cell(*lower).zip(cell(*higher)) else { continue };
            for cause in header.causes() {
                if let Some(factor) = break_even(model.results, (lower, higher), predicate, cause) {
                    found.push(format!(
                        "{} and {} ({}) with {} {} times as often",
                        model.name(lower.design),
                        model.name(higher.design),
                        outcome::heading(predicate),
                        causes::words(cause),
                        doublehold_text::digits(factor)
                    ));
                }
            }
        }
    }
    const SHOWN: usize = 3;
    let more = found.len().saturating_sub(SHOWN);
    found.truncate(SHOWN);
    match found.len() {
        0 => Line::from_text(
            "No rate that is up to a hundred times wrong changes the places of two designs that are told apart.",
        ),
        _ if more > 0 => Line::from_text(format!("Places change: {}; and {more} more.", list(&found))),
        _ => Line::from_text(format!("Places change: {}.", list(&found))),
    }
}

/// By how much a cause has to come more or less often for two rates to be equal; none within a factor of a hundred.
fn break_even(
    results: &Results,
    (lower, higher): (&Figures, &Figures),
    predicate: Predicate,
    cause: &str,
) -> Option<f64> {
    // As a polynomial of the factor: by how much the second rate is above the first, by the number of such faults.
    let mut powers = [0.0_f64; 8];
    for (figures, sign) in [(lower, -1.0), (higher, 1.0)] {
        let cell = results.cells.get(&figures.cell)?;
        for (number, row) in &cell.strata {
            let Part::Counted(part) = cell.part(&results.header, row, predicate) else {
                continue;
            };
            let count = results.header.strata.get(*number as usize)?.get(cause).copied().unwrap_or(0);
            powers[(count as usize).min(7)] +=
                sign * row.weight() * part.decided_part().estimate().unwrap_or(0.0);
        }
    }
    let difference =
        |factor: f64| powers.iter().rev().fold(0.0, |sum, coefficient| sum * factor + coefficient);
    let steps = (-40..=40).map(|step| 10_f64.powf(f64::from(step) / 20.0));
    let factors: Vec<f64> = steps.collect();
    let turn = factors.windows(2).filter(|pair| difference(pair[0]) * difference(pair[1]) < 0.0);
    let nearest = turn.min_by(|one, other| one[0].ln().abs().total_cmp(&other[0].ln().abs()))?;
    let (mut low, mut high) = (nearest[0], nearest[1]);
    for _ in 0..60 {
        let middle = (low * high).sqrt();
        if difference(low) * difference(middle) <= 0.0 { high = middle } else { low = middle }
    }
    Some(low)
}
