//! Candidates for the cause of a violation: each thing that can be taken away, with the moment at which it began.
//!
//! Decision: "An overrun lease is a cause of its own" (docs/decisions/search.md).

use std::collections::BTreeSet;

use doublehold_history::{CallId, Claim, ClientId, EventKind, TrueNs, claims};
use doublehold_scenarios::model::fault::{Effect, Fault, Nature};
use doublehold_scenarios::model::scenario::{HostIndex, RatePpb, Role, Scenario};
use doublehold_scenarios::report::{FaultReport, KeyEnd, KeyOrigin, Report};

use super::answer::{Overran, What};
use crate::Violation;
use crate::violation::grants;

/// More than this are not tried; the last before the violation are.
const CANDIDATES_MAX: usize = 40;

/// A thing that can be taken away.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) what: What,
    /// When it began to matter.
    pub(super) began: TrueNs,
    /// True if another fault of this kind struck the same hosts, so that words need the moment.
    pub(super) has_twin: bool,
    /// A label that candidates share which do the same to different hosts.
    pub(super) deed: String,
    /// True if it is on a host concerned, and could do something while the grants concerned were asked for or held.
    pub(super) is_near: bool,
}

impl Candidate {
    /// The faults of which it is made.
    pub(super) fn faults(&self) -> &[usize] {
        match &self.what {
            What::Fault(faults) | What::Failover(faults) => faults,
            What::Overrun(..) | What::Clocks(_) | What::Promotion(_) => &[],
        }
    }

    /// True if it is made of several others.
    pub(super) fn is_whole(&self) -> bool {
        matches!(self.what, What::Failover(_))
    }

    /// True if another is part of it.
    pub(super) fn includes(&self, other: &Candidate) -> bool {
        let parts = other.faults();
        self.is_whole()
            && !other.is_whole()
            && !parts.is_empty()
            && parts.iter().all(|fault| self.faults().contains(fault))
    }

    /// The client whose overrun lease it is.
    pub(super) fn overrun(&self) -> Option<ClientId> {
        match self.what {
            What::Overrun(client, _) => Some(client),
            _ => None,
        }
    }
}

/// Everything that could be taken away.
pub(super) fn all(report: &Report, told: &Violation) -> Vec<Candidate> {
    let mut faults = faults(report, told);
    faults.sort_by_key(|fault| fault.began);
    faults.drain(..faults.len().saturating_sub(CANDIDATES_MAX));
    faults.extend(failover(report, &faults));
    faults.extend(promotion(report, told));
    faults.extend(clocks(report, told));
    faults.extend(told.grants.iter().filter_map(|(client, grant)| overrun(report, told, *client, *grant)));
    faults
}

/// Every fault that had struck by then. Faults that are the same in everything are one.
fn faults(report: &Report, told: &Violation) -> Vec<Candidate> {
    let faults = &report.scenario.faults;
    let near = Near::new(report, told);
    let struck: Vec<&Fault> =
        report.faults.iter().filter(|it| it.from.is_some()).map(|it| &it.fault).collect();
    let first_of_its_kind =
        |place: &usize| faults.iter().position(|other| *other == faults[*place]) == Some(*place);
    let candidate = |place: usize| {
        let fault = &faults[place];
        let strikes = || report.faults.iter().filter(|it| it.fault == *fault);
        let began = strikes().filter_map(|it| it.from).min().filter(|at| *at <= told.moment())?;
        let same = (0..faults.len()).filter(|other| faults[*other] == *fault).collect();
        Some(Candidate {
            what: What::Fault(same),
            began,
            has_twin: struck.iter().any(|other| **other != *fault && is_alike(other, fault)),
            deed: deed(fault),
            is_near: strikes().any(|it| near.concerns(it)),
        })
    };
    (0..faults.len()).filter(first_of_its_kind).filter_map(candidate).collect()
}

/// True if two faults are of one kind, and strike the same hosts.
fn is_alike(one: &Fault, other: &Fault) -> bool {
    one.effect.kind().word == other.effect.kind().word && one.effect.hosts() == other.effect.hosts()
}

/// What a fault does, whoever it is done to.
fn deed(fault: &Fault) -> String {
    let effect = match &fault.effect {
        Effect::ClockStep { by_ns, .. } => by_ns.to_string(),
        Effect::ClockDrift { by, .. } => by.to_string(),
        _ => String::new(),
    };
    format!("{} {effect} {:?}", fault.effect.kind().word, fault.lasting)
}

