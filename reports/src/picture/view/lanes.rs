//! Everything in a picture that has a beginning and an end, at exact instants: what every drawing of a run shares.
//!
//! The lanes of text and those of figures are drawn from these, so that they cannot disagree. Nothing is left out for
//! lack of room here; who draws decides that.

use doublehold_history::{CallId, ClientId, Deadline, LockId, Predicate, TrueNs};
use doublehold_scenarios::fault::Kind;
use doublehold_scenarios::report::{KeyEnd, KeyOrigin};
use doublehold_scenarios::scenario::HostIndex;
use serde::Serialize;

use super::{clients, faults, nodes, overlaps};
use crate::picture::facts::Facts;

/// The lanes of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Lanes {
    /// Of each client, in the scenario's order, a lane for every lock.
    pub clients: Vec<ClientLane>,
    /// Of each node, in the scenario's order, a lane for every lock.
    pub nodes: Vec<NodeLane>,
    /// Every time that a fault struck, in the report's order.
    pub faults: Vec<FaultSpan>,
    /// Every double hold that is evidence: those of claims, then those of valid claims.
    pub overlaps: Vec<OverlapSpan>,
}

impl Lanes {
    pub(in crate::picture) fn new(facts: &Facts<'_>) -> Lanes {
        Lanes {
            clients: clients::lanes(facts),
            nodes: nodes::lanes(facts),
            faults: faults::spans(facts),
            overlaps: overlaps::spans(facts),
        }
    }
}

/// What one client did with one lock.
#[derive(Clone, Debug, Serialize)]
pub struct ClientLane {
    /// The client's host.
    pub host: HostIndex,
    /// The lock.
    pub lock: LockId,
    /// What stands beside the lane.
    pub label: String,
    /// When it waited for the lock.
    pub waits: Vec<Wait>,
    /// When an acquire call was refused, or its answer was lost.
    pub refusals: Vec<TrueNs>,
    /// When it believed that it held the lock.
    pub claims: Vec<ClaimBar>,
    /// What it wrote to the resource under this lock: first what arrived, in that order, then what did not.
    pub writes: Vec<WriteMark>,
}

/// A client waits for a lock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Wait {
    /// Since when.
    pub from: TrueNs,
    /// Until when, or until the run ended.
    pub to: TrueNs,
    /// The acquire call that ended the wait.
    pub call: Option<CallId>,
}

/// A client believes that it holds a lock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClaimBar {
    /// By which grant.
    pub grant: CallId,
    /// Since when.
    pub from: TrueNs,
    /// Until when.
    pub to: TrueNs,
    /// Nothing ended it but the run did.
    pub open_ended: bool,
    /// The parts of it in which no deadline had passed on the client's own clock. Everything without a deadline.
    pub valid: Vec<(TrueNs, TrueNs)>,
    /// What the client's lock computed, in the order in which it did.
    pub deadlines: Vec<DeadlineMark>,
}

/// A deadline, on the clock that it was computed for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DeadlineMark {
    /// Since when it counts.
    pub set: TrueNs,
    /// Which clock, and what it shows when the deadline passes.
    pub deadline: Deadline,
    /// The same in words: `14.020 s on c1's monotonic clock`.
    pub words: String,
    /// When that was, if it came to it before the run ended or another deadline took its place.
    pub passed: Option<TrueNs>,
}

/// A write on its way to the resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WriteMark {
    /// Under which grant.
    pub grant: CallId,
    /// When it was sent.
    pub sent: Option<TrueNs>,
    /// When the resource had it.
    pub arrived: Option<TrueNs>,
    /// What became of it.
    pub fate: WriteFate,
}

/// What became of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WriteFate {
    /// It was applied.
    Applied,
    /// It was applied after a later grant existed.
    Late,
    /// The resource refused it.
    Refused,
    /// The resource lost it, after its client was told that it is committed.
    Lost,
    /// It had not arrived when the run ended.
    UnderWay,
}

/// The keys of one lock on one node.
#[derive(Clone, Debug, Serialize)]
pub struct NodeLane {
    /// The node's host.
    pub host: HostIndex,
    /// The lock.
    pub lock: LockId,
    /// What stands beside the lane.
    pub label: String,
    /// In the order in which they began.
    pub keys: Vec<KeyBar>,
}

/// A node holds a lock's key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KeyBar {
    /// Whose token: that of this grant.
    pub grant: CallId,
    /// The client's host.
    pub client: HostIndex,
    /// How the node came by it.
    pub origin: KeyOrigin,
    /// Since when.
    pub from: TrueNs,
    /// Until when and why, if it was gone before the run ended.
    pub until: Option<(TrueNs, KeyEnd)>,
}

/// A fault and one time that it struck.
#[derive(Clone, Debug, Serialize)]
pub struct FaultSpan {
    /// What it did, as a sentence.
    pub words: String,
    /// All that its kind has in common: what its hosts or links are meanwhile, in a word or two.
    pub kind: Kind,
    /// It is of links between hosts, and not of a host.
    pub of_link: bool,
    /// The hosts it strikes; those at both ends, of a link.
    pub hosts: Vec<HostIndex>,
    /// When it struck.
    pub from: TrueNs,
    /// When it was taken back, if it was.
    pub until: Option<TrueNs>,
    /// It lasts: until it is taken back, or for good.
    pub lasts: bool,
    /// It struck before, and this is another time.
    pub again: bool,
}

/// Two clients hold one lock.
#[derive(Clone, Debug, Serialize)]
pub struct OverlapSpan {
    /// Whether by their claims, or by their valid claims.
    pub predicate: Predicate,
    /// The lock.
    pub lock: LockId,
    /// The clients; the one granted first comes first.
    pub clients: [ClientId; 2],
    /// Their grants, in the same order.
    pub grants: [CallId; 2],
    /// When both began to hold.
    pub from: TrueNs,
    /// When the first of them stopped.
    pub to: TrueNs,
    /// `c1 and c2 both hold: 1.02 s`, in true time.
    pub words: String,
}
