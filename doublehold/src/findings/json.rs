//! A search as one JSON object. `reports/JSON.md` explains each field. New fields may come; those that are there stay.

use std::collections::BTreeMap;
use std::time::Duration;

use doublehold_diagnosis::counterexample::Counterexample;
use doublehold_history::Predicate;
use doublehold_scenarios::Seed;
use doublehold_search::coverage::Coverage;
use doublehold_search::many::Count;
use doublehold_search::shrink::Size;
use doublehold_statistics::Confidence;
use serde::Serialize;

use super::example::causes;
use super::part::JsonPart;
use super::rates::partly_decided;
use super::rules::JsonRule;
use super::{Conclusion, Findings, Gap, ReplayHints, WaitBound};
use doublehold_render::json::pretty;

#[derive(Serialize)]
struct JsonFindings<'a> {
    /// The version of these fields.
    check: u32,
    title: &'a str,
    command: &'a str,
    first_seed: String,
    runs: u64,
    part: Option<JsonPart<'a>>,
    grants: u64,
    refused: Option<JsonRefusal<'a>>,
    conclusion: &'static str,
    gaps: Vec<JsonGap<'a>>,
    predicates: BTreeMap<&'static str, JsonCount<'a>>,
    /// Of how many runs white-box rules were asked, and their results.
    rules_runs: u64,
    rules: BTreeMap<&'static str, JsonRule>,
    panicked: Option<Panicked>,
    liveness_bound: Option<JsonBound>,
    found: Vec<JsonExample<'a>>,
    coverage: Vec<JsonCoverage>,
    idle: &'a [&'static str],
}

/// A reason why finding nothing would not mean that nothing is there.
#[derive(Serialize)]
struct JsonGap<'a> {
    why: &'a str,
    again: Option<&'a str>,
}

/// The first run in which nobody was granted the lock.
#[derive(Serialize)]
struct JsonRefusal<'a> {
    first_seed: String,
    why: &'a str,
}

#[derive(Serialize)]
struct JsonCount<'a> {
    is_asked: bool,
    holds: u64,
    violated: u64,
    undecided: u64,
    first_violated: Option<String>,
    first_undecided: Option<String>,
    why_undecided: Option<&'a str>,
    /// In how many of the runs that hold nothing happened that it is about.
    not_seen: u64,
    why_not_seen: Option<&'a str>,
    /// The share of runs that violate it, and its 95 % interval; undecided runs count both ways.
    rate_from: Option<f64>,
    rate_to: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    at_most: Option<f64>,
}

#[derive(Serialize)]
struct Panicked {
    runs: u64,
    first_seed: String,
}

#[derive(Serialize)]
struct JsonBound {
    obtain_within_ns: Option<u64>,
    obtain_free_within_ns: Option<u64>,
    after_faults: bool,
    stated_by: &'static str,
}

#[derive(Serialize)]
struct JsonExample<'a> {
    what: String,
    first_seed: String,
    /// The seed from which the shrunk scenario shows it.
    seed: String,
    causes: Vec<String>,
    before: JsonSize,
    after: JsonSize,
    is_minimal: bool,
    through_redis_rs: bool,
    files: &'a [String],
    replay: &'a str,
}

#[derive(Serialize)]
struct JsonSize {
    faults: usize,
    clients: usize,
    steps: usize,
    nodes: usize,
}

#[derive(Serialize)]
struct JsonCoverage {
    kind: &'static str,
    drawn: u64,
    struck: u64,
    at: BTreeMap<&'static str, u64>,
}

