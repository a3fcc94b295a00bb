//! The effect of each choice of a design: from the pairs of designs that differ in it alone, and only from those that a
//! test tells apart.

use std::cmp::Ordering;

use doublehold_history::Predicate;
use doublehold_text::{capital, digits, every};

use super::factors::{Choices, Factor};
use super::model::{COLUMNS, PageModel};
use super::outcome::clause;
use super::rates::{Figures, Rate};

/// By which rules choices are told: damage first, and what is asked least last.
const BY: [Predicate; 6] = every!(Predicate: P4, P2, P1, LV, P3, WR);

/// One choice, by the pairs that differ in nothing else.
pub(crate) struct Effect {
    factor: Factor,
    pairs: usize,
    /// In the order of [`BY`].
    by: Vec<RuleEffect>,
    /// True if data was damaged often enough for a rate on either side of any pair.
    has_rates: bool,
}

/// The pairs of a choice that one rule tells apart.
struct RuleEffect {
    predicate: Predicate,
    /// Of the pairs in which it happens less often with the recommended design: how much less.
    less: Vec<Ratio>,
    /// The number of pairs in which it happens more often with that.
    more: usize,
    /// Of the pairs that are not told apart: the names of the designs without it.
    alike: Vec<String>,
    /// The names of a pair, the one with which it happens more often first. None if the other of each pair is worse by
    /// another rule: it would be called better without a word of that.
    example: Option<(String, String)>,
}

/// A rate over a smaller one.
struct Ratio {
    times: f64,
    /// True if it is at least that, since one of the rates is only a bound.
    is_least: bool,
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
        let is_stated = |cell: &Figures| cell.rate(Predicate::P4).per_run.is_ok();
        Effect {
            factor,
            pairs: pairs.len(),
            by: BY.map(|it| RuleEffect::from_pairs(model, point, &pairs, it)).into(),
            has_rates: pairs.iter().any(|(one, other)| is_stated(one) || is_stated(other)),
        }
    };
    let effects: Vec<Effect> = Factor::ALL.map(of).into_iter().filter(|effect| effect.pairs > 0).collect();
    if effects.iter().all(|effect| effect.factor == Factor::Lock) { Vec::new() } else { effects }
}

/// A pair with the design second that has the check, or that looks at its deadline or heeds news. Of locks neither is
/// recommended; two different checks are no pair.
fn put_recommended_second<'a>(
    choices: &Choices,
    factor: Factor,
    (one, other): (&'a Figures, &'a Figures),
) -> Option<(&'a Figures, &'a Figures)> {
    let has = |cell: &Figures| match factor {
        Factor::Check => !choices.has_no_check(cell.design),
        Factor::Deadline => choices.looks_at_deadline(cell.design),
        Factor::News => choices.heeds_news(cell.design),
        Factor::Lock => true,
    };
    match (factor, has(one), has(other)) {
        (Factor::Lock, ..) | (_, false, true) => Some((one, other)),
        (_, true, false) => Some((other, one)),
        _ => None,
    }
}

impl RuleEffect {
    fn from_pairs(
        model: &PageModel<'_>,
        point: u64,
        pairs: &[(&Figures, &Figures)],
        predicate: Predicate,
    ) -> RuleEffect {
        let mut effect =
            RuleEffect { predicate, less: Vec::new(), more: 0, alike: Vec::new(), example: None };
        for (without, with) in pairs {
            let (worse, better) = match model.compare(point, (without, with), predicate) {
                Some(Ordering::Greater) => (without, with),
                Some(Ordering::Less) => (with, without),
                _ => {
                    effect.alike.push(model.name(without.design).to_owned());
                    continue;
                }
            };
            if worse.design == without.design {
                effect.less.push(Ratio::new(without, with, predicate));
            } else {
                effect.more += 1;
            }
            let is_worse =
                |it: &Predicate| model.compare(point, (better, worse), *it) == Some(Ordering::Greater);
            if effect.example.is_none() && !COLUMNS.iter().any(is_worse) {
                let name = |cell: &Figures| model.name(cell.design).to_owned();
                effect.example = Some((name(worse), name(better)));
            }
        }
        effect
    }

    fn apart(&self) -> usize {
        self.less.len() + self.more
    }
}

impl Ratio {
    /// Of a rate that is not stated the end is taken that makes the ratio smaller.
    fn new(high: &Figures, low: &Figures, predicate: Predicate) -> Ratio {
        let (high, low) = (high.rate(predicate), low.rate(predicate));
        let stated = |rate: &Rate| rate.per_run.as_ref().ok().map(|it| it.value);
        let (above, below) = (stated(&high), stated(&low));
        let times = above.unwrap_or(high.low()) / below.or(low.high()).unwrap_or(1.0).max(f64::MIN_POSITIVE);
        Ratio { times, is_least: above.is_none() || below.is_none() }
    }
}

