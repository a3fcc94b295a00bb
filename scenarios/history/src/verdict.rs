//! What a check says: [`Verdict`], the [`Predicate`] it is about, and the [`Evidence`] that proves a violation.
//!
//! A violation is proved by the events it names, in true time and on the clients' own clocks. How evidence
//! reads as a sentence is `sentences.rs`.

use std::fmt;
use std::ops::ControlFlow;
use std::str::FromStr;

use doublehold_text::every;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::clock::{ClockKind, Reading};
use crate::event::{CallId, ClientId, KeyOp, LockId, NodeId, ObjectId, TrueNs};

/// What a check found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", content = "because", rename_all = "snake_case")]
pub enum Verdict {
    /// Nothing in the history breaks the rule.
    Holds,
    /// These events break it. Never empty; in order of time; at most [`Verdict::MAX_EVIDENCE`] long, and then
    /// ended by [`Evidence::Omitted`].
    Violated(Vec<Evidence>),
    /// The history cannot tell, for this reason.
    Inconclusive(String),
    /// Nothing happened that the rule is about: nothing breaks it, and nothing shows that it is kept. A count of runs
    /// has it among those that hold; of one run it is inconclusive.
    NotSeen(&'static str),
}

impl Verdict {
    /// How many pieces of evidence a verdict carries before it says that there are more. A history of n
    /// claims can hold n² overlaps. So many convince, and take 5 MB.
    pub const MAX_EVIDENCE: usize = 25_000;

    /// `holds`, `violated` or `inconclusive`.
    pub fn as_str(&self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Violated(_) => "violated",
            Verdict::Inconclusive(_) | Verdict::NotSeen(_) => "inconclusive",
        }
    }

    /// Why it is inconclusive, if it is.
    pub fn doubt(&self) -> Option<&str> {
        match self {
            Verdict::Holds | Verdict::Violated(_) => None,
            Verdict::Inconclusive(why) => Some(why),
            Verdict::NotSeen(why) => Some(why),
        }
    }

    /// The evidence of a violation; empty otherwise.
    pub fn evidence(&self) -> &[Evidence] {
        match self {
            Verdict::Violated(evidence) => evidence,
            Verdict::Holds | Verdict::Inconclusive(_) | Verdict::NotSeen(_) => &[],
        }
    }
}

/// Evidence as a check collects it: stops at [`Verdict::MAX_EVIDENCE`].
pub(crate) struct Findings {
    predicate: Predicate,
    evidence: Vec<Evidence>,
}

impl Findings {
    pub(crate) fn new(predicate: Predicate) -> Self {
        Self { predicate, evidence: Vec::new() }
    }

    /// Adds one piece; breaks once no more is wanted.
    pub(crate) fn push(&mut self, evidence: Evidence) -> ControlFlow<()> {
        if self.evidence.len() == Verdict::MAX_EVIDENCE {
            let listed = self.evidence.len();
            self.evidence.push(Evidence::Omitted { predicate: self.predicate, listed });
        }
        if self.evidence.len() > Verdict::MAX_EVIDENCE {
            return ControlFlow::Break(());
        }
        self.evidence.push(evidence);
        ControlFlow::Continue(())
    }

    pub(crate) fn into_verdict(self) -> Verdict {
        if self.evidence.is_empty() { Verdict::Holds } else { Verdict::Violated(self.evidence) }
    }
}

/// A rule that a run keeps or breaks. Reported one by one, never merged: the camps argue about different ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Predicate {
    /// Claim overlap.
    P1,
    /// Valid overlap.
    P2,
    /// Stale effect.
    P3,
    /// Data anomaly.
    P4,
    /// Wrong release.
    WR,
    /// Liveness.
    LV,
}

impl Predicate {
    /// All six, in the order they are reported.
    pub const ALL: [Predicate; 6] = every!(Predicate: P1, P2, P3, P4, WR, LV);