/// The hosts and the time that a violation is near to.
struct Near {
    /// The clients concerned and whoever touched their keys, and the nodes that had or were to have those.
    hosts: BTreeSet<HostIndex>,
    /// When the first of the grants concerned was asked for.
    asked: TrueNs,
}

impl Near {
    fn new(report: &Report, told: &Violation) -> Near {
        let is_concerned = |call: CallId| told.grants.iter().any(|(_, grant)| *grant == call);
        let touched = report.history.events().iter().filter_map(|event| match event.what {
            EventKind::KeyTouched { client, held, .. } if is_concerned(held) => Some(client),
            _ => None,
        });
        let clients = told.clients.iter().copied().chain(touched);
        let clients = clients.filter_map(|client| host_of(&report.scenario, client));
        let nodes = report.keys.iter().filter(|key| is_concerned(key.grant)).map(|key| key.node);
        let asked = told.grants.iter().filter_map(|(_, grant)| request_time(report, *grant)).min();
        Near { hosts: clients.chain(nodes).collect(), asked: asked.unwrap_or(told.from) }
    }

    /// True if a strike was on one of its hosts. One that was over before anything was asked for has only shifted later
    /// events in time, unless it left something behind: a clock, a role, a disk, a message on its way.
    fn concerns(&self, strike: &FaultReport) -> bool {
        let passes = matches!(
            strike.fault.effect.kind().nature,
            Nature::Stop | Nature::Death | Nature::Service | Nature::Link
        );
        let is_past = passes && strike.until.is_some_and(|until| until < self.asked);
        !is_past && strike.hosts.iter().any(|host| self.hosts.contains(host))
    }
}

/// Time at which a grant was asked for.
fn request_time(report: &Report, grant: CallId) -> Option<TrueNs> {
    report.history.events().iter().find_map(|event| match event.what {
        EventKind::AcquireStarted { call, .. } if call == grant => Some(event.at),
        _ => None,
    })
}

/// Changes of roles, and the deaths of nodes that they answered: without the one, the other leaves no master.
fn failover(report: &Report, faults: &[Candidate]) -> Option<Candidate> {
    let of = |candidate: &Candidate| candidate.faults().first().map(|place| &report.scenario.faults[*place]);
    let nature = |candidate: &Candidate| of(candidate).map(|fault| fault.effect.kind().nature);
    let is_promotion =
        |it: &&Candidate| of(it).is_some_and(|fault| matches!(fault.effect, Effect::Promote { .. }));
    let promoted = faults.iter().filter(is_promotion).map(|it| it.began).max()?;
    let is_node = |name: &String| {
        report.scenario.hosts.iter().any(|host| host.role == Role::Node && host.name == *name)
    };
    let of_node =
        |candidate: &Candidate| of(candidate).is_some_and(|fault| fault.effect.hosts().0.iter().all(is_node));
    let is_part = |it: &&Candidate| match nature(it) {
        Some(Nature::Role) => true,
        Some(Nature::Death) => it.began <= promoted && of_node(it),
        _ => false,
    };
    let parts: Vec<&Candidate> = faults.iter().filter(is_part).collect();
    (parts.len() > 1).then(|| Candidate {
        what: What::Failover(parts.iter().flat_map(|part| part.faults().iter().copied()).collect()),
        began: parts[0].began,
        has_twin: false,
        deed: "failover".to_owned(),
        is_near: true,
    })
}

/// The first promotion by Sentinels that clients were told of by then.
fn promotion(report: &Report, told: &Violation) -> Option<Candidate> {
    let mut announced = report.announcements.iter();
    let first = announced.find(|it| it.kind == "+switch-master" && it.at <= told.moment())?;
    // The name of the master, its old address and port, and its new ones.
    let name = first.text.split(' ').nth(3)?;
    Some(Candidate {
        what: What::Promotion(report.scenario.cast().host(name).ok()?),
        began: first.at,
        has_twin: false,
        deed: "promotion".to_owned(),
        is_near: true,
    })
}

/// Clocks that are wrong from the beginning.
fn clocks(report: &Report, told: &Violation) -> Vec<Candidate> {
    let began = Near::new(report, told).asked;
    let hosts = report.scenario.hosts.iter().enumerate();
    let wrong = hosts.filter(|(_, host)| host.drift != RatePpb(0) || host.wall_offset_ns != 0);
    let candidate = |(place, host): (usize, &doublehold_scenarios::model::scenario::HostSetup)| Candidate {
        what: What::Clocks(HostIndex(place)),
        began,
        has_twin: false,
        deed: format!("clocks {} {}", host.drift, host.wall_offset_ns),
        is_near: true,
    };
    wrong.map(candidate).collect()
}

