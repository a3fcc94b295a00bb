//! What the rules know of faults: that one struck or ended when a sentence says so, and what it left behind.

use std::time::Duration;

use doublehold_history::{ClientId, TrueNs};
use doublehold_scenarios::report::{FaultReport, KeyEnd, KeyOrigin};
use doublehold_scenarios::scenario::HostIndex;
use doublehold_sim::{Event, Fault};
use regex_lite::Captures;

use crate::sentences::seen::{Seen, between, says};

/// The node started, and has not been told since.
pub(crate) fn loaded(seen: &Seen<'_>, at: TrueNs, it: &Captures<'_>) -> Option<bool> {
    let (who, node) = (seen.client(&it["who"])?, seen.host(&it["node"])?);
    let mut spans = seen.keys(&it["who"]).filter(|key| key.node == node && key.from == at);
    let has =
        spans.any(|key| key.origin == KeyOrigin::Loaded && key.until.is_none_or(|(until, _)| until > at));
    let booted = Event::Booted { host: seen.world(node) };
    let restarts = seen.trace.iter().filter(|record| record.at.0 <= at.0 && record.event == booted).count();
    Some(has && restarts > 1 && seen.claims_at(who, at))
}

/// The word of a fault's kind.
pub(crate) fn kind_of(fault: &FaultReport) -> &'static str {
    fault.fault.effect.kind().word
}

/// A fault of one of these kinds on exactly these hosts ended, and the kernel undid all it had done.
pub(crate) fn over(seen: &Seen<'_>, at: TrueNs, names: &str, kinds: &[&str]) -> Option<bool> {
    let hosts = seen.hosts(names)?;
    Some(seen.faults().any(|(plan, fault)| {
        let undone = plan.faults.iter().all(|done| done.undo().is_some_and(|undo| seen.did(at, &undo)));
        kinds.contains(&kind_of(fault)) && fault.hosts == hosts && fault.until == Some(at) && undone
    }))
}

pub(crate) fn link_over(seen: &Seen<'_>, at: TrueNs, kinds: &[&str]) -> Option<bool> {
    Some(seen.faults().any(|(plan, fault)| {
        let undone = plan.faults.iter().all(|done| done.undo().is_some_and(|undo| seen.did(at, &undo)));
        kinds.contains(&kind_of(fault)) && fault.until == Some(at) && undone
    }))
}

pub(crate) fn nothing_else_stops(seen: &Seen<'_>, at: TrueNs, names: &str) -> Option<bool> {
    let hosts = seen.hosts(names)?;
    let kinds = ["pause", "suspend", "crash", "power-loss"];
    let mut stops = seen.faults().filter(|(_, fault)| {
        kinds.contains(&kind_of(fault)) && fault.hosts.iter().any(|host| hosts.contains(host))
    });
    Some(!stops.any(|(_, fault)| {
        fault.from.is_some_and(|from| from <= at) && fault.until.is_none_or(|until| until > at)
    }))
}

pub(crate) fn starts_again(seen: &Seen<'_>, at: TrueNs, it: &Captures<'_>) -> Option<bool> {
    let booted =
        |host: &HostIndex| seen.trace(at).any(|event| *event == Event::Booted { host: seen.world(*host) });
    Some(seen.hosts(&it["who"])?.iter().all(booted))
}

/// That a fault struck: the sentence is a fault's words and its moment. The kernel did it then, the moment was due
/// then, and it lasted for as long as the words say.
pub(crate) fn struck(seen: &Seen<'_>, at: TrueNs, words: &str) -> Option<bool> {
    let said = |fault: &FaultReport| {
        let whole = fault.fault.to_string();
        words == whole
            || words == format!("{}, again", fault.fault.words())
            || words.strip_prefix(&whole).is_some_and(|often| struck_so_often(seen, fault, often))
    };
    let (plan, fault) = seen.faults().find(|(_, fault)| fault.from == Some(at) && said(fault))?;
    let done = plan.faults.iter().all(|fault| seen.did(at, fault));
    // Of a fault that strikes every time, the trigger tells the first.
    let is_first =
        seen.faults().find(|(_, it)| it.fault == fault.fault).is_some_and(|it| it.1.from == Some(at));
    let due = !is_first || seen.due(&plan.trigger).is_some_and(|due| due.0 == at.0);
    let lasted = plan.lasting.is_none_or(|lasting| {
        fault.until == Some(TrueNs(at.0 + lasting.as_nanos() as u64))
            && says_how_long(&fault.fault.words(), lasting)
    });
    let kind = match plan.faults.first()? {
        Fault::Pause { .. } => "pause",
        Fault::Suspend { .. } => "suspended",
        Fault::Crash { .. } => "crash",
        Fault::LosePower { .. } => "power",
        Fault::StepClock { .. } => "wall clock stepped by",
        Fault::ChangeRate { .. } => "clocks off by",
        Fault::Freeze { .. } => "clock frozen",
        Fault::Cut { .. } => "cut",
        Fault::Slow { .. } => "of extra delay",
        Fault::DelayNext { .. } => "the next message takes",
        Fault::CopyNext { .. } => "is sent again",
        Fault::SlowService { .. } => "for each command",
        Fault::Lose { .. } => "transmissions are lost",
        Fault::Signal { .. } => match kind_of(fault) {
            "follow" => "follow",
            "flush" => "flushed",
            "evict" => "evict",
            _ => "promoted to master",
        },
        _ => return Some(done && due && lasted),
    };
    Some(done && due && lasted && words.contains(kind))
}

/// ` (12 times, until 27.114 s)`.
fn struck_so_often(seen: &Seen<'_>, fault: &FaultReport, often: &str) -> bool {
    let strikes: Vec<TrueNs> =
        seen.faults().filter(|(_, it)| it.fault == fault.fault).filter_map(|(_, it)| it.from).collect();
    let (Some(first), Some(last)) = (strikes.first(), strikes.last()) else { return false };
    let said = often.strip_prefix(" (").and_then(|often| often.strip_suffix(')'));
    let said = said.and_then(|said| said.split_once(" times, until "));
    said.is_some_and(|(count, until)| {
        fault.from == Some(*first)
            && count.parse() == Ok(strikes.len())
            && says(until, between(TrueNs(0), *last))
    })
}

fn says_how_long(words: &str, lasting: Duration) -> bool {
    let starts = words.match_indices([' ']).map(|(index, _)| &words[index + 1..]);
    let durations = starts.map(|rest| rest.splitn(3, ' ').take(2).collect::<Vec<_>>().join(" "));
    lasting.is_zero() && words.contains("at once") || durations.into_iter().any(|text| says(&text, lasting))
}

/// Whether a fault of this kind keeps the client from running.
pub(crate) fn is_stopped(seen: &Seen<'_>, who: ClientId, at: TrueNs, kind: &str) -> bool {
    let host = seen.host_of(who);
    seen.faults().any(|(_, fault)| {
        kind_of(fault) == kind
            && fault.hosts.contains(&host)
            && fault.from.is_some_and(|from| from <= at)
            && fault.until.is_none_or(|until| at < until)
    })
}

/// How a key ended that went like this, by nobody of a lock.
pub(crate) fn end_of(how: &str) -> KeyEnd {
    match how {
        "flushed" => KeyEnd::Flushed,
        "key expires" => KeyEnd::Expired,
        "session ends" => KeyEnd::SessionEnded,
        _ => KeyEnd::Evicted,
    }
}
