//! The answer in a few sentences: how often what a reader asks about happens, what matters most, where it comes from,
//! and which of it is a guess.
//!
//! It names no design as the best one without the rule by which that one is worst, it says "less often" only of pairs
//! that a test tells apart, and it never counts what is not known as good.
//!
//! Decision: "A report names no best design" (docs/decisions/sweeps.md).

use std::collections::BTreeSet;

use doublehold_history::Predicate;
use doublehold_statistics::Unsupported;
use doublehold_text::{capital, list, several};

use super::causes;
use super::document::{Block, Line};
use super::effects;
use super::measure::{Measure, UnitRate};
use super::model::{COLUMNS, PageModel};
use super::outcome::{ASKED, clause};
use super::rates::Figures;

/// Up to so many designs are named in a row.
const NAMED: usize = 3;

pub(crate) fn answer(model: &PageModel<'_>) -> Block {
    let cells: Vec<&Figures> = model.cells.values().filter(|cell| cell.runs > 0).collect();
    if cells.is_empty() {
        let lead = Line::from_text("There are no runs yet.");
        return Block::Answer { lead, outcomes: Vec::new(), sentences: Vec::new() };
    }
    let mut sentences = Vec::new();
    match model.points[..] {
        [point] => sentences.extend(what_matters(model, point)),
        _ => sentences.extend(frontier(model, &cells)),
    }
    sentences.extend(origin(model, &cells));
    sentences.extend(unknown(model, &cells));
    let lines = |texts: Vec<String>| texts.into_iter().map(|text| Line::from_backticks(&text)).collect();
    let outcomes = lines(outcomes(model, &cells));
    Block::Answer { lead: Line::from_text(lead(model)), outcomes, sentences: lines(sentences) }
}

/// For whom, and over what: a range is from the lowest to the highest of so many designs.
fn lead(model: &PageModel<'_>) -> String {
    let designs = several(model.results.header.designs.len() as u64, "design");
    let over = match model.points.len() {
        1 => format!("over {designs}"),
        points => format!("over {designs} at {points} points"),
    };
    match model.measure {
        Measure::Months(usage) if usage.busy >= 1.0 => {
            format!("At {usage}, others always waiting, {over}:")
        }
        Measure::Months(usage) => {
            format!("At {usage}, {} of them with others waiting, {over}:", busy_words(usage.busy))
        }
        Measure::Grants => format!("Per grant, others always waiting, {over}:"),
        Measure::Runs => format!("In simulated runs, {over}:"),
    }
}

fn busy_words(busy: f64) -> String {
    format!("one in {}", doublehold_text::digits(1.0 / busy))
}

/// The rates of what readers ask about, over all designs.
fn outcomes(model: &PageModel<'_>, cells: &[&Figures]) -> Vec<String> {
    let (mut clauses, mut rare, mut never) = (Vec::new(), Vec::new(), Vec::new());
    for predicate in ASKED {
        let has_rule = |cell: &&&Figures| predicate != Predicate::P2 || !model.has_no_deadline(cell);
        let told: Vec<UnitRate> =
            cells.iter().filter(has_rule).map(|cell| model.measure.rate(cell, predicate)).collect();
        match Span::of(&told) {
            Span::Unknown if told.is_empty() => {}
            Span::Never(bound) => never.push((predicate, bound)),
            Span::Bound(bound) => rare.push((predicate, bound)),
            span => {
                let words = outlier(model, predicate).unwrap_or_else(|| span.words(model.measure));
                clauses.push(format!("{} {words};", clause(predicate)));
            }
        }
    }
    clauses.extend(bounded(model.measure, &rare, "was seen too seldom"));
    clauses.extend(bounded(model.measure, &never, "was not seen"));
    if let Some(last) = clauses.last_mut() {
        *last = last.trim_end_matches(';').to_owned() + ".";
    }
    clauses
}

/// The rate of the one design that is told apart as higher than all others, and the highest of these: a range would
/// give its rate to all. Nothing where there is none, or where there are only two designs.
fn outlier(model: &PageModel<'_>, predicate: Predicate) -> Option<String> {
    let [point] = model.points[..] else { return None };
    let cells: Vec<&Figures> = model.at(point).filter(|cell| cell.runs > 0).collect();
    let is_above = |one: &Figures, other: &Figures| {
        model.compare(point, (one, other), predicate) == Some(std::cmp::Ordering::Greater)
    };
    let others =
        |one: &Figures| cells.iter().copied().filter(|it| it.design != one.design).collect::<Vec<_>>();
    let worst = *cells.iter().find(|one| others(one).iter().all(|other| is_above(one, other)))?;
    let value = |cell: &Figures| model.measure.rate(cell, predicate).ok().map(|it| it.value);
    let next = others(worst).into_iter().filter_map(value).fold(0.0, f64::max);
    if cells.len() < 3 || next == 0.0 {
        return None;
    }
    let words = |value: f64| {
        let before = if model.measure == Measure::Runs { "in " } else { "" };
        format!("{before}{}{}", model.measure.once(value, value), model.measure.noun())
    };
    let (highest, name) = (words(value(worst)?), model.name(worst.design));
    Some(format!("{highest} with `{name}` (others: up to {})", words(next).trim_start_matches("in ")))
}

