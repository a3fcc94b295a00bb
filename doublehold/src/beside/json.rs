//! A comparison as one JSON object. `reports/JSON.md` explains each field.

use std::collections::BTreeMap;

use doublehold_beside::{ComparedRule, NeedsGroup};
use doublehold_render::json::pretty;
use doublehold_scenarios::report::white_box::Rule;
use doublehold_statistics::Paired;
use serde::Serialize;

use super::{BesideFindings, ShownExample};
use crate::findings::causes;

#[derive(Serialize)]
struct JsonBeside<'a> {
    /// The version of these fields.
    beside: u32,
    mine: &'a str,
    theirs: &'a str,
    worlds: &'a str,
    command: &'a str,
    outcome: &'static str,
    pairs: u64,
    same: u64,
    only_mine_panicked: u64,
    survey_runs: u64,
    notes: &'a [String],
    predicates: BTreeMap<&'static str, JsonRow>,
    unmet: Vec<&'static str>,
    rules: BTreeMap<&'static str, JsonRule<'a>>,
    examples: Vec<JsonExample<'a>>,
}

#[derive(Serialize)]
struct JsonRow {
    found: &'static str,
    only_mine: u64,
    only_theirs: u64,
    both: u64,
    neither: u64,
    difference: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    rest_only_mine: u64,
    rest_only_theirs: u64,
    rest_both: u64,
    rest_neither: u64,
    kept_conditions: usize,
    conditions: usize,
    taken_away: Vec<String>,
}

/// A white-box rule, in all pairs.
#[derive(Serialize)]
struct JsonRule<'a> {
    is_worse: bool,
    only_mine: u64,
    only_theirs: u64,
    both: u64,
    neither: u64,
    first: Option<&'a str>,
}

#[derive(Serialize)]
struct JsonExample<'a> {
    predicate: &'static str,
    seed: String,
    causes: Vec<String>,
    faults: usize,
    separates: u64,
    futures: u64,
    groups: Vec<JsonGroup<'a>>,
    files: &'a [String],
    replay: &'a str,
}

#[derive(Serialize)]
struct JsonGroup<'a> {
    needs: &'a [&'static str],
    pairs: usize,
}

impl BesideFindings {
    /// Everything, as JSON.
    ///
    /// # Errors
    ///
    /// None in practice: everything in it can be written as JSON.
    pub fn json(&self) -> serde_json::Result<String> {
        pretty(&JsonBeside {
            beside: 1,
            mine: &self.mine,
            theirs: &self.theirs,
            worlds: &self.worlds,
            command: &self.command,
            outcome: self.outcome().as_str(),
            pairs: self.comparison.pairs,
            same: self.comparison.same,
            only_mine_panicked: self.comparison.only_mine_panicked,
            survey_runs: self.survey_runs,
            notes: &self.notes,
            predicates: self
                .comparison
                .rows
                .iter()
                .map(|row| (row.predicate.as_str(), self.row(row)))
                .collect(),
            unmet: self.inside.unmet(),
            rules: self
                .inside
                .rules
                .iter()
                .map(|(rule, pairs)| (rule.as_str(), self.rule(*rule, pairs)))
                .collect(),
            examples: self.examples.iter().map(JsonExample::new).collect(),
        })
    }

    fn rule(&self, rule: Rule, pairs: &Paired) -> JsonRule<'_> {
        JsonRule {
            is_worse: self.comparison.broken.contains(&rule),
            only_mine: pairs.only_first,
            only_theirs: pairs.only_second,
            both: pairs.both,
            neither: pairs.neither,
            first: self.inside.breaches.get(&rule).map(String::as_str),
        }
    }

    fn row(&self, row: &ComparedRule) -> JsonRow {
        let (kept, rest) = (row.kept.decided, row.rest.decided);
        let (interval, known) = (row.interval(), self.kept.iter().find(|(it, ..)| *it == row.predicate));
        JsonRow {
            found: row.found.as_str(),
            only_mine: kept.only_first,
            only_theirs: kept.only_second,
            both: kept.both,
            neither: kept.neither,
            difference: kept.difference(),
            low: interval.map(|it| it.low),
            high: interval.map(|it| it.high),
            rest_only_mine: rest.only_first,
            rest_only_theirs: rest.only_second,
            rest_both: rest.both,
            rest_neither: rest.neither,
            kept_conditions: known.map_or(0, |(_, kept, ..)| *kept),
            conditions: known.map_or(0, |(_, _, all, _)| *all),
            taken_away: known.map_or(Vec::new(), |(.., kinds)| kinds.taken_away.clone()),
        }
    }
}

impl JsonExample<'_> {
    fn new(shown: &ShownExample) -> JsonExample<'_> {
        let example = &shown.example;
        JsonExample {
            predicate: example.wanted.predicate.as_str(),
            seed: example.shrunk.seed.to_string(),
            causes: causes(&example.shrunk.scenario.faults),
            faults: example.shrunk.scenario.faults.len(),
            separates: example.separates,
            futures: doublehold_beside::FUTURES,
            groups: example.groups.iter().map(JsonGroup::new).collect(),
            files: &shown.hints.files,
            replay: &shown.hints.replay,
        }
    }
}

impl JsonGroup<'_> {
    fn new(group: &NeedsGroup) -> JsonGroup<'_> {
        JsonGroup { needs: &group.needs, pairs: group.pairs }
    }
}
