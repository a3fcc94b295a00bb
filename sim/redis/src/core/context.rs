//! What a command works with: the core, the session that sent it, and the time it happens at.

use super::command::{CommandSpec, LookupError, READ_ONLY};
use super::errors;
use super::keyspace::{Entry, Hash, Value};
use super::observer::{Field, Stored};
use super::session::SessionKind;
use super::state::Class;
use super::{Core, KeyChange, Session, StreamError, Version, WallMicros};
use crate::resp::{Args, Protocol, reply};

/// What looking at a key or a field costs, in bytes that could be copied meanwhile.
pub(crate) const LOOK_BYTES: u64 = 64;

/// One command's surroundings.
pub(crate) struct Context<'a> {
    pub(crate) core: &'a mut Core,
    pub(crate) session: &'a mut Session,
    /// The command's time: a script's commands all see the time it started at.
    pub(crate) now: WallMicros,
    pub(crate) spec: &'static CommandSpec,
}

impl Context<'_> {
    pub(crate) fn now_ms(&self) -> i64 {
        self.now.millis()
    }

    /// Which Redis this node is.
    pub(crate) fn version(&self) -> Version {
        self.core.config.version
    }

    pub(crate) fn protocol(&self) -> Protocol {
        self.session.protocol
    }

    /// Notes work that neither the command's arguments nor its reply show: bytes that were copied, or could have been
    /// in the time. A script pays for it.
    pub(crate) fn charge_work(&mut self, bytes: u64) {
        self.core.work = self.core.work.saturating_add(bytes);
    }

    /// Whether expired keys may be deleted here and now. A replica leaves that to its master.
    fn may_delete_expired(&self) -> bool {
        !self.core.replication.is_replica()
    }

    /// Whether `key` has expired for this session. Masters delete it on the way (and propagate the DEL).
    pub(crate) fn expire_if_needed(&mut self, key: &[u8]) -> bool {
        // What a master or an AOF says is done as it stands: the DEL will come from there.
        if self.session.kind == SessionKind::Master {
            return false;
        }
        let now_ms = self.now_ms();
        let database = &self.core.databases[self.session.db];
        if !database.may_have_expired(now_ms)
            || !database.get(key).is_some_and(|entry| entry.is_expired(now_ms))
        {
            return false;
        }
        if self.may_delete_expired() && !self.core.is_paused(self.now) {
            self.core.delete_expired(self.session.db, key);
        }
        true
    }

    /// The key's value, as this session may see it.
    pub(crate) fn lookup(&mut self, key: &[u8]) -> Option<&Value> {
        self.lookup_entry(key).map(|entry| &entry.value)
    }

    pub(crate) fn lookup_entry(&mut self, key: &[u8]) -> Option<&Entry> {
        let is_expired = self.expire_if_needed(key);
        if self.spec.has(READ_ONLY) {
            self.note_read(key, is_expired);
        }
        if is_expired {
            return None;
        }
        self.core.databases[self.session.db].get(key)
    }

    /// Must be called where a key is looked up to be read, after it was looked at for its expiry: INFO counts hits and
    /// misses, and who listens is told of a miss. Commands that only read have it done for them.
    pub(crate) fn note_read(&mut self, key: &[u8], is_expired: bool) {
        let db = self.session.db;
        if !is_expired && self.core.databases[db].get(key).is_some() {
            self.core.stats.hits += 1;
            return;
        }
        self.core.stats.misses += 1;
        // OBJECT asks about a key without asking for it.
        if self.spec.family == "OBJECT" {
            return;
        }
        self.core.notify(db, Class::MISS, "keymiss", key);
    }

    /// The string at `key` for a command that also writes, as one that only reads looks at it.
    pub(crate) fn string_to_read(&mut self, key: &[u8]) -> Result<Option<&[u8]>, ()> {
        let is_expired = self.expire_if_needed(key);
        self.note_read(key, is_expired);
        self.string(key)
    }

    /// The value at `key` for a command that may also write, as one that only reads looks at it.
    pub(crate) fn lookup_to_read(&mut self, key: &[u8]) -> Option<&Value> {
        let is_expired = self.expire_if_needed(key);
        self.note_read(key, is_expired);
        if is_expired {
            return None;
        }
        self.core.databases[self.session.db].get(key).map(|entry| &entry.value)
    }

    pub(crate) fn exists(&mut self, key: &[u8]) -> bool {
        self.lookup_entry(key).is_some()
    }

    /// The hash that a command's first argument names, to be read. `Err`: something else is there.
    pub(crate) fn hash(&mut self, args: &Args<'_>) -> Result<Option<&Hash>, ()> {
        let is_expired = self.expire_if_needed(args.at(1));
        if self.spec.has(READ_ONLY) {
            self.note_read(args.at(1), is_expired);
        }
        if is_expired {
            return Ok(None);
        }
        let core = &mut *self.core;
        match core.databases[self.session.db].get(args.at(1)).map(|entry| &entry.value) {
            None => Ok(None),
            Some(Value::Hash(hash)) => {
                core.work = core.work.saturating_add(searches(args, hash.search_bytes(0)));
                Ok(Some(hash))
            }
            Some(_) => Err(()),
        }
    }

    /// The string at `key`. `Err`: something else is there.
    pub(crate) fn string(&mut self, key: &[u8]) -> Result<Option<&[u8]>, ()> {
        match self.lookup(key) {
            None => Ok(None),
            Some(value) => value.as_string().map(Some).ok_or(()),
        }
    }

    /// Stores a string, tells watchers and the observer. Does not propagate.
    pub(crate) fn set_string(&mut self, key: &[u8], value: &[u8], expires_at: Option<i64>) {
        self.expire_if_needed(key);
        let db = self.session.db;
        let observed = self.core.config.observer.is_some();
        let before = if observed { self.core.databases[db].get(key).cloned() } else { None };
        self.note_new(key);
        self.core.databases[db].set_string(key, value, expires_at);
        self.core.touch(db, key);
        self.tell(key, before.as_ref().map(Stored::from), Some(Stored::string(value, expires_at)));
    }

    /// Stores a value of any type with its lifetime over whatever was there, tells watchers and the observer. Does not
    /// propagate.
    pub(crate) fn insert(&mut self, key: &[u8], entry: Entry) {
        self.expire_if_needed(key);
        let db = self.session.db;
        let before = self.core.databases[db].remove(key);
        self.core.databases[db].insert(key, entry);
        self.core.touch(db, key);
        self.core.key_appeared(db, key);
        self.tell(key, before.as_ref().map(Stored::from), self.stored_value(key));
    }

    /// Writes into the string at `key` from `offset` on, or into an empty one that it then has, and tells how long it
    /// is now. Zeros fill what lies between; the lifetime stays. Tells watchers and the observer. Does not propagate.
    pub(crate) fn write_string(&mut self, key: &[u8], offset: usize, value: &[u8]) -> usize {
        self.expire_if_needed(key);
        let db = self.session.db;
        let old = self.core.databases[db].get(key);
        let expires_at = old.and_then(|entry| entry.expires_at);
        let old = old.and_then(|entry| entry.value.as_string());
        let old_len = old.map(<[u8]>::len);
        // What only becomes longer need not be copied to show what it was.
        let is_overwritten =
            self.core.config.observer.is_some() && old_len.is_some_and(|old_len| offset < old_len);
        let overwritten = old.filter(|_| is_overwritten).map(<[u8]>::to_vec);
        let zeros = offset.saturating_sub(old_len.unwrap_or(0));
        self.charge_work((overwritten.as_ref().map_or(0, Vec::len) + zeros) as u64);
        self.note_new(key);
        self.core.databases[db].write_string(key, offset, value);
        self.core.touch(db, key);
        let after = self.stored_value(key).and_then(|stored| stored.as_string()).unwrap_or_default();
        let before = overwritten.as_deref().or(old_len.map(|old_len| &after[..old_len]));
        let before = before.map(|before| Stored::string(before, expires_at));
        self.tell(key, before, Some(Stored::string(after, expires_at)));
        after.len()
    }

    /// Removes a key that is there; false if there is none. Does not propagate.
    pub(crate) fn remove(&mut self, key: &[u8]) -> bool {
        self.take(key).is_some()
    }

    /// Removes a key and hands out what it had. Does not propagate.
    pub(crate) fn take(&mut self, key: &[u8]) -> Option<Entry> {
        if self.expire_if_needed(key) {
            return None;
        }
        let entry = self.core.databases[self.session.db].remove(key)?;
        self.core.touch(self.session.db, key);
        self.tell(key, Some(Stored::from(&entry)), None);
        Some(entry)
    }

    /// Does something in another database, as Redis' commands that take one do: by selecting it for the time being.
    pub(crate) fn with_database<R>(&mut self, db: usize, work: impl FnOnce(&mut Self) -> R) -> R {
        let own = std::mem::replace(&mut self.session.db, db);
        let result = work(self);
        self.session.db = own;
        result
    }

    /// Changes the lifetime of a key that is there. Does not propagate.
    pub(crate) fn set_expiry(&mut self, key: &[u8], expires_at: Option<i64>) {
        let db = self.session.db;
        let old = self.core.databases[db].get(key).and_then(|entry| entry.expires_at);
        self.core.databases[db].set_expiry(key, expires_at);
        self.core.touch(db, key);
        if self.core.config.observer.is_none() {
            return;
        }
        let Some(entry) = self.core.databases[db].get(key) else { return };
        self.tell(key, Some(Stored::new(&entry.value, old)), Some(Stored::from(entry)));
        // It will be compared.
        let shown = entry.value.size();
        self.charge_work(shown);
    }

    /// Runs `change` on the hash that a command's first argument names, creating it if need be, and tells watchers and
    /// the observer. `touched` are the arguments that name the fields it may change. A hash that is left empty is gone.
    /// `Err`: something else is there.
    pub(crate) fn change_hash<R>(
        &mut self,
        args: &Args<'_>,
        touched: impl Iterator<Item = usize>,
        change: impl FnOnce(&mut Hash) -> R,
    ) -> Result<R, ()> {
        let key = args.at(1);
        self.expire_if_needed(key);
        let is_observed = self.core.config.observer.is_some();
        self.note_new(key);
        let database = &mut self.core.databases[self.session.db];
        let was_there = database.get(key).is_some();
        let hash = database.hash_or_insert(key).ok_or(())?;
        let (before, searched) = (hash.size(), hash.search_bytes(args.len() / 2));
        let fields = touched.filter(|_| is_observed).map(|index| args.at(index));
        let fields: Vec<Field> =
            fields.map(|name| (name.to_vec(), hash.get(name).map(<[u8]>::to_vec))).collect();
        let result = change(hash);
        let is_empty = hash.len() == 0;
        database.value_changed(key, before);
        let gone = if is_empty { database.remove(key) } else { None };
        self.charge_work(searches(args, searched));
        self.core.touch(self.session.db, key);
        self.tell_hash(key, &fields, was_there, gone.as_ref());
        Ok(result)
    }

    /// Must be called before something is stored at a key: who listens is told if nothing was there.
    fn note_new(&mut self, key: &[u8]) {
        let db = self.session.db;
        if self.core.config.key_events.has(Class::NEW) && self.core.databases[db].get(key).is_none() {
            self.core.notify(db, Class::NEW, "new", key);
        }
    }

    /// Tells the observer of a hash whose fields were these before, if it was there; `gone` holds it if it is gone now.
    fn tell_hash(&self, key: &[u8], fields: &[Field], was_there: bool, gone: Option<&Entry>) {
        let stored = self.core.databases[self.session.db].get(key);
        let Some(entry) = gone.or(stored).filter(|_| self.core.config.observer.is_some()) else { return };
        let Value::Hash(hash) = &entry.value else { return };
        let before = was_there.then(|| Stored::hash_before(hash, fields, entry.expires_at));
        self.tell(key, before, if gone.is_some() { None } else { Some(Stored::from(entry)) });
    }

    /// What is at `key`, expired or not.
    pub(super) fn stored_value(&self, key: &[u8]) -> Option<Stored<'_>> {
        self.core.databases[self.session.db].get(key).map(Stored::from)
    }

    /// Tells the observer of a change.
    pub(super) fn tell(&self, key: &[u8], before: Option<Stored<'_>>, after: Option<Stored<'_>>) {
        if let Some(observer) = &self.core.config.observer {
            let (database, command) = (self.session.db, self.spec.name);
            observer.changed(self.session.origin, &KeyChange { database, key, before, after, command });
        }
    }

    /// Propagates the command as it came.
    pub(crate) fn propagate(&mut self, args: &Args<'_>) {
        self.wrote();
        self.core.propagation.command(self.session.db, args.iter());
    }

    /// Propagates the command as it came to replicas, which have subscribers of their own, and not to the file: nobody
    /// will listen when that is read. It is no write. A replica hands its master's on, and keeps its clients' to
    /// itself.
    pub(crate) fn propagate_to_replicas(&mut self, args: &Args<'_>) {
        let replication = &self.core.replication;
        if replication.counting && !replication.is_replica() {
            self.core.propagation.write_for_replicas(self.session.db, args.iter());
        }
    }

    /// Propagates something else than what came: absolute times, mostly.
    pub(crate) fn propagate_as(&mut self, args: &[&[u8]]) {
        self.wrote();
        self.core.propagation.command(self.session.db, args.iter().copied());
    }

    /// Ends the link to a master, or the reading of a file, that asks for this. A client is only told.
    pub(crate) fn distrust(&mut self, why: StreamError) {
        if self.session.kind == SessionKind::Master {
            self.core.stream_error = Some(why);
        }
    }

    fn wrote(&mut self) {
        self.core.dirty += 1;
    }

    /// How long one command's reply may get: what its client may be sent, or what a script may hold.
    pub(crate) fn reply_limit(&self) -> usize {
        let config = &self.core.config;
        let output = config.limits.output_of(self.session.is_subscribed);
        let output = usize::try_from(output.hard).ok().filter(|&hard| hard > 0);
        let output = output.unwrap_or(usize::MAX);
        if self.is_in_script() { output.min(config.script_memory_limit) } else { output }
    }

    /// Whether the reply that begins at `start` has become longer than it may. An error takes its place then: a few
    /// bytes of request can ask for gigabytes, and the client is closed anyway (a script gets the error, a master
    /// nothing).
    pub(crate) fn is_too_long(&mut self, out: &mut Vec<u8>, start: usize) -> bool {
        if out.len() - start <= self.reply_limit() {
            return false;
        }
        self.charge_work((out.len() - start) as u64);
        out.truncate(start);
        reply::error(out, errors::TOO_LONG);
        self.core.output_overflowed |= self.session.kind == SessionKind::Client;
        true
    }

    pub(crate) fn is_in_script(&self) -> bool {
        self.session.kind == SessionKind::Script
    }

    /// `ERR wrong number of arguments …`.
    pub(crate) fn arity_error(&self, out: &mut Vec<u8>) {
        reply::error(out, &arity_error(self.spec));
    }
}

