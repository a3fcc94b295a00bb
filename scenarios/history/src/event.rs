//! What can happen in a history: one [`EventKind`] per thing a client or the resource did.
//!
//! Assumes true time in nanoseconds since the world began, which no client can read; what clients *can* read is a
//! [`Reading`] of their own three clocks. Ids are indices into the [`Header`](crate::Header). Not here: packets, and
//! Redis commands.

use serde::{Deserialize, Serialize};

use crate::clock::{Deadline, Reading};
pub use crate::ids::{CallId, ClientId, LockId, NodeId, ObjectId, TrueNs, instant};

/// One thing that happened, and when.
///
/// Serialises as one flat object: `{"at":12031000000,"type":"gave_up","client":0,"call":7}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// When, in true time.
    pub at: TrueNs,
    /// What.
    #[serde(flatten)]
    pub what: EventKind,
}

/// What a client, the resource or the run did.
///
/// Every acquire call has its own [`CallId`], granted or not, and every later event of that call carries it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum EventKind {
    /// A client called acquire. A wait starts here, unless the client is already waiting for this lock.
    AcquireStarted {
        /// Who called.
        client: ClientId,
        /// This call's id, new in the run.
        call: CallId,
        /// The lock asked for.
        lock: LockId,
    },
    /// Acquire returned granted: the claim starts.
    Granted {
        /// Who holds.
        client: ClientId,
        /// The acquire call that was granted.
        grant: CallId,
        /// The lock held.
        lock: LockId,
        /// The lock's token, in hexadecimal.
        token: String,
        /// The fencing number, if the lock hands out any.
        fencing: Option<u64>,
        /// The deadline the algorithm computed, if it computes one.
        deadline: Option<Deadline>,
        /// What the client's clocks read when acquire returned, if somebody recorded that.
        reading: Option<Reading>,
        /// The grant of this client's that it takes again, if it had one: one hold, of as many grants as are nested.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        within: Option<CallId>,
    },
    /// Acquire returned refused. Retries are one wait: it ends when the client is granted the lock, gives up or dies.
    Refused {
        /// Who asked.
        client: ClientId,
        /// The call.
        call: CallId,
        /// The lock's reason.
        why: String,
    },
    /// Acquire returned unknown: a reply was lost. The wait goes on, as after a refusal.
    AcquireUnknown {
        /// Who asked.
        client: ClientId,
        /// The call.
        call: CallId,
        /// The lock's reason.
        why: String,
    },
    /// The grant's current deadline passed on that client's clock. Recorded by an observer outside the client,
    /// so also while the client is stopped; it may come before [`EventKind::Granted`].
    DeadlinePassed {
        /// Whose clock.
        client: ClientId,
        /// The grant whose deadline it was.
        grant: CallId,
    },
    /// The client's own code looked and found its lease expired: the claim ends.
    ExpiryNoticed {
        /// Who noticed.
        client: ClientId,
        /// The expired grant.
        grant: CallId,
    },
    /// The client's lock library said to its process that the lock is lost or may be, or took that back. By itself this
    /// ends no claim.
    LossNotice {
        /// The client that hears it.
        client: ClientId,
        /// The grant.
        grant: CallId,
        /// The library's word for it.
        notice: String,
        /// True if it takes back what it has said before: the session goes on.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        recovered: bool,
    },
    /// An extension succeeded.
    Extended {
        /// Who extended.
        client: ClientId,
        /// The grant extended.
        grant: CallId,
        /// The new deadline, if the algorithm computes one.
        deadline: Option<Deadline>,
    },
    /// An extension failed or its result is unknown. By itself this ends no claim.
    ExtendFailed {
        /// Who tried.
        client: ClientId,
        /// The grant.
        grant: CallId,
        /// The lock's reason.
        why: String,
    },
    /// The client is done with the lock, does not give it back, and its process runs on: the claim ends.
    Abandoned {
        /// Who held it.
        client: ClientId,
        /// The grant that nobody believes in any more.
        grant: CallId,
    },
    /// The client called release: the claim ends, whatever the answer.
    ReleaseCalled {
        /// Who called.
        client: ClientId,
        /// The grant given back.
        grant: CallId,
    },
    /// Release returned.
    ReleaseReturned {
        /// Who called.
        client: ClientId,
        /// The grant given back.
        grant: CallId,
        /// What it returned.
        outcome: ReleaseOutcome,
    },
    /// The client's process is gone (crash or power loss): its claims and waits end.
    Died {
        /// Who died.
        client: ClientId,
    },
    /// The client runs again, remembering nothing. Ends claims and waits too, should `died` be missing.
    Restarted {
        /// Who is back.
        client: ClientId,
    },
    /// The client will not try again: its wait ends. A program that stops retrying must record this, or its
    /// wait lasts until the run ends.
    GaveUp {
        /// Who gave up.
        client: ClientId,
        /// Its last acquire call.
        call: CallId,
    },
    /// What a client's clocks read at this instant. Evidence only: record one for each claimant whenever a
    /// claim starts or ends, and evidence can say when it happened on each client's own clock.
    Clocks {
        /// Whose clocks.
        client: ClientId,
        /// What they read.
        reading: Reading,
    },
    /// The resource answered a read (recorded when the client has the answer).
    ReadDone {
        /// Who read.
        client: ClientId,
        /// Under which grant.
        grant: CallId,
        /// What was read.
        object: ObjectId,
        /// The version read; 0 is the state before any write.
        version: u64,
        /// The value read.
        value: u64,
    },
    /// The client sent a write.
    WriteSent {
        /// Who wrote.
        client: ClientId,
        /// Under which grant.
        grant: CallId,
        /// What is written.
        object: ObjectId,
        /// The version the new value was computed from; absent only for a blind write.
        based_on: Option<u64>,
    },
    /// The resource applied a write.
    WriteApplied {
        /// Who wrote.
        client: ClientId,
        /// Under which grant.
        grant: CallId,
        /// What was written.
        object: ObjectId,
        /// The version this write made. Versions of an object are unique and count up.
        version: u64,
        /// The version the new value was computed from; absent only for a blind write.
        based_on: Option<u64>,
        /// The value written.
        value: u64,
        /// The fencing number that came with it.
        fencing: Option<u64>,
    },
    /// The resource refused a write.
    WriteRefused {
        /// Who wrote.
        client: ClientId,
        /// Under which grant.
        grant: CallId,
        /// What would have been written.
        object: ObjectId,
        /// The resource's reason.
        why: String,
        /// The fencing number that came with it.
        fencing: Option<u64>,
        /// The highest fencing number the resource had seen.
        highest_seen: Option<u64>,
    },
    /// The resource has lost a write: a promoted standby's table is in its place, which does not have the write. It was
    /// applied before, or committed by the superseded primary later, and so never applied.
    WriteLost {
        /// The client that wrote.
        client: ClientId,
        /// The grant under which it wrote.
        grant: CallId,
        /// The object written.
        object: ObjectId,
        /// The version that the write had made.
        version: u64,
        /// True if the client has been told that it is committed. Recorded once more if that happens later.
        acknowledged: bool,
    },
    /// A release or an extension changed a key that held the token of grant `held`. Recorded also when `by` is the
    /// same, which is how it should be.
    KeyTouched {
        /// Who sent the command.
        client: ClientId,
        /// The node that executed it.
        node: NodeId,
        /// The lock the key stands for.
        lock: LockId,
        /// The acquire call or grant whose acquire, extend or release call sent the command.
        by: CallId,
        /// The grant whose token the key held.
        held: CallId,
        /// What the command did.
        op: KeyOp,
    },
    /// A node has a lock's key with the token of a call, from now on. For pictures: no check reads it.
    KeySet {
        /// The node.
        node: NodeId,
        /// The lock the key stands for.
        lock: LockId,
        /// The call that set it.
        grant: CallId,
    },
    /// A node no longer has it.
    KeyGone {
        /// The node.
        node: NodeId,
        /// The lock the key stands for.
        lock: LockId,
        /// The call that had set it.
        grant: CallId,
        /// Why it is gone.
        how: KeyEnd,
    },
    /// A fault struck. For pictures: no check reads it.
    Struck {
        /// The fault, as a sentence without a full stop.
        what: String,
        /// The node that it struck, if it was one.
        node: Option<NodeId>,
    },
    /// A command changed a lock's key, and nobody can say which call sent it or whose key it was; or a grant came
    /// without any key that was seen.
    Unattributed {
        /// The node that executed it, if there was such a command.
        node: Option<NodeId>,
        /// The lock the key stands for.
        lock: LockId,
        /// What is not known.
        why: String,
    },
    /// Something without which the run shows nothing: a fault that never fired, a client that could not begin. What
    /// holds becomes inconclusive.
    Inconclusive {
        /// What was missing.
        why: String,
    },
    /// The last event of a whole history.
    RunEnded {
        /// How the run ended.
        outcome: RunOutcome,
    },
}

