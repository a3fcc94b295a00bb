//! Reading and changing what a report says, by the names of a scenario: one fact at a time.
//!
//! Assumes that what is named is there.

use doublehold_history::{CallId, ClientId, EventKind, Evidence, History, KeyOp, LockId, NodeId, TrueNs};
use doublehold_scenarios::report::{FaultReport, KeyEnd, KeySpan, Report};
use doublehold_scenarios::scenario::HostIndex;

pub(crate) fn host(report: &Report, name: &str) -> HostIndex {
    let place = report.scenario.hosts.iter().position(|host| host.name == name);
    HostIndex(place.unwrap_or_else(|| panic!("no {name}")))
}

/// The first key of a client on a node.
pub(crate) fn key<'a>(report: &'a mut Report, client: &str, node: &str) -> &'a mut KeySpan {
    let (client, node) = (host(report, client), host(report, node));
    let key = report.keys.iter_mut().find(|key| (key.client, key.node) == (client, node));
    key.expect("the client's key on the node")
}

/// The first event that is of interest, and when it was.
pub(crate) fn event<T>(report: &Report, of: impl Fn(&EventKind) -> Option<T>) -> (TrueNs, T) {
    let found = report.history.events().iter().find_map(|event| Some((event.at, of(&event.what)?)));
    found.expect("the event is there")
}

/// When a client, counted from 0, was first granted the lock, and by which call.
pub(crate) fn granted(report: &Report, of: u32) -> (TrueNs, CallId) {
    event(report, |what| match what {
        EventKind::Granted { client, grant, .. } if client.0 == of => Some(*grant),
        _ => None,
    })
}

/// The history with its events as they are made; `None` takes one away.
pub(crate) fn rewrite(
    report: &mut Report,
    change: impl Fn(TrueNs, EventKind) -> Option<(TrueNs, EventKind)>,
) {
    let mut history = History::new(report.history.header().clone());
    for event in report.history.events() {
        if let Some((at, what)) = change(event.at, event.what.clone()) {
            history.push(at, what);
        }
    }
    report.history = history;
}

/// Has a client's key deleted by another at an instant.
pub(crate) fn deletes(report: &mut Report, at: TrueNs, of: u32) {
    let held = granted(report, of).1;
    let deleted = deletion(report, held);
    report.history.push(at, deleted);
}

/// Moves the events of a kind to an instant.
pub(crate) fn happens(report: &mut Report, is_it: fn(&EventKind) -> bool, at: TrueNs) {
    rewrite(report, |before, what| Some((if is_it(&what) { at } else { before }, what)));
}

/// One who waited too long: from when to when.
pub(crate) fn wait(report: &Report) -> (TrueNs, TrueNs) {
    let mut all = report.verdicts.iter().flat_map(|(_, verdict)| verdict.evidence());
    let wait = all.find_map(|evidence| match evidence {
        Evidence::LongWait(it) => Some((it.from, it.to)),
        Evidence::Waited(it) => Some((it.from, it.to)),
        _ => None,
    });
    wait.expect("somebody waited")
}

pub(crate) fn after(at: TrueNs) -> TrueNs {
    TrueNs(at.0 + 1)
}

pub(crate) fn before(at: TrueNs) -> TrueNs {
    TrueNs(at.0 - 1)
}

/// c1's key on A expires at an instant.
pub(crate) fn expires(report: &mut Report, at: TrueNs) {
    key(report, "c1", "A").until = Some((at, KeyEnd::Expired));
}

/// When a key was gone.
pub(crate) fn end(key: &KeySpan) -> TrueNs {
    key.until.expect("it is gone").0
}

/// The fault of a kind, as it struck.
pub(crate) fn fault<'a>(report: &'a mut Report, kind: &str) -> &'a mut FaultReport {
    let fault = report.faults.iter_mut().find(|it| it.fault.effect.kind().word == kind);
    fault.unwrap_or_else(|| panic!("no {kind}"))
}

/// A deletion of the key of c1's grant by c2's, or of another grant.
pub(crate) fn deletion(report: &Report, held: CallId) -> EventKind {
    let (client, by) = (ClientId(1), granted(report, 1).1);
    EventKind::KeyTouched { client, node: NodeId(0), lock: LockId(0), by, held, op: KeyOp::Release }
}
