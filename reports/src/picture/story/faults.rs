//! Faults as events: when one strikes, and when it is over.

use doublehold_history::TrueNs;
use doublehold_history::words::clean;
use doublehold_scenarios::fault::{Names, Nature};
use doublehold_scenarios::report::FaultReport;
use doublehold_scenarios::scenario::HostIndex;

use super::{Phase, Rank, StoryEvent};
use crate::picture::facts::Facts;

pub(super) fn events(facts: &Facts<'_>) -> Vec<StoryEvent> {
    let mut events = Vec::new();
    for fault in facts.run.faults {
        let host = fault.hosts.first().copied();
        if let Some(from) = fault.from {
            let words = clean(&fault.fault.to_string());
            events.push(StoryEvent::new(from, Rank::Proof, host, words).in_phase(Phase::FaultStrikes));
        }
        if let Some(until) = fault.until.filter(|until| Some(*until) != fault.from)
            && let Some(words) = over(fault, until, facts)
        {
            events.push(StoryEvent::new(until, Rank::Effect, host, words).in_phase(Phase::FaultEnds));
        }
    }
    events
}

/// What it means that a fault is over.
fn over(fault: &FaultReport, at: TrueNs, facts: &Facts<'_>) -> Option<String> {
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
    if names.is_empty() { None } else { fault.fault.effect.over(&Names(names)) }
}
