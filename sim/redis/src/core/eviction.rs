//! Eviction: keys that a node gives up for want of memory.
//!
//! Each goes as one whose time is up goes: a DEL to replicas and file, transactions of those who watch it fail, and the
//! observer hears that it was nobody's command. A replica evicts nothing by itself (`replica-ignore-maxmemory yes`, as
//! in redis.conf): its master's DEL comes.
//!
//! Not modelled: the memory that brings it about, and a choice among keys. Whoever calls it has them all evicted, or
//! all that have a lifetime, as the policies `allkeys-*` and `volatile-*` come to when what fills the memory goes on;
//! `maxmemory` by itself refuses writes (`noeviction`).
//!
//! Decision: "A node evicts keys when the scenario says so" (docs/decisions/redis.md).

use super::keyspace::Database;
use super::observer::Stored;
use super::state::Class;
use super::{Core, KeyChange, Origin};

impl Core {
    /// Evicts every key, or every key that has a lifetime, in the order of databases and keys. On a replica nothing.
    pub fn evict(&mut self, volatile_only: bool) {
        if self.replication.is_replica() || self.overrun.is_some() {
            return;
        }
        self.listen_for_writes();
        for db in 0..self.databases.len() {
            for key in candidates(&self.databases[db], volatile_only) {
                self.evict_key(db, &key);
                // Nothing ties one eviction to another.
                self.finish_unit();
            }
        }
    }

    fn evict_key(&mut self, db: usize, key: &[u8]) {
        let Some(entry) = self.databases[db].remove(key) else { return };
        self.stats.evicted += 1;
        self.propagation.command(db, [b"DEL".as_slice(), key].into_iter());
        self.invalidate(key, false);
        self.spoil(db, key);
        self.notify(db, Class::EVICTED, "evicted", key);
        if let Some(observer) = &self.config.observer {
            let before = Some(Stored::from(&entry));
            let change = KeyChange { database: db, key, before, after: None, command: "EVICTED" };
            observer.changed(Origin::Node, &change);
        }
    }
}

fn candidates(database: &Database, volatile_only: bool) -> Vec<Vec<u8>> {
    let may_go = database.iter().filter(|(_, entry)| !volatile_only || entry.expires_at.is_some());
    may_go.map(|(key, _)| key.to_vec()).collect()
}