/// Rounded down to what is sure: a whole number from ten on, and a tenth below.
fn round_down(ratio: f64) -> String {
    digits(if ratio < 10.0 { (ratio * 10.0).floor() / 10.0 } else { ratio.floor() })
}

/// The sentences about choices: that which matters most first.
pub(crate) fn sentences(effects: &[Effect]) -> Vec<String> {
    let mut sentences: Vec<String> = BY.into_iter().filter_map(|it| less_often(effects, it)).collect();
    sentences.extend(effects.iter().filter_map(either_way));
    // An answer of more than 120 words is not read: beside many choices, and by a second rule, tables tell locks apart.
    let choices = effects.iter().filter(|it| it.factor != Factor::Lock && told(it).is_some()).count();
    let locks = effects.iter().filter(|it| it.factor == Factor::Lock && choices < 3);
    sentences.extend(locks.filter_map(of_locks));
    sentences.extend(silence(effects, true));
    sentences.extend(silence(effects, false));
    sentences.into_iter().map(|words| format!("{words}.")).collect()
}

/// By how much something happens less often with each choice that is told by it, and what happens more often with that
/// choice. First the choice that helps in the largest share of its pairs, of these the one with the largest ratio.
fn less_often(effects: &[Effect], predicate: Predicate) -> Option<String> {
    let choices = effects.iter().filter(|effect| effect.factor != Factor::Lock);
    let told_by = |effect: &&Effect| told(effect).is_some_and(|it| it.predicate == predicate && it.more == 0);
    let mut parts: Vec<Part> = choices.filter(told_by).filter_map(part_of_choice).collect();
    let rank = |part: &Part| (part.share, part.least);
    parts.sort_by(|one, other| {
        let ((one, ratio), (another, other_ratio)) = (rank(one), rank(other));
        another.total_cmp(&one).then(other_ratio.total_cmp(&ratio))
    });
    let words = |(place, part): (usize, &Part)| {
        let often = if place == 0 { " less often" } else { "" };
        format!("{} times{often}{}", round_down(part.least), part.words)
    };
    let parts: Vec<String> = parts.iter().enumerate().map(words).collect();
    (!parts.is_empty()).then(|| format!("{} {}", capital(clause(predicate)), parts.join("; ")))
}

/// A choice within a sentence.
struct Part {
    /// The share of its pairs that are told apart.
    share: f64,
    /// The least ratio of these.
    least: f64,
    /// The words that follow the ratio.
    words: String,
}

fn part_of_choice(effect: &Effect) -> Option<Part> {
    let it = told(effect)?;
    let least = it.less.iter().map(|ratio| ratio.times).fold(f64::INFINITY, f64::min);
    let is_one = it.less.iter().all(|ratio| !ratio.is_least && round_down(ratio.times) == round_down(least));
    let better = if is_one { "" } else { " (or better)" };
    let of = match &it.alike[..] {
        [] => String::new(),
        [one] => format!(" (not shown with `{one}`)"),
        _ => format!(" in {} of {} pairs", it.apart(), effect.pairs),
    };
    let more = effect
        .by
        .iter()
        .filter(|it| it.more > 0)
        .map(|it| format!(", but {} more often", clause(it.predicate)));
    let words = format!("{better} {}{of}{}", condition(effect.factor), more.collect::<String>());
    Some(Part { share: it.apart() as f64 / effect.pairs as f64, least, words })
}

/// The words about a choice that is better in some pairs and worse in others.
fn either_way(effect: &Effect) -> Option<String> {
    let it = told(effect).filter(|it| it.more > 0 && effect.factor != Factor::Lock);
    it.map(|_| format!("It is better in some pairs and worse in others {}", condition(effect.factor)))
}

/// The words about locks, by the first rule that tells any two of them apart.
fn of_locks(effect: &Effect) -> Option<String> {
    let pairs = effect.pairs;
    told(effect).map(|it| {
        let (apart, clause) = (it.apart(), clause(it.predicate));
        match &it.example {
            Some((worse, better)) => {
                let others = format!("{apart} of {pairs} pairs of locks differ in this");
                format!("{} more often with `{worse}` than with `{better}`; {others}", capital(clause))
            }
            None => format!(
                "In {apart} of {pairs} pairs of locks, {clause} more often with one of them; the other is worse by \
                 another rule"
            ),
        }
    })
}

/// The words about choices by which no pair is told apart: that is no proof of anything, and where data was hardly
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
        Factor::News => "heed of the news of a loss",
        Factor::Lock => "another lock",
    }
}

fn condition(factor: Factor) -> &'static str {
    match factor {
        Factor::Check => "with a check at the resource",
        Factor::Deadline => "if holders look at their deadline",
        Factor::News => "if holders heed news of a loss",
        Factor::Lock => "with another lock",
    }
}

/// The first rule by which any pair of a choice is told apart.
fn told(effect: &Effect) -> Option<&RuleEffect> {
    effect.by.iter().find(|it| it.apart() > 0)
}
