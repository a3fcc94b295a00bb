//! Databases: keys, values, lifetimes and who watches what. Knows nothing of clients, clocks or replies.

use std::collections::BTreeMap;

use super::scan_order::ScanOrder;
use super::values::{List, Set, SortedSet, Stream};

/// Redis keeps a hash as a list (insertion order) up to this many fields …
const LIST_MAX_FIELDS: usize = 512;
/// … and up to this length of each field and value.
const LIST_MAX_BYTES: usize = 64;
/// What passing a field of a list costs, in bytes that could be copied meanwhile.
const PASS_BYTES: u64 = 16;

/// What an entry takes besides its key and value, about.
pub(crate) const ENTRY_BYTES: usize = 96;
/// The same for a field of a hash.
const FIELD_BYTES: usize = 64;

/// A key's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    String(Vec<u8>),
    Hash(Hash),
    List(List),
    Set(Set),
    SortedSet(SortedSet),
    /// In a box: few keys have one, and every entry has room for the largest value.
    Stream(Box<Stream>),
}

impl Value {
    /// TYPE's answer.
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Value::String(_) => "string",
            Value::Hash(_) => "hash",
            Value::List(_) => "list",
            Value::Set(_) => "set",
            Value::SortedSet(_) => "zset",
            Value::Stream(_) => "stream",
        }
    }

    /// Bytes it takes, about.
    pub(crate) fn size(&self) -> u64 {
        match self {
            Value::String(bytes) => bytes.len() as u64,
            Value::Hash(hash) => hash.size(),
            Value::List(list) => list.size(),
            Value::Set(set) => set.size(),
            Value::SortedSet(set) => set.size(),
            Value::Stream(stream) => stream.size(),
        }
    }

    /// The bytes of a string, `None` for anything else.
    pub(crate) fn as_string(&self) -> Option<&[u8]> {
        match self {
            Value::String(bytes) => Some(bytes),
            _ => None,
        }
    }
}

/// A key's value and lifetime.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) value: Value,
    /// Milliseconds since the epoch: gone when the clock is *past* it.
    pub(crate) expires_at: Option<i64>,
}

impl Entry {
    /// Expiry is strict: at the very millisecond the key still lives.
    pub(crate) fn is_expired(&self, now_ms: i64) -> bool {
        self.expires_at.is_some_and(|when| now_ms > when)
    }
}

/// A session that watches a key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watch {
    pub(crate) session: u64,
    /// The key was already expired when WATCH was called: its removal changes nothing for this watcher.
    pub(crate) was_expired: bool,
}

/// One numbered database.
#[derive(Debug, Default)]
pub(crate) struct Database {
    entries: BTreeMap<Vec<u8>, Entry>,
    /// Keys with a lifetime.
    volatile: usize,
    /// Bytes of all keys and values.
    memory: u64,
    /// No key expires before this (it may be too early, never too late): lets an idle expiry cycle cost nothing.
    earliest: i64,
    pub(crate) watches: BTreeMap<Vec<u8>, Vec<Watch>>,
    /// Made by the first SCAN: nobody else pays for it.
    scan_order: Option<ScanOrder>,
}

impl Database {
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Bytes of all keys and values.
    pub(crate) fn memory(&self) -> u64 {
        self.memory
    }

    /// Number of keys with a lifetime.
    pub(crate) fn volatile(&self) -> usize {
        self.volatile
    }

    pub(crate) fn get(&self, key: &[u8]) -> Option<&Entry> {
        self.entries.get(key)
    }

    /// The value, to be changed in place. Lifetimes change through [`set_expiry`](Self::set_expiry) only.
    pub(crate) fn value_mut(&mut self, key: &[u8]) -> Option<&mut Value> {
        self.entries.get_mut(key).map(|entry| &mut entry.value)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[u8], &Entry)> {
        self.entries.iter().map(|(key, entry)| (key.as_slice(), entry))
    }

    /// Stores a string over whatever was there.
    pub(crate) fn set_string(&mut self, key: &[u8], bytes: &[u8], expires_at: Option<i64>) {
        let Some(entry) = self.entries.get_mut(key) else {
            self.insert_new(key, Entry { value: Value::String(bytes.to_vec()), expires_at });
            return;
        };
        self.memory = self.memory + bytes.len() as u64 - entry.value.size();
        self.volatile -= usize::from(entry.expires_at.is_some());
        entry.expires_at = expires_at;
        match &mut entry.value {
            Value::String(old) => {
                old.clear();
                old.extend_from_slice(bytes);
            }
            other => *other = Value::String(bytes.to_vec()),
        }
        self.note_lifetime(expires_at);
    }

