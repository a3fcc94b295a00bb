//! CLIENT TRACKING: who is told that keys it has read, or that begin with a prefix, have changed.
//!
//! By default a client is told once of each key that it has read since; with BCAST of every change of keys with its
//! prefixes. It is told by a push (RESP3), or another connection is: by a push, or, in RESP2, by a message of
//! `__redis__:invalidate` if it has subscribed to something. Keys are known by their names, whatever their database.
//!
//! A client hears of what it changed itself behind the reply to that. What BCAST tells is told at the end of the
//! connection's turn, all keys of a prefix at once, as Redis does before it sleeps.
//!
//! Not modelled: `tracking-table-max-keys`. Redis drops keys beyond it, and tells so.

use std::collections::{BTreeMap, BTreeSet};

use super::command::{CommandSpec, PUBSUB, READ_ONLY};
use super::docs::keys::keys_of;
use super::session::SessionKind;
use super::{Core, Session};
use crate::resp::{Args, Protocol, reply};

/// All that is tracked on a node.
#[derive(Debug, Default)]
pub(crate) struct Tracking {
    clients: BTreeMap<u64, Tracked>,
    /// Who has read a key, and is to be told once.
    readers: BTreeMap<Vec<u8>, BTreeSet<u64>>,
    prefixes: BTreeMap<Vec<u8>, Prefix>,
    /// The connection whose command is being executed.
    pub(super) current: Option<u64>,
    /// A script's command is.
    pub(super) in_script: bool,
    /// Whose script it is and the keys it was called with, if that client tracks.
    pub(super) script: Option<(u64, Vec<Vec<u8>>)>,
    /// What the connection is to hear behind the reply: a key, or that all are gone.
    pending: Vec<Option<Vec<u8>>>,
}

/// What is tracked for one connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tracked {
    /// The connection that is told; 0: this one.
    pub(crate) redirect: u64,
    pub(crate) options: Options,
    /// CLIENT CACHING was given for the next command.
    pub(crate) caching: bool,
    /// The other connection was gone when it was to be told.
    pub(crate) is_broken: bool,
}

/// What CLIENT TRACKING ON was given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) bcast: bool,
    pub(crate) optin: bool,
    pub(crate) optout: bool,
    pub(crate) noloop: bool,
}

/// A prefix that somebody wants to hear of.
#[derive(Debug, Default)]
struct Prefix {
    clients: BTreeSet<u64>,
    /// Keys that have changed, and which client did it.
    changed: BTreeMap<Vec<u8>, Option<u64>>,
}

impl Tracking {
    pub(crate) fn of(&self, session: u64) -> Option<&Tracked> {
        self.clients.get(&session)
    }

    pub(crate) fn of_mut(&mut self, session: u64) -> Option<&mut Tracked> {
        self.clients.get_mut(&session)
    }

    /// Starts to track, or goes on with other options. Prefixes are added to those there are.
    pub(crate) fn enable(&mut self, session: u64, redirect: u64, options: Options, prefixes: &[&[u8]]) {
        let tracked = self.clients.entry(session).or_default();
        *tracked = Tracked { redirect, options, is_broken: false, ..*tracked };
        let all: &[&[u8]] = &[b""];
        let prefixes = if prefixes.is_empty() { all } else { prefixes };
        for prefix in prefixes.iter().filter(|_| options.bcast) {
            self.prefixes.entry(prefix.to_vec()).or_default().clients.insert(session);
        }
    }

    /// Tracks no longer. Keys that it has read are forgotten when they change.
    pub(crate) fn disable(&mut self, session: u64) {
        if self.clients.remove(&session).is_some_and(|tracked| tracked.options.bcast) {
            self.prefixes.retain(|_, prefix| {
                prefix.clients.remove(&session);
                !prefix.clients.is_empty()
            });
        }
    }

    /// The prefixes that a connection wants to hear of.
    pub(crate) fn prefixes_of(&self, session: u64) -> impl Iterator<Item = &[u8]> {
        let prefixes = self.prefixes.iter().filter(move |(_, prefix)| prefix.clients.contains(&session));
        prefixes.map(|(name, _)| name.as_slice())
    }

