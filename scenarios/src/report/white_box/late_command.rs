//! Late command: nothing is sent for a grant that is over.
//!
//! Judged are:
//!
//! - a renewal that begins beside its holder after the release was called, or after the lock told that it is lost
//! - any request in the name of a grant whose release has returned with an answer; of a lock that asks several nodes, a
//!   second after it or later, since a release that returns at a majority goes on at the other nodes
//! - a command of an attempt that came to nothing, which changes the key of a later grant of its client: they have the
//!   same token
//!
//! A request that its driver could not write while a fault lasted leaves late, and its call is over by then. So a
//! request is excused where any fault had struck before. Not judged: a second `DEL` within one release, which may well
//! be a retry.

use std::collections::BTreeMap;

use doublehold_history::{CallId, EventKind, TrueNs};
use doublehold_text::duration;

use super::calls::{Call, Done, DoneHow, calls};
use super::{Breach, Report, RuleVerdict, host_name, was_struck};
use crate::model::scenario::HostIndex;

/// How many nanoseconds a release that returned may go on at other nodes. Loading its script again and sending it once
/// more takes a few round trips; a renewal that nobody stopped comes a third of a lease later.
const GOES_ON: u64 = 1_000_000_000;

const NOTHING_OVER: &str = "no grant was over whose requests were seen";

pub(super) fn ask(report: &Report) -> RuleVerdict {
    let calls = calls(&report.history);
    let is_over = |call: &CallId| calls.get(call).is_some_and(|it| it.done.is_some());
    let judged = report.leases.sent.iter().any(|sent| is_over(&sent.call));
    let mut broken = late_renewals(report, &calls);
    broken.extend(late_requests(report, &calls));
    broken.extend(late_changes(report, &calls));
    RuleVerdict::new(broken, judged, NOTHING_OVER)
}

fn late_renewals(report: &Report, calls: &BTreeMap<CallId, Call>) -> Vec<Breach> {
    let late = |(at, id): &(TrueNs, CallId)| {
        let call = calls.get(id)?;
        let over = [(call.release_called, "was told to release"), (call.lost, "was told that it is lost")];
        let over = over.into_iter().filter_map(|(since, what)| Some((since?, what)));
        let (since, what) = over.filter(|(since, _)| since < at).min_by_key(|(since, _)| *since)?;
        let words = format!("begins to renew grant {} {} after it {what}", id.0, length(since, *at));
        Some(breach(report, call, *id, (since, *at), None, &words))
    };
    report.leases.renewals.iter().filter_map(late).collect()
}

/// One for each grant: its first.
fn late_requests(report: &Report, calls: &BTreeMap<CallId, Call>) -> Vec<Breach> {
    let mut late = BTreeMap::new();
    for sent in &report.leases.sent {
        let Some(call) = calls.get(&sent.call) else { continue };
        let Some(Done { at, how: DoneHow::Released }) = call.done else { continue };
        let goes_on = if report.votes.contains_key(&sent.call) { GOES_ON } else { 0 };
        if sent.at.since(at) > goes_on && !was_struck(report, sent.at) {
            let to = sent.node.map_or(String::new(), |node| format!(" to {}", host_name(report, node)));
            let after = length(at, sent.at);
            let words =
                format!("sends a request for grant {}{to} {after} after its release returned", sent.call.0);
            late.entry(sent.call)
                .or_insert_with(|| breach(report, call, sent.call, (at, sent.at), sent.node, &words));
        }
    }
    late.into_values().collect()
}

fn late_changes(report: &Report, calls: &BTreeMap<CallId, Call>) -> Vec<Breach> {
    let late = |(at, what): (TrueNs, &EventKind)| {
        let EventKind::KeyTouched { node, by, held, .. } = what else { return None };
        let (earlier, later) = (calls.get(by)?, calls.get(held)?);
        let granted = later.granted.filter(|granted| *granted <= at)?;
        let done = earlier.done.filter(|done| done.how == DoneHow::NotGranted && done.at <= granted)?;
        let is_same = earlier.client == later.client && by != held;
        let node = HostIndex(node_host(report, node.0 as usize)?);
        let words = format!(
            "changes the key of its grant {} on {} by a command of call {}, which came to nothing {} before",
            held.0,
            host_name(report, node),
            by.0,
            length(done.at, at)
        );
        is_same.then(|| breach(report, later, *by, (done.at, at), Some(node), &words))
    };
    report.history.events().iter().filter_map(|event| late((event.at, &event.what))).collect()
}

fn node_host(report: &Report, node: usize) -> Option<usize> {
    let name = report.history.header().nodes.get(node)?;
    report.scenario.hosts.iter().position(|host| host.name == *name)
}

fn breach(
    report: &Report,
    call: &Call,
    id: CallId,
    (since, at): (TrueNs, TrueNs),
    node: Option<HostIndex>,
    words: &str,
) -> Breach {
    let client = report.history.header().client(call.client);
    let words = format!("{client} {words}");
    Breach { at: since, until: Some(at), client, call: id, node, words }
}

fn length(from: TrueNs, to: TrueNs) -> String {
    duration(to.since(from))
}
