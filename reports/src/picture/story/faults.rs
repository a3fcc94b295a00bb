//! Faults as events: when one strikes, and when it is over.

use doublehold_history::TrueNs;
use doublehold_scenarios::report::FaultReport;
use doublehold_scenarios::scenario::FaultKind;

use super::{Phase, Rank, StoryEvent};
use crate::picture::facts::Facts;
use crate::words::{clean, list};

pub(super) fn events(facts: &Facts<'_>) -> Vec<StoryEvent> {
    let mut events = Vec::new();
    for fault in &facts.report.faults {
        let host = fault.hosts.first().copied();
        if let Some(from) = fault.from {
            let words = clean(&format!("{}, {}", fault.words, fault.when));
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
    if matches!(fault.kind, FaultKind::Crash | FaultKind::PowerLoss) {
        return started(fault, at, facts);
    }
    if facts.faults.goes_on(fault, at) {
        return Some(clean(&format!("over, with another like it going on: {}", fault.words)));
    }
    let names: Vec<String> = fault.hosts.iter().map(|host| facts.host(*host)).collect();
    let (who, many) = (list(&names), names.len() > 1);
    let verb = |one: &str, several: &str| if many { several.to_owned() } else { one.to_owned() };
    Some(match fault.kind {
        FaultKind::Pause => {
            format!("{who} {} on where {} stopped", verb("goes", "go"), verb("it was", "they were"))
        }
        FaultKind::Suspend => format!("{who} {} up", verb("wakes", "wake")),
        FaultKind::Cut => "the cut is healed".to_owned(),
        FaultKind::ClockStep => format!("the step of {who}'s wall clock is taken back"),
        FaultKind::ClockDrift => format!("{who}'s clocks run as before"),
        FaultKind::ClockFreeze => format!("{who}'s clock runs again"),
        FaultKind::Slow | FaultKind::Loss => "the link is as before".to_owned(),
        FaultKind::Crash | FaultKind::PowerLoss => return None, // said above
        FaultKind::Start
        | FaultKind::PacketDelay
        | FaultKind::Disk
        | FaultKind::Promote
        | FaultKind::Follow => return None,
    })
}

/// A host that another fault's end has started already is not started again.
fn started(fault: &FaultReport, at: TrueNs, facts: &Facts<'_>) -> Option<String> {
    let back = fault.hosts.iter().filter(|host| facts.faults.starts_again_at(**host, at));
    let names: Vec<String> = back.map(|host| facts.host(*host)).collect();
    let verb = if names.len() == 1 { "starts" } else { "start" };
    (!names.is_empty()).then(|| format!("{} {verb} again", list(&names)))
}
