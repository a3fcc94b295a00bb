//! How commands read and change lists, sets, sorted sets and streams: expiry, watchers, the observer and who waits for
//! the key.

use super::context::Context;
use super::keyspace::{Entry, Value};
use super::observer::Stored;
use super::state::Class;
use super::values::Container;

impl Context<'_> {
    /// What is at `key`, to be read. `Err`: a value of another type.
    pub(crate) fn read<T: Container>(&mut self, key: &[u8]) -> Result<Option<&T>, ()> {
        match self.lookup(key) {
            None => Ok(None),
            Some(value) => T::downcast(value).map(Some).ok_or(()),
        }
    }

    /// What is at `key`, if its time is not up: looked at by the way, which is no read that is counted or told.
    pub(crate) fn peek<T: Container>(&mut self, key: &[u8]) -> Result<Option<&T>, ()> {
        match self.peek_value(key) {
            None => Ok(None),
            Some(value) => T::downcast(value).map(Some).ok_or(()),
        }
    }

    /// The same of any type.
    pub(crate) fn peek_value(&mut self, key: &[u8]) -> Option<&Value> {
        if self.expire_if_needed(key) {
            return None;
        }
        self.core.databases[self.session.db].get(key).map(|entry| &entry.value)
    }

    /// Runs `change` on what is at `key`, made if need be, and tells watchers and the observer if it says that it has
    /// changed something. What is left empty is gone. Returns how many changes there were. Does not propagate.
    /// `Err`: a value of another type.
    pub(crate) fn change<T: Container>(
        &mut self,
        key: &[u8],
        change: impl FnOnce(&mut T) -> usize,
    ) -> Result<usize, ()> {
        self.expire_if_needed(key);
        let is_observed = self.core.config.observer.is_some();
        let database = &mut self.core.databases[self.session.db];
        let was_there = database.get(key).is_some();
        if !was_there {
            let made = Entry { value: T::default().into_value(), expires_at: None };
            database.insert(key, made);
        }
        // Elements depend on one another, so what was is a copy: only an observer pays for it.
        let before = if is_observed && was_there { database.get(key).cloned() } else { None };
        let old_size = database.get(key).map_or(0, |entry| entry.value.size());
        let Some(container) = database.value_mut(key).and_then(T::downcast_mut) else { return Err(()) };
        let changes = change(container);
        let is_empty = container.len() == 0 && !T::STAYS;
        database.value_changed(key, old_size);
        let gone = if is_empty { database.remove(key) } else { None };
        if changes > 0 && (was_there || gone.is_none()) {
            self.charge_work(before.as_ref().map_or(0, |before| before.value.size()));
            self.core.touch(self.session.db, key);
            self.tell(key, before.as_ref().map(Stored::from), self.stored_value(key));
            if !was_there {
                self.core.notify(self.session.db, Class::NEW, "new", key);
                self.core.key_appeared(self.session.db, key);
            }
        }
        Ok(changes)
    }

    /// Stores a result over whatever is at `key`; an empty one leaves nothing there. Whether anything has changed. Does
    /// not propagate.
    pub(crate) fn store<T: Container>(&mut self, key: &[u8], result: T) -> bool {
        if result.len() == 0 {
            return self.remove(key);
        }
        self.expire_if_needed(key);
        let db = self.session.db;
        let before = self.core.databases[db].remove(key);
        let was_there = before.is_some();
        self.core.databases[db].insert(key, Entry { value: result.into_value(), expires_at: None });
        self.core.touch(db, key);
        self.tell(key, before.as_ref().map(Stored::from), self.stored_value(key));
        // Redis wakes nobody where a value of another type is overwritten.
        if !was_there {
            self.core.notify(db, Class::NEW, "new", key);
            self.core.key_appeared(db, key);
        }
        true
    }
}
