//! What is left, in words: claim, source and story, and what the scenario is to expect. Made of what the faults say of
//! themselves, so that a catalogue can take the result as it is; who adds it to one will say it better.

use std::collections::BTreeMap;

use doublehold_history::{Predicate, Verdict};
use doublehold_scenarios::Seed;
use doublehold_scenarios::model::fault::Fault;
use doublehold_scenarios::model::scenario::{Expected, Scenario};
use doublehold_scenarios::report::Report;

use super::Target;
use super::search::OtherRun;

/// The scenario under its own words. `others` are its runs from other seeds: what all of them show, it expects.
pub(super) fn describe(
    scenario: &Scenario,
    seed: Seed,
    target: Target,
    run: &Report,
    others: &[OtherRun],
) -> Scenario {
    let lock = &scenario.lock.algorithm;
    Scenario {
        claim: match target {
            Target::Violates(predicate) => format!("With the `{lock}` lock, {}", predicate.meaning()),
            Target::Panics => format!("The code of the `{lock}` lock panics"),
        },
        source: format!("found by doublehold in a run of {} from seed {seed}, and shrunk", scenario.name),
        story: story(scenario),
        seed: Some(seed),
        sets: Vec::new(),
        expect: expect(target, run, others),
        ..scenario.clone()
    }
}

/// A sentence for each start and each fault.
fn story(scenario: &Scenario) -> String {
    let start = |client: &doublehold_scenarios::model::scenario::ClientSetup| {
        let start = client.start.as_ref()?;
        Some(format!("{} starts {}.", scenario.hosts[client.host.0].name, start.words()))
    };
    let starts = scenario.clients.iter().filter_map(start);
    let faults = scenario.faults.iter().map(|fault| sentence(fault, scenario));
    let mut sentences: Vec<String> = starts.chain(faults).collect();
    if scenario.faults.is_empty() {
        sentences.push("No fault is needed.".to_owned());
    }
    sentences.join(" ")
}

/// A name of a host stays as it is, also where a sentence begins.
fn sentence(fault: &Fault, scenario: &Scenario) -> String {
    let words = fault.to_string();
    let first = words.split([' ', ',']).next().unwrap_or_default();
    let is_name = scenario.hosts.iter().any(|host| host.name == first);
    let mut letters = words.chars();
    match letters.next() {
        Some(letter) if !is_name => format!("{}{}.", letter.to_uppercase(), letters.as_str()),
        _ => format!("{words}."),
    }
}

/// What is to be kept, and whatever else every run shows.
fn expect(target: Target, run: &Report, others: &[OtherRun]) -> BTreeMap<Predicate, Expected> {
    let mut expect = BTreeMap::new();
    for (predicate, verdict) in run.verdicts.iter() {
        let expected = match verdict {
            Verdict::Holds => Expected::Holds,
            Verdict::Violated(_) => Expected::Violated,
            Verdict::Inconclusive(_) | Verdict::NotSeen(_) => continue,
        };
        let is_same = |run: &OtherRun| run.verdicts[&predicate] == expected.as_str();
        if target == Target::Violates(predicate) || others.iter().all(is_same) {
            expect.insert(predicate, expected);
        }
    }
    expect
}
