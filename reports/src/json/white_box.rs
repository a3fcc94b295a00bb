//! The white-box rules of a run as JSON.

use std::collections::BTreeMap;

use doublehold_scenarios::report::Report;
use doublehold_scenarios::report::white_box::{Breach, RuleVerdict, ask_all};
use serde::Serialize;

use super::MAX_WORDS;

/// The verdict of one rule.
#[derive(Serialize)]
pub(super) struct Rule {
    verdict: &'static str,
    /// Why nothing could be judged by it.
    why_off: Option<&'static str>,
    /// How many things break it.
    count: usize,
    /// The first of them.
    breaches: Vec<JsonBreach>,
}

#[derive(Serialize)]
struct JsonBreach {
    words: String,
    client: String,
    call: u64,
    node: Option<String>,
    at_ns: u64,
    until_ns: Option<u64>,
}

/// All rules, by their words.
pub(super) fn rules(report: &Report) -> BTreeMap<&'static str, Rule> {
    ask_all(report).map(|(rule, verdict)| (rule.as_str(), as_json(&verdict, report))).into()
}

fn as_json(verdict: &RuleVerdict, report: &Report) -> Rule {
    let (why_off, breaches) = match verdict {
        RuleVerdict::Holds => (None, &[][..]),
        RuleVerdict::Broken(breaches) => (None, &breaches[..]),
        RuleVerdict::Off(why) => (Some(*why), &[][..]),
    };
    let breach = |it: &Breach| JsonBreach {
        words: it.words.clone(),
        client: it.client.clone(),
        call: it.call.0,
        node: it.node.map(|node| report.scenario.hosts[node.0].name.clone()),
        at_ns: it.at.0,
        until_ns: it.until.map(|until| until.0),
    };
    Rule {
        verdict: verdict.as_str(),
        why_off,
        count: breaches.len(),
        breaches: breaches.iter().take(MAX_WORDS).map(breach).collect(),
    }
}
