//! Margin: no deadline that a lock computed lies after the end of the keys that its grant rests on.
//!
//! Judged by the deadline as computed, also of a grant that was released long before: that nobody waited for it was
//! luck. The end of a key is the end that it had been given when the deadline was told, on its node's own clock: what
//! a crash, a flush or another client's `DEL` took away earlier is not the lock's computation. Of several nodes, a
//! majority has to keep the key until then, or as many as voted where a lock asks for fewer. A node counts whose vote
//! was lost on its way: it keeps others out all the same.
//!
//! A deadline that has passed when it is told breaks nothing: nobody believes in it.
//!
//! Not judged: a grant whose client or nodes had a clock that a fault stepped, bent or stopped. A key ends early on
//! such a node, and no lock can know. Clocks that drift as the scenario says are judged: a lock can allow for that.

use doublehold_history::TrueNs;
use doublehold_text::duration;

use super::{Breach, Report, RuleVerdict, calls::calls, host_name, was_clock_struck};
use crate::model::scenario::{HostIndex, Role};
use crate::report::{KeyOrigin, LeasedKey, StatedDeadline};

const NO_DEADLINE: &str = "the lock computed no deadline";
const NOT_JUDGED: &str = "of no grant with a deadline the keys were seen and all clocks ran on: a clock that a fault \
                          stepped, bent or stopped excuses the lock";

/// A node that holds a key, and when it ends there; `None`: never.
#[derive(Clone, Copy)]
struct KeptUntil {
    node: HostIndex,
    given: TrueNs,
    end: Option<TrueNs>,
}

pub(super) fn ask(report: &Report) -> RuleVerdict {
    let deadlines = &report.leases.deadlines;
    if deadlines.is_empty() {
        return RuleVerdict::Off(NO_DEADLINE);
    }
    let calls = calls(&report.history);
    let mut broken = Vec::new();
    let mut judged = false;
    for deadline in deadlines {
        let Some(call) = calls.get(&deadline.grant) else { continue };
        let keys = || report.leases.keys.iter().filter(|key| key.span.lock == call.lock);
        let Some((key, needed)) = decisive_key(report, deadline, keys()) else { continue };
        judged = true;
        let told_in_time = deadline.stated < deadline.passes;
        if let Some(end) = key.end.filter(|end| told_in_time && *end < deadline.passes) {
            broken.push(breach(report, deadline, (key.node, end), needed));
        }
    }
    RuleVerdict::new(broken, judged, NOT_JUDGED)
}

/// The key whose end leaves too few, and how many are needed. `None` if not enough of them were seen, or a fault struck
/// a clock.
fn decisive_key<'a>(
    report: &Report,
    deadline: &StatedDeadline,
    keys: impl Iterator<Item = &'a LeasedKey>,
) -> Option<(KeptUntil, usize)> {
    let mut kept: Vec<KeptUntil> = Vec::new();
    for key in keys.filter(|key| is_of(key, deadline)) {
        let Some(lease) = key.lease_at(deadline.stated) else { continue };
        let (node, end) = (key.span.node, lease.ends);
        kept.retain(|it| it.node != node || it.given > lease.from);
        if kept.iter().all(|it| it.node != node) {
            kept.push(KeptUntil { node, given: lease.from, end });
        }
    }
    let needed = match report.votes.get(&deadline.grant) {
        Some(votes) => {
            let nodes = report.scenario.hosts.iter().filter(|host| host.role == Role::Node).count();
            votes.len().min(nodes / 2 + 1)
        }
        // A lock that asks one node: after a failover that is the node that it asked last.
        None => {
            let latest = kept.iter().map(|it| it.given).max()?;
            kept.retain(|it| it.given == latest);
            1
        }
    };
    let hosts = kept.iter().map(|it| it.node).chain([deadline.client]);
    if hosts.clone().any(|host| was_clock_struck(report, host, deadline.passes)) {
        return None;
    }
    // Those that keep it longest first: no end at all is the longest.
    kept.sort_by_key(|it| std::cmp::Reverse(it.end.unwrap_or(TrueNs(u64::MAX))));
    Some((*kept.get(needed.checked_sub(1)?)?, needed))
}

/// Whether a key is one on which a grant rests: the call set it, or found it as its client's own.
fn is_of(key: &LeasedKey, deadline: &StatedDeadline) -> bool {
    let LeasedKey { span, calls, .. } = key;
    let own = span.client == deadline.client && calls.contains(&deadline.grant);
    span.origin == KeyOrigin::Executed && span.is_token && (span.grant == deadline.grant || own)
}

fn breach(
    report: &Report,
    deadline: &StatedDeadline,
    (node, end): (HostIndex, TrueNs),
    needed: usize,
) -> Breach {
    let (client, node_name) = (host_name(report, deadline.client), host_name(report, node));
    let beyond = duration(deadline.passes.since(end));
    let gone = match needed {
        1 => format!("after its key is gone on {node_name}"),
        _ => format!("after fewer than {needed} nodes have its key, when it is gone on {node_name}"),
    };
    let grant = deadline.grant.0;
    Breach {
        at: end,
        until: Some(deadline.passes),
        client: client.to_owned(),
        call: deadline.grant,
        node: Some(node),
        words: format!("{client} believes in grant {grant} for up to {beyond} {gone}"),
    }
}