    /// Connections that track, keys and pairs of a key and a reader, and prefixes.
    pub(crate) fn counts(&self) -> [usize; 4] {
        let items = self.readers.values().map(BTreeSet::len).sum();
        [self.clients.len(), self.readers.len(), items, self.prefixes.len()]
    }

    pub(super) fn has_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    fn is_used(&self) -> bool {
        !self.clients.is_empty()
    }

    fn remember<'a>(&mut self, session: u64, keys: impl Iterator<Item = &'a [u8]>) {
        for key in keys {
            self.readers.entry(key.to_vec()).or_default().insert(session);
        }
    }

    /// Whether what a connection reads now is to be remembered.
    fn remembers(&self, session: u64) -> bool {
        self.clients.get(&session).is_some_and(|tracked| {
            let Options { bcast, optin, optout, .. } = tracked.options;
            !(bcast || optin && !tracked.caching || optout && tracked.caching)
        })
    }
}

impl Core {
    /// Must be called after every command of a client's, also of a transaction: what it has read is remembered.
    pub(crate) fn track_reads(&mut self, session: &Session, spec: &CommandSpec, args: &Args<'_>) {
        if !self.tracking.is_used() || session.kind != SessionKind::Client || !spec.has(READ_ONLY) {
            return;
        }
        // A script that only reads is no command that does.
        let reads = !spec.has(PUBSUB) && !matches!(spec.name, "EVAL_RO" | "EVALSHA_RO");
        if reads && self.tracking.remembers(session.id) {
            let words: Vec<&[u8]> = args.iter().collect();
            self.tracking.remember(session.id, keys_of(spec, &words).into_iter());
        }
    }

    /// The same for a command of a script: what its client has read is the keys that it named.
    pub(crate) fn track_reads_of_script(&mut self, spec: &CommandSpec) {
        let tracking = &mut self.tracking;
        let Some((session, keys)) = tracking.script.take_if(|_| spec.has(READ_ONLY)) else { return };
        if tracking.remembers(session) {
            tracking.remember(session, keys.iter().map(Vec::as_slice));
        }
        tracking.script = Some((session, keys));
    }

