//! Clients that wait for a key: who they are, what they get, and in which order.
//!
//! A key that appears is noted, or a stream that gets an entry, and when the command, transaction or script that did it
//! is done, those who wait for it are served, first come, first served. What one gets is taken by a command of its own,
//! with a unit of its own in the stream: an element goes to one client, whatever becomes of it. Whoever is gone by then waits no more, as far as the
//! node knows. A client that died with the reply under way has lost the element; so it is with Redis.
//!
//! Decision: "The core serves waiting clients as soon as the command that created their key is done"
//! (docs/decisions/redis.md).

use super::context::Context;
use super::session::SessionKind;
use super::state::{BlockedRequest, Unblocked, Waiter};
use super::{Core, Session, WallMicros};
use crate::resp::reply;

impl Context<'_> {
    /// Whether this command may wait at all: one of a transaction, a script or a master may not.
    pub(crate) fn may_block(&self) -> bool {
        self.session.kind == SessionKind::Client && !self.session.denies_blocking
    }

    /// Makes the session wait for one of these keys, or, without any, for what the node counts.
    pub(crate) fn block(&mut self, keys: &[&[u8]], request: BlockedRequest) {
        let Session { id, origin, protocol, db, replies, .. } = *self.session;
        let blocked = &mut self.core.blocked;
        let mut waited_for: Vec<Vec<u8>> = Vec::new();
        for key in keys {
            if !waited_for.iter().any(|known| known == key) {
                waited_for.push(key.to_vec());
                blocked.queues.entry((db, key.to_vec())).or_default().push_back(id);
            }
        }
        let session = Session { id, origin, protocol, db, replies, ..Session::default() };
        blocked.waiters.insert(id, Waiter { session, spec: self.spec, keys: waited_for, request });
    }
}

impl Core {
    /// A key is there that was not before.
    pub(crate) fn key_appeared(&mut self, db: usize, key: &[u8]) {
        if self.blocked.waiters.is_empty() {
            return;
        }
        let place = (db, key.to_vec());
        if self.blocked.queues.contains_key(&place) && !self.blocked.ready.contains(&place) {
            self.blocked.ready.push_back(place);
        }
    }

    /// Serves those who wait for keys that have appeared.
    pub(crate) fn serve_blocked(&mut self, now: WallMicros) {
        while let Some(place) = self.blocked.ready.pop_front() {
            // Who comes to wait meanwhile is not there: nobody does.
            let waiting = self.blocked.queues.get(&place).cloned().unwrap_or_default();
            for session in waiting {
                if !self.serve(session, &place.1, now) {
                    break;
                }
            }
        }
    }

    /// Gives one waiter what is at `key`, if that is what it waits for; false if nothing is there any more.
    fn serve(&mut self, session: u64, key: &[u8], now: WallMicros) -> bool {
        let Some(waiter) = self.blocked.waiters.get_mut(&session) else { return true };
        let (mut own, spec, request) =
            (std::mem::take(&mut waiter.session), waiter.spec, waiter.request.clone());
        let mut ctx = Context { core: &mut *self, session: &mut own, now, spec };
        let is_fit = ctx.peek_value(key).map(|value| request.is_for(key, value));
        let mut out = Vec::new();
        if is_fit == Some(true) {
            request.serve(&mut ctx, key, &mut out);
        }
        // Each is a unit of its own: what it takes has nothing to do with what others take, or with who brought it.
        self.finish_unit();
        if let Some(waiter) = self.blocked.waiters.get_mut(&session) {
            waiter.session = own;
        }
        if is_fit == Some(true) {
            self.release(session, Unblocked::Answered, &out);
        }
        is_fit.is_some()
    }

    /// A waiter's time is up: it is answered with nothing.
    pub fn time_out(&mut self, session: u64) {
        let Some(waiter) = self.blocked.waiters.get(&session) else { return };
        let mut out = Vec::new();
        match waiter.request {
            BlockedRequest::Replicas { offset } => {
                reply::integer(&mut out, self.replication.replicas_at(offset) as i64)
            }
            BlockedRequest::Files { offset } => {
                let replication = &self.replication;
                reply_files(&mut out, replication.is_in_file(offset), replication.files_at(offset));
            }
            _ => reply::null_array(&mut out, waiter.session.protocol),
        }
        self.release(session, Unblocked::Answered, &out);
    }

    /// Ends a wait with an error.
    pub(crate) fn unblock_with_error(&mut self, session: u64, error: &[u8], how: Unblocked) {
        let mut out = Vec::new();
        reply::error(&mut out, error);
        self.release(session, how, &out);
    }

    /// Ends every wait for a key, with its connection: the node is a replica now, and may not give what it has.
    pub(crate) fn disconnect_blocked(&mut self) {
        let waiters = self.blocked.waiters.iter();
        let of_keys = waiters.filter(|(_, waiter)| {
            !matches!(waiter.request, BlockedRequest::Replicas { .. } | BlockedRequest::Files { .. })
        });
        let sessions: Vec<u64> = of_keys.map(|(session, _)| *session).collect();
        for session in sessions {
            self.unblock_with_error(session, DEMOTED, Unblocked::Closing);
        }
    }

    fn release(&mut self, session: u64, how: Unblocked, answer: &[u8]) {
        let Some(waiter) = self.blocked.remove(session) else { return };
        self.blocked.released.insert(session, how);
        // Who wants no replies is to go on too.
        self.news.push(session);
        if waiter.session.is_answered() {
            self.push(session, answer);
        }
    }

    /// Whether a session that waited does so no more, and has not been told yet.
    pub fn is_unblocked(&self, session: u64) -> bool {
        self.blocked.released.contains_key(&session)
    }

    /// Tells a session that waited whether it does so no more; it is told once. Its reply is among what was pushed to
    /// it.
    pub fn take_unblocked(&mut self, session: u64) -> Option<Unblocked> {
        self.blocked.released.remove(&session)
    }

    /// A session waits no more for what the node does not give it itself (WAIT).
    pub(crate) fn stop_waiting(&mut self, session: u64) {
        self.blocked.forget(session);
    }
}

/// What WAITAOF answers.
pub(crate) fn reply_files(out: &mut Vec<u8>, is_local: bool, replicas: usize) {
    reply::array(out, 2);
    reply::integer(out, i64::from(is_local));
    reply::integer(out, replicas as i64);
}

/// What a client is told whose wait ends with its node's being master.
pub(crate) const DEMOTED: &[u8] =
    b"UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)";
