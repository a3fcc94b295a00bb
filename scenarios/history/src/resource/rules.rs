//! The rules by which a resource guards its objects, and its reasons to refuse a request.

use thiserror::Error;

use crate::event::ObjectId;

/// The rules by which a resource guards its objects. By default it does not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResourceRules {
    /// The check of the fencing numbers, or tokens, of writes.
    pub fencing: FencingCheck,
    /// The source of the numbers that it compares.
    pub numbers: NumberSource,
    /// The decision of [`FencingCheck::AskLock`] if the lock gives no answer. No effect otherwise.
    pub no_answer: NoAnswer,
    /// True if a restart forgets what was shown: the highest number, the marker. The objects are kept.
    pub forgets: bool,
    /// True if a read also carries a fencing number, which is checked (lower ones are refused) and remembered.
    /// Without it, two clients can both read, then write in the order of their numbers: a lost update that
    /// fencing lets through. No effect while `fencing` is off.
    pub fence_reads: bool,
    /// Compare-and-set: a write is refused unless the version it is based on is the current one. A blind write
    /// has nothing to compare and is refused.
    pub version_check: bool,
}

impl ResourceRules {
    /// Judges a request by what the lock has answered to the question whose it is.
    ///
    /// # Errors
    ///
    /// Refused if another holds the lock, or nobody; if there was no answer, as [`ResourceRules::no_answer`] says.
    pub fn judge_answer(&self, shown: Option<u64>, answer: LockAnswer) -> Result<(), Refusal> {
        match (answer, self.no_answer) {
            (LockAnswer::Holder(holder), _) if shown == Some(holder) => Ok(()),
            (LockAnswer::Holder(_) | LockAnswer::Nobody, _) => Err(Refusal::NotTheHolder),
            (LockAnswer::None, NoAnswer::Refuse) => Err(Refusal::NoAnswer),
            (LockAnswer::None, NoAnswer::Apply) => Ok(()),
        }
    }
}

/// The answer of a lock service that was asked whose a lock is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockAnswer {
    /// The grant with this token.
    Holder(u64),
    /// Nobody's.
    Nobody,
    /// Nothing, in time.
    None,
}

/// The decision of a resource that has asked the lock, and was not answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NoAnswer {
    /// It refuses the request: it fails closed.
    #[default]
    Refuse,
    /// It does what it was asked: it fails open.
    Apply,
}

/// The source of fencing numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NumberSource {
    /// The lock, with each grant.
    #[default]
    Lock,
    /// The resource itself, to whoever prepares: the next one. That is after the grant, and may be after its end.
    Resource,
}

/// The check of what a grant shows: its fencing number, or its token. Unless off, a request that shows
/// nothing is refused.
///
/// Tokens are told apart and have no order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FencingCheck {
    /// Ignores it.
    #[default]
    Off,
    /// Refuses a number lower than one already seen. This is the check to use.
    RejectLower,
    /// Also refuses a number already seen. A trap: each holder gets one write, and none at all if its read has
    /// already shown its number. It is here to show what that does.
    RejectLowerOrEqual,
    /// Refuses a token once it has seen another after it, and accepts every token that it has never seen.
    RejectReplaced,
    /// Refuses every token but that of whoever prepared last: the marker is compared in one step with the write.
    CompareMarker,
    /// Refuses nothing: the client asks for the marker, compares it, and writes later.
    ClientComparesMarker,
    /// Asks the lock whose it is, and refuses every other token. The answer may be old when the request is done.
    AskLock,
}

impl FencingCheck {
    /// The check of a read. A holder reads before it writes with the same number, so only a lower one is stale there.
    pub(super) fn reading_check(self) -> Self {
        match self {
            FencingCheck::RejectLowerOrEqual => FencingCheck::RejectLower,
            other => other,
        }
    }

    /// True if it compares fencing numbers, which have an order.
    pub fn compares_numbers(self) -> bool {
        matches!(self, FencingCheck::RejectLower | FencingCheck::RejectLowerOrEqual)
    }

    /// True if it compares the token of a grant.
    pub fn compares_tokens(self) -> bool {
        match self {
            FencingCheck::Off | FencingCheck::RejectLower | FencingCheck::RejectLowerOrEqual => false,
            FencingCheck::RejectReplaced
            | FencingCheck::CompareMarker
            | FencingCheck::ClientComparesMarker
            | FencingCheck::AskLock => true,
        }
    }

    /// True if it needs the marker of a grant that prepares.
    pub fn compares_marker(self) -> bool {
        matches!(self, FencingCheck::CompareMarker | FencingCheck::ClientComparesMarker)
    }

    /// True if the resource itself refuses what does not pass.
    pub fn refuses(self) -> bool {
        !matches!(self, FencingCheck::Off | FencingCheck::ClientComparesMarker)
    }
}

/// The reason for which a resource refused a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// The request's number is too low: a later grant has been here.
    #[error("fencing number {got} is stale: {highest_seen} has been seen")]
    StaleFencing {
        /// The request's number.
        got: u64,
        /// The highest seen for this lock.
        highest_seen: u64,
    },
    /// The resource checks fencing numbers and the request has none.
    #[error("the request has no fencing number")]
    NoFencing,
    /// The resource compares the marker, and that is another grant's, or nobody's.
    #[error("the marker is not this grant's token")]
    NotTheMarker,
    /// The resource has seen a newer token after the request's.
    #[error("this grant's token was replaced by a newer one")]
    ReplacedToken,
    /// The lock says that it is another's, or nobody's.
    #[error("the lock is not this grant's any more")]
    NotTheHolder,
    /// The lock did not say whose it is, and the resource fails closed.
    #[error("the lock did not say whose it is")]
    NoAnswer,
    /// The object is not at the version the write is based on.
    #[error("the object is at version {current}, the write is {}", basis(*.based_on))]
    VersionChanged {
        /// The version the write is based on.
        based_on: Option<u64>,
        /// The object's version.
        current: u64,
    },
    /// A value is put that is older than the one that is there.
    #[error("a newer value is there")]
    Overtaken,
    /// There is no such object.
    #[error("there is no object {}", .0.0)]
    UnknownObject(ObjectId),
}

fn basis(based_on: Option<u64>) -> String {
    based_on.map_or_else(|| "blind".to_owned(), |version| format!("based on version {version}"))
}