    /// A script of this client's begins, with these keys.
    pub(crate) fn track_script<'a>(&mut self, session: &Session, keys: impl Iterator<Item = &'a [u8]>) {
        let tracks = session.kind == SessionKind::Client && self.tracking.of(session.id).is_some();
        self.tracking.script = tracks.then(|| (session.id, keys.map(<[u8]>::to_vec).collect()));
    }

    /// A key has changed: whoever has read it is told, and whoever wants to hear of its prefix will be. `by_client`:
    /// not by its expiry.
    pub(super) fn invalidate(&mut self, key: &[u8], by_client: bool) {
        if !self.tracking.is_used() {
            return;
        }
        let current = self.tracking.current;
        let changed_by = current.filter(|_| by_client && !self.tracking.in_script);
        for (prefix, wanted) in &mut self.tracking.prefixes {
            if key.starts_with(prefix) {
                wanted.changed.insert(key.to_vec(), changed_by);
            }
        }
        for session in self.tracking.readers.remove(key).unwrap_or_default() {
            let Some(tracked) = self.tracking.of(session) else { continue };
            let Options { bcast, noloop, .. } = tracked.options;
            let is_own = current == Some(session);
            if bcast || noloop && is_own {
                continue;
            }
            if is_own {
                self.tracking.pending.push(Some(key.to_vec()));
            } else {
                self.send_invalidation(session, |_, out| reply_key(key, out));
            }
        }
    }

    /// Databases were emptied: whoever tracks anything is told that nothing is left.
    pub(super) fn invalidate_all(&mut self) {
        let sessions: Vec<u64> = self.tracking.clients.keys().copied().collect();
        for session in sessions {
            if self.tracking.current == Some(session) {
                self.tracking.pending.push(None);
            } else {
                self.send_invalidation(session, |protocol, out| reply::null(out, protocol));
            }
        }
        self.tracking.readers.clear();
    }

    /// What CLIENT CACHING said is over with the next command, or with the transaction that it began.
    pub(super) fn forget_caching(&mut self, session: &Session, spec: &CommandSpec) {
        if session.multi.is_none()
            && spec.family != "CLIENT"
            && let Some(tracked) = self.tracking.of_mut(session.id)
        {
            tracked.caching = false;
        }
    }

    /// Tells a client behind its reply what its command has changed.
    pub(super) fn send_pending_invalidations(&mut self, session: u64) {
        for key in std::mem::take(&mut self.tracking.pending) {
            match key {
                Some(key) => self.send_invalidation(session, |_, out| reply_key(&key, out)),
                None => self.send_invalidation(session, |protocol, out| reply::null(out, protocol)),
            }
        }
    }

    /// Tells of the keys that have changed since the last call, where prefixes are wanted. Must be called at the end of
    /// a turn.
    pub fn end_turn(&mut self) {
        if self.tracking.prefixes.values().all(|prefix| prefix.changed.is_empty()) {
            return;
        }
        let mut due = Vec::new();
        for prefix in self.tracking.prefixes.values_mut() {
            let changed = std::mem::take(&mut prefix.changed);
            due.extend(prefix.clients.iter().map(|client| (*client, changed.clone())));
        }
        for (session, changed) in due {
            let noloop = self.tracking.of(session).is_some_and(|tracked| tracked.options.noloop);
            let is_told = |by: &Option<u64>| !noloop || *by != Some(session);
            let keys: Vec<&Vec<u8>> =
                changed.iter().filter(|(_, by)| is_told(by)).map(|(key, _)| key).collect();
            if !keys.is_empty() {
                self.send_invalidation(session, |_, out| {
                    reply::array(out, keys.len());
                    keys.iter().for_each(|key| reply::bulk(out, key));
                });
            }
        }
    }

    /// `write` says what is gone, in the protocol of the client that tracks.
    fn send_invalidation(&mut self, session: u64, write: impl FnOnce(Protocol, &mut Vec<u8>)) {
        let protocol_of = |core: &Core, session| core.clients.get(&session).map(|client| client.protocol());
        let Some(tracked) = self.tracking.clients.get_mut(&session) else { return };
        let Some(protocol) = self.clients.get(&session).map(|client| client.protocol()) else { return };
        let (redirect, mut bytes) = (tracked.redirect, Vec::new());
        let target = if redirect == 0 { session } else { redirect };
        let Some(target_protocol) = protocol_of(self, target) else {
            return self.tell_broken_redirect(session, protocol, redirect);
        };
        match target_protocol {
            Protocol::Three => {
                reply::push(&mut bytes, Protocol::Three, 2);
                reply::bulk(&mut bytes, b"invalidate");
            }
            Protocol::Two if redirect != 0 && self.subscriptions.has(target) => {
                reply::array(&mut bytes, 3);
                reply::bulk(&mut bytes, b"message");
                reply::bulk(&mut bytes, b"__redis__:invalidate");
            }
            Protocol::Two => return,
        }
        write(protocol, &mut bytes);
        self.push(target, &bytes);
    }

    fn tell_broken_redirect(&mut self, session: u64, protocol: Protocol, redirect: u64) {
        if let Some(tracked) = self.tracking.of_mut(session) {
            tracked.is_broken = true;
        }
        if protocol == Protocol::Three {
            let mut bytes = Vec::new();
            reply::push(&mut bytes, protocol, 2);
            reply::bulk(&mut bytes, b"tracking-redir-broken");
            reply::integer(&mut bytes, redirect as i64);
            self.push(session, &bytes);
        }
    }
}

fn reply_key(key: &[u8], out: &mut Vec<u8>) {
    reply::array(out, 1);
    reply::bulk(out, key);
}