    /// Writes into the string at `key` from `offset` on, zeros between its end and there, and keeps its lifetime. Where
    /// nothing is, there is an empty string first. Who writes at the end again and again pays for what is written only.
    pub(crate) fn write_string(&mut self, key: &[u8], offset: usize, bytes: &[u8]) {
        if !self.entries.contains_key(key) {
            self.insert_new(key, Entry { value: Value::String(Vec::new()), expires_at: None });
        }
        let Some(Value::String(string)) = self.entries.get_mut(key).map(|entry| &mut entry.value) else {
            return;
        };
        let (before, end) = (string.len(), offset + bytes.len());
        if end > before.saturating_mul(2) {
            // What grows by more than it has would get room for twice as much, which may be a gigabyte.
            string.reserve_exact(end - before);
        }
        if offset >= before {
            string.resize(offset, 0);
            string.extend_from_slice(bytes);
        } else {
            string.resize(before.max(end), 0);
            string[offset..end].copy_from_slice(bytes);
        }
        self.memory += (string.len() - before) as u64;
    }

    /// Stores a value with its lifetime over whatever was there.
    pub(crate) fn insert(&mut self, key: &[u8], entry: Entry) {
        self.remove(key);
        self.insert_new(key, entry);
    }

    fn insert_new(&mut self, key: &[u8], entry: Entry) {
        self.note_lifetime(entry.expires_at);
        self.memory += (key.len() + ENTRY_BYTES) as u64 + entry.value.size();
        if let Some(order) = &mut self.scan_order {
            order.insert(key);
        }
        self.entries.insert(key.to_vec(), entry);
    }

    /// The hash at `key`, created empty if there is nothing. `None`: something else is there.
    pub(crate) fn hash_or_insert(&mut self, key: &[u8]) -> Option<&mut Hash> {
        if !self.entries.contains_key(key) {
            self.insert_new(key, Entry { value: Value::Hash(Hash::default()), expires_at: None });
        }
        match self.value_mut(key) {
            Some(Value::Hash(hash)) => Some(hash),
            _ => None,
        }
    }

    /// The value at `key` has changed in place, from this size.
    pub(crate) fn value_changed(&mut self, key: &[u8], before: u64) {
        let after = self.entries.get(key).map_or(0, |entry| entry.value.size());
        self.memory = self.memory + after - before;
    }

    pub(crate) fn remove(&mut self, key: &[u8]) -> Option<Entry> {
        let entry = self.entries.remove(key)?;
        self.memory -= (key.len() + ENTRY_BYTES) as u64 + entry.value.size();
        self.volatile -= usize::from(entry.expires_at.is_some());
        if let Some(order) = &mut self.scan_order {
            order.remove(key);
        }
        Some(entry)
    }

    /// Sets or clears the lifetime of an existing key; false if there is none.
    pub(crate) fn set_expiry(&mut self, key: &[u8], expires_at: Option<i64>) -> bool {
        let Some(entry) = self.entries.get_mut(key) else { return false };
        self.volatile -= usize::from(entry.expires_at.is_some());
        entry.expires_at = expires_at;
        self.note_lifetime(expires_at);
        true
    }

    /// Changes places with another database; watches stay.
    pub(crate) fn swap(&mut self, other: &mut Database) {
        std::mem::swap(self, other);
        std::mem::swap(&mut self.watches, &mut other.watches);
    }

    /// Removes and returns every key; watches stay.
    pub(crate) fn clear(&mut self) -> BTreeMap<Vec<u8>, Entry> {
        (self.volatile, self.memory) = (0, 0);
        self.scan_order = None;
        std::mem::take(&mut self.entries)
    }

    /// Whether [`page`](Self::page) has its order already.
    pub(crate) fn has_scan_order(&self) -> bool {
        self.scan_order.is_some()
    }

    /// Some keys of a round through all of them, and the cursor of the next.
    pub(crate) fn page(&mut self, cursor: u64, count: usize) -> (Vec<&[u8]>, u64) {
        let Database { entries, scan_order, .. } = self;
        let order =
            scan_order.get_or_insert_with(|| ScanOrder::from_names(entries.keys().map(Vec::as_slice)));
        order.page(cursor, count)
    }

    /// A time before which nothing expires; `None` while nothing has a lifetime.
    pub(crate) fn next_expiry(&self) -> Option<i64> {
        (self.volatile > 0).then_some(self.earliest)
    }

    /// Whether a key may have expired by `now_ms`. If not, none has.
    pub(crate) fn may_have_expired(&self, now_ms: i64) -> bool {
        self.next_expiry().is_some_and(|earliest| now_ms > earliest)
    }

    /// Keys that have expired by `now_ms`, in order of the key.
    pub(crate) fn expired_keys(&mut self, now_ms: i64) -> Vec<Vec<u8>> {
        if !self.may_have_expired(now_ms) {
            return Vec::new();
        }
        let expired = self.entries.iter().filter(|(_, entry)| entry.is_expired(now_ms));
        let expired = expired.map(|(key, _)| key.clone()).collect();
        let alive = self.entries.values().filter(|entry| !entry.is_expired(now_ms));
        self.earliest = alive.filter_map(|entry| entry.expires_at).min().unwrap_or(i64::MAX);
        expired
    }

