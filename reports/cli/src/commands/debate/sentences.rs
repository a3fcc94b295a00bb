//! Cases, predictions and measurements in words, for a terminal and for a page.

use doublehold_debate::{
    CaseOutcome, ClaimRow, DebateCase, DebateFinding, Flip, Measured, NoFlip, Prediction, Side, Stand,
    Threshold, VerdictCount,
};
use doublehold_history::Predicate;
use doublehold_text::{capital, list, shell};

/// The command that shows a case: `doublehold run gc-in-flight --set lock.ttl=4s`.
pub(super) fn command(case: &DebateCase) -> String {
    let sets: Vec<String> =
        case.setup().sets().into_iter().map(|(key, value)| format!("{key}={value}")).collect();
    let mut words = vec!["doublehold", "run", case.setup().scenario.as_str()];
    for set in &sets {
        words.extend(["--set", set]);
    }
    shell::line(words)
}

/// The prediction of a case: `P1 P3 violated, P2 holds`.
pub(super) fn prediction_words(case: &DebateCase) -> String {
    match case {
        DebateCase::Run(run) => {
            groups(run.expect.iter().map(|(&predicate, expected)| (predicate, word(*expected))))
        }
        DebateCase::Threshold(threshold) => {
            format!(
                "{} turns at {} = {}",
                threshold.predicate,
                at(threshold, threshold.predicted),
                threshold.formula
            )
        }
        DebateCase::Measure(measure) => {
            let bound = |word: &str, bound: Option<f64>| {
                bound.map(|it| format!("{word} {}", measure.figure.text(it)))
            };
            let bounds = [bound("at least", measure.at_least), bound("at most", measure.at_most)];
            let bounds: Vec<String> = bounds.into_iter().flatten().collect();
            format!("{} = {}", list(&bounds), measure.formula)
        }
    }
}

fn word(expected: Prediction) -> &'static str {
    match expected {
        Prediction::Holds => "holds",
        Prediction::Violated => "violated",
        Prediction::Sometimes => "violated in some runs",
        Prediction::NotSeen => "not seen",
    }
}

/// The measurement: `P1 P3 violated, P2 holds`, with counts where runs differ.
pub(super) fn measurement_words(outcome: &CaseOutcome<'_>) -> String {
    match &outcome.measured {
        Measured::Verdicts(_, counts) => {
            groups(counts.iter().map(|(predicate, _, count)| (*predicate, count_words(*count))))
        }
        Measured::Flip(threshold, Ok(flip)) => flip_words(threshold, *flip),
        Measured::Flip(threshold, Err(why)) => no_flip_words(threshold, why),
        Measured::Figure(measure, Some(value)) => {
            format!("{} {}", measure.figure.as_str(), measure.figure.text(*value))
        }
        Measured::Figure(measure, None) => format!("no run has a {}", measure.figure.as_str()),
    }
}

fn flip_words(threshold: &Threshold, flip: Flip) -> String {
    let why = threshold.not_seen.as_ref().map_or(String::new(), |stated| format!(": {}", stated.why));
    format!(
        "{} {} up to {}, {} from {}{why}",
        threshold.predicate,
        side(flip.below),
        threshold.number(flip.last),
        side(flip.above),
        threshold.number(flip.first)
    )
}

fn no_flip_words(threshold: &Threshold, why: &NoFlip) -> String {
    let Threshold { predicate, low, high, .. } = threshold;
    match why {
        NoFlip::Ends([below, above]) => format!(
            "{predicate} does not turn: at {} {}, at {} {}",
            threshold.number(*low),
            side(*below),
            threshold.number(*high),
            side(*above)
        ),
        NoFlip::TurnsBack(value, is) => {
            format!("{predicate} turns more than once: at {} {}", threshold.number(*value), side(*is))
        }
        NoFlip::Hollow { value } => {
            format!("nothing is seen of {predicate} at {}", threshold.number(*value))
        }
        NoFlip::SeenAfterAll { value } => {
            format!("something is seen of {predicate} at {}", threshold.number(*value))
        }
    }
}