impl EventKind {
    /// The acquire call this event belongs to, if it belongs to one.
    pub fn call(&self) -> Option<CallId> {
        match self {
            EventKind::AcquireStarted { call: grant, .. }
            | EventKind::Granted { grant, .. }
            | EventKind::Refused { call: grant, .. }
            | EventKind::AcquireUnknown { call: grant, .. }
            | EventKind::DeadlinePassed { grant, .. }
            | EventKind::ExpiryNoticed { grant, .. }
            | EventKind::LossNotice { grant, .. }
            | EventKind::Extended { grant, .. }
            | EventKind::ExtendFailed { grant, .. }
            | EventKind::Abandoned { grant, .. }
            | EventKind::ReleaseCalled { grant, .. }
            | EventKind::ReleaseReturned { grant, .. }
            | EventKind::GaveUp { call: grant, .. }
            | EventKind::ReadDone { grant, .. }
            | EventKind::WriteSent { grant, .. }
            | EventKind::WriteApplied { grant, .. }
            | EventKind::WriteRefused { grant, .. }
            | EventKind::WriteLost { grant, .. } => Some(*grant),
            EventKind::KeyTouched { by, .. } => Some(*by),
            EventKind::KeySet { grant, .. } | EventKind::KeyGone { grant, .. } => Some(*grant),
            EventKind::Died { .. }
            | EventKind::Restarted { .. }
            | EventKind::Clocks { .. }
            | EventKind::Struck { .. }
            | EventKind::Unattributed { .. }
            | EventKind::Inconclusive { .. }
            | EventKind::RunEnded { .. } => None,
        }
    }