/// What it costs to go through a hash for each of a command's arguments; a command with none goes through it once.
fn searches(args: &Args<'_>, search_bytes: u64) -> u64 {
    search_bytes * args.len().saturating_sub(2).max(1) as u64
}

pub(crate) fn arity_error(spec: &CommandSpec) -> Vec<u8> {
    format!("ERR wrong number of arguments for '{}' command", spec.full_name).into_bytes()
}

/// The error for a name that is not in the table.
pub(crate) fn unknown_command(why: &LookupError, args: &Args<'_>, out: &mut Vec<u8>) {
    let mut text = Vec::new();
    match why {
        LookupError::UnknownSubcommand => {
            text.extend_from_slice(b"ERR unknown subcommand '");
            text.extend(printf_s(args.at(1), 128));
            text.extend_from_slice(b"'. Try ");
            text.extend(c_string(args.at(0)).iter().map(u8::to_ascii_uppercase));
            text.extend_from_slice(b" HELP.");
        }
        LookupError::UnknownCommand => {
            text.extend_from_slice(b"ERR unknown command '");
            text.extend(printf_s(args.at(0), 128));
            text.extend_from_slice(b"', with args beginning with: ");
            // Redis collects arguments until their text has 128 bytes, and cuts each to what is left.
            let mut listed = 0;
            for argument in args.iter().skip(1) {
                if listed >= 128 {
                    break;
                }
                let shown = printf_s(argument, 128 - listed);
                text.push(b'\'');
                text.extend_from_slice(shown);
                text.extend_from_slice(b"' ");
                listed += shown.len() + 3;
            }
        }
    }
    reply::error(out, &text);
}

/// What C's `%.<limit>s` prints: up to the limit or the first NUL.
fn printf_s(text: &[u8], limit: usize) -> &[u8] {
    let text = c_string(text);
    &text[..text.len().min(limit)]
}

/// What a C function sees of `text`.
pub(crate) fn c_string(text: &[u8]) -> &[u8] {
    text.split(|&byte| byte == 0).next().unwrap_or_default()
}
