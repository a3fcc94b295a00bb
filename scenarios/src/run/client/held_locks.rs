//! What a client holds in a round of its program: grants, and grants within them.
//!
//! Knows nothing of a lock that was lost, unless its watchdog tells.
//!
//! Decision: "An inner grant is a grant of its own, within the same hold" (docs/decisions/locks.md).

use std::collections::BTreeMap;

use doublehold_history::{CallId, Content, LockId, ObjectId};
use doublehold_lockimpl::{Env, Grant, Watch};

/// What a client was granted in a round, and has not given back.
pub(super) type HeldLocks = BTreeMap<LockId, HeldLock>;

/// A hold: a grant, those that its client was granted within it, and what was read under them. Reads and writes are the
/// outer grant's. A read ends with its hold, so that no later one writes what it computed from it.
pub(super) struct HeldLock {
    pub(super) grant: CallId,
    pub(super) lease: Grant,
    /// The number that it shows to the resource, or its token as one.
    pub(super) shown: Option<u64>,
    /// Grants of the same lock that were not given back, the innermost last.
    pub(super) inner: Vec<(CallId, Grant)>,
    pub(super) read: BTreeMap<ObjectId, Content>,
    /// The version that it made last of each object, where clients make them.
    pub(super) written: BTreeMap<ObjectId, u64>,
}

impl HeldLock {
    /// The innermost grant, whose lease is the latest.
    pub(super) fn innermost(&mut self) -> (CallId, &mut Grant) {
        match self.inner.last_mut() {
            Some((grant, lease)) => (*grant, lease),
            None => (self.grant, &mut self.lease),
        }
    }

    /// Whether the innermost lease has ended by its client's clock, or a renewal of it has failed and a flag says so.
    pub(super) async fn is_over(&self, env: &impl Env) -> bool {
        let lease = self.inner.last().map_or(&self.lease, |(_, lease)| lease);
        if lease.watch.as_ref().is_some_and(Watch::is_flagged) {
            return true;
        }
        match lease.current_deadline() {
            Some(deadline) => deadline.has_passed(env).await,
            None => false,
        }
    }

    /// Every grant of it, the innermost first.
    pub(super) fn grants(&self) -> impl Iterator<Item = CallId> {
        self.inner.iter().rev().map(|(grant, _)| *grant).chain([self.grant])
    }

    /// What may tell its client that the lock is lost.
    pub(super) fn watches(&self) -> impl Iterator<Item = &Watch> {
        self.inner
            .iter()
            .map(|(_, lease)| lease)
            .chain([&self.lease])
            .filter_map(|lease| lease.watch.as_ref())
    }
}
