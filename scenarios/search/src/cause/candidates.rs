//! Candidates for the cause of a violation: each thing that can be taken away, with when it began and its words.
//!
//! Decision: "An overrun lease is a cause of its own" (docs/decisions/search.md).

use std::collections::BTreeSet;

use doublehold_history::instant;
use doublehold_history::{CallId, Claim, ClientId, EventKind, TrueNs, claims};
use doublehold_scenarios::model::fault::{Effect, Nature};
use doublehold_scenarios::model::scenario::{HostIndex, RatePpb, Role, Scenario};
use doublehold_scenarios::report::violation::grants;
use doublehold_scenarios::report::{FaultReport, KeyEnd, KeyOrigin, Report};
use doublehold_scenarios::report::{Violation, What};
use doublehold_text::{duration, list};

/// More than this are not tried; the last before the violation are.
const CANDIDATES_MAX: usize = 40;

/// A thing that can be taken away.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) what: What,
    /// As a clause in the past tense.
    pub(super) words: String,
    /// When it began to matter.
    pub(super) began: TrueNs,
    /// A label that candidates of the same kind on the same hosts share.
    pub(super) kind: String,
    /// True if it is on a host concerned, and could do something while the grants concerned were asked for or held.
    pub(super) is_near: bool,
    /// True if it is made of several others.
    pub(super) is_whole: bool,
}

impl Candidate {
    /// True if another is part of it.
    pub(super) fn includes(&self, other: &Candidate) -> bool {
        match (&self.what, &other.what) {
            (What::Faults(whole), What::Faults(part)) => part.iter().all(|fault| whole.contains(fault)),
            _ => false,
        }
    }

    /// Its words with the moment at which it began.
    pub(super) fn words_with_moment(&self) -> String {
        format!("{} at {}", self.words, instant(self.began))
    }
}

/// Everything that could be taken away.
pub(super) fn all(report: &Report, told: &Violation) -> Vec<Candidate> {
    let mut faults = faults(report, told);
    faults.sort_by_key(|fault| fault.began);
    faults.drain(..faults.len().saturating_sub(CANDIDATES_MAX));
    faults.extend(failover(report, &faults));
    faults.extend(clocks(report, told));
    faults.extend(told.grants.iter().filter_map(|(client, grant)| overrun(report, told, *client, *grant)));
    faults
}

/// Every fault that had struck by then. Faults that are the same in everything are one.
fn faults(report: &Report, told: &Violation) -> Vec<Candidate> {
    let faults = &report.scenario.faults;
    let near = Near::new(report, told);
    let first_of_its_kind =
        |place: &usize| faults.iter().position(|other| *other == faults[*place]) == Some(*place);
    let candidate = |place: usize| {
        let fault = &faults[place];
        let strikes = || report.faults.iter().filter(|it| it.fault == *fault);
        let began = strikes().filter_map(|it| it.from).min().filter(|at| *at <= moment(told))?;
        let same = (0..faults.len()).filter(|other| faults[*other] == *fault).collect();
        Some(Candidate {
            what: What::Faults(same),
            words: fault.did(),
            began,
            kind: format!("{} {}", fault.effect.kind().word, fault.effect.hosts()),
            is_near: strikes().any(|it| near.concerns(it)),
            is_whole: false,
        })
    };
    (0..faults.len()).filter(first_of_its_kind).filter_map(candidate).collect()
}

/// The moment after which nothing can have caused it: a double hold begins at once, a wait is too long at its end.
fn moment(told: &Violation) -> TrueNs {
    if told.second.is_some() { told.from } else { told.to }
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
    let of = |candidate: &Candidate| match &candidate.what {
        What::Faults(places) => places.first().map(|place| &report.scenario.faults[*place]),
        _ => None,
    };
    let nature = |candidate: &Candidate| of(candidate).map(|fault| fault.effect.kind().nature);
    let is_promotion =
        |it: &&Candidate| of(it).is_some_and(|fault| matches!(fault.effect, Effect::Promote { .. }));
    let promoted = faults.iter().filter(is_promotion).map(|it| it.began).max()?;
    let is_node = |name: &String| {
        report.scenario.hosts.iter().any(|host| host.role == Role::Node && host.name == *name)
    };
    let of_node =
        |candidate: &Candidate| of(candidate).is_some_and(|fault| fault.effect.hosts().0.iter().all(is_node));
    let parts: Vec<&Candidate> = faults
        .iter()
        .filter(|it| match nature(it) {
            Some(Nature::Role) => true,
            Some(Nature::Death) => it.began <= promoted && of_node(it),
            _ => false,
        })
        .collect();
    let places = parts.iter().filter_map(|part| match &part.what {
        What::Faults(places) => Some(places.clone()),
        _ => None,
    });
    let words: Vec<&str> = parts.iter().map(|part| part.words.as_str()).collect();
    (parts.len() > 1).then(|| Candidate {
        what: What::Faults(places.flatten().collect()),
        words: format!("there was a failover ({})", list(&words)),
        began: parts[0].began,
        kind: "failover".to_owned(),
        is_near: true,
        is_whole: true,
    })
}

/// Clocks that are wrong from the beginning.
fn clocks(report: &Report, told: &Violation) -> Vec<Candidate> {
    let (scenario, near) = (&report.scenario, Near::new(report, told));
    let wrong = scenario
        .hosts
        .iter()
        .enumerate()
        .filter(|(_, host)| host.drift != RatePpb(0) || host.wall_offset_ns != 0);
    let candidate = |(place, host): (usize, &doublehold_scenarios::model::scenario::HostSetup)| {
        let ahead = if host.wall_offset_ns > 0 { "ahead" } else { "behind" };
        let words = match (host.drift, host.wall_offset_ns) {
            (RatePpb(0), offset) => {
                format!("{}'s wall clock was {} {ahead}", host.name, duration(offset.unsigned_abs()))
            }
            (drift, 0) => format!("{}'s clocks ran off by {}", host.name, drift),
            (drift, _) => {
                format!("{}'s clocks were wrong and ran off by {}", host.name, drift)
            }
        };
        Candidate {
            what: What::Clocks(HostIndex(place)),
            words,
            began: near.asked,
            kind: format!("clocks {}", host.name),
            is_near: true,
            is_whole: false,
        }
    };
    wrong.map(candidate).collect()
}

/// That a client went on past its lease, if its lease was over when it came to the violation.
fn overrun(report: &Report, told: &Violation, client: ClientId, grant: CallId) -> Option<Candidate> {
    let claim = claims(&report.history).into_iter().find(|claim| claim.grant == grant)?;
    let over = lease_over(report, &claim, moment(told))?;
    if over > moment(told) {
        return None;
    }
    let name = report.history.header().client(client);
    let words = match () {
        () if over <= claim.span.from => format!("{name} was granted the lock when its lease was over"),
        () if over < claim.span.to => format!("{name} worked past its lease"),
        () => format!("what {name} had sent arrived when its lease was over"),
    };
    // By a node's clock it may be over sooner.
    let gone = report.keys.iter().filter(|key| key.grant == grant).filter_map(|key| key.until);
    let gone = gone.filter(|(_, how)| *how == KeyEnd::Expired);
    Some(Candidate {
        what: What::Overrun(client),
        words,
        began: gone.map(|(at, _)| at).fold(over, TrueNs::min),
        kind: format!("overrun {name}"),
        is_near: true,
        is_whole: false,
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
