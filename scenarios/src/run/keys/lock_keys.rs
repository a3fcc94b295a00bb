//! Which keys are those of locks, and which calls were seen to change one.
//!
//! A lock's name is its key, unless the lock says otherwise. Of a key that is called otherwise nothing is seen: a grant
//! for which no key changed says so, since that nothing was wrong with it would be no finding. A grant that rests on a
//! key which an earlier call of its owner took needs no change.

use std::collections::{BTreeMap, BTreeSet};

use doublehold_history::{CallId, EventKind, Header, History, LockId};
use doublehold_text::clean;

/// What is known of keys so far.
#[derive(Default)]
pub(in crate::run) struct LockKeys {
    /// Keys that are not called as their locks.
    named: BTreeMap<Vec<u8>, LockId>,
    /// Those of them that are so for several locks.
    shared: BTreeSet<Vec<u8>>,
    /// Keys that are a claim whatever they hold.
    claims: BTreeSet<Vec<u8>>,
    /// The locks are a service's, which says itself who owns them.
    of_service: bool,
    /// Locks of which any key was changed, by whomever.
    changed: BTreeSet<LockId>,
    /// Calls whose commands changed a key of their lock.
    changed_by: BTreeSet<CallId>,
}

impl LockKeys {
    /// The key of the lock `resource` is called `key`. What to say if it is another lock's as well: once.
    pub(in crate::run) fn name(&mut self, header: &Header, resource: &str, key: &[u8]) -> Option<EventKind> {
        let lock = lock_named(header, resource.as_bytes())?;
        let known = *self.named.entry(key.to_vec()).or_insert(lock);
        if known == lock || !self.shared.insert(key.to_vec()) {
            return None;
        }
        let (one, other, key) = (header.lock(known), header.lock(lock), String::from_utf8_lossy(key));
        let why = format!(
            "the locks \"{one}\" and \"{other}\" have the same key `{}`, so nobody can tell whose it is: make the key \
             from the lock's name",
            clean(&key)
        );
        Some(EventKind::Unattributed { node: None, lock, why })
    }

    /// The lock whose key this is.
    pub(in crate::run) fn lock_of(&self, header: &Header, key: &[u8]) -> Option<LockId> {
        self.named.get(key).copied().or_else(|| lock_named(header, key))
    }

    /// The key is a claim whatever it holds.
    pub(in crate::run) fn take_as_claim(&mut self, key: &[u8]) {
        self.claims.insert(key.to_vec());
    }

    /// Whether the key is a claim whatever it holds.
    pub(in crate::run) fn is_claim(&self, key: &[u8]) -> bool {
        self.claims.contains(key)
    }

    /// The locks are those of a service.
    pub(in crate::run) fn note_service(&mut self) {
        self.of_service = true;
    }

    /// A command changed a key of this lock: of this call, if that is known.
    pub(in crate::run) fn record_change(&mut self, lock: LockId, call: Option<CallId>) {
        self.changed.insert(lock);
        self.changed_by.extend(call);
    }

    /// Whether a call's commands changed a key of its lock.
    fn was_changed_by(&self, call: CallId) -> bool {
        self.changed_by.contains(&call)
    }

    /// The first grant whose call changed no key and that rests on none: one says it all. A grant within another rests
    /// on that one.
    pub(in crate::run) fn find_unseen(
        &self,
        history: &History,
        rests: impl Fn(CallId) -> bool,
    ) -> Option<EventKind> {
        if self.of_service {
            return None;
        }
        history.events().iter().find_map(|event| match event.what {
            EventKind::Granted { client, grant, lock, within: None, .. }
                if !self.was_changed_by(grant) && !rests(grant) =>
            {
                let (client, name) = (history.header().client(client), history.header().lock(lock));
                let why = if self.changed.contains(&lock) {
                    format!(
                        "{client} was granted \"{name}\" (grant {}) by a call that changed no key of that name, and \
                         none was there that is known to be its client's: nobody can say what it was granted on",
                        grant.0
                    )
                } else {
                    format!(
                        "{client} was granted \"{name}\", and no key of that name was changed on any node: say how \
                         the lock's key is named"
                    )
                };
                Some(EventKind::Unattributed { node: None, lock, why })
            }
            _ => None,
        })
    }
}

fn lock_named(header: &Header, name: &[u8]) -> Option<LockId> {
    let place = header.locks.iter().position(|known| known.as_bytes() == name)?;
    Some(LockId(u32::try_from(place).ok()?))
}
