//! The steps of a client that are about the resource: it prepares, reads and writes.
//!
//! Knows nothing of what the resource checks, but for the one check that is the client's own: with
//! `client-compares-marker` it asks for the marker right before a write, and a pause between the two is not noticed.
//!
//! Decision: "A grant shows the resource one thing, and a guard compares that" (docs/decisions/locks.md).

use doublehold_history::{Content, EventKind, FencingCheck, LockId, NumberSource, ObjectId};
use doublehold_lockimpl::{Grant, MonotonicTime};

use super::frames::token_shown;
use super::held_locks::{HeldLock, HeldLocks};
use super::ledger::SentWrite;
use super::program::{Client, Unreachable};
use super::replicas::ResourceWay;
use super::stage::Stage;

impl<S: Stage> Client<'_, S> {
    /// Returns what a new grant shows to the resource.
    pub(super) fn shown(&self, lease: &Grant) -> Option<u64> {
        let rules = self.program.rules;
        match rules.numbers {
            _ if rules.fencing.compares_tokens() => Some(token_shown(lease.token.as_bytes())),
            NumberSource::Lock => lease.fencing,
            NumberSource::Resource => None,
        }
    }

    /// Shows a grant to the resource, and takes what it is to show from then on. Whether to work on.
    pub(super) async fn prepare(
        &mut self,
        held: Option<&mut HeldLock>,
        lock: LockId,
    ) -> Result<bool, Unreachable> {
        let Some(HeldLock { grant, shown, .. }) = held else { return Ok(true) };
        let patience_ends = self.patience_ends();
        let prepared = loop {
            match self.resource.prepare(*grant, *shown, lock).await {
                Ok(prepared) => break prepared,
                Err(_) if self.tries_again(patience_ends).await? => {}
                Err(_) => return Ok(false),
            }
        };
        match prepared {
            Some(number) => *shown = number,
            None => return Ok(false),
        }
        self.mark("prepare").await;
        Ok(true)
    }

    /// Reads. Whether to work on.
    pub(super) async fn read_object(
        &mut self,
        turn: &mut HeldLocks,
        object: ObjectId,
    ) -> Result<bool, Unreachable> {
        let Some(HeldLock { grant, lease, shown, read, .. }) = turn.get_mut(&self.lock_of(object)) else {
            return Ok(true);
        };
        let (grant, shown) = (*grant, *shown);
        read.remove(&object);
        let patience_ends = self.patience_ends();
        let content = loop {
            if let Some(session) = self.session_of(lease) {
                break self.read_in(&session, grant, object).await;
            }
            match self.resource.read_object(grant, shown, object).await {
                Ok(content) => break content,
                Err(_) if self.tries_again(patience_ends).await? => {}
                Err(_) => return Ok(false),
            }
        };
        if let Some(content) = content {
            read.insert(object, content);
            let Content { version, value } = content;
            self.recorder.ledger.record_read(self.recorder, object, version);
            self.note(|client| EventKind::ReadDone { client, grant, object, version, value });
        }
        self.mark("read").await;
        Ok(true)
    }

    /// Writes, unless the client itself finds another's marker. Whether to work on.
    pub(super) async fn write(
        &mut self,
        turn: &mut HeldLocks,
        object: ObjectId,
    ) -> Result<bool, Unreachable> {
        let lock = self.lock_of(object);
        let Some(HeldLock { grant, lease, shown, read, written, .. }) = turn.get_mut(&lock) else {
            return Ok(true);
        };
        let (grant, shown, read) = (*grant, *shown, read.get(&object));
        let based_on = read.map(|content| content.version);
        let value = read.map_or(grant.0, |content| content.value + 1);
        let before = written.get(&object).copied().max(based_on).unwrap_or(0);
        if let ResourceWay::One(link) = &mut self.resource
            && self.program.rules.fencing == FencingCheck::ClientComparesMarker
        {
            let marker = link.marker(grant, lock).await.map_err(|_| Unreachable)?;
            if marker != shown {
                return Ok(false);
            }
        }
        self.mark("write").await;
        self.note(|client| EventKind::WriteSent { client, grant, object, based_on });
        if let Some(session) = self.session_of(lease) {
            self.write_in(&session, (grant, object), based_on, value).await;
            return Ok(true);
        }
        match &mut self.resource {
            ResourceWay::One(link) => {
                link.write(grant, shown, object, based_on, value).await.map_err(|_| Unreachable)?;
            }
            ResourceWay::Many(replicas) => {
                let version = next_version(shown.unwrap_or(0), before);
                written.insert(object, version);
                let client = self.program.client;
                let sent = SentWrite { client, grant, object, version, based_on, value, fencing: shown };
                self.recorder.ledger.record_sent(self.recorder, sent);
                // A write whose answers are lost is not sent again: it may have been applied.
                let _unknown = replicas.put(grant, shown, object, Content { version, value }).await;
            }
        }
        Ok(true)
    }

    fn patience_ends(&self) -> MonotonicTime {
        self.stage.now().saturating_add(self.program.plan.give_up_after)
    }

    /// Waits to ask replicas again, as for the lock, while there is patience. A resource on one host is not asked
    /// again: who has lost it is done.
    async fn tries_again(&self, patience_ends: MonotonicTime) -> Result<bool, Unreachable> {
        if self.program.replicas.is_none() {
            return Err(Unreachable);
        }
        if self.stage.now() >= patience_ends {
            return Ok(false);
        }
        self.sleep(&self.program.plan.retry).await;
        Ok(true)
    }
}

/// The version that a client makes: its fencing number, and behind that a count of what it has written with it. A
/// program has fewer steps than this counts.
fn next_version(number: u64, before: u64) -> u64 {
    const COUNTS: u64 = 1_000;
    let own = number.saturating_mul(COUNTS);
    if before / COUNTS == number { before + 1 } else { own + 1 }
}

#[cfg(test)]
mod tests {
    use super::next_version;

    #[test]
    fn a_version_is_above_all_of_lower_numbers_and_below_all_of_higher_ones() {
        let first = next_version(33, 0);
        let second = next_version(33, first);
        assert!(first < second && second < next_version(34, 0));
        assert_eq!(next_version(34, second), next_version(34, 0), "whatever was read of a lower number");
        assert!(
            next_version(33, next_version(34, 0)) < next_version(34, 0),
            "a late number does not overtake"
        );
    }
}
