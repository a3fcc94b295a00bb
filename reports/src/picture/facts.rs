//! What a report says about each grant, looked up once: claims, evidence, keys, names.

use std::collections::{BTreeMap, BTreeSet};

use doublehold_history::{CallId, Claim, ClientId, Evidence, Overlap, Predicate, StaleWrite, TrueNs, claims};
use doublehold_scenarios::report::{FaultReport, Report};
use doublehold_scenarios::scenario::{FaultKind, HostIndex};

use crate::words::clean;

/// A report with its claims and evidence at hand.
pub(super) struct Facts<'a> {
    pub(super) report: &'a Report,
    /// Every claim, in the order of the grants.
    pub(super) claims: Vec<Claim>,
    /// Grants that some evidence names.
    involved: BTreeSet<CallId>,
    /// Late writes, by grant and version.
    stale: BTreeMap<(CallId, u64), &'a StaleWrite>,
}

/// More evidence than this proves nothing new to the eye.
const MAX_EVIDENCE: usize = 200;

impl<'a> Facts<'a> {
    pub(super) fn new(report: &'a Report) -> Facts<'a> {
        let (mut involved, mut stale) = (BTreeSet::new(), BTreeMap::new());
        for (_, verdict) in report.verdicts.iter() {
            for evidence in verdict.evidence().iter().take(MAX_EVIDENCE) {
                involved.extend(grants_in(evidence));
                if let Evidence::StaleWrite(it) = evidence {
                    stale.insert((it.grant, it.version), it);
                }
            }
        }
        Facts { report, claims: claims(&report.history), involved, stale }
    }

    /// The overlaps that prove P1 or P2 violated.
    pub(super) fn overlaps(&self, predicate: Predicate) -> impl Iterator<Item = &'a Overlap> {
        let evidence = self.report.verdicts.get(predicate).evidence().iter().take(MAX_EVIDENCE);
        evidence.filter_map(|evidence| match evidence {
            Evidence::Overlap(overlap) => Some(overlap),
            _ => None,
        })
    }

    /// Whether, by the evidence, this client was waiting too long at this instant.
    pub(super) fn waits_too_long(&self, client: ClientId, at: TrueNs) -> bool {
        let evidence = self.report.verdicts.get(Predicate::LV).evidence().iter().take(MAX_EVIDENCE);
        evidence.into_iter().any(|evidence| match evidence {
            Evidence::LongWait(it) => it.client == client && it.from <= at && at <= it.to,
            Evidence::Waited(it) => it.clients.contains(&client) && it.from <= at && at <= it.to,
            _ => false,
        })
    }

    /// Whether some verdict turns on this grant.
    pub(super) fn is_involved(&self, grant: CallId) -> bool {
        self.involved.contains(&grant)
    }

    /// Whether some verdict turns on any grant at all.
    pub(super) fn has_evidence(&self) -> bool {
        !self.involved.is_empty()
    }

    /// Whether the moments of a grant deserve columns: all do where no verdict turns on any.
    pub(super) fn matters(&self, grant: CallId) -> bool {
        self.involved.is_empty() || self.involved.contains(&grant)
    }