impl Findings {
    /// Everything, as JSON.
    ///
    /// # Errors
    ///
    /// None in practice: everything in it can be written as JSON.
    pub fn json(&self) -> serde_json::Result<String> {
        let tally = &self.tally;
        let gaps = self.gaps();
        pretty(&JsonFindings {
            check: 1,
            title: &self.title,
            command: &self.command,
            first_seed: self.first.to_string(),
            runs: tally.runs,
            part: self.part.as_ref().map(|part| JsonPart::new(part, self.nondeterminism.as_ref())),
            grants: tally.grants,
            refused: tally
                .refused
                .as_ref()
                .map(|(seed, why)| JsonRefusal { first_seed: seed.to_string(), why }),
            conclusion: match self.outcome() {
                Conclusion::Nothing => "nothing-found",
                Conclusion::Violated => "violated",
                Conclusion::Inconclusive => "inconclusive",
            },
            gaps: gaps.iter().map(JsonGap::new).collect(),
            predicates: Predicate::ALL
                .into_iter()
                .map(|it| (it.as_str(), JsonCount::new(self.asked.contains(&it), tally.predicates.get(&it))))
                .collect(),
            rules_runs: self.rules.tally.runs,
            rules: self.rules.json(),
            panicked: tally.panicked.map(|(first, runs)| Panicked { runs, first_seed: first.to_string() }),
            liveness_bound: self.bound.as_ref().map(JsonBound::new),
            found: self.found.iter().map(|(example, shown)| JsonExample::new(example, shown)).collect(),
            coverage: self
                .all_kinds()
                .into_iter()
                .map(|kind| JsonCoverage::new(&tally.coverage, kind))
                .collect(),
            idle: &self.idle,
        })
    }
}

impl JsonGap<'_> {
    fn new(gap: &Gap) -> JsonGap<'_> {
        JsonGap { why: &gap.why, again: gap.again.as_deref() }
    }
}

impl JsonCount<'_> {
    fn new(is_asked: bool, count: Option<&Count>) -> JsonCount<'_> {
        let none = Count::default();
        let Count { holds, violated, inconclusive, first, .. } = count.unwrap_or(&none);
        let unsaid = count.and_then(|count| count.unsaid.as_ref());
        let not_seen = count.and_then(|count| count.not_seen.as_ref());
        let runs = partly_decided(count.unwrap_or(&none));
        let (range, interval) = (runs.range(), runs.exact(Confidence::P95));
        JsonCount {
            is_asked,
            holds: *holds,
            violated: *violated,
            undecided: *inconclusive,
            first_violated: first.as_ref().map(Seed::to_string),
            first_undecided: unsaid.map(|(seed, _)| seed.to_string()),
            why_undecided: unsaid.map(|(_, why)| why.as_str()),
            not_seen: not_seen.map_or(0, |(runs, _)| *runs),
            why_not_seen: not_seen.map(|(_, why)| why.as_str()),
            rate_from: range.map(|range| range.low),
            rate_to: range.map(|range| range.high),
            low: interval.map(|interval| interval.low),
            high: interval.map(|interval| interval.high),
            at_most: runs.upper_bound(Confidence::P95),
        }
    }
}

impl JsonBound {
    fn new(bound: &WaitBound) -> JsonBound {
        let ns = |time: Option<Duration>| time.map(|time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
        JsonBound {
            obtain_within_ns: ns(bound.obtain_within),
            obtain_free_within_ns: ns(bound.obtain_free_within),
            after_faults: bound.after_faults,
            stated_by: bound.stated_by.as_str(),
        }
    }
}

impl JsonExample<'_> {
    fn new<'a>(example: &'a Counterexample, shown: &'a ReplayHints) -> JsonExample<'a> {
        let Counterexample { target, first, shrunk, is_real, .. } = example;
        JsonExample {
            what: super::name_of(*target),
            first_seed: first.to_string(),
            seed: shrunk.seed.to_string(),
            causes: causes(&shrunk.scenario.faults),
            before: JsonSize::new(shrunk.before),
            after: JsonSize::new(shrunk.after),
            is_minimal: shrunk.is_minimal,
            through_redis_rs: *is_real,
            files: &shown.files,
            replay: &shown.replay,
        }
    }
}

impl JsonSize {
    fn new(size: Size) -> JsonSize {
        let Size { faults, clients, steps, nodes } = size;
        JsonSize { faults, clients, steps, nodes }
    }
}

impl JsonCoverage {
    fn new(coverage: &Coverage, kind: &'static str) -> JsonCoverage {
        let of_kind = coverage.kind(kind);
        let at = of_kind.at.iter().map(|(place, count)| (place.as_str(), *count)).collect();
        JsonCoverage { kind, drawn: of_kind.drawn, struck: of_kind.struck, at }
    }
}
