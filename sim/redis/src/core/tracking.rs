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

use super::command::{CommandSpec, PUBSUB, READ_ONLY};
use super::docs::keys::keys_of;
use super::session::SessionKind;
use super::state::Options;
use super::{Core, Session};
use crate::resp::{Args, Protocol, reply};

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
        let tracks = session.kind == SessionKind::Client && self.tracking.client(session.id).is_some();
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
            let Some(tracked) = self.tracking.client(session) else { continue };
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
            && let Some(tracked) = self.tracking.client_mut(session.id)
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
            let noloop = self.tracking.client(session).is_some_and(|tracked| tracked.options.noloop);
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
        if let Some(tracked) = self.tracking.client_mut(session) {
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
