//! Shorter durations and rounder ones: how long faults last, how far clocks are stepped, how much later something is,
//! how long work and waits take, how slow links are.
//!
//! *Round* is what has few digits; the roundest are 1, 2 and 5 with zeros (the ladder: 1 ms, 2 ms, 5 ms, 10 ms …). A
//! duration is tried as nothing, where that means something, as the next shorter of the ladder, as the next shorter of
//! one digit and of two; one of more than two digits also as the next longer of two. So what is left has at most two
//! digits or cannot have fewer, and is followed on the ladder by what loses the violation. Each change leaves fewer
//! digits, or a shorter duration of no more, so that there is an end.
//!
//! No duration gets shorter than a millisecond, and no waiting between two attempts shorter than 100 ms: below that a
//! run only has more events and a reader learns nothing. Rates are the same in parts per million.

use std::time::Duration;

use doublehold_scenarios::model::fault::{Fault, Nature, Slot};
use doublehold_scenarios::model::scenario::{DelayLaw, HostIndex, RatePpb, Scenario, Step};
use doublehold_scenarios::model::when::When;
use doublehold_scenarios::{Engine, Stepped};

use crate::shrink::search::{Candidate, Keep, ShrinkSearch};

const MILLISECOND: u64 = 1_000_000;

/// Where a scenario says how long, how far or how fast, in the order in which it is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::shrink) enum LengthPlace {
    /// How much later than its event, or than the beginning, a fault strikes.
    Offset(usize),
    /// For how long a fault lasts.
    Lasting(usize),
    /// How far a fault steps a clock, how much later it makes a message, by how much it changes a rate.
    By(usize),
    /// How much later than its event, or than the beginning, a client starts.
    Start(usize),
    /// How long a client works in a step.
    Work(usize, usize),
    /// For how long a client asks in a step.
    Try(usize, usize),
    /// How long a client waits between two attempts.
    Retry(usize),
    /// How far a host's wall clock is wrong.
    ClockOffset(usize),
    /// How wrong the rate of a host's clocks is.
    ClockDrift(usize),
    /// How long a message takes.
    Delay,
    /// How long it takes on a direction of its own.
    DelayOf(usize),
    /// How long an fsync takes.
    Fsync,
    /// How long a command takes.
    Command,
    /// How long it takes on a node of its own.
    CommandOf(HostIndex),
}

impl LengthPlace {
    /// All of a scenario's.
    pub(in crate::shrink) fn all(scenario: &Scenario) -> Vec<LengthPlace> {
        let faults = (0..scenario.faults.len()).flat_map(|fault| {
            [LengthPlace::Offset(fault), LengthPlace::Lasting(fault), LengthPlace::By(fault)]
        });
        let clients = scenario.clients.iter().enumerate().flat_map(|(client, setup)| {
            let steps = 0..setup.program.len();
            let work =
                steps.flat_map(move |step| [LengthPlace::Work(client, step), LengthPlace::Try(client, step)]);
            [LengthPlace::Start(client), LengthPlace::Retry(client)].into_iter().chain(work)
        });
        let clocks = (0..scenario.hosts.len())
            .flat_map(|host| [LengthPlace::ClockOffset(host), LengthPlace::ClockDrift(host)]);
        let links = (0..scenario.links.len()).map(LengthPlace::DelayOf);
        let nodes = [LengthPlace::Delay, LengthPlace::Fsync, LengthPlace::Command].into_iter();
        let nodes =
            nodes.chain(scenario.nodes.command_time.own.keys().map(|node| LengthPlace::CommandOf(*node)));
        let all = faults.chain(clients).chain(clocks).chain(links).chain(nodes);
        all.filter(|place| place.get(scenario).is_some()).collect()
    }

    /// What is said there, without its sign: nanoseconds, or billionths. `None` if nothing is, or a law with a range.
    pub(in crate::shrink) fn get(self, scenario: &Scenario) -> Option<u64> {
        match self {
            LengthPlace::Offset(fault) => Some(nanoseconds(offset(&scenario.faults[fault].at))),
            LengthPlace::Lasting(fault) => scenario.faults[fault].lasting.map(nanoseconds),
            LengthPlace::By(fault) => effect_size(&scenario.faults[fault]),
            LengthPlace::Start(client) => {
                scenario.clients[client].start.as_ref().map(|start| nanoseconds(offset(start)))
            }
            LengthPlace::Work(client, step) => {
                scenario.clients[client].program[step].law().and_then(fixed_delay)
            }
            LengthPlace::Try(client, step) => match scenario.clients[client].program[step] {
                Step::Try(_, limit) => limit.map(nanoseconds),
                _ => None,
            },
            LengthPlace::Retry(client) => fixed_delay(&scenario.clients[client].retry),
            LengthPlace::ClockOffset(host) => Some(scenario.hosts[host].wall_offset_ns.unsigned_abs()),
            LengthPlace::ClockDrift(host) => Some(scenario.hosts[host].drift.0.unsigned_abs()),
            LengthPlace::Delay => fixed_delay(&scenario.link.delay),
            LengthPlace::DelayOf(link) => fixed_delay(&scenario.links[link].2.delay),
            LengthPlace::Fsync => fixed_delay(&scenario.nodes.fsync_time),
            LengthPlace::Command => fixed_delay(&scenario.nodes.command_time.others),
            LengthPlace::CommandOf(node) => fixed_delay(scenario.nodes.command_time.of(node)),
        }
    }

