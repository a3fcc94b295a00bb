//! What each choice of a design does: the pairs of designs that differ in it alone, and how many times more often
//! something happens with the one than with the other, where a test tells them apart.

use std::cmp::Ordering;

use doublehold_history::Predicate;
use doublehold_text::digits;

use super::factors::{Choices, Factor};
use super::model::{COLUMNS, PageModel};
use super::outcome::clause;
use super::rates::Figures;

/// By which rules choices are told: what is asked first, and what it costs.
const BY: [Predicate; 4] = [Predicate::P4, Predicate::P2, Predicate::P1, Predicate::LV];

/// One choice, by the pairs that differ in nothing else.
pub(crate) struct Effect {
    factor: Factor,
    pairs: usize,
    /// By rule: of the pairs told apart, how many times less often it happens with what is recommended, and of how many
    /// pairs it is the other way round.
    by: Vec<(Predicate, Vec<f64>, usize)>,
    /// Of locks: by rule the first pair that is told apart, the one with which it happens more often first.
    pair: Vec<(Predicate, String, String)>,
    /// True if data was damaged often enough for a rate on either side of any pair.
    has_rates: bool,
    /// True if the lower side of any pair that is told apart is only a bound.
    has_bounds: bool,
}

/// The choices in which designs of this point differ, one at a time. None where they differ in locks alone: these are a
/// list, and no choice.
pub(crate) fn effects(model: &PageModel<'_>, point: u64) -> Vec<Effect> {
    let choices = Choices::from_designs(&model.results.header.designs);
    let cells: Vec<&Figures> = model.at(point).filter(|cell| cell.runs > 0).collect();
    let of = |factor: Factor| {
        let pairs: Vec<(&Figures, &Figures)> = cells
            .iter()
            .flat_map(|one| cells.iter().map(move |other| (*one, *other)))
            .filter(|(one, other)| one.design < other.design)
            .filter(|(one, other)| choices.differ_in(factor, (one.design, other.design)))
            .filter_map(|pair| put_recommended_second(&choices, factor, pair))
            .collect();
        let by = BY.map(|predicate| times_less(model, point, &pairs, predicate));
        let pair = BY.into_iter().filter_map(|predicate| first_apart(model, point, &pairs, predicate));
        let is_stated = |cell: &Figures| cell.rate(BY[0]).per_run.is_ok();
        Effect {
            factor,
            pairs: pairs.len(),
            by: by.into(),
            pair: pair.collect(),
            has_rates: pairs.iter().any(|(one, other)| is_stated(one) || is_stated(other)),
            has_bounds: pairs.iter().any(|(_, with)| !is_stated(with)),
        }
    };
    let effects: Vec<Effect> = Factor::ALL.map(of).into_iter().filter(|effect| effect.pairs > 0).collect();
    if effects.iter().all(|effect| effect.factor == Factor::Lock) { Vec::new() } else { effects }
}

/// A pair with the design second that has the check, or that looks at its deadline. Of locks neither is recommended;
/// two different checks are no pair.
fn put_recommended_second<'a>(
    choices: &Choices,
    factor: Factor,
    (one, other): (&'a Figures, &'a Figures),
) -> Option<(&'a Figures, &'a Figures)> {
    let has = |cell: &Figures| match factor {
        Factor::Check => !choices.has_no_check(cell.design),
        Factor::Deadline => choices.looks_at_deadline(cell.design),
        Factor::Lock => true,
    };
    match (factor, has(one), has(other)) {
        (Factor::Lock, ..) | (_, false, true) => Some((one, other)),
        (_, true, false) => Some((other, one)),
        _ => None,
    }
}

fn times_less(
    model: &PageModel<'_>,
    point: u64,
    pairs: &[(&Figures, &Figures)],
    predicate: Predicate,
) -> (Predicate, Vec<f64>, usize) {
    let (mut less, mut more) = (Vec::new(), 0);
    for (without, with) in pairs {
        match model.compare(point, (without, with), predicate) {
            Some(Ordering::Greater) => less.push(ratio(without, with, predicate)),
            Some(Ordering::Less) => more += 1,
            _ => {}
        }
    }
    (predicate, less, more)
}

/// The first pair that is told apart, the one with which it happens more often first. Not a pair of which the other is
/// worse by another rule: it would be called better without a word of that.
fn first_apart(
    model: &PageModel<'_>,
    point: u64,
    pairs: &[(&Figures, &Figures)],
    predicate: Predicate,
) -> Option<(Predicate, String, String)> {
    let name = |cell: &Figures| model.name(cell.design).to_owned();
    let is_worse = |one: &Figures, other: &Figures| {
        COLUMNS.iter().any(|it| model.compare(point, (one, other), *it) == Some(Ordering::Greater))
    };
    pairs.iter().find_map(|(one, other)| {
        let (worse, better) = match model.compare(point, (one, other), predicate)? {
            Ordering::Greater => (one, other),
            Ordering::Less => (other, one),
            Ordering::Equal => return None,
        };
        (!is_worse(better, worse)).then(|| (predicate, name(worse), name(better)))
    })
}