    /// The evidence that this write came too late, if it did.
    pub(super) fn stale(&self, grant: CallId, version: u64) -> Option<&'a StaleWrite> {
        self.stale.get(&(grant, version)).copied()
    }

    pub(super) fn claim(&self, grant: CallId) -> Option<&Claim> {
        self.claims.iter().find(|claim| claim.grant == grant)
    }

    /// Whether the grant's client believes in it at this instant.
    pub(super) fn is_claimed(&self, grant: CallId, at: TrueNs) -> bool {
        self.claim(grant).is_some_and(|claim| claim.span.from <= at && at < claim.span.to)
    }

    /// A client's host.
    pub(super) fn host_of(&self, client: ClientId) -> Option<HostIndex> {
        let index = usize::try_from(client.0).ok()?;
        self.report.scenario.clients.get(index).map(|client| client.host)
    }

    pub(super) fn client(&self, client: ClientId) -> String {
        clean(&self.report.history.header().client(client))
    }

    pub(super) fn host(&self, host: HostIndex) -> String {
        let plan = self.report.scenario.hosts.get(host.0);
        plan.map_or_else(|| format!("host {}", host.0), |plan| clean(&plan.name))
    }

    /// The name of the lock under test.
    pub(super) fn lock(&self) -> String {
        clean(&self.report.scenario.lock.name)
    }

    /// Faults of a host that stop its code.
    pub(super) fn stops(&self, host: HostIndex) -> impl Iterator<Item = &'a FaultReport> {
        self.report.faults.iter().filter(move |fault| fault_stops(fault.kind) && fault.hosts.contains(&host))
    }

    /// What stops a host's code at an instant, in a word.
    pub(super) fn stopped(&self, host: HostIndex, at: TrueNs) -> Option<&'static str> {
        self.stops(host).find(|fault| lasts_at(fault, at)).map(|fault| fault_word(fault.kind))
    }

    /// Whether a pause or a suspension ended early, with the process or the machine that it had stopped.
    pub(super) fn died_since(&self, stop: &FaultReport) -> bool {
        let kills = |kind| match stop.kind {
            FaultKind::Pause => matches!(kind, FaultKind::Crash | FaultKind::PowerLoss),
            FaultKind::Suspend => kind == FaultKind::PowerLoss,
            _ => false,
        };
        let within = |at: TrueNs| {
            stop.from.is_some_and(|from| from <= at) && stop.until.is_none_or(|until| at <= until)
        };
        let deaths = self.report.faults.iter().filter(|other| kills(other.kind));
        let mut of_same = deaths.filter(|other| other.hosts.iter().any(|host| stop.hosts.contains(host)));
        of_same.any(|death| death.from.is_some_and(within))
    }

    /// When a host that was down was started.
    pub(super) fn starts_again(&self, host: HostIndex) -> Vec<TrueNs> {
        let deaths = self.report.faults.iter().filter(|fault| {
            matches!(fault.kind, FaultKind::Crash | FaultKind::PowerLoss) && fault.hosts.contains(&host)
        });
        let turns = deaths.flat_map(|fault| [(fault.from, false), (fault.until, true)]);
        let mut turns: Vec<(TrueNs, bool)> = turns.filter_map(|(at, up)| Some((at?, up))).collect();
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

    /// Whether, at an instant, another fault does to one of its hosts what this one did.
    pub(super) fn goes_on(&self, fault: &FaultReport, at: TrueNs) -> bool {
        let stops = |kind| fault_stops(kind).then_some(());
        let alike = |other: &FaultReport| {
            other.kind == fault.kind || stops(other.kind).and(stops(fault.kind)).is_some()
        };
        let shares = |other: &FaultReport| other.hosts.iter().any(|host| fault.hosts.contains(host));
        self.report
            .faults
            .iter()
            .filter(|other| !std::ptr::eq(*other, fault))
            .any(|other| alike(other) && shares(other) && lasts_at(other, at))
    }
}

fn lasts_at(fault: &FaultReport, at: TrueNs) -> bool {
    fault.from.is_some_and(|from| from <= at) && fault.until.is_none_or(|until| at < until)
}

/// Whether a kind of fault stops a host's code.
fn fault_stops(kind: FaultKind) -> bool {
    matches!(kind, FaultKind::Pause | FaultKind::Suspend | FaultKind::Crash | FaultKind::PowerLoss)
}

/// A kind of fault in a word or two, for lanes.
pub(super) fn fault_word(kind: FaultKind) -> &'static str {
    match kind {
        FaultKind::Start => "started",
        FaultKind::ClockStep => "clock step",
        FaultKind::ClockDrift => "clock drifts",
        FaultKind::ClockFreeze => "clock frozen",
        FaultKind::Pause => "paused",
        FaultKind::Suspend => "suspended",
        FaultKind::Crash => "crashed",
        FaultKind::PowerLoss => "no power",
        FaultKind::Cut => "link cut",
        FaultKind::Slow => "link slow",
        FaultKind::PacketDelay => "packet late",
        FaultKind::Loss => "packets lost",
        FaultKind::Disk => "disk",
        FaultKind::Promote => "promoted",
        FaultKind::Follow => "told to follow",
    }
}

fn grants_in(evidence: &Evidence) -> Vec<CallId> {
    match evidence {
        Evidence::Overlap(it) => it.grants.to_vec(),
        Evidence::StaleWrite(it) => vec![it.grant, it.later_grant],
        Evidence::Cycle(it) => it.steps.iter().flat_map(|step| [step.before, step.after]).collect(),
        Evidence::WrongKey(it) => vec![it.by, it.held],
        Evidence::Waited(_) | Evidence::LongWait(_) | Evidence::Omitted { .. } => Vec::new(),
    }
}
