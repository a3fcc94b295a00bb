//! A grant that came when its lease was over: what the client that took it went by, or that it did not take it.

use doublehold_history::{Claim, ClientId, ClockKind, EventKind, LockId, TrueNs};
use doublehold_lockimpl::Refusal;
use doublehold_scenarios::fault::Effect;
use doublehold_scenarios::report::KeySpan;
use doublehold_scenarios::scenario::HostIndex;
use doublehold_text::{clean, signed_duration};

use super::{expiry_time, nodes};
use crate::picture::facts::Facts;

/// The later holder's keys were gone when it learnt of its grant.
pub(super) fn expired_before_the_grant(facts: &Facts<'_>, claim: &Claim) -> Option<String> {
    let keys = facts.keys_of(claim.grant).iter().filter(|key| key.from <= claim.span.from);
    let ends: Vec<(&KeySpan, TrueNs)> =
        keys.map(|key| Some((*key, expiry_time(key)?))).collect::<Option<_>>()?;
    let host = facts.host_of(claim.client)?;
    if ends.is_empty() || ends.iter().any(|(_, at)| *at > claim.span.from) {
        return None;
    }
    let stops = ends.iter().map(|(_, at)| facts.faults.stop_word(host, *at));
    let stop = stops.reduce(|a, b| a.filter(|a| Some(*a) == b)).flatten();
    let (name, nodes) = (facts.client(claim.client), nodes(facts, ends.iter().map(|(key, _)| key.node)));
    let meanwhile = stop.map_or(String::new(), |stop| format!(" while it was {stop}"));
    let went_by = went_by(facts, claim, host, stop).unwrap_or_default();
    Some(format!("{name} was granted the lock when its key had expired on {nodes}{meanwhile}{went_by}"))
}

/// A clause about the client's own view of a lease that was over before the client learnt of its grant: it looked at
/// nothing, at a deadline that had passed or was still to come, or at a clock that misled it.
fn went_by(facts: &Facts<'_>, claim: &Claim, host: HostIndex, stop: Option<&str>) -> Option<String> {
    let events = facts.run.history.events();
    let granted = events.iter().find_map(|event| match &event.what {
        EventKind::Granted { grant, deadline, reading, .. } if *grant == claim.grant => {
            Some((*deadline, *reading))
        }
        _ => None,
    });
    let (deadline, reading) = granted?;
    let Some(deadline) = deadline else { return Some(", and it computes no deadline".to_owned()) };
    if reading.clock_ns(deadline.clock) >= deadline.reading_ns.into() {
        return Some(", and it took a grant whose own deadline had passed".to_owned());
    }
    let asked = events.iter().find_map(|event| match event.what {
        EventKind::AcquireStarted { call, .. } if call == claim.grant => Some(event.at),
        _ => None,
    })?;
    let stepped = match deadline.clock {
        ClockKind::Wall => stepped_back(facts, host, asked, claim.span.from),
        ClockKind::Monotonic | ClockKind::Boot => None,
    };
    Some(match (stepped, deadline.clock, stop) {
        (Some(by), ..) => format!(", and the wall clock that it measured the lease with was stepped by {by}"),
        (None, ClockKind::Monotonic, Some("suspended")) => {
            ", and the monotonic clock that it measured the lease with stood still".to_owned()
        }
        // As where its keys had another lease than it counts with.
        _ => ", and its own deadline was still to come".to_owned(),
    })
}

/// By how much a host's wall clock was set back within a time.
fn stepped_back(facts: &Facts<'_>, host: HostIndex, from: TrueNs, to: TrueNs) -> Option<String> {
    let of_host = facts.run.faults.iter().filter(|fault| fault.hosts.contains(&host));
    let within = of_host.filter(|fault| fault.from.is_some_and(|at| from <= at && at <= to));
    let by_ns: i64 = within
        .map(|fault| match fault.fault.effect {
            Effect::ClockStep { by_ns, .. } => by_ns,
            _ => 0,
        })
        .fold(0, i64::saturating_add);
    (by_ns < 0).then(|| signed_duration(by_ns))
}

/// Where nothing is violated: a lock saw by itself that its grant had come too late, and refused it.
pub(super) fn late_refusal(facts: &Facts<'_>) -> Option<(LockId, String)> {
    facts.run.history.events().iter().find_map(|event| match &event.what {
        EventKind::Refused { client, call, why } if why.starts_with(Refusal::TOO_LATE) => {
            let asked = facts.run.history.events().iter().find_map(|event| match event.what {
                EventKind::AcquireStarted { call: asked, .. } if asked == *call => Some(event.at),
                _ => None,
            });
            let words = refusal(facts, *client, (asked?, event.at), why.split_once("; ")?.1);
            Some((facts.lock_of(*call), words))
        }
        _ => None,
    })
}

fn refusal(facts: &Facts<'_>, client: ClientId, (from, to): (TrueNs, TrueNs), figures: &str) -> String {
    let (name, figures) = (facts.client(client), clean(figures));
    let stop = facts.host_of(client).and_then(|host| facts.faults.stopped_within(host, from, to));
    let after = stop.map_or(String::new(), |stop| format!("was {stop} while it asked for the lock, and "));
    format!("{name} {after}refused a grant that came too late: {figures}")
}