/// The rules without a rate, with the most that any of these can be.
fn bounded(measure: Measure, rules: &[(Predicate, f64)], why: &str) -> Option<String> {
    let what: Vec<&str> = rules.iter().map(|(predicate, _)| clause(*predicate)).collect();
    let most = rules.iter().map(|(_, bound)| *bound).fold(0.0, f64::max);
    let bound = format!("{}{}", measure.at_most(most), measure.noun());
    (!what.is_empty()).then(|| format!("that {} {why}: {bound};", doublehold_text::join_names(&what, "or")))
}

/// A rate over several designs.
enum Span {
    /// Stated from one to another; some may not have been seen, or have no number.
    Rates { low: f64, high: f64, is_all: bool, bound: f64 },
    /// No more than this, and no number for any.
    Bound(f64),
    /// Not seen with any, and no more than this.
    Never(f64),
    /// Nobody knows.
    Unknown,
}

impl Span {
    fn of(told: &[UnitRate]) -> Span {
        let values: Vec<f64> = told.iter().filter_map(|it| Some(it.as_ref().ok()?.value)).collect();
        let bounds = told.iter().filter_map(|it| it.as_ref().err()?.at_most);
        let bound = bounds.fold(0.0, f64::max);
        let is_unknown = told.iter().any(|it| matches!(it, Err(Unsupported { at_most: None, .. })));
        let is_unseen = |it: &UnitRate| {
            matches!(it, Err(Unsupported { reason: doublehold_statistics::Reason::NoneSeen { .. }, .. }))
        };
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(0.0, f64::max);
        match () {
            () if !values.is_empty() => Span::Rates { low, high, is_all: values.len() == told.len(), bound },
            () if is_unknown || told.is_empty() => Span::Unknown,
            () if told.iter().all(is_unseen) => Span::Never(bound),
            () => Span::Bound(bound),
        }
    }

    fn words(&self, measure: Measure) -> String {
        let (of, before) = (measure.noun(), if measure == Measure::Runs { "in " } else { "" });
        match self {
            Span::Rates { low, high, is_all: true, .. } => {
                format!("{before}{}{of}", measure.once(*low, *high))
            }
            Span::Rates { high, bound, .. } => {
                let seen = if bound > high { " (as seen)" } else { "" };
                format!("{before}up to {}{of}{seen}", measure.once(*high, *high))
            }
            Span::Bound(bound) | Span::Never(bound) => format!("{before}{}{of}", measure.at_most(*bound)),
            Span::Unknown => "at a rate that nobody knows".to_owned(),
        }
    }
}

/// The words about the choices that matter most; of designs that have no choices in common, which are never told
/// apart as worse.
fn what_matters(model: &PageModel<'_>, point: u64) -> Vec<String> {
    if model.results.header.designs.len() < 2 {
        return vec!["There is one design, and nothing to compare it with.".to_owned()];
    }
    let effects = effects::effects(model, point);
    if !effects.is_empty() {
        return effects::sentences(&effects);
    }
    vec![named(model, point)]
}

/// The designs that no rule tells apart as worse; if there is none, how many are.
fn named(model: &PageModel<'_>, point: u64) -> String {
    let cells: Vec<&Figures> = model.at(point).filter(|cell| cell.runs > 0).collect();
    let is_sure = |cell: &Figures| {
        COLUMNS.iter().all(|it| cell.rate(*it).range().is_none() && PageModel::is_known(cell, *it))
    };
    let worse_by = |cell: &Figures| -> Vec<Predicate> {
        let is_worse = |predicate: &Predicate| {
            cells.iter().any(|other| {
                model.compare(point, (cell, other), *predicate) == Some(std::cmp::Ordering::Greater)
            })
        };
        COLUMNS.into_iter().filter(is_worse).collect()
    };
    let is_told = COLUMNS.iter().any(|it| !model.pairs(point, *it).is_empty());
    if !is_told {
        return "No two designs are told apart.".to_owned();
    }
    let quote = |cells: &[&Figures]| -> Vec<String> {
        cells.iter().take(NAMED).map(|cell| format!("`{}`", model.name(cell.design))).collect()
    };
    let all = several(cells.len() as u64, "design");
    let (worse, others): (Vec<&Figures>, Vec<&Figures>) =
        cells.iter().copied().partition(|cell| !worse_by(cell).is_empty());
    let never_worse: Vec<&Figures> = others.into_iter().filter(|cell| is_sure(cell)).collect();
    let mut shown = quote(&never_worse);
    match never_worse.len() {
        0 if worse.len() == cells.len() => format!("Each of {all} is worse than another by some rule."),
        0 => {
            let worse = worse.len();
            format!(
                "Of {all} {worse} are worse than another by some rule; of the others too little is decided."
            )
        }
        more if more > NAMED => {
            shown.push(format!("{} more", more - NAMED));
            format!("Worse by no rule: {}, of {all}.", list(&shown))
        }
        _ => format!("Worse by no rule: {}.", list(&shown)),
    }
}