fn side(side: Side) -> &'static str {
    match side {
        Side::Holds => "holds",
        Side::Violated => "violated",
        Side::NotSeen => "not seen",
        Side::Mixed => "violated in some runs",
    }
}

/// A predicted value, rounded as far as the unit of the threshold goes.
fn at(threshold: &Threshold, value: f64) -> String {
    let number = format!("{value:.1}");
    threshold.number(number.strip_suffix(".0").unwrap_or(&number))
}

/// One predicate over all runs.
fn count_words(count: VerdictCount) -> String {
    let runs = count.runs();
    match count {
        VerdictCount { holds, .. } if holds == runs => "holds".to_owned(),
        VerdictCount { violated, .. } if violated == runs => "violated".to_owned(),
        VerdictCount { not_seen, .. } if not_seen == runs => "not seen".to_owned(),
        VerdictCount { violated, not_seen, undecided, .. } => {
            let some = |count: u64, word: &str| match count {
                0 => String::new(),
                _ => format!(", {word} in {count}"),
            };
            let rest = some(not_seen, "not seen") + &some(undecided, "undecided");
            format!("violated in {violated} of {runs}{rest}")
        }
    }
}

/// Predicates with one and the same word together, in the order of the first: `P1 P3 violated, P2 holds`.
fn groups<W: Into<String>>(each: impl Iterator<Item = (Predicate, W)>) -> String {
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    for (predicate, word) in each {
        let word = word.into();
        match groups.iter_mut().find(|(known, _)| *known == word) {
            Some((_, predicates)) => predicates.push(predicate.as_str()),
            None => groups.push((word, vec![predicate.as_str()])),
        }
    }
    let group = |(word, predicates): &(String, Vec<&str>)| {
        let word = if predicates.len() > 1 { word.replace("holds", "hold") } else { word.clone() };
        format!("{} {word}", predicates.join(" "))
    };
    groups.iter().map(group).collect::<Vec<_>>().join(", ")
}

/// What a case varies, ahead of its command: `outside that scope: one node: `.
pub(super) fn about(case: &DebateCase) -> String {
    let about = case.setup().about.as_ref().map(|about| format!("{about}: ")).unwrap_or_default();
    if case.is_attack() { format!("outside that scope: {about}") } else { about }
}

/// The outcome of its author's statements: `confirmed on P3; refuted on P1; on P2 it depends`.
pub(super) fn confirmation_words(row: &ClaimRow<'_>) -> Option<String> {
    let stands = row.stands();
    let those = |wanted: Stand| -> Vec<&str> {
        let alike = stands.iter().filter(|(_, stand)| **stand == wanted);
        alike.map(|(predicate, _)| predicate.as_str()).collect()
    };
    let told = [Stand::Confirmed, Stand::Refuted, Stand::Both].map(|stand| (stand, those(stand)));
    let told = told.iter().filter(|(_, those)| !those.is_empty()).map(|(stand, those)| match stand {
        Stand::Confirmed => format!("confirmed on {}", list(those)),
        Stand::Refuted => format!("refuted on {}", list(those)),
        Stand::Both => format!("on {} it depends", list(those)),
    });
    let told: Vec<String> = told.collect();
    (!told.is_empty()).then(|| told.join("; "))
}

/// A finding ahead of its cases: `Right on one node; wrong on five. Scope: clocks that are right.`
pub(super) fn finding_words(finding: &DebateFinding) -> String {
    let when = finding.when.as_ref().map(|when| format!("{}. ", capital(when))).unwrap_or_default();
    let why = finding.no_attack.as_ref().map(|why| format!(" Nothing is run outside of it: {why}."));
    format!("{when}Scope: {}.{}", finding.scope, why.unwrap_or_default())
}
