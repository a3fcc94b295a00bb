//! What each choice of a design does: the pairs of designs that differ in it alone, and how many times more often
//! something happens with the one than with the other, where a test tells them apart.

use std::cmp::Ordering;

use doublehold_history::Predicate;
use doublehold_text::digits;

use super::factors::{Choices, Factor};
use super::model::PageModel;
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
}

/// The choices in which designs of this point differ, one at a time.
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
        Effect { factor, pairs: pairs.len(), by: by.into(), pair: pair.collect() }
    };
    Factor::ALL.map(of).into_iter().filter(|effect| effect.pairs > 0).collect()
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

fn first_apart(
    model: &PageModel<'_>,
    point: u64,
    pairs: &[(&Figures, &Figures)],
    predicate: Predicate,
) -> Option<(Predicate, String, String)> {
    let name = |cell: &Figures| model.name(cell.design).to_owned();
    pairs.iter().find_map(|(one, other)| match model.compare(point, (one, other), predicate)? {
        Ordering::Greater => Some((predicate, name(one), name(other))),
        Ordering::Less => Some((predicate, name(other), name(one))),
        Ordering::Equal => None,
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
    let mut told: Vec<(f64, String)> =
        effects.iter().filter_map(|effect| Some((size(effect), sentence(effect)?))).collect();
    told.sort_by(|one, other| other.0.total_cmp(&one.0));
    for effect in effects.iter().filter(|effect| sentence(effect).is_none()) {
        told.push((
            0.0,
            match effect.factor {
                Factor::Lock => "Between locks no difference was shown".to_owned(),
                factor => format!("No difference was shown with {} and without", name(factor)),
            },
        ));
    }
    told.into_iter().map(|(_, words)| format!("{words}.")).collect()
}

fn name(factor: Factor) -> &'static str {
    match factor {
        Factor::Check => "a check at the resource",
        Factor::Deadline => "a look at the deadline",
        Factor::Lock => "another lock",
    }
}

/// The rule by which a choice is told, the ratios of the pairs that it tells apart, and of how many it is the other
/// way.
fn told(effect: &Effect) -> Option<&(Predicate, Vec<f64>, usize)> {
    effect.by.iter().find(|(_, less, more)| !less.is_empty() || *more > 0)
}

/// How much a choice matters: by the largest ratio, and less if it goes either way.
fn size(effect: &Effect) -> f64 {
    let largest = |less: &[f64]| less.iter().copied().fold(1.0, f64::max);
    match (effect.factor, told(effect)) {
        (Factor::Lock, Some(_)) => 1.0,
        (_, Some((_, less, 0))) => largest(less),
        _ => 1.0,
    }
}

/// What is told of a choice; nothing if no pair is told apart.
fn sentence(effect: &Effect) -> Option<String> {
    let (predicate, less, more) = told(effect)?;
    let apart = less.len() + more;
    let of =
        if apart == effect.pairs { String::new() } else { format!(" in {apart} of {} pairs", effect.pairs) };
    let (least, most) =
        less.iter().fold((f64::INFINITY, 0.0_f64), |(least, most), it| (least.min(*it), most.max(*it)));
    Some(match effect.factor {
        Factor::Lock => {
            let (_, worse, better) = effect.pair.iter().find(|(of, ..)| of == predicate)?;
            let clause = clause(*predicate);
            format!(
                "Locks differ in {apart} of {} pairs: {clause} more often with `{worse}` than with `{better}`",
                effect.pairs
            )
        }
        factor if *more > 0 => {
            format!("With {} it is better in some pairs and worse in others", name(factor))
        }
        factor => {
            let (least, most) = (round_down(least), round_down(most));
            let times = if least == most { least } else { format!("{least} to {most}") };
            format!("With {}, {} {times} times less often{of}", name(factor), clause(*predicate))
        }
    })
}