    fn note_lifetime(&mut self, expires_at: Option<i64>) {
        let Some(when) = expires_at else { return };
        self.earliest = if self.volatile == 0 { when } else { self.earliest.min(when) };
        self.volatile += 1;
    }
}

/// A hash. Small ones keep their fields in order of insertion, as Redis' listpack does; it never turns back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Hash {
    List(Vec<(Vec<u8>, Vec<u8>)>),
    Table(Table),
}

/// A hash that is no list any more. Knows its size: it may be large, and every change of it is measured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Table {
    fields: BTreeMap<Vec<u8>, Vec<u8>>,
    size: u64,
}

fn field_size(name: &[u8], value: &[u8]) -> u64 {
    (name.len() + value.len() + FIELD_BYTES) as u64
}

impl Table {
    fn insert(&mut self, name: Vec<u8>, value: Vec<u8>) -> Option<Vec<u8>> {
        self.size += field_size(&name, &value);
        let removed_size = self.fields.get(&name).map_or(0, |old| field_size(&name, old));
        self.size -= removed_size;
        self.fields.insert(name, value)
    }

    fn remove(&mut self, name: &[u8]) -> Option<Vec<u8>> {
        let value = self.fields.remove(name)?;
        self.size -= field_size(name, &value);
        Some(value)
    }
}

impl FromIterator<(Vec<u8>, Vec<u8>)> for Table {
    fn from_iter<I: IntoIterator<Item = (Vec<u8>, Vec<u8>)>>(fields: I) -> Table {
        let mut table = Table::default();
        fields.into_iter().for_each(|(name, value)| drop(table.insert(name, value)));
        table
    }
}

impl Default for Hash {
    fn default() -> Hash {
        Hash::List(Vec::new())
    }
}

impl Hash {
    /// Bytes it takes, about. A list is short.
    pub(crate) fn size(&self) -> u64 {
        match self {
            Hash::List(fields) => fields.iter().map(|(name, value)| field_size(name, value)).sum(),
            Hash::Table(table) => table.size,
        }
    }

    /// What looking for a field costs once so many were added, in bytes that could be copied meanwhile.
    pub(crate) fn search_bytes(&self, added: usize) -> u64 {
        match self {
            Hash::List(fields) => (fields.len() + added).min(LIST_MAX_FIELDS) as u64 * PASS_BYTES,
            Hash::Table(_) => 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Hash::List(fields) => fields.len(),
            Hash::Table(table) => table.fields.len(),
        }
    }

    pub(crate) fn get(&self, field: &[u8]) -> Option<&[u8]> {
        match self {
            Hash::List(fields) => {
                fields.iter().find(|(name, _)| name == field).map(|(_, value)| value.as_slice())
            }
            Hash::Table(table) => table.fields.get(field).map(Vec::as_slice),
        }
    }

    /// Sets one field; true if it is new.
    pub(crate) fn set(&mut self, field: &[u8], value: &[u8]) -> bool {
        if field.len().max(value.len()) > LIST_MAX_BYTES {
            self.make_table();
        }
        let is_new = match self {
            Hash::Table(fields) => fields.insert(field.to_vec(), value.to_vec()).is_none(),
            Hash::List(fields) => match fields.iter_mut().find(|(name, _)| name == field) {
                Some((_, old)) => {
                    old.clear();
                    old.extend_from_slice(value);
                    false
                }
                None => {
                    fields.push((field.to_vec(), value.to_vec()));
                    true
                }
            },
        };
        if self.len() > LIST_MAX_FIELDS {
            self.make_table();
        }
        is_new
    }

    /// Removes one field; false if there was none.
    pub(crate) fn remove(&mut self, field: &[u8]) -> bool {
        match self {
            Hash::Table(fields) => fields.remove(field).is_some(),
            Hash::List(fields) => match fields.iter().position(|(name, _)| name == field) {
                Some(index) => {
                    fields.remove(index);
                    true
                }
                None => false,
            },
        }
    }

    pub(crate) fn iter(&self) -> Box<dyn Iterator<Item = (&[u8], &[u8])> + '_> {
        match self {
            Hash::List(fields) => {
                Box::new(fields.iter().map(|(name, value)| (name.as_slice(), value.as_slice())))
            }
            Hash::Table(table) => {
                Box::new(table.fields.iter().map(|(name, value)| (name.as_slice(), value.as_slice())))
            }
        }
    }

    fn make_table(&mut self) {
        if let Hash::List(fields) = self {
            *self = Hash::Table(std::mem::take(fields).into_iter().collect());
        }
    }
}
