//! The guesses of a study: what each does to a design's rates if it is five times too high or too low, and at which
//! rates two designs change places.
//!
//! From the strata alone; a rate that these runs cannot say needs other runs, and is said to.

use doublehold_history::Predicate;
use doublehold_statistics::{Part, Scale};
use doublehold_sweeps::results::{Factors, Results};

use super::causes;
use super::document::{Block, Entry, Line, Table};
use super::model::PageModel;
use super::outcome;
use super::pictures;
use super::rates::Figures;
use crate::plots::TornadoRow;

/// The factor by which a guess is taken to be wrong.
const TIMES: f64 = 5.0;

/// The effect of each guess on the rates of a design that few are better than, if it is five times too high or too low.
pub(crate) fn guesses(model: &PageModel<'_>, cells: &[&Figures]) -> Vec<Block> {
    let asked = [Predicate::P1, Predicate::P4];
    let point = model.points_shown()[0];
    let worse_than = |cell: &&&Figures| {
        model.pairs(point, Predicate::P4).iter().filter(|(_, higher)| *higher == cell.design).count()
    };
    let missing = |cell: &&&Figures| asked.iter().filter(|it| !model.has_rate(cell, **it)).count();
    let some = cells.iter().filter(|cell| asked.iter().any(|it| model.has_rate(cell, *it)));
    let Some(cell) = some.min_by_key(|cell| (missing(cell), worse_than(cell))) else {
        return Vec::new();
    };
    let asked: Vec<Predicate> = asked.into_iter().filter(|it| model.has_rate(cell, *it)).collect();
    let header = &model.results.header;
    let felt = header.causes().into_iter().filter(|cause| causes::is_guess(header, cause));
    let felt: Vec<&String> = felt.filter(|cause| is_felt(model, (cell, &asked), cause)).collect();
    if felt.is_empty() {
        return Vec::new();
    }
    let mut rows = Vec::new();
    let mut bars: Vec<(Predicate, Vec<TornadoRow>)> = asked.iter().map(|it| (*it, Vec::new())).collect();
    for cause in felt {
        let with = |factor: f64| model.results.reweigh(&Factors::from([(cause.clone(), factor)])).ok();
        let (more, less) = (with(TIMES), with(1.0 / TIMES));
        let entries = asked.iter().map(|it| {
            let now = model.measure.words(&model.measure.rate(cell, *it), Scale::Share).0;
            let words = |results: &Option<Results>| words(model, (cell, *it), results.as_ref());
            Entry::from_text(format!("{} / {now} / {}", words(&more), words(&less)))
        });
        rows.push([Entry::from_text(causes::words(cause))].into_iter().chain(entries).collect());
        for (predicate, bars) in &mut bars {
            bars.extend(bar(model, (cell, *predicate), cause, (less.as_ref(), more.as_ref())));
        }
    }
    let names = asked.iter().map(|it| outcome::heading(*it).to_owned());
    let head = ["if this guess is wrong".to_owned()].into_iter().chain(names).map(Entry::from_text).collect();
    let lead = Line::from_text("For ")
        .code(model.name(cell.design))
        .text(format!(", with a rate {TIMES:.0} times as high / as guessed / {TIMES:.0} times as low:"));
    let caption = Line::from_text("If a guess is wrong, for ").code(model.name(cell.design)).text(format!(
        ": bars are hollow towards the fault that comes {TIMES:.0} times less often, and filled towards the one that \
         comes {TIMES:.0} times more often. The line is the rate as guessed.",
    ));
    let mut numbers = vec![Block::Paragraph(lead), Block::Table(Table { head, rows, words: 1 })];
    numbers.extend(places(model, cells));
    let summary = Line::from_text("The same in numbers, and where designs change places");
    let pictures = pictures::tornadoes(model, bars, caption).into_iter();
    pictures.chain([Block::details(summary, numbers)]).collect()
}

/// True if a cause has part in a twentieth of any of these rates of a cell.
fn is_felt(model: &PageModel<'_>, (cell, rules): (&Figures, &[Predicate]), cause: &str) -> bool {
    const SMALLEST: f64 = 0.05;
    let share = |predicate: &Predicate| -> f64 {
        let shares = causes::shares(model.results, cell, *predicate);
        shares.iter().filter(|(names, _)| names.iter().any(|it| it == cause)).map(|(_, share)| share).sum()
    };
    rules.iter().any(|it| share(it) >= SMALLEST)
}

/// A cell's rate in reweighted results, in words.
fn words(
    model: &PageModel<'_>,
    (cell, predicate): (&Figures, Predicate),
    results: Option<&Results>,
) -> String {
    let Some(results) = results else { return "needs other runs".to_owned() };
    let told = model.measure.rate(&Figures::from_results(results, cell.cell), predicate);
    model.measure.words(&told, Scale::Share).0
}

/// The effect of a guess on a rate, if all three rates are stated numbers.
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

/// The factors at which two designs change places by what is asked first, among those that are told apart and whose
/// rates are known.
fn places(model: &PageModel<'_>, cells: &[&Figures]) -> Vec<Block> {
    const SHOWN: usize = 3;
    let point = model.points_shown()[0];
    let mut found: Vec<Line> = Vec::new();
    for predicate in [Predicate::P1, Predicate::P4] {
        for (lower, higher) in model.pairs(point, predicate) {
            let stated = |design: usize| {
                cells.iter().find(|cell| cell.design == design && model.has_rate(cell, predicate))
            };
            let Some((lower, higher)) = stated(*lower).zip(stated(*higher)) else { continue };
            for cause in model.results.header.causes() {
                if let Some(factor) = break_even(model.results, (lower, higher), predicate, cause) {
                    let words = format!(
                        " ({}), if {} came about {} times as often",
                        outcome::heading(predicate),
                        causes::words(cause),
                        round_to_digit(factor)
                    );
                    let names = [model.name(lower.design), model.name(higher.design)];
                    found.push(Line::default().codes(&names).text(words));
                }
            }
        }
    }
    if found.is_empty() {
        return vec![Block::text(
            "No rate that is up to a hundred times wrong changes the places of two designs that are told apart.",
        )];
    }
    found.truncate(SHOWN);
    vec![Block::text("Two designs that are told apart would change places:"), Block::List(found)]
}

/// `40`, `0.03`: one digit, which is more than a guess is worth.
fn round_to_digit(number: f64) -> String {
    let place = 10_f64.powf(number.log10().floor());
    doublehold_text::digits((number / place).round() * place)
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
