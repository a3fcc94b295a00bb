//! The rows of a panel, from top to bottom: clients, nodes, the resource, struck Sentinels, and one for each kind of
//! fault of links.

use doublehold_history::LockId;
use doublehold_render::picture::view::{ClientLane, FaultSpan, NodeLane, View};
use doublehold_scenarios::scenario::{HostIndex, Role};

/// What a row shows.
#[derive(Clone, Debug)]
pub(super) enum RowContent<'v> {
    Client {
        lane: &'v ClientLane,
        place: usize,
    },
    Node(&'v NodeLane),
    /// A host without a lane: the resource, or a Sentinel.
    Other(HostIndex),
    Links(Vec<&'v FaultSpan>),
}

/// A row and where it is in its panel.
#[derive(Clone, Debug)]
pub(super) struct Row<'v> {
    pub(super) shown: RowContent<'v>,
    pub(super) label: String,
    pub(super) top: f64,
    pub(super) height: f64,
}

impl Row<'_> {
    /// Where bars are and messages begin and end.
    pub(super) fn middle(&self) -> f64 {
        self.top + self.height - 17.0
    }

    pub(super) fn bottom(&self) -> f64 {
        self.top + self.height
    }

    /// Which lock it is about.
    fn lock(&self) -> Option<LockId> {
        match &self.shown {
            RowContent::Client { lane, .. } => Some(lane.lock),
            RowContent::Node(lane) => Some(lane.lock),
            RowContent::Other(_) | RowContent::Links(_) => None,
        }
    }

    /// Whose row it is.
    pub(super) fn host(&self) -> Option<HostIndex> {
        match &self.shown {
            RowContent::Client { lane, .. } => Some(lane.host),
            RowContent::Node(lane) => Some(lane.host),
            RowContent::Other(host) => Some(*host),
            RowContent::Links(_) => None,
        }
    }
}

/// The row of a host that is about a lock; its first where it has none.
pub(super) fn row_of<'r, 'v>(
    rows: &'r [Row<'v>],
    host: HostIndex,
    lock: Option<LockId>,
) -> Option<&'r Row<'v>> {
    let of_host = || rows.iter().filter(|row| row.host() == Some(host));
    of_host().find(|row| lock.is_some() && row.lock() == lock).or_else(|| of_host().next())
}

/// All rows of a run, under each other from `top` on.
pub(super) fn rows(view: &View, top: f64) -> Vec<Row<'_>> {
    let mut rows = Vec::new();
    let mut below = top;
    let mut add = |shown, label: String, height| {
        rows.push(Row { shown, label, top: below, height });
        below += height;
    };
    let clients = view.lanes.clients.chunk_by(|one, next| one.host == next.host);
    for (place, lane) in
        clients.enumerate().flat_map(|(place, lanes)| lanes.iter().map(move |lane| (place, lane)))
    {
        add(RowContent::Client { lane, place }, lane.label.clone(), 46.0);
    }
    for lane in &view.lanes.nodes {
        add(RowContent::Node(lane), lane.label.clone(), 42.0);
    }
    for (host, name) in resources(view).chain(struck_sentinels(view)) {
        add(RowContent::Other(host), name, 34.0);
    }
    for (label, faults) in links(view) {
        add(RowContent::Links(faults), label, 26.0);
    }
    rows
}

/// The resource, or its replicas: each if anything reaches it or strikes it.
fn resources(view: &View) -> impl Iterator<Item = (HostIndex, String)> {
    let hosts = view.hosts.iter().zip(0..).filter(|(host, _)| host.role == Role::Resource);
    let named = hosts.map(|(host, place)| (HostIndex(place), host.name.clone()));
    named
        .filter(|(host, _)| view.messages.iter().any(|message| message.to == *host) || is_struck(view, *host))
}

fn is_struck(view: &View, host: HostIndex) -> bool {
    view.lanes.faults.iter().any(|fault| !fault.of_link && fault.hosts.contains(&host))
}

/// Sentinels that a fault strikes. What the others do is in the story.
fn struck_sentinels(view: &View) -> impl Iterator<Item = (HostIndex, String)> {
    let hosts = view.hosts.iter().zip(0..).filter(|(host, _)| host.role == Role::Sentinel);
    let named = hosts.map(|(host, place)| (HostIndex(place), host.name.clone()));
    named.filter(|(host, _)| is_struck(view, *host))
}

/// The faults of links, by kind, in the order in which each kind struck first.
fn links(view: &View) -> Vec<(String, Vec<&FaultSpan>)> {
    let mut kinds: Vec<(String, Vec<&FaultSpan>)> = Vec::new();
    for fault in view.lanes.faults.iter().filter(|fault| fault.of_link) {
        match kinds.iter_mut().find(|(_, faults)| faults[0].kind == fault.kind) {
            Some((_, faults)) => faults.push(fault),
            None => kinds.push((fault.kind.state_of_several.to_owned(), vec![fault])),
        }
    }
    kinds
}
