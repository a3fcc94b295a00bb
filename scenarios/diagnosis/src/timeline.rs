//! What is known of a run: its report, or no more than a history, whoever recorded it.
//!
//! A history knows no more of faults than a sentence, of keys no more than somebody wrote down, and nothing of the
//! lease.

use std::collections::BTreeMap;
use std::time::Duration;

use doublehold_history::{CallId, Event, EventKind, History, Predicate, TrueNs, Verdicts};
use doublehold_scenarios::report::{Announcement, FaultReport, KeyOrigin, KeySpan, Report};
use doublehold_scenarios::scenario::{HostIndex, LockSetup, Role};

/// Everything that has a time, and the names for it.
#[derive(Clone, Debug)]
pub struct Timeline<'a> {
    /// Names and roles, by [`HostIndex`].
    pub hosts: Vec<(&'a str, Role)>,
    /// Each client's host.
    pub clients: Vec<HostIndex>,
    /// How long each client's grants last, where that is known.
    pub leases: BTreeMap<HostIndex, Duration>,
    /// What clients and resource did.
    pub history: &'a History,
    /// What each predicate came to.
    pub verdicts: &'a Verdicts,
    /// The predicate whose violation is told; if none, the first that is violated.
    pub told: Option<Predicate>,
    /// What became of each fault.
    pub faults: &'a [FaultReport],
    /// Announcements of Sentinels.
    pub announcements: &'a [Announcement],
    /// The keys that nodes held.
    pub keys: &'a [KeySpan],
    /// The nodes whose yes each grant was given on, where that is known.
    pub votes: Option<&'a BTreeMap<CallId, Vec<HostIndex>>>,
    /// When each grant's extensions began, where that is known.
    pub extends: Option<&'a BTreeMap<CallId, Vec<TrueNs>>>,
    /// The steps that a client left out because it gave up a call, where that is known.
    pub left_out: Option<&'a BTreeMap<CallId, Vec<String>>>,
    /// True time at the end.
    pub ended: TrueNs,
    /// What a release is: a plain DEL, where the lock is told to send one.
    pub release: &'static str,
}

impl<'a> Timeline<'a> {
    /// Takes everything from a report.
    pub fn from_run(report: &'a Report) -> Timeline<'a> {
        let scenario = &report.scenario;
        Timeline {
            hosts: scenario.hosts.iter().map(|host| (host.name.as_str(), host.role)).collect(),
            clients: scenario.clients.iter().map(|client| client.host).collect(),
            leases: scenario.clients.iter().map(|it| (it.host, scenario.ttl_of(it.host))).collect(),
            history: &report.history,
            verdicts: &report.verdicts,
            told: report.told,
            faults: &report.faults,
            announcements: &report.announcements,
            keys: &report.keys,
            votes: Some(&report.votes),
            extends: Some(&report.extends),
            left_out: Some(&report.left_out),
            ended: report.ended,
            release: release(&scenario.lock),
        }
    }

    /// Takes what a history has, with its [`keys_in`]. Its hosts are its clients, and the nodes if any had a key.
    pub fn from_history(history: &'a History, verdicts: &'a Verdicts, keys: &'a [KeySpan]) -> Timeline<'a> {
        let (clients, nodes) = (&history.header().clients, &history.header().nodes);
        let drawn: &[String] = if keys.is_empty() { &[] } else { nodes };
        let hosts = clients.iter().map(|name| (name.as_str(), Role::Client));
        Timeline {
            hosts: hosts.chain(drawn.iter().map(|name| (name.as_str(), Role::Node))).collect(),
            clients: (0..clients.len()).map(HostIndex).collect(),
            leases: told_leases(history),
            history,
            verdicts,
            told: None,
            faults: &[],
            announcements: &[],
            keys,
            votes: None,
            extends: None,
            left_out: None,
            ended: history.end(),
            release: "release",
        }
    }
}

/// The longest lease of which each client was told.
fn told_leases(history: &History) -> BTreeMap<HostIndex, Duration> {
    let mut leases = BTreeMap::new();
    for event in history.events() {
        let EventKind::Granted { client, deadline: Some(deadline), reading: Some(reading), .. } = event.what
        else {
            continue;
        };
        let left = i128::from(deadline.reading_ns) - reading.clock_ns(deadline.clock);
        let lease: &mut Duration = leases.entry(HostIndex(index(client.0))).or_default();
        *lease = Duration::from_nanos(u64::try_from(left).unwrap_or(0)).max(*lease);
    }
    leases
}

/// The keys that nodes held, as a history has them.
pub fn keys_in(history: &History) -> Vec<KeySpan> {
    let clients = history.header().clients.len();
    let mut owners = BTreeMap::new();
    let mut keys: Vec<KeySpan> = Vec::new();
    for Event { at, what } in history.events() {
        match what {
            EventKind::AcquireStarted { client, call, .. } => {
                owners.insert(*call, HostIndex(index(client.0)));
            }
            EventKind::KeySet { node, lock, grant } => keys.push(KeySpan {
                node: HostIndex(clients + index(node.0)),
                lock: *lock,
                grant: *grant,
                client: owners.get(grant).copied().unwrap_or(HostIndex(0)),
                origin: KeyOrigin::Executed,
                is_token: true,
                from: *at,
                until: None,
            }),
            EventKind::KeyGone { node, lock, grant, how } => {
                let node = HostIndex(clients + index(node.0));
                let is_it = |key: &&mut KeySpan| {
                    (key.node, key.lock, key.grant, key.until) == (node, *lock, *grant, None)
                };
                if let Some(key) = keys.iter_mut().rev().find(is_it) {
                    key.until = Some((*at, *how));
                }
            }
            _ => {}
        }
    }
    keys
}

fn index(id: u32) -> usize {
    usize::try_from(id).unwrap_or(usize::MAX)
}

fn release(lock: &LockSetup) -> &'static str {
    let sends = lock.switches.get("release").map(ToString::to_string);
    if sends.as_deref() == Some("plain-delete") { "plain DEL" } else { "release" }
}
