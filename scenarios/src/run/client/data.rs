//! The steps of a client that are about the resource: it prepares, reads and writes.
//!
//! Knows nothing of what the resource checks, but for the one check that is the client's own: with
//! `client-compares-marker` it asks for the marker right before a write, and a pause between the two is not noticed.
//!
//! Decision: "A grant shows the resource one thing, and a guard compares that" (docs/decisions/locks.md).

use doublehold_history::{Content, EventKind, FencingCheck, LockId, NumberSource, ObjectId};
use doublehold_lockimpl::Grant;

use super::held_locks::{HeldLock, HeldLocks};
use super::program::{Client, Unreachable};
use super::resource::token_shown;
use super::stage::Stage;

impl<S: Stage> Client<'_, S> {
    /// What a new grant shows to the resource.
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
        match self.resource.prepare(*grant, *shown, lock).await.map_err(|_| Unreachable)? {
            Some(number) => *shown = number,
            None => return Ok(false),
        }
        self.mark("prepare").await;
        Ok(true)
    }

    pub(super) async fn read_object(
        &mut self,
        turn: &mut HeldLocks,
        object: ObjectId,
    ) -> Result<(), Unreachable> {
        let Some(HeldLock { grant, shown, read, .. }) = turn.get_mut(&self.lock_of(object)) else {
            return Ok(());
        };
        let grant = *grant;
        read.remove(&object);
        let content = self.resource.read_object(grant, *shown, object).await.map_err(|_| Unreachable)?;
        if let Some(content) = content {
            read.insert(object, content);
            let Content { version, value } = content;
            self.note(|client| EventKind::ReadDone { client, grant, object, version, value });
        }
        self.mark("read").await;
        Ok(())
    }

    /// Writes, unless the client itself finds another's marker. Whether to work on.
    pub(super) async fn write(&mut self, turn: &HeldLocks, object: ObjectId) -> Result<bool, Unreachable> {
        let lock = self.lock_of(object);
        let Some(HeldLock { grant, shown, read, .. }) = turn.get(&lock) else { return Ok(true) };
        let (grant, shown, read) = (*grant, *shown, read.get(&object));
        let based_on = read.map(|content| content.version);
        let value = read.map_or(grant.0, |content| content.value + 1);
        if self.program.rules.fencing == FencingCheck::ClientComparesMarker {
            let marker = self.resource.marker(grant, lock).await.map_err(|_| Unreachable)?;
            if marker != shown {
                return Ok(false);
            }
        }
        self.mark("write").await;
        self.note(|client| EventKind::WriteSent { client, grant, object, based_on });
        self.resource.write(grant, shown, object, based_on, value).await.map_err(|_| Unreachable)?;
        Ok(true)
    }
}
