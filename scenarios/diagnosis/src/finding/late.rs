//! A grant that came when its lease was over: what the client that took it went by, or that it did not take it.

use doublehold_history::{Claim, ClientId, ClockKind, EventKind, LockId, TrueNs};
use doublehold_lockimpl::Refusal;
use doublehold_scenarios::fault::Effect;
use doublehold_scenarios::report::KeySpan;
use doublehold_scenarios::scenario::HostIndex;

use super::{Finding, GrantedLate, WentBy, expiry_time, in_order};
use crate::RunFacts;

/// The later holder's keys were gone when it learnt of its grant.
pub(super) fn expired_before_the_grant(facts: &RunFacts<'_>, claim: &Claim) -> Option<GrantedLate> {
    let keys = facts.keys_of(claim.grant).iter().filter(|key| key.from <= claim.span.from);
    let ends: Vec<(&KeySpan, TrueNs)> =
        keys.map(|key| Some((*key, expiry_time(key)?))).collect::<Option<_>>()?;
    let host = facts.host_of(claim.client)?;
    if ends.is_empty() || ends.iter().any(|(_, at)| *at > claim.span.from) {
        return None;
    }
    let stops = ends.iter().map(|(_, at)| facts.faults.stop_word(host, *at));
    let stopped = stops.reduce(|a, b| a.filter(|a| Some(*a) == b)).flatten();
    Some(GrantedLate {
        client: claim.client,
        nodes: in_order(ends.iter().map(|(key, _)| key.node)),
        stopped,
        went_by: went_by(facts, claim, host, stopped),
        freed: None,
    })
}

/// The client's own view of a lease that was over before it learnt of its grant: it looked at nothing, at a deadline
/// that had passed or was still to come, or at a clock that misled it.
fn went_by(
    facts: &RunFacts<'_>,
    claim: &Claim,
    host: HostIndex,
    stopped: Option<&'static str>,
) -> Option<WentBy> {
    let (deadline, reading) = facts.run.history.events().iter().find_map(|event| match &event.what {
        EventKind::Granted { grant, deadline, reading, .. } if *grant == claim.grant => {
            Some((*deadline, *reading))
        }
        _ => None,
    })?;
    let Some(deadline) = deadline else { return Some(WentBy::NoDeadline) };
    if reading?.clock_ns(deadline.clock) >= deadline.reading_ns.into() {
        return Some(WentBy::PassedDeadline);
    }
    let asked = facts.asked_at(claim.grant)?;
    let stepped = match deadline.clock {
        ClockKind::Wall => stepped_back(facts, host, asked, claim.span.from),
        ClockKind::Monotonic | ClockKind::Boot => None,
    };
    Some(match (stepped, deadline.clock, stopped) {
        (Some(by_ns), ..) => WentBy::WallClockStepped(by_ns),
        (None, ClockKind::Monotonic, Some("suspended")) => WentBy::StoppedMonotonicClock,
        _ => WentBy::ComingDeadline,
    })
}

/// By how much a host's wall clock was set back within a time.
fn stepped_back(facts: &RunFacts<'_>, host: HostIndex, from: TrueNs, to: TrueNs) -> Option<i64> {
    let of_host = facts.run.faults.iter().filter(|fault| fault.hosts.contains(&host));
    let within = of_host.filter(|fault| fault.from.is_some_and(|at| from <= at && at <= to));
    let by_ns: i64 = within
        .map(|fault| match fault.fault.effect {
            Effect::ClockStep { by_ns, .. } => by_ns,
            _ => 0,
        })
        .fold(0, i64::saturating_add);
    (by_ns < 0).then_some(by_ns)
}

/// Where nothing is violated: a lock saw by itself that its grant had come too late, and refused it.
pub(super) fn late_refusal(facts: &RunFacts<'_>) -> Option<(LockId, Finding)> {
    facts.run.history.events().iter().find_map(|event| match &event.what {
        EventKind::Refused { client, call, why } if why.starts_with(Refusal::TOO_LATE) => {
            let asked = facts.asked_at(*call)?;
            let figures = why.split_once("; ")?.1.to_owned();
            let stopped = stopped_within(facts, *client, asked, event.at);
            Some((facts.lock_of(*call), Finding::RefusedLate { client: *client, stopped, figures }))
        }
        _ => None,
    })
}

fn stopped_within(facts: &RunFacts<'_>, client: ClientId, from: TrueNs, to: TrueNs) -> Option<&'static str> {
    facts.faults.stopped_within(facts.host_of(client)?, from, to)
}