    /// The least that is tried there.
    pub(in crate::shrink) fn minimum(self, scenario: &Scenario) -> u64 {
        match self {
            LengthPlace::Offset(_)
            | LengthPlace::Start(_)
            | LengthPlace::ClockOffset(_)
            | LengthPlace::ClockDrift(_)
            | LengthPlace::Command
            | LengthPlace::CommandOf(_) => 0,
            // A process that dies can start again at once.
            LengthPlace::Lasting(fault) if scenario.faults[fault].effect.kind().nature == Nature::Death => 0,
            LengthPlace::By(fault) if is_rate(&scenario.faults[fault]) => 1_000,
            LengthPlace::Retry(_) => 100 * MILLISECOND,
            _ => MILLISECOND,
        }
    }

    /// The scenario with something else there, of the same sign.
    pub(in crate::shrink) fn with_size(self, scenario: &Scenario, size: u64) -> Candidate {
        let mut scenario = scenario.clone();
        self.set_size(&mut scenario, size);
        match self {
            LengthPlace::Offset(_) | LengthPlace::Lasting(_) | LengthPlace::By(_) => {
                Candidate::Faults(scenario.faults)
            }
            _ => scenario.into(),
        }
    }

    fn set_fault(self, fault: &mut Fault, size: u64) {
        match self {
            LengthPlace::Offset(_) => set_offset(&mut fault.at, Duration::from_nanos(size)),
            LengthPlace::Lasting(_) => fault.lasting = Some(Duration::from_nanos(size)),
            _ => fault.effect.fields().into_iter().for_each(|(_, slot)| match slot {
                Slot::Delay(_, by) => *by = Duration::from_nanos(size),
                Slot::Step(by) => *by = copy_sign(*by, size),
                Slot::Rate(by) => *by = RatePpb(copy_sign(by.0, size)),
                Slot::Law(by) => *by = DelayLaw::Fixed(Duration::from_nanos(size)),
                _ => {}
            }),
        }
    }

    fn set_size(self, scenario: &mut Scenario, size: u64) {
        let law = DelayLaw::Fixed(Duration::from_nanos(size));
        match self {
            LengthPlace::Offset(fault) | LengthPlace::Lasting(fault) | LengthPlace::By(fault) => {
                self.set_fault(&mut scenario.faults[fault], size);
            }
            LengthPlace::Start(client) => {
                if let Some(start) = &mut scenario.clients[client].start {
                    set_offset(start, Duration::from_nanos(size));
                }
            }
            LengthPlace::Work(client, step) => {
                if let Some(work) = scenario.clients[client].program[step].law_mut() {
                    *work = law;
                }
            }
            LengthPlace::Try(client, step) => {
                if let Step::Try(_, limit) = &mut scenario.clients[client].program[step] {
                    *limit = Some(Duration::from_nanos(size));
                }
            }
            LengthPlace::Retry(client) => scenario.clients[client].retry = law,
            LengthPlace::ClockOffset(host) => {
                let offset = &mut scenario.hosts[host].wall_offset_ns;
                *offset = copy_sign(*offset, size);
            }
            LengthPlace::ClockDrift(host) => {
                let drift = &mut scenario.hosts[host].drift;
                *drift = RatePpb(copy_sign(drift.0, size));
            }
            LengthPlace::Delay => scenario.link.delay = law,
            LengthPlace::DelayOf(link) => scenario.links[link].2.delay = law,
            LengthPlace::Fsync => scenario.nodes.fsync_time = law,
            LengthPlace::Command => scenario.nodes.command_time.others = law,
            LengthPlace::CommandOf(node) => {
                scenario.nodes.command_time.own.insert(node, law);
            }
        }
    }
}

/// Makes everything shorter and rounder.
pub(super) fn shorten_durations<E: Engine<Prepared: Stepped>>(search: &mut ShrinkSearch<'_, E>) {
    for place in LengthPlace::all(search.scenario()) {
        shorten(search, place);
    }
}