    /// The short name: `P1`.
    pub fn as_str(self) -> &'static str {
        match self {
            Predicate::P1 => "P1",
            Predicate::P2 => "P2",
            Predicate::P3 => "P3",
            Predicate::P4 => "P4",
            Predicate::WR => "WR",
            Predicate::LV => "LV",
        }
    }

    /// The name in words: `claim overlap`.
    pub fn name(self) -> &'static str {
        match self {
            Predicate::P1 => "claim overlap",
            Predicate::P2 => "valid overlap",
            Predicate::P3 => "stale effect",
            Predicate::P4 => "data anomaly",
            Predicate::WR => "wrong release",
            Predicate::LV => "liveness",
        }
    }

    /// What a violation means, in one line.
    pub fn meaning(self) -> &'static str {
        match self {
            Predicate::P1 => "two clients both believed they held the lock",
            Predicate::P2 => "two clients both held the lock before either's own deadline had passed",
            Predicate::P3 => "the resource applied a write of a grant after a later grant existed",
            Predicate::P4 => "the resource's data is what no serial order of the grants would have left",
            Predicate::WR => "a release or extension changed a key that held another grant's token",
            Predicate::LV => "a client waited longer than a stated bound allows, or a wait never ended",
        }
    }
}

impl fmt::Display for Predicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Reads the short name, in either case: `P1`, `wr`.
impl FromStr for Predicate {
    type Err = UnknownPredicate;

    fn from_str(text: &str) -> Result<Self, UnknownPredicate> {
        let known = Predicate::ALL.into_iter().find(|known| known.as_str().eq_ignore_ascii_case(text));
        known.ok_or_else(|| UnknownPredicate(text.to_owned()))
    }
}

/// A text that names no predicate.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("unknown predicate `{0}`: it is one of {known}", known = Predicate::ALL.map(|it| format!("`{it}`")).join(", "))]
pub struct UnknownPredicate(pub String);

/// The events that prove one violation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Evidence {
    /// P1 and P2: two clients held one lock.
    Overlap(Overlap),
    /// P3: a write came too late.
    StaleWrite(StaleWrite),
    /// P4: no serial order of these grants explains what they read and wrote.
    Cycle(Cycle),
    /// P4: a committed write is not there any more.
    LostWrite(LostWrite),
    /// WR: a command hit another grant's key.
    WrongKey(WrongKey),
    /// LV: nobody obtained a lock that nobody claimed, or a wait never ended.
    Waited(Waited),
    /// LV: one client's wait was longer than any may be.
    LongWait(LongWait),
    /// There is more evidence than a verdict carries.
    Omitted {
        /// The rule that was broken even more often.
        predicate: Predicate,
        /// How many pieces are listed before this one.
        listed: usize,
    },
}

/// Two clients held one lock at once, each by one grant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Overlap {
    /// [`Predicate::P1`] or [`Predicate::P2`].
    pub predicate: Predicate,
    /// The lock.
    pub lock: LockId,
    /// The two clients; the one granted first comes first.
    pub clients: [ClientId; 2],
    /// Their grants, in the same order.
    pub grants: [CallId; 2],
    /// When both began to hold.
    pub from: TrueNs,
    /// When the first of them stopped, not included; where they began if one of them held for no length of time.
    pub to: TrueNs,
    /// Both still held when the history ended.
    pub open_ended: bool,
    /// What each client's clocks read meanwhile, in the same order.
    pub clocks: [ClockSpan; 2],
}

/// What one client's clocks read at both ends of an interval, where the history recorded it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ClockSpan {
    /// The clock the client's deadline is on; monotonic if it computed none.
    pub clock: ClockKind,
    /// At the beginning.
    pub from: Option<Reading>,
    /// At the end.
    pub to: Option<Reading>,
}

/// The resource applied a write of a grant although a later grant existed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StaleWrite {
    /// The lock both grants are for.
    pub lock: LockId,
    /// The object written.
    pub object: ObjectId,
    /// The version the stale write made.
    pub version: u64,
    /// When it was applied.
    pub at: TrueNs,
    /// Whose write.
    pub client: ClientId,
    /// Under which grant.
    pub grant: CallId,
    /// When that grant was given.
    pub granted_at: TrueNs,
    /// Who got the next grant of this lock.
    pub later_client: ClientId,
    /// The next grant of this lock.
    pub later_grant: CallId,
    /// When the next grant was given: since then the write was stale.
    pub later_granted_at: TrueNs,
}

/// Grants that each must come before the next in any serial order, and the last before the first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cycle {
    /// What databases call it.
    pub anomaly: Anomaly,
    /// The steps around the cycle: each ends where the next begins, the last where the first begins.
    pub steps: Vec<Step>,
}

