//! A run read again, by other means than the picture's: straight from its history, its trace and its keys.
//!
//! Nothing here uses the claims, the evidence or the words of the code under test.

use std::time::Duration;

use doublehold_history::{CallId, ClientId, EventKind, TrueNs};
use doublehold_scenarios::cast::Cast;
use doublehold_scenarios::report::{FaultReport, KeySpan, Report};
use doublehold_scenarios::scenario::{HostIndex, LockSetup};
use doublehold_sim::{Event, Fault, HostId, PlannedFault, Record, SimTime, Trigger};

/// A run with its trace.
pub(crate) struct Seen<'a> {
    pub(crate) report: &'a Report,
    pub(crate) trace: &'a [Record],
    pub(crate) claims: Vec<Claim>,
    cast: Cast,
}

/// When a client believed in a grant: from the grant to whatever ended it first.
pub(crate) struct Claim {
    pub(crate) client: ClientId,
    pub(crate) grant: CallId,
    /// The grant of the same client that it was given within, and all others of that: itself if there is none.
    pub(crate) hold: CallId,
    pub(crate) from: TrueNs,
    pub(crate) to: Option<TrueNs>,
    /// What ended it was the end of its client's process.
    pub(crate) died: bool,
}

impl<'a> Seen<'a> {
    pub(crate) fn new(report: &'a Report, trace: &'a [Record]) -> Seen<'a> {
        Seen { report, trace, claims: claims(report), cast: report.scenario.cast() }
    }

    /// Everything in the history that happened at an instant.
    pub(crate) fn history(&self, at: TrueNs) -> impl Iterator<Item = &'a EventKind> {
        self.all().filter(move |(when, _)| *when == at).map(|(_, what)| what)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = (TrueNs, &'a EventKind)> {
        self.report.history.events().iter().map(|event| (event.at, &event.what))
    }

    /// Everything in the trace that happened at an instant.
    pub(crate) fn trace(&self, at: TrueNs) -> impl Iterator<Item = &'a Event> {
        let first = self.trace.partition_point(|record| record.at.0 < at.0);
        self.trace[first..].iter().take_while(move |record| record.at.0 == at.0).map(|record| &record.event)
    }

    pub(crate) fn client(&self, name: &str) -> Option<ClientId> {
        let clients = &self.report.scenario.clients;
        let index = clients.iter().position(|client| self.name(client.host) == name)?;
        Some(ClientId(index as u32))
    }

    pub(crate) fn host(&self, name: &str) -> Option<HostIndex> {
        (0..self.report.scenario.hosts.len()).map(HostIndex).find(|host| self.name(*host) == name)
    }

    pub(crate) fn host_of(&self, client: ClientId) -> HostIndex {
        self.report.scenario.clients[client.0 as usize].host
    }

    /// The machine that a client runs on: its process's, if it is a thread.
    pub(crate) fn machine_of(&self, client: ClientId) -> HostIndex {
        self.cast.machine(self.host_of(client))
    }

    fn name(&self, host: HostIndex) -> &str {
        &self.report.scenario.hosts[host.0].name
    }

    /// The hosts of `A`, `A and B`, `A, B and C`.
    pub(crate) fn hosts(&self, names: &str) -> Option<Vec<HostIndex>> {
        names.split(", ").flat_map(|names| names.split(" and ")).map(|name| self.host(name)).collect()
    }

    /// The grant that a client was given at an instant.
    pub(crate) fn granted(&self, at: TrueNs, name: &str) -> Option<CallId> {
        let wanted = self.client(name)?;
        self.history(at).find_map(|what| match what {
            EventKind::Granted { client, grant, .. } if *client == wanted => Some(*grant),
            _ => None,
        })
    }

    /// Whether the client claims the lock just before or at an instant.
    pub(crate) fn claims_at(&self, client: ClientId, at: TrueNs) -> bool {
        self.claims.iter().any(|it| it.client == client && it.from <= at && it.to.is_none_or(|to| at < to))
    }

    /// When the client of an acquire call made it.
    pub(crate) fn asked(&self, wanted: CallId) -> Option<TrueNs> {
        self.all().find_map(|(at, what)| {
            matches!(what, EventKind::AcquireStarted { call, .. } if *call == wanted).then_some(at)
        })
    }

    /// The client's key spans.
    pub(crate) fn keys(&self, client: &str) -> impl Iterator<Item = &'a KeySpan> {
        let host = self.host(client);
        self.report.keys.iter().filter(move |key| Some(key.client) == host)
    }

    /// What the kernel was to do, with what became of each fault.
    pub(crate) fn faults(&self) -> impl Iterator<Item = (PlannedFault, &'a FaultReport)> {
        let planned = |it: &'a FaultReport| it.fault.to_planned(&self.cast).expect("a host of the scenario");
        self.report.faults.iter().map(move |it| (planned(it), it))
    }

    /// The world's number for a host.
    pub(crate) fn world(&self, host: HostIndex) -> HostId {
        self.cast.world_id(host)
    }

    /// Whether the kernel did this to the world at that instant.
    pub(crate) fn did(&self, at: TrueNs, fault: &Fault) -> bool {
        self.trace(at).any(|event| matches!(event, Event::Fault { fault: done } if done == fault))
    }

    /// When the trace says that a trigger was due.
    pub(crate) fn due(&self, trigger: &Trigger) -> Option<SimTime> {
        let (occurrences, offset) = match trigger {
            Trigger::At(at) => return Some(*at),
            Trigger::On { occurrences, offset, .. } => (occurrences, *offset),
        };
        let (mut events, mut at) = (self.trace.iter(), None);
        for occurrence in occurrences {
            let mut left = occurrence.nth;
            at = Some(events.find(|record| {
                left -= u32::from(occurrence.pattern.matches(&record.event));
                left == 0
            })?);
        }
        at.map(|record| record.at.after(offset))
    }
}

