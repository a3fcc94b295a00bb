//! A run as the checks see it: a [`Header`] that names things, and events in the order they happened.
//!
//! Events are sorted by true time; events at one instant stay in the order they were recorded, and that order
//! is the order they happened in.

use serde::{Deserialize, Serialize};

use crate::event::{ClientId, Event, EventKind, LockId, NodeId, ObjectId, RunOutcome, TrueNs};

/// What clients and resource did in one run.
///
/// ```
/// use doublehold_history::{ClientId, CallId, Header, History, LockId, TrueNs, EventKind};
///
/// let mut history = History::new(Header::new("example", 7, &["c1"], &["stock"]));
/// let (client, grant, lock) = (ClientId(0), CallId(1), LockId(0));
/// history.push(TrueNs(5), EventKind::AcquireStarted { client, call: grant, lock });
/// assert_eq!(history.events().len(), 1);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History {
    header: Header,
    events: Vec<Event>,
}

impl History {
    /// An empty history.
    pub fn new(header: Header) -> Self {
        Self { header, events: Vec::new() }
    }

    /// An empty history with room for so many events, which then grows without being copied.
    pub fn with_capacity(header: Header, events: usize) -> Self {
        Self { header, events: Vec::with_capacity(events) }
    }

    /// Records that `what` happened at `at`.
    ///
    /// Usually `at` is not earlier than the last event. If it is, the event goes after everything recorded up
    /// to and at that instant. Ids are not looked up in the header: a check ignores what it cannot place, and
    /// evidence names an unknown client `client 9`.
    pub fn push(&mut self, at: TrueNs, what: EventKind) {
        let place = match self.events.last() {
            Some(last) if last.at > at => self.events.partition_point(|event| event.at <= at),
            _ => self.events.len(),
        };
        self.events.insert(place, Event { at, what });
    }

    /// What the ids in the events mean.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Every event, sorted by time and then by order of recording.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// When the history ends: at its `run_ended`, or else at its last event; 0 if there is none.
    pub fn end(&self) -> TrueNs {
        self.events.last().map_or(TrueNs(0), |event| event.at)
    }

    /// From when waits count, see [`Bounds::counted_from_ns`]: known at the end of a run.
    pub fn count_waits_from(&mut self, from: TrueNs) {
        self.header.bounds.counted_from_ns = from.0;
    }

    /// How the run ended; `None` if the history was cut short.
    pub fn outcome(&self) -> Option<RunOutcome> {
        self.events.iter().rev().find_map(|event| match event.what {
            EventKind::RunEnded { outcome } => Some(outcome),
            _ => None,
        })
    }
}

/// The names behind a history's ids, and what the run promised.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// The version of the format: [`Header::VERSION`].
    pub version: u32,
    /// The scenario that was run.
    pub scenario: String,
    /// The seed it was run with; 0 if it has none.
    #[serde(default)]
    pub seed: u64,
    /// Clients, by [`ClientId`].
    pub clients: Vec<String>,
    /// Nodes, by [`NodeId`].
    #[serde(default)]
    pub nodes: Vec<String>,
    /// Locks, by [`LockId`].
    pub locks: Vec<String>,
    /// The resource's objects, by [`ObjectId`].
    #[serde(default)]
    pub objects: Vec<String>,
    /// Bounds the run promised to keep.
    #[serde(default)]
    pub bounds: Bounds,
    /// Whether each release and extension that changed a lock's key on a node was recorded. Without that, nothing that
    /// is missing says anything about keys.
    #[serde(default, skip_serializing_if = "is_not")]
    pub keys_watched: bool,
    /// How far an instant may be from the moment it stands for, in nanoseconds: 0 in a simulated run. Two claims that
    /// share no more than this decide nothing, unless both last to the end.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub error_ns: u64,
}

/// Left out, as in histories that are older than the field.
fn is_not(it: &bool) -> bool {
    !it
}

impl Header {
    /// The version of the format this program reads and writes.
    pub const VERSION: u32 = 3;

    /// A header with these clients and locks, no nodes that anybody watched, no objects and no bounds:
    /// fill in the rest.
    pub fn new(scenario: &str, seed: u64, clients: &[&str], locks: &[&str]) -> Self {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        Self {
            version: Self::VERSION,
            scenario: scenario.to_owned(),
            seed,
            clients: owned(clients),
            nodes: Vec::new(),
            locks: owned(locks),
            objects: Vec::new(),
            bounds: Bounds::default(),
            keys_watched: false,
            error_ns: 0,
        }
    }

    /// The client's name, or `client 9` if the header does not know it.
    pub fn client(&self, id: ClientId) -> String {
        name(&self.clients, "client", id.0)
    }

    /// The lock's name, or `lock 9` if the header does not know it.
    pub fn lock(&self, id: LockId) -> String {
        name(&self.locks, "lock", id.0)
    }

    /// The object's name, or `object 9` if the header does not know it.
    pub fn object(&self, id: ObjectId) -> String {
        name(&self.objects, "object", id.0)
    }

    /// The node's name, or `node 9` if the header does not know it.
    pub fn node(&self, id: NodeId) -> String {
        name(&self.nodes, "node", id.0)
    }
}

fn name(names: &[String], kind: &str, id: u32) -> String {
    let known = usize::try_from(id).ok().and_then(|index| names.get(index));
    known.cloned().unwrap_or_else(|| format!("{kind} {id}"))
}

/// Bounds a run promised to keep. Without a bound, liveness cannot be judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bounds {
    /// Whoever asks for a lock obtains it within this many nanoseconds of true time, whoever holds it meanwhile.
    pub obtain_within_ns: Option<u64>,
    /// A lock that nobody claims is obtained by a waiting client within this many nanoseconds of true time.
    pub obtain_free_within_ns: Option<u64>,
    /// The true time from which waits count: what was waited before is not looked at. Zero if it is not said.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub counted_from_ns: u64,
}

fn is_zero(ns: &u64) -> bool {
    *ns == 0
}
