//! The memory of a resource for the grants that have shown themselves: numbers and tokens, for each lock.
//!
//! Knows nothing of what is guarded.

use std::collections::{HashMap, HashSet};

use super::rules::{FencingCheck, NumberSource, Refusal, ResourceRules};
use crate::event::LockId;

/// The numbers and tokens that were shown so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Guard {
    highest_seen: HashMap<LockId, u64>,
    /// The token that was shown last, or that the last who prepared left.
    current: HashMap<LockId, u64>,
    /// The tokens that were current and are not any more.
    replaced: HashSet<(LockId, u64)>,
}

impl Guard {
    pub(super) fn highest_seen(&self, lock: LockId) -> Option<u64> {
        self.highest_seen.get(&lock).copied()
    }

    pub(super) fn marker(&self, lock: LockId) -> Option<u64> {
        self.current.get(&lock).copied()
    }

    /// Lets a grant show itself, and returns what it is to show from then on.
    pub(super) fn prepare(
        &mut self,
        lock: LockId,
        shown: Option<u64>,
        rules: ResourceRules,
    ) -> Result<Option<u64>, Refusal> {
        if rules.numbers == NumberSource::Resource {
            let next = self.highest_seen(lock).map_or(1, |highest| highest + 1);
            self.highest_seen.insert(lock, next);
            return Ok(Some(next));
        }
        if rules.fencing.compares_marker() {
            self.current.insert(lock, shown.ok_or(Refusal::NoFencing)?);
            return Ok(shown);
        }
        self.admit(lock, shown, rules.fencing.reading_check()).map(|()| shown)
    }

    /// Checks what a request shows, and remembers it if it passes.
    pub(super) fn admit(
        &mut self,
        lock: LockId,
        shown: Option<u64>,
        check: FencingCheck,
    ) -> Result<(), Refusal> {
        if !check.refuses() {
            return Ok(());
        }
        let got = shown.ok_or(Refusal::NoFencing)?;
        match check {
            // Whose the lock is was asked before, by somebody who can.
            FencingCheck::Off | FencingCheck::ClientComparesMarker | FencingCheck::AskLock => Ok(()),
            FencingCheck::RejectLower => self.compare(lock, got, |highest_seen| got < highest_seen),
            FencingCheck::RejectLowerOrEqual => self.compare(lock, got, |highest_seen| got <= highest_seen),
            FencingCheck::CompareMarker if self.marker(lock) == Some(got) => Ok(()),
            FencingCheck::CompareMarker => Err(Refusal::NotTheMarker),
            FencingCheck::RejectReplaced if self.replaced.contains(&(lock, got)) => {
                Err(Refusal::ReplacedToken)
            }
            FencingCheck::RejectReplaced => {
                let before = self.current.insert(lock, got);
                self.replaced.extend(before.filter(|before| *before != got).map(|before| (lock, before)));
                Ok(())
            }
        }
    }

    fn compare(&mut self, lock: LockId, got: u64, is_stale: impl FnOnce(u64) -> bool) -> Result<(), Refusal> {
        match self.highest_seen(lock) {
            Some(highest_seen) if is_stale(highest_seen) => Err(Refusal::StaleFencing { got, highest_seen }),
            _ => {
                self.highest_seen.insert(lock, got);
                Ok(())
            }
        }
    }
}