    /// The client this event is about, if it is about one.
    pub fn client(&self) -> Option<ClientId> {
        match self {
            EventKind::AcquireStarted { client, .. }
            | EventKind::Granted { client, .. }
            | EventKind::Refused { client, .. }
            | EventKind::AcquireUnknown { client, .. }
            | EventKind::DeadlinePassed { client, .. }
            | EventKind::ExpiryNoticed { client, .. }
            | EventKind::LossNotice { client, .. }
            | EventKind::Extended { client, .. }
            | EventKind::ExtendFailed { client, .. }
            | EventKind::Abandoned { client, .. }
            | EventKind::ReleaseCalled { client, .. }
            | EventKind::ReleaseReturned { client, .. }
            | EventKind::Died { client }
            | EventKind::Restarted { client }
            | EventKind::GaveUp { client, .. }
            | EventKind::Clocks { client, .. }
            | EventKind::ReadDone { client, .. }
            | EventKind::WriteSent { client, .. }
            | EventKind::WriteApplied { client, .. }
            | EventKind::WriteRefused { client, .. }
            | EventKind::WriteLost { client, .. }
            | EventKind::KeyTouched { client, .. } => Some(*client),
            EventKind::KeySet { .. }
            | EventKind::KeyGone { .. }
            | EventKind::Struck { .. }
            | EventKind::Unattributed { .. }
            | EventKind::Inconclusive { .. }
            | EventKind::RunEnded { .. } => None,
        }
    }
}

/// What release returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReleaseOutcome {
    /// The lock was ours and is free.
    Released,
    /// The lock was not ours any more.
    NotOwner,
    /// A reply was lost.
    Unknown,
}

/// What a command did to a lock's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyOp {
    /// Deleted it.
    Release,
    /// Moved its expiry, counted it down, or took its place with a token of its own.
    Extend,
}

/// Why a node no longer held a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeyEnd {
    /// Its time was up by the node's wall clock.
    Expired,
    /// A command deleted it.
    Deleted,
    /// A command overwrote it with another token.
    Overwritten,
    /// The node lost it in a crash.
    Forgotten,
    /// The node was flushed.
    Flushed,
    /// The node evicted it, for want of memory.
    Evicted,
    /// The session or lease that it belonged to ended at its service.
    SessionEnded,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunOutcome {
    /// Every program finished, or the scenario's end was reached.
    Completed,
    /// Nothing can ever happen any more, yet some program has not finished.
    Stalled,
    /// The run used up its number of events.
    EventBudget,
    /// The run used up its true time.
    TimeBudget,
    /// The run recorded as much as it may keep.
    MemoryBudget,
    /// The run was ended where it left what it stands for; a [`EventKind::Inconclusive`] says why.
    Halted,
}
