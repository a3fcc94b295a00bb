//! The table for programs: a row for each claim.

use std::collections::BTreeSet;

use doublehold_debate::{ClaimRow, DebateCase};
use serde::Serialize;

use super::sentences::{measurement_words, prediction_words};

/// A claim and what came of it.
#[derive(Serialize)]
pub(super) struct Line<'a> {
    claim: &'a str,
    topic: &'a str,
    /// Its authors, and the place where they say it.
    who: String,
    text: &'a str,
    /// All predicates that something was predicted of.
    predicate: Vec<&'static str>,
    /// The scenario of each case.
    scenario: Vec<&'a str>,
    /// The prediction of each case.
    expected: Vec<String>,
    /// The outcome of each case.
    measured: Vec<String>,
    /// `null` where the claim cannot be run yet; `note` says then what that would take.
    as_expected: Option<bool>,
    /// One sentence; `null` for a claim of one case.
    when: Option<&'a str>,
    /// What all cases assume; `null` where the claim cannot be run yet.
    scope: Option<&'a str>,
    /// The places in `scenario` of those outside of the scope.
    attacks: Vec<usize>,
    note: Option<String>,
}

/// A line for each claim.
pub(super) fn array<'a>(rows: &'a [ClaimRow<'_>]) -> Vec<Line<'a>> {
    rows.iter().map(line).collect()
}

fn line<'a>(row: &'a ClaimRow<'_>) -> Line<'a> {
    let claim = row.claim;
    let cases = || row.outcomes.iter().map(|outcome| outcome.case);
    let note = match &claim.cases {
        Err(not_yet) => Some(format!("not yet: {}: {}", not_yet.missing.as_str(), not_yet.needs)),
        Ok(_) => claim.note.clone(),
    };
    Line {
        claim: &claim.id,
        topic: claim.topic.name,
        who: format!("{}: {}", claim.who.join(", "), claim.source),
        text: &claim.text,
        predicate: cases().flat_map(predicates).collect::<BTreeSet<_>>().into_iter().collect(),
        scenario: cases().map(|case| case.setup().scenario.as_str()).collect(),
        expected: cases().map(prediction_words).collect(),
        measured: row.outcomes.iter().map(measurement_words).collect(),
        as_expected: row.as_expected(),
        when: claim.finding.as_ref().and_then(|finding| finding.when.as_deref()),
        scope: claim.finding.as_ref().map(|finding| finding.scope.as_str()),
        attacks: cases().enumerate().filter(|(_, case)| case.is_attack()).map(|(place, _)| place).collect(),
        note,
    }
}

fn predicates(case: &DebateCase) -> Vec<&'static str> {
    match case {
        DebateCase::Run(run) => run.expect.keys().map(|predicate| predicate.as_str()).collect(),
        DebateCase::Threshold(threshold) => vec![threshold.predicate.as_str()],
        DebateCase::Measure(_) => Vec::new(),
    }
}
