//! The resource that a lock protects: objects with a version and a value, read and written by requests.
//!
//! A pure state machine: no time, no network. Each request is checked and applied in one step. A proxy that
//! checks first and forwards later is weaker than this, and so is a store that forgets the highest number it
//! has seen when it restarts: both are *not* modelled here.

use std::collections::HashMap;

use thiserror::Error;

use crate::event::{LockId, ObjectId};

/// Objects that a lock protects, and the rules by which they are guarded.
///
/// Fencing numbers of different locks cannot be compared, so the resource remembers the highest number it has
/// seen for each lock, over all objects: a client that was fenced off at one object is fenced off at all.
///
/// ```
/// use doublehold_history::{FencingCheck, LockId, ObjectId, Refusal, Resource, ResourceRules, WriteRequest};
///
/// let rules = ResourceRules { fencing: FencingCheck::RejectLower, ..ResourceRules::default() };
/// let mut resource = Resource::new(1, rules);
/// let write = |fencing| WriteRequest {
///     lock: LockId(0),
///     object: ObjectId(0),
///     fencing: Some(fencing),
///     based_on: None,
///     value: 1,
/// };
/// assert_eq!(resource.write(write(34)), Ok(1));
/// assert_eq!(resource.write(write(33)), Err(Refusal::StaleFencing { got: 33, highest_seen: 34 }));
/// assert_eq!(resource.write(write(34)), Ok(2)); // a holder may write as often as it likes
/// ```
#[derive(Clone, Debug)]
pub struct Resource {
    rules: ResourceRules,
    objects: Vec<Content>,
    highest_seen: HashMap<LockId, u64>,
}

impl Resource {
    /// A resource with this many objects, each at version 0 with value 0.
    pub fn new(objects: usize, rules: ResourceRules) -> Self {
        Self { rules, objects: vec![Content::default(); objects], highest_seen: HashMap::new() }
    }

    /// Reads one object.
    ///
    /// # Errors
    ///
    /// Refused if the object does not exist or, with [`ResourceRules::fence_reads`], by the fencing check.
    pub fn read(&mut self, request: ReadRequest) -> Result<Content, Refusal> {
        let content = self.content(request.object)?;
        if self.rules.fence_reads {
            // A holder reads before it writes with the same number, so only a lower one is stale here,
            // however strict the check on writes is.
            self.fence(request.lock, request.fencing, self.rules.fencing.reading_check())?;
        }
        Ok(content)
    }

    /// Writes one object and returns the version this made.
    ///
    /// The fencing check comes first, and a number that passes it counts as seen even if the version check
    /// then refuses the write.
    ///
    /// # Errors
    ///
    /// Refused if the object does not exist, by the fencing check, or by the version check.
    pub fn write(&mut self, request: WriteRequest) -> Result<u64, Refusal> {
        let content = self.content(request.object)?;
        self.fence(request.lock, request.fencing, self.rules.fencing)?;
        if self.rules.version_check && request.based_on != Some(content.version) {
            return Err(Refusal::VersionChanged { based_on: request.based_on, current: content.version });
        }
        let version = content.version + 1;
        if let Some(object) = index(request.object).and_then(|index| self.objects.get_mut(index)) {
            *object = Content { version, value: request.value };
        }
        Ok(version)
    }

    /// The highest fencing number seen for this lock.
    pub fn highest_seen(&self, lock: LockId) -> Option<u64> {
        self.highest_seen.get(&lock).copied()
    }

    fn content(&self, object: ObjectId) -> Result<Content, Refusal> {
        let content = index(object).and_then(|index| self.objects.get(index));
        content.copied().ok_or(Refusal::UnknownObject(object))
    }

    /// Checks a fencing number, and remembers it if it passes.
    fn fence(&mut self, lock: LockId, number: Option<u64>, check: FencingCheck) -> Result<(), Refusal> {
        if check == FencingCheck::Off {
            return Ok(());
        }
        let got = number.ok_or(Refusal::NoFencing)?;
        let stale = |highest_seen| match check {
            FencingCheck::Off => false,
            FencingCheck::RejectLower => got < highest_seen,
            FencingCheck::RejectLowerOrEqual => got <= highest_seen,
        };
        match self.highest_seen(lock) {
            Some(highest_seen) if stale(highest_seen) => Err(Refusal::StaleFencing { got, highest_seen }),
            _ => {
                self.highest_seen.insert(lock, got);
                Ok(())
            }
        }
    }
}

fn index(object: ObjectId) -> Option<usize> {
    usize::try_from(object.0).ok()
}

/// How a resource guards its objects. By default it does not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResourceRules {
    /// What it does with fencing numbers of writes.
    pub fencing: FencingCheck,
    /// Whether a read also carries a fencing number, which is checked (lower ones are refused) and remembered.
    /// Without it, two clients can both read, then write in the order of their numbers: a lost update that
    /// fencing lets through. No effect while `fencing` is off.
    pub fence_reads: bool,
    /// Compare-and-set: a write is refused unless the version it is based on is the current one. A blind write
    /// has nothing to compare and is refused.
    pub version_check: bool,
}

/// What a resource does with fencing numbers. Unless off, a request without one is refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FencingCheck {
    /// Ignores them.
    #[default]
    Off,
    /// Refuses a number lower than one already seen. This is the check to use.
    RejectLower,
    /// Also refuses a number already seen. A trap: each holder gets one write, and none at all if its read has
    /// already shown its number. It is here to show what that does.
    RejectLowerOrEqual,
}

impl FencingCheck {
    fn reading_check(self) -> Self {
        match self {
            FencingCheck::Off => FencingCheck::Off,
            FencingCheck::RejectLower | FencingCheck::RejectLowerOrEqual => FencingCheck::RejectLower,
        }
    }
}

/// An object's state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// How often it has been written.
    pub version: u64,
    /// What was written last.
    pub value: u64,
}

/// A request to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadRequest {
    /// The lock under which the client reads.
    pub lock: LockId,
    /// What to read.
    pub object: ObjectId,
    /// The fencing number of the client's grant.
    pub fencing: Option<u64>,
}

/// A request to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteRequest {
    /// The lock under which the client writes.
    pub lock: LockId,
    /// What to write.
    pub object: ObjectId,
    /// The fencing number of the client's grant.
    pub fencing: Option<u64>,
    /// The version the value was computed from; absent for a blind write.
    pub based_on: Option<u64>,
    /// The new value.
    pub value: u64,
}

/// Why a resource refused a request.
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
    /// The object is not at the version the write is based on.
    #[error("the object is at version {current}, the write is {}", basis(*.based_on))]
    VersionChanged {
        /// The version the write is based on.
        based_on: Option<u64>,
        /// The object's version.
        current: u64,
    },
    /// There is no such object.
    #[error("there is no object {}", .0.0)]
    UnknownObject(ObjectId),
}

fn basis(based_on: Option<u64>) -> String {
    based_on.map_or_else(|| "blind".to_owned(), |version| format!("based on version {version}"))
}