fn shorten<E: Engine<Prepared: Stepped>>(search: &mut ShrinkSearch<'_, E>, place: LengthPlace) {
    // Binding does not change what places there are, and nothing else runs meanwhile.
    while let Some(size) = place.get(search.scenario()) {
        let least = place.minimum(search.scenario());
        let below: Vec<u64> = rounder(size).into_iter().filter(|shorter| *shorter >= least).collect();
        if least == 0 && size > 0 && is_accepted(search, place, 0) {
            return;
        }
        match below.into_iter().find(|shorter| is_accepted(search, place, *shorter)) {
            Some(accepted) if is_on_ladder(accepted) => down_the_ladder(search, place, accepted),
            Some(_) => {}
            None if digits(size) > 2 && is_accepted(search, place, up(size, 2)) => {}
            None => return,
        }
    }
}

/// Halves the part of the ladder below what was accepted, again and again. What it skips is looked at by the steps that
/// follow.
fn down_the_ladder<E: Engine<Prepared: Stepped>>(
    search: &mut ShrinkSearch<'_, E>,
    place: LengthPlace,
    accepted: u64,
) {
    let least = place.minimum(search.scenario()).max(1);
    let ladder: Vec<u64> = std::iter::successors(ladder_below(accepted), |size| ladder_below(*size))
        .take_while(|it| *it >= least)
        .collect();
    let (mut from, mut to) = (0, ladder.len());
    while from < to {
        let middle = from.midpoint(to);
        if is_accepted(search, place, ladder[middle]) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
}

fn is_accepted<E: Engine<Prepared: Stepped>>(
    search: &mut ShrinkSearch<'_, E>,
    place: LengthPlace,
    size: u64,
) -> bool {
    let candidate = place.with_size(search.scenario(), size);
    search.accepts(candidate, Keep::Seeds)
}

/// What is shorter and rounder, the next of each roundness: of the ladder, of one digit, of two.
fn rounder(size: u64) -> Vec<u64> {
    let mut all: Vec<u64> = ladder_below(size).into_iter().collect();
    all.extend((1..=2).filter(|few| digits(size) > *few).map(|few| down(size, few)));
    all.dedup();
    all
}

/// The next on the ladder below.
fn ladder_below(size: u64) -> Option<u64> {
    let ten = tens(size, 1);
    let steps = [ten / 2, ten, 2 * ten, 5 * ten];
    steps.into_iter().rev().find(|step| *step < size && *step > 0)
}

/// The next on the ladder above.
pub(super) fn ladder_above(size: u64) -> u64 {
    let ten = tens(size, 1);
    [ten, 2 * ten, 5 * ten, 10 * ten].into_iter().find(|step| *step > size).unwrap_or(size)
}

fn is_on_ladder(size: u64) -> bool {
    size > 0 && matches!(size / tens(size, 1), 1 | 2 | 5) && digits(size) == 1
}

/// How many digits there are up to the last that is not zero.
pub(super) fn digits(size: u64) -> u32 {
    if size == 0 {
        return 0;
    }
    let zeros = (1..20).take_while(|zeros| size.is_multiple_of(10_u64.pow(*zeros))).count();
    size.ilog10() + 1 - zeros as u32
}

/// Rounded to so many digits.
pub(super) fn down(size: u64, digits: u32) -> u64 {
    size / tens(size, digits) * tens(size, digits)
}

pub(super) fn up(size: u64, digits: u32) -> u64 {
    size.div_ceil(tens(size, digits)) * tens(size, digits)
}

/// What the last of so many digits counts.
fn tens(size: u64, digits: u32) -> u64 {
    let count = size.checked_ilog10().map_or(1, |log| log + 1);
    10_u64.pow(count.saturating_sub(digits))
}

pub(in crate::shrink) fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

fn offset(when: &When) -> Duration {
    match when {
        When::At(at) => *at,
        When::On { after, .. } => *after,
    }
}

fn set_offset(when: &mut When, offset: Duration) {
    match when {
        When::At(at) => *at = offset,
        When::On { after, .. } => *after = offset,
    }
}

fn fixed_delay(law: &DelayLaw) -> Option<u64> {
    match law {
        DelayLaw::Fixed(delay) => Some(nanoseconds(*delay)),
        _ => None,
    }
}

fn effect_size(fault: &Fault) -> Option<u64> {
    fault.effect.clone().fields().into_iter().find_map(|(_, slot)| match slot {
        Slot::Delay(_, by) => Some(nanoseconds(*by)),
        Slot::Step(by) => Some(by.unsigned_abs()),
        Slot::Rate(by) => Some(by.0.unsigned_abs()),
        Slot::Law(by) => fixed_delay(by),
        _ => None,
    })
}

/// Whether a fault's size is a rate, and no length.
pub(in crate::shrink) fn is_rate(fault: &Fault) -> bool {
    fault.effect.clone().fields().iter().any(|(_, slot)| matches!(slot, Slot::Rate(_)))
}

fn copy_sign(like: i64, size: u64) -> i64 {
    let size = i64::try_from(size).unwrap_or(i64::MAX);
    if like < 0 { -size } else { size }
}

#[cfg(test)]
mod tests;