/// How many times more often it happens with the first; where it was not seen with the second, at least so many.
fn ratio(high: &Figures, low: &Figures, predicate: Predicate) -> f64 {
    let size = |cell: &Figures| cell.rate(predicate).size().unwrap_or(1.0);
    size(high) / size(low).max(f64::MIN_POSITIVE)
}

/// Rounded down to what is sure: a whole number from ten on, and a tenth below.
fn round_down(ratio: f64) -> String {
    digits(if ratio < 10.0 { (ratio * 10.0).floor() / 10.0 } else { ratio.floor() })
}

/// The sentences about choices: that which matters most first.
pub(crate) fn sentences(effects: &[Effect]) -> Vec<String> {
    let mut sentences: Vec<String> = BY.into_iter().filter_map(|it| less_often(effects, it)).collect();
    sentences.extend(effects.iter().filter_map(either_way));
    sentences.extend(silence(effects, true));
    sentences.extend(silence(effects, false));
    sentences.into_iter().map(|words| format!("{words}.")).collect()
}

/// By how much something happens less often with each choice that is told by it, the largest ratio first.
fn less_often(effects: &[Effect], predicate: Predicate) -> Option<String> {
    let least = |less: &[f64]| less.iter().copied().fold(f64::INFINITY, f64::min);
    let mut told: Vec<(f64, String)> = effects
        .iter()
        .filter(|effect| effect.factor != Factor::Lock)
        .filter_map(|effect| {
            let (of, less, more) = told(effect)?;
            let apart = less.len() + more;
            let pairs = if apart == effect.pairs {
                String::new()
            } else {
                format!(" in {apart} of {} pairs", effect.pairs)
            };
            // Of what was not seen the bound is taken, so that the ratio is at least so high.
            let is_one = less.iter().all(|it| round_down(*it) == round_down(least(less)));
            let better = if is_one && !effect.has_bounds { "" } else { " (or better)" };
            let words = format!("{better} {}{pairs}", condition(effect.factor));
            (*of == predicate && *more == 0).then(|| (least(less), words))
        })
        .collect();
    told.sort_by(|one, other| other.0.total_cmp(&one.0));
    let part = |(place, (ratio, words)): (usize, &(f64, String))| {
        let often = if place == 0 { " less often" } else { "" };
        format!("{} times{often}{words}", round_down(*ratio))
    };
    let parts: Vec<String> = told.iter().enumerate().map(part).collect();
    (!parts.is_empty()).then(|| format!("{} {}", capital(clause(predicate)), parts.join(", ")))
}

/// What is told of locks, and of a choice that is better in some pairs and worse in others.
fn either_way(effect: &Effect) -> Option<String> {
    let (predicate, less, more) = told(effect)?;
    if effect.factor != Factor::Lock {
        let words = format!("It is better in some pairs and worse in others {}", condition(effect.factor));
        return (*more > 0).then_some(words);
    }
    let (_, worse, better) = effect.pair.iter().find(|(of, ..)| of == predicate)?;
    let (apart, pairs, clause) = (less.len() + more, effect.pairs, clause(*predicate));
    Some(format!(
        "Of {pairs} pairs of locks {apart} differ, such as this: {clause} more often with `{worse}` than with `{better}`"
    ))
}

/// What is said of the choices by which no pair is told apart: that is no proof of anything, and where data was hardly
/// damaged it could not have been one.
fn silence(effects: &[Effect], has_rates: bool) -> Option<String> {
    let is_silent = |effect: &&Effect| {
        let is_judged = effect.has_rates || effect.factor == Factor::Lock;
        told(effect).is_none() && is_judged == has_rates
    };
    let names: Vec<&str> = effects.iter().filter(is_silent).map(|effect| name(effect.factor)).collect();
    let list = doublehold_text::join_names(&names, "or");
    let words = if has_rates {
        format!("No difference was shown (perhaps too few runs) with {list}")
    } else {
        format!("Too little data was damaged to judge {list}")
    };
    (!names.is_empty()).then_some(words)
}

fn name(factor: Factor) -> &'static str {
    match factor {
        Factor::Check => "a check at the resource",
        Factor::Deadline => "a look at the deadline",
        Factor::Lock => "another lock",
    }
}

fn condition(factor: Factor) -> &'static str {
    match factor {
        Factor::Check => "with a check at the resource",
        Factor::Deadline => "if holders look at their deadline",
        Factor::Lock => "with another lock",
    }
}

/// The rule by which a choice is told, the ratios of the pairs that it tells apart, and of how many it is the other
/// way.
fn told(effect: &Effect) -> Option<&(Predicate, Vec<f64>, usize)> {
    effect.by.iter().find(|(_, less, more)| !less.is_empty() || *more > 0)
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
