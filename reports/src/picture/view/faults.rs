//! Faults that struck, each time that they did.

use doublehold_scenarios::fault::Nature;
use doublehold_scenarios::report::FaultReport;
use doublehold_text::clean;

use super::lanes::FaultSpan;
use crate::picture::facts::Facts;

pub(super) fn spans(facts: &Facts<'_>) -> Vec<FaultSpan> {
    let all = facts.run.faults;
    let span = |(index, fault): (usize, &FaultReport)| {
        let (from, kind) = (fault.from?, fault.fault.effect.kind());
        Some(FaultSpan {
            words: clean(&fault.fault.words()),
            kind,
            of_link: matches!(kind.nature, Nature::Link | Nature::Message),
            hosts: fault.hosts.clone(),
            from,
            until: fault.until,
            lasts: lasts(fault),
            again: fault.fault.each && index > 0 && all[index - 1].fault == fault.fault,
        })
    };
    all.iter().enumerate().filter_map(span).collect()
}

/// Without an end in the report, a stopped host stays stopped; a clock that was stepped does not go on being stepped.
fn lasts(fault: &FaultReport) -> bool {
    let nature = fault.fault.effect.kind().nature;
    let once = [Nature::ClockOnce, Nature::Disk, Nature::Data, Nature::Role];
    let by_kind = fault.until.is_some() || !once.contains(&nature);
    fault.until != fault.from && nature != Nature::Message && by_kind
}
