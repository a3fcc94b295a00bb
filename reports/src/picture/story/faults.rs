//! Faults as events: when one strikes, and when it is over.

use doublehold_history::{Event, EventKind, TrueNs, instant};
use doublehold_scenarios::fault::{Names, Nature};
use doublehold_scenarios::report::FaultReport;
use doublehold_scenarios::scenario::{HostIndex, Role};
use doublehold_text::clean;

use super::{Phase, Rank, StoryEvent};
use crate::picture::facts::Facts;

pub(super) fn events(facts: &Facts<'_>) -> Vec<StoryEvent> {
    let mut events = Vec::new();
    // A fault that strikes every time has an entry for each.
    for strikes in facts.run.faults.chunk_by(|one, next| one.fault.each && one.fault == next.fault) {
        let turned = turned_by(facts, strikes);
        for (index, fault) in strikes.iter().enumerate() {
            let words = match index {
                0 => clean(&fault.fault.to_string()) + &how_often(strikes),
                _ if turned.contains(&index) => format!("{}, again", clean(&fault.fault.words())),
                _ => continue,
            };
            events.extend(strike(fault, words, facts));
        }
    }
    events.extend(facts.run.history.events().iter().filter_map(|event| recorded(event, facts)));
    events
}

/// A fault that a history has no more of than a sentence.
fn recorded(Event { at, what }: &Event, facts: &Facts<'_>) -> Option<StoryEvent> {
    let EventKind::Struck { what, node } = what else { return None };
    let place = node.and_then(|node| usize::try_from(node.0).ok());
    let host = place.and_then(|place| facts.hosts(Role::Node).nth(place));
    Some(StoryEvent::new(*at, Rank::Proof, host, clean(what)).with_phase(Phase::FaultStrikes))
}

/// That it happened, and that it was over.
fn strike(fault: &FaultReport, words: String, facts: &Facts<'_>) -> Vec<StoryEvent> {
    let mut events = Vec::new();
    let host = fault.hosts.first().copied();
    if let Some(from) = fault.from {
        events.push(StoryEvent::new(from, Rank::Proof, host, words).with_phase(Phase::FaultStrikes));
    }
    if let Some(until) = fault.until.filter(|until| Some(*until) != fault.from)
        && let Some(words) = fault_end_words(fault, until, facts)
    {
        events.push(StoryEvent::new(until, Rank::Effect, host, words).with_phase(Phase::FaultEnds));
    }
    events
}

/// ` (12 times, until 27.114 s)` of a fault that struck again; the times between are not listed.
fn how_often(strikes: &[FaultReport]) -> String {
    match strikes {
        [_, .., FaultReport { from: Some(last), .. }] => {
            format!(" ({} times, until {})", strikes.len(), instant(*last))
        }
        _ => String::new(),
    }
}

/// Which of a fault's strikes were the last before a verdict turned.
fn turned_by(facts: &Facts<'_>, strikes: &[FaultReport]) -> Vec<usize> {
    let last_before =
        |turn: &TrueNs| strikes.partition_point(|it| it.from.is_some_and(|at| at <= *turn)).checked_sub(1);
    facts.turns().iter().filter_map(last_before).collect()
}

/// What it means that a fault is over.
fn fault_end_words(fault: &FaultReport, at: TrueNs, facts: &Facts<'_>) -> Option<String> {
    if facts.faults.died_since(fault) {
        return None; // the stop ended with what it had stopped
    }
    let hosts: Vec<HostIndex> = match fault.fault.effect.kind().nature {
        // A host that another fault's end has started already is not started again.
        Nature::Death => {
            let back = |host: &HostIndex| facts.faults.starts_again_at(*host, at);
            fault.hosts.iter().copied().filter(back).collect()
        }
        _ if facts.faults.goes_on(fault, at) => {
            return Some(clean(&format!("over, with another like it going on: {}", fault.fault.words())));
        }
        _ => fault.hosts.clone(),
    };
    let names: Vec<String> = hosts.iter().map(|host| facts.host(*host)).collect();
    if names.is_empty() { None } else { fault.fault.effect.recovery_text(&Names(names)) }
}
