//! The resource that a lock protects: objects with a version and a value, read and written by requests.
//!
//! A pure state machine: no time, no network. Each request is checked and applied in one step. A proxy that
//! checks first and forwards later is weaker than this, and is *not* modelled here.
//!
//! `rules` says how objects can be guarded, and `guard` what a resource knows of those who came.

mod guard;
mod rules;

use guard::Guard;
pub use rules::{FencingCheck, LockAnswer, NoAnswer, NumberSource, Refusal, ResourceRules};

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
    guard: Guard,
}

impl Resource {
    /// A resource with this many objects, each at version 0 with value 0.
    pub fn new(objects: usize, rules: ResourceRules) -> Self {
        Self { rules, objects: vec![Content::default(); objects], guard: Guard::default() }
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
            self.guard.admit(request.lock, request.fencing, self.rules.fencing.reading_check())?;
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
        self.guard.admit(request.lock, request.fencing, self.rules.fencing)?;
        if self.rules.version_check && request.based_on != Some(content.version) {
            return Err(Refusal::VersionChanged { based_on: request.based_on, current: content.version });
        }
        let version = content.version + 1;
        if let Some(object) = index(request.object).and_then(|index| self.objects.get_mut(index)) {
            *object = Content { version, value: request.value };
        }
        Ok(version)
    }

    /// Puts a value of a version that its writer has made, unless a newer one is there: what replicas without a leader
    /// do. True if it is stored now, and false if it was there.
    ///
    /// # Errors
    ///
    /// Refused if the object does not exist, by the fencing check, or if the object's version is higher.
    pub fn put(&mut self, request: WriteRequest, version: u64) -> Result<bool, Refusal> {
        let content = self.content(request.object)?;
        self.guard.admit(request.lock, request.fencing, self.rules.fencing)?;
        if version < content.version {
            return Err(Refusal::Overtaken);
        }
        if let Some(object) = index(request.object).and_then(|index| self.objects.get_mut(index)) {
            *object = Content { version, value: request.value };
        }
        Ok(version > content.version)
    }

    /// Goes on after its process was lost, with what it has not forgotten.
    pub fn restart(&mut self) {
        if self.rules.forgets {
            self.guard = Guard::default();
        }
    }

    /// Lets a grant show itself before it reads or writes, and returns what it is to show from then on: a number of
    /// the resource's own, if it gives them out, or what was shown.
    ///
    /// # Errors
    ///
    /// Refused by the fencing check, as a read is.
    pub fn prepare(&mut self, lock: LockId, shown: Option<u64>) -> Result<Option<u64>, Refusal> {
        self.guard.prepare(lock, shown, self.rules)
    }

    /// The highest fencing number seen for this lock.
    pub fn highest_seen(&self, lock: LockId) -> Option<u64> {
        self.guard.highest_seen(lock)
    }

    /// The token of whoever prepared last.
    pub fn marker(&self, lock: LockId) -> Option<u64> {
        self.guard.marker(lock)
    }

    fn content(&self, object: ObjectId) -> Result<Content, Refusal> {
        let content = index(object).and_then(|index| self.objects.get(index));
        content.copied().ok_or(Refusal::UnknownObject(object))
    }
}

fn index(object: ObjectId) -> Option<usize> {
    usize::try_from(object.0).ok()
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
    /// The fencing number that the client's grant shows, or its token as a number where tokens are compared.
    pub fencing: Option<u64>,
}

/// A request to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteRequest {
    /// The lock under which the client writes.
    pub lock: LockId,
    /// What to write.
    pub object: ObjectId,
    /// The fencing number that the client's grant shows, or its token as a number where tokens are compared.
    pub fencing: Option<u64>,
    /// The version the value was computed from; absent for a blind write.
    pub based_on: Option<u64>,
    /// The new value.
    pub value: u64,
}