/// One reason why one grant comes before another in any serial order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Step {
    /// The grant that comes first.
    pub before: CallId,
    /// Its client.
    pub before_client: ClientId,
    /// The grant that comes later.
    pub after: CallId,
    /// Its client.
    pub after_client: ClientId,
    /// Why.
    pub dependency: Dependency,
    /// The object it is about.
    pub object: ObjectId,
    /// The version that `before` wrote or read.
    pub version: u64,
    /// The version that `after` read or wrote.
    pub then: u64,
}

/// How one grant depends on another (the edges of Adya's direct serialization graph).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Dependency {
    /// `before` wrote a version, `after` wrote a later one.
    WriteWrite,
    /// `before` wrote a version, `after` read it or a later one.
    WriteRead,
    /// `before` read a version, `after` wrote a later one.
    ReadWrite,
}

/// What databases call a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Anomaly {
    /// One grant read an object, another wrote it, the first overwrote that without having seen it.
    LostUpdate,
    /// Two grants read what the other then wrote, and neither saw the other's write.
    WriteSkew,
    /// One grant saw part of what another wrote.
    InconsistentRead,
    /// Each grant came in between the other's writes.
    InterleavedWrites,
    /// A cycle with no common name.
    Other,
}

impl Anomaly {
    /// The name in words: `lost update`.
    pub fn name(self) -> &'static str {
        match self {
            Anomaly::LostUpdate => "lost update",
            Anomaly::WriteSkew => "write skew",
            Anomaly::InconsistentRead => "inconsistent read",
            Anomaly::InterleavedWrites => "interleaved writes",
            Anomaly::Other => "not serialisable",
        }
    }
}

/// The resource has lost a write although its client was told that it is committed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LostWrite {
    /// The moment at which it was lost and the client had been told.
    pub at: TrueNs,
    /// The client whose write it was.
    pub client: ClientId,
    /// The grant under which it wrote.
    pub grant: CallId,
    /// The object written.
    pub object: ObjectId,
    /// The version that the write had made.
    pub version: u64,
}

/// A release or an extension changed a key that held another grant's token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WrongKey {
    /// When.
    pub at: TrueNs,
    /// Where.
    pub node: NodeId,
    /// The lock the key stands for.
    pub lock: LockId,
    /// What was done to the key.
    pub op: KeyOp,
    /// Who did it.
    pub client: ClientId,
    /// Which acquire call or grant sent it.
    pub by: CallId,
    /// Whether that was ever granted: if not, the command cleaned up after a failed attempt.
    pub by_granted: bool,
    /// True if it had been granted by then: if not, the command was part of the acquire itself, and a release cleaned
    /// up after an attempt of it.
    pub was_granted: bool,
    /// The grant whose token the key held.
    pub held: CallId,
    /// Its client, if the history says.
    pub held_client: Option<ClientId>,
}

/// A wait for a lock that nobody claimed that was too long, or one that never ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Waited {
    /// The lock waited for.
    pub lock: LockId,
    /// Who waited at some moment of it, in order of id; the first [`Waited::MAX_CLIENTS`] to be found.
    pub clients: Vec<ClientId>,
    /// Since when somebody waited and nobody claimed the lock; for an endless wait, since the wait began.
    pub from: TrueNs,
    /// Until when.
    pub to: TrueNs,
    /// The bound that was missed, in nanoseconds.
    pub bound_ns: u64,
    /// Why it stopped being a wait, if it did.
    pub end: WaitEnd,
}

impl Waited {
    /// How many waiting clients evidence names: a sentence with more is no sentence.
    pub const MAX_CLIENTS: usize = 16;
}

/// One client waited too long, whatever the reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LongWait {
    /// The lock waited for.
    pub lock: LockId,
    /// Who waited.
    pub client: ClientId,
    /// Since when: its first acquire call.
    pub from: TrueNs,
    /// Until when.
    pub to: TrueNs,
    /// Who held the lock at some time of it, in order of id; at most [`Waited::MAX_CLIENTS`].
    pub held_by: Vec<ClientId>,
    /// For how much of the wait anybody held it, in nanoseconds.
    pub held_ns: u64,
    /// The bound that was missed, in nanoseconds.
    pub bound_ns: u64,
    /// Why it stopped being a wait, if it did.
    pub end: WaitEnd,
}

/// How a wait that was too long ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitEnd {
    /// Somebody obtained the lock, too late.
    Obtained,
    /// The client gave up.
    GaveUp,
    /// The client died.
    Died,
    /// Nobody waited any more: they gave up or died.
    Abandoned,
    /// The history ended first.
    RunEnded,
    /// The world stalled: nothing can ever end this wait.
    Never,
}