/// At how many points of a grid something was not seen, by design: of what is asked first among what was seen at some
/// points and not at others.
fn frontier(model: &PageModel<'_>, cells: &[&Figures]) -> Option<String> {
    let is_seen = |cell: &Figures, predicate: Predicate| cell.rate(predicate).violated > 0;
    let varies = |it: &Predicate| {
        cells.iter().any(|cell| is_seen(cell, *it)) && cells.iter().any(|cell| !is_seen(cell, *it))
    };
    let predicate = ASKED.into_iter().find(varies)?;
    let designs = 0..model.results.header.designs.len();
    let of = |design: usize| {
        let own = cells.iter().filter(|cell| cell.design == design);
        let silent = own.filter(|cell| !is_seen(cell, predicate)).count();
        format!("{silent} with `{}`", model.name(design))
    };
    let more = designs.len().saturating_sub(NAMED);
    let shown: Vec<String> = designs.take(NAMED).map(of).collect();
    let others = if more > 0 { format!("; {more} more designs are in the pictures") } else { String::new() };
    let points = model.points.len();
    let clause = clause(predicate);
    Some(format!(
        "Of {points} points of the grid, that {clause} was not seen at: {}{others}.",
        shown.join("; ")
    ))
}

/// The faults that the double holds come from, and which of their rates are guesses.
fn origin(model: &PageModel<'_>, cells: &[&Figures]) -> Option<String> {
    let header = &model.results.header;
    let has_guess =
        header.designs.iter().flat_map(|it| &it.weather).any(|line| line.source.contains("guess"));
    if !model.results.is_divided() {
        let lengths = if has_guess { ", and some of their lengths are guesses" } else { "" };
        return model
            .has_weather()
            .then(|| format!("Only comparisons count: the rates of faults are no forecast{lengths}."));
    }
    let tops: Vec<(Vec<String>, f64)> = cells
        .iter()
        .filter(|cell| model.measure.rate(cell, Predicate::P1).is_ok())
        .filter_map(|cell| causes::shares(model.results, cell, Predicate::P1).into_iter().next())
        .collect();
    let first = tops.first()?;
    let mut lines = header.designs.iter().flat_map(|it| &it.weather);
    let others = match () {
        () if lines.all(|line| line.source.contains("guess")) => "all rates are guesses",
        () if has_guess => "some others are guesses",
        () => "no rate is called a guess",
    };
    if tops.iter().any(|(names, _)| names != &first.0) {
        let named = || tops.iter().flat_map(|(names, _)| names);
        let others =
            if named().all(|it| causes::is_guess(header, it)) { "their rates are guesses" } else { others };
        let names: BTreeSet<String> = named().map(|it| causes::words(it)).collect();
        let names: Vec<String> = names.into_iter().collect();
        return Some(format!(
            "Most double holds come from {}; {others}.",
            doublehold_text::join_names(&names, "or")
        ));
    }
    let least = tops.iter().map(|(_, share)| *share).fold(1.0, f64::min);
    let most = tops.iter().map(|(_, share)| *share).fold(0.0, f64::max);
    let names: Vec<String> = first.0.iter().map(|it| causes::words(it)).collect();
    let rate = match &first.0[..] {
        [one] if causes::is_set(header, one) => format!(", at a set rate; {others}"),
        [one] if causes::is_guess(header, one) => ", a guessed rate".to_owned(),
        _ => format!("; {others}"),
    };
    Some(format!("{} of double holds come from {}{rate}.", tenths(least, most), list(&names)))
}

/// `Nine tenths`; where designs differ, at least so many.
fn tenths(least: f64, most: f64) -> String {
    const WORDS: [&str; 11] = [
        "hardly any",
        "about one tenth",
        "about two tenths",
        "about three tenths",
        "about four tenths",
        "about half",
        "about six tenths",
        "about seven tenths",
        "about eight tenths",
        "about nine tenths",
        "nearly all",
    ];
    let place = |share: f64| (share * 10.0).round() as usize;
    let words = WORDS[place(least)];
    let words = if place(least) == place(most) {
        words.to_owned()
    } else {
        format!("at least {}", words.trim_start_matches("about "))
    };
    capital(&words)
}

/// The designs of which too many runs are undecided.
fn unknown(model: &PageModel<'_>, cells: &[&Figures]) -> Option<String> {
    let is_open = |cell: &&&Figures| {
        ASKED.iter().any(|it| {
            let rate = cell.rate(*it);
            rate.range().is_some() || rate.decided == 0
        })
    };
    let names: BTreeSet<&str> = cells.iter().filter(is_open).map(|cell| model.name(cell.design)).collect();
    let mut shown: Vec<String> = names.iter().take(NAMED).map(|name| format!("`{name}`")).collect();
    if names.len() > NAMED {
        shown.push(format!("{} more", names.len() - NAMED));
    }
    (!names.is_empty()).then(|| format!("Too many runs are undecided to compare {}.", list(&shown)))
}