/// That a client went on past its lease, if its lease was over when it came to the violation. That it was granted the
/// lock too late is what happened, and not why.
fn overrun(report: &Report, told: &Violation, client: ClientId, grant: CallId) -> Option<Candidate> {
    let claim = claims(&report.history).into_iter().find(|claim| claim.grant == grant)?;
    let over = lease_over(report, &claim, told.moment())?;
    if over > told.moment() || over <= claim.span.from {
        return None;
    }
    let overran = match () {
        () if over >= claim.span.to => Overran::Sent,
        () if has_coming_deadline(report, &claim, told.moment()) => Overran::ByDeadline,
        () if was_stopped(report, client, claim.span.from, told.moment()) => Overran::Held,
        () => Overran::Worked,
    };
    // By a node's clock it may be over sooner.
    let gone = report.keys.iter().filter(|key| key.grant == grant).filter_map(|key| key.until);
    let gone = gone.filter(|(_, how)| matches!(how, KeyEnd::Expired | KeyEnd::SessionEnded));
    let name = report.history.header().client(client);
    Some(Candidate {
        what: What::Overrun(client, overran),
        began: gone.map(|(at, _)| at).fold(over, TrueNs::min),
        has_twin: false,
        deed: format!("overrun {name}"),
        is_near: true,
    })
}

/// True if the lock told a deadline, and it had not passed.
fn has_coming_deadline(report: &Report, claim: &Claim, at: TrueNs) -> bool {
    let tells = report.history.events().iter().any(|event| {
        matches!(event.what, EventKind::Granted { grant, deadline: Some(_), .. } if grant == claim.grant)
    });
    tells && claim.valid.iter().any(|span| span.from <= at && at < span.to)
}

/// True if a client's code stood still at some time between two instants.
fn was_stopped(report: &Report, client: ClientId, from: TrueNs, to: TrueNs) -> bool {
    let host = host_of(&report.scenario, client);
    let process = host.map(|host| report.scenario.process_of(host).unwrap_or(host));
    report.faults.iter().any(|strike| {
        let stops = strike.fault.effect.kind().nature == Nature::Stop;
        let is_its = strike.hosts.iter().any(|hit| Some(*hit) == process || Some(*hit) == host);
        let lasts =
            strike.until.is_none_or(|until| from < until) && strike.from.is_some_and(|began| began < to);
        stops && is_its && lasts
    })
}

/// True if the client's n-th grant of the lock outlasts its lease in this run: by its claim, or by what it sent.
pub(super) fn outlasts(report: &Report, told: &Violation, client: ClientId, nth: usize) -> bool {
    let grants = grants(&report.history, client, told.lock);
    let Some(grant) = nth.checked_sub(1).and_then(|place| grants.get(place)) else { return false };
    let Some(claim) = claims(&report.history).into_iter().find(|claim| claim.grant == *grant) else {
        return false;
    };
    let acts = report.history.events().iter().filter(|event| match event.what {
        EventKind::WriteApplied { grant: by, .. } | EventKind::KeyTouched { by, .. } => by == *grant,
        _ => false,
    });
    let last = acts.map(|event| event.at).fold(claim.span.to, TrueNs::max);
    lease_over(report, &claim, last).is_some_and(|over| over < last)
}

/// When a grant's lease is over by true time: so long after its key was last set, or it was last extended, before an
/// instant.
fn lease_over(report: &Report, claim: &Claim, by: TrueNs) -> Option<TrueNs> {
    let host = host_of(&report.scenario, claim.client)?;
    let ttl = u64::try_from(report.scenario.ttl_of(host).as_nanos()).unwrap_or(u64::MAX);
    let keys = report.keys.iter().filter(|key| key.grant == claim.grant && key.origin == KeyOrigin::Executed);
    let set =
        keys.map(|key| key.from).filter(|from| *from <= claim.span.from).max().unwrap_or(claim.span.from);
    let extended = report.history.events().iter().filter(|event| {
        event.at <= by && matches!(event.what, EventKind::Extended { grant, .. } if grant == claim.grant)
    });
    let began = extended.map(|event| event.at).fold(set, TrueNs::max);
    Some(TrueNs(began.0.saturating_add(ttl)))
}

/// A client's host.
pub(super) fn host_of(scenario: &Scenario, client: ClientId) -> Option<HostIndex> {
    scenario.clients.get(client.0 as usize).map(|client| client.host)
}

#[cfg(test)]
mod tests;
