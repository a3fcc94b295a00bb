//! What the node sends to connections that did not ask for it, and connections that it ends.
//!
//! The core only notes: what is pushed to a session lies in its outbox until the node takes it ([`Core::take_pushed`]),
//! and a session that was killed is one of [`Core::is_killed`] until it ends. [`Core::take_news`] says whom either
//! concerns.
//!
//! A push and the replies to a session's own commands keep their order if the node takes the outbox before it executes
//! the session's next command. What a session's own command pushes to it goes straight to where its reply is.
//!
//! Decision: "Pushes wait in the outbox of their connection" (docs/decisions/redis.md).

use super::Core;

impl Core {
    /// The sessions that have been pushed to or killed since the last call, in that order.
    pub fn take_news(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.news)
    }

    /// Whether something waits in the session's outbox, or it was killed.
    pub fn has_news(&self, session: u64) -> bool {
        self.is_killed(session) || self.clients.get(&session).is_some_and(|client| !client.outbox.is_empty())
    }

    /// Whether the session's connection is to be closed without another word.
    pub fn is_killed(&self, session: u64) -> bool {
        self.killed.contains(&session)
    }

    /// Moves what was pushed to a session to the end of `into`.
    pub fn take_pushed(&mut self, session: u64, into: &mut Vec<u8>) {
        if let Some(client) = self.clients.get_mut(&session) {
            into.append(&mut std::mem::take(&mut client.outbox));
        }
    }

    /// Pushes to a session, unless it is gone. One whose outbox outgrows `client-output-buffer-limit` is killed: what
    /// it was sent is not to be missed without its noticing.
    pub(crate) fn push(&mut self, session: u64, bytes: &[u8]) {
        let limit = self.config.limits.output_of(self.subscriptions.has(session));
        let Some(client) = self.clients.get_mut(&session) else { return };
        self.has_pushed = true;
        if client.outbox.is_empty() {
            self.news.push(session);
        }
        client.outbox.extend_from_slice(bytes);
        if limit.is_exceeded_by(client.outbox.len() as u64) {
            self.kill(session);
        }
    }

    /// The same, unless it wants no replies.
    pub(crate) fn push_unless_silent(&mut self, session: u64, bytes: &[u8]) {
        if self.clients.get(&session).is_some_and(|client| client.is_answered) {
            self.push(session, bytes);
        }
    }

    /// Puts what a session's own command has pushed to it behind what is in `out`.
    pub(crate) fn take_own_pushes(&mut self, session: u64, into: &mut Vec<u8>) {
        self.take_pushed(session, into);
        self.output_overflowed |= self.is_killed(session);
    }

    /// Ends a session: nobody sees it any more, and its connection is to be closed.
    pub(crate) fn kill(&mut self, session: u64) {
        if self.clients.remove(&session).is_some() {
            self.stats.connected = self.stats.connected.saturating_sub(1);
            self.monitors.remove(&session);
            self.subscriptions.forget(session);
            self.tracking.disable(session);
            self.blocked.forget(session);
            self.killed.insert(session);
            self.news.push(session);
        }
    }
}
