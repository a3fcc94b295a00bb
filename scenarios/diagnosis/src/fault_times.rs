//! When faults struck and ended, by host: asked for every event of a story, so each answer is a search and not a scan.

use std::collections::BTreeMap;

use doublehold_history::TrueNs;
use doublehold_scenarios::fault::{Effect, Nature};
use doublehold_scenarios::report::FaultReport;
use doublehold_scenarios::scenario::HostIndex;

/// The faults of a report, sorted.
#[derive(Debug, Default)]
pub struct FaultTimes<'a> {
    /// What stops a host's code, in the order in which it began.
    stops: BTreeMap<HostIndex, Vec<(TrueNs, &'a FaultReport)>>,
    /// Faults of one sort on one host.
    alike: BTreeMap<(&'static str, HostIndex), Intervals>,
    /// When a host that was down was started.
    starts: BTreeMap<HostIndex, Vec<TrueNs>>,
}

/// When intervals begin and when they end, each sorted.
#[derive(Debug, Default)]
struct Intervals {
    from: Vec<TrueNs>,
    until: Vec<TrueNs>,
}

impl Intervals {
    /// How many of them go on at an instant.
    fn count_at(&self, at: TrueNs) -> usize {
        let before = |times: &[TrueNs]| times.partition_point(|time| *time <= at);
        before(&self.from) - before(&self.until)
    }
}

impl<'a> FaultTimes<'a> {
    /// Sorts the faults of a report.
    pub fn new(faults: &'a [FaultReport]) -> FaultTimes<'a> {
        let mut times = FaultTimes::default();
        for fault in faults {
            let Some(from) = fault.from else { continue };
            for host in &fault.hosts {
                if stops_code(fault) {
                    times.stops.entry(*host).or_default().push((from, fault));
                }
                let alike = times.alike.entry((sort_of(fault), *host)).or_default();
                alike.from.push(from);
                alike.until.extend(fault.until);
            }
        }
        times.stops.values_mut().for_each(|stops| stops.sort_by_key(|(from, _)| *from));
        for intervals in times.alike.values_mut() {
            intervals.from.sort_unstable();
            intervals.until.sort_unstable();
        }
        times.starts = times.stops.iter().map(|(host, stops)| (*host, starts(stops))).collect();
        times
    }

    /// What stops a host's code at an instant, in a word; the last that began, if several do.
    pub fn stop_word(&self, host: HostIndex, at: TrueNs) -> Option<&'static str> {
        self.alike.get(&(STOP, host)).filter(|stops| stops.count_at(at) > 0)?;
        let stops = self.stops.get(&host)?;
        let begun = stops.partition_point(|(from, _)| *from <= at);
        let lasting =
            stops[..begun].iter().rev().find(|(_, fault)| fault.until.is_none_or(|until| at < until));
        lasting.map(|(_, fault)| fault.fault.effect.kind().state)
    }

    /// What stopped a host's code at some time between two instants, in a word; the last that began.
    pub fn stopped_within(&self, host: HostIndex, from: TrueNs, to: TrueNs) -> Option<&'static str> {
        let stops = self.stops.get(&host)?;
        let begun = &stops[..stops.partition_point(|(began, _)| *began <= to)];
        let lasted = begun.iter().rev().find(|(_, fault)| fault.until.is_none_or(|until| from < until));
        lasted.map(|(_, fault)| fault.fault.effect.kind().state)
    }

    /// True if anything had stopped a host's code by an instant.
    pub fn was_stopped_by(&self, host: HostIndex, at: TrueNs) -> bool {
        self.stops.get(&host).and_then(|stops| stops.first()).is_some_and(|(from, _)| *from <= at)
    }

    /// True if a pause or a suspension ended early, with the process or the machine that it had stopped.
    pub fn died_since(&self, stop: &FaultReport) -> bool {
        let kills = |other: &FaultReport| match (&stop.fault.effect, &other.fault.effect) {
            (Effect::Pause { .. }, other) => other.kind().nature == Nature::Death,
            (Effect::Suspend { .. }, other) => matches!(other, Effect::PowerLoss { .. }),
            (
                Effect::Crash { .. }
                | Effect::PowerLoss { .. }
                | Effect::ClockStep { .. }
                | Effect::ClockDrift { .. }
                | Effect::ClockFreeze { .. }
                | Effect::Cut { .. }
                | Effect::Slow { .. }
                | Effect::PacketDelay { .. }
                | Effect::Duplicate { .. }
                | Effect::Loss { .. }
                | Effect::ResetConnections { .. }
                | Effect::SlowNode { .. }
                | Effect::FsyncLies { .. }
                | Effect::DiskSnapshot { .. }
                | Effect::DiskRollback { .. }
                | Effect::Flush { .. }
                | Effect::Evict { .. }
                | Effect::Promote { .. }
                | Effect::Follow { .. },
                _,
            ) => false,
        };
        let Some(began) = stop.from else { return false };
        stop.hosts.iter().filter_map(|host| self.stops.get(host)).any(|stops| {
            let first = stops.partition_point(|(from, _)| *from < began);
            let within = |from: TrueNs| stop.until.is_none_or(|until| from <= until);
            stops[first..].iter().take_while(|(from, _)| within(*from)).any(|(_, fault)| kills(fault))
        })
    }

    /// True if a host that was down is started at an instant.
    pub fn starts_again_at(&self, host: HostIndex, at: TrueNs) -> bool {
        self.starts.get(&host).is_some_and(|starts| starts.binary_search(&at).is_ok())
    }

    /// True if another fault, when this one ends, does to one of its hosts what this one did.
    pub fn goes_on(&self, fault: &FaultReport, ends: TrueNs) -> bool {
        // The fault itself is over then, and not among those that are counted.
        let alike = |host: &HostIndex| self.alike.get(&(sort_of(fault), *host));
        fault.hosts.iter().filter_map(alike).any(|intervals| intervals.count_at(ends) > 0)
    }
}

/// What all faults that stop a host's code have in common.
const STOP: &str = "stopped";

fn sort_of(fault: &FaultReport) -> &'static str {
    if stops_code(fault) { STOP } else { fault.fault.effect.kind().word }
}

/// True if a fault stops its hosts' code.
fn stops_code(fault: &FaultReport) -> bool {
    matches!(fault.fault.effect.kind().nature, Nature::Stop | Nature::Death)
}

/// A host that another fault's end has started already is not started again.
fn starts(stops: &[(TrueNs, &FaultReport)]) -> Vec<TrueNs> {
    let deaths = stops.iter().filter(|(_, fault)| fault.fault.effect.kind().nature == Nature::Death);
    let mut turns: Vec<(TrueNs, bool)> = deaths
        .flat_map(|(from, fault)| [Some((*from, false)), fault.until.map(|at| (at, true))])
        .flatten()
        .collect();
    turns.sort_unstable();
    let mut up = true;
    let mut starts = Vec::new();
    for (at, goes_up) in turns {
        if goes_up && !up {
            starts.push(at);
        }
        up = goes_up;
    }
    starts
}

#[cfg(test)]
mod tests;
