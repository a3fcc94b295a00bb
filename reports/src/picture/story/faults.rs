//! Faults as events: when one strikes, and when it is over.

use doublehold_scenarios::report::FaultReport;
use doublehold_scenarios::scenario::FaultKind;

use super::{Rank, Told, Turn};
use crate::picture::facts::Facts;
use crate::words::{clean, list};

pub(super) fn tell(facts: &Facts<'_>) -> Vec<Told> {
    let mut told = Vec::new();
    for fault in &facts.report.faults {
        let host = fault.hosts.first().copied();
        if let Some(from) = fault.from {
            let words = clean(&format!("{}, {}", fault.words, fault.when));
            told.push(Told::new(from, Rank::Proof, host, words).taking(Turn::Fault));
        }
        if let Some(until) = fault.until.filter(|until| Some(*until) != fault.from)
            && let Some(words) = over(fault, facts)
        {
            told.push(Told::new(until, Rank::Effect, host, words).taking(Turn::Over));
        }
    }
    told
}

/// What it means that a fault is over.
fn over(fault: &FaultReport, facts: &Facts<'_>) -> Option<String> {
    let names: Vec<String> = fault.hosts.iter().map(|host| facts.host(*host)).collect();
    let (who, many) = (list(&names), names.len() > 1);
    let verb = |one: &str, several: &str| if many { several.to_owned() } else { one.to_owned() };
    Some(match fault.kind {
        FaultKind::Pause => format!("{who} {} on where {} stopped", verb("goes", "go"), verb("it", "they")),
        FaultKind::Suspend => format!("{who} {} up", verb("wakes", "wake")),
        FaultKind::Crash | FaultKind::PowerLoss => format!("{who} {} again", verb("starts", "start")),
        FaultKind::Cut => "the cut is healed: what was held is sent again".to_owned(),
        FaultKind::ClockStep => format!("{who}: the clock is stepped back to where it was"),
        FaultKind::ClockDrift | FaultKind::ClockFreeze => format!("{who}: the clock runs as before"),
        FaultKind::Slow | FaultKind::Loss => "the link is as before".to_owned(),
        FaultKind::Start
        | FaultKind::PacketDelay
        | FaultKind::Disk
        | FaultKind::Promote
        | FaultKind::Follow => return None,
    })
}