fn claims(report: &Report) -> Vec<Claim> {
    let mut claims: Vec<Claim> = Vec::new();
    for event in report.history.events() {
        let ends: Box<dyn Fn(&Claim) -> bool> = match event.what {
            EventKind::Granted { client, grant, within, .. } => {
                let outer = claims.iter().find(|claim| Some(claim.grant) == within);
                let hold = outer.map_or(grant, |outer| outer.hold);
                claims.push(Claim { client, grant, hold, from: event.at, to: None, died: false });
                continue;
            }
            EventKind::ReleaseCalled { grant, .. } | EventKind::ExpiryNoticed { grant, .. } => {
                Box::new(move |claim| claim.grant == grant)
            }
            EventKind::Died { client } | EventKind::Restarted { client } => {
                Box::new(move |claim| claim.client == client)
            }
            _ => continue,
        };
        for claim in claims.iter_mut().filter(|claim| claim.to.is_none()).filter(|claim| ends(claim)) {
            claim.to = Some(event.at);
            claim.died = matches!(event.what, EventKind::Died { .. });
        }
    }
    claims
}

/// Whether a text such as `1.011 s`, `41 ms` or `3 h` says this duration, rounded to a thousandth of its unit or finer.
/// Of whole minutes and more, to a thousandth of a second.
pub(crate) fn says(text: &str, duration: Duration) -> bool {
    let Some((number, unit)) = text.split_once(' ') else { return false };
    let (scale, thousandth) = match unit {
        "ns" => (1.0, 0.0),
        "µs" => (1e3, 1.0),
        "ms" => (1e6, 1e3),
        "s" => (1e9, 1e6),
        "min" => (60e9, 1e6),
        "h" => (3600e9, 1e6),
        "d" => (86_400e9, 1e6),
        _ => return false,
    };
    let Ok(value) = number.parse::<f64>() else { return false };
    (value * scale - duration.as_nanos() as f64).abs() <= thousandth * 0.500_001
}

pub(crate) fn between(from: TrueNs, to: TrueNs) -> Duration {
    Duration::from_nanos(to.0.saturating_sub(from.0))
}

/// The clock that the lock counts on: as chosen, as its library has it, or the one that nobody sets.
pub(crate) fn clock_of(lock: &LockSetup) -> String {
    let known = doublehold_lockimpl::descriptors().into_iter().find(|known| known.name == lock.algorithm);
    let fixed = known.and_then(|known| known.profile).map(|(profile, _)| (profile.fixed)());
    let fixed = fixed.as_ref().and_then(|fixed| fixed.get("clock"));
    lock.switches.get("clock").or(fixed).map_or("monotonic".to_owned(), ToString::to_string)
}
