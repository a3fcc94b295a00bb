//! Events about keys (`notify-keyspace-events`): messages to the subscribers of `__keyspace@<db>__:<key>` and
//! `__keyevent@<db>__:<event>`.
//!
//! A node tells its own subscribers and nobody else: replicas do the same for what their master has them do, so that
//! one hears `del` there where its master says `expired`. `expired` is told when a key is deleted because its time was
//! up, that is when somebody finds it so or the background cycle does, and not when its time is up: whoever waits for
//! it waits longer than the lifetime.
//!
//! Of one command's events those that its own client gets (in RESP3) stand where Redis has them, before or behind the
//! reply. Not modelled: that an event of a key which a command finds expired, or does not find, can stand in the middle
//! of the array with which the command answers; it stands before it here.
//!
//! Also not modelled: the class of modules. It can be set and nothing is told of it.
//!
//! Decision: "The `expired` event comes when the key is deleted" (docs/decisions/redis.md).

use super::Core;
use super::commands::pattern;
use super::commands::pubsub::Message;
use super::context::{Context, LOOK_BYTES};
use super::state::Class;
use super::subscriptions::Topic;

impl Core {
    /// Tells whoever has subscribed to it of an event, if events of this class are told at all.
    pub(crate) fn notify(&mut self, db: usize, class: Class, event: &str, key: &[u8]) {
        // Looked at by every write: most nodes tell nothing.
        if !self.config.key_events.has(class) {
            return;
        }
        let channel = |kind: &str, of: &[u8]| [format!("__{kind}@{db}__:").as_bytes(), of].concat();
        if self.config.key_events.has(Class::KEYSPACE) {
            self.tell_subscribers(&channel("keyspace", key), event.as_bytes());
        }
        if self.config.key_events.has(Class::KEYEVENT) {
            self.tell_subscribers(&channel("keyevent", event.as_bytes()), key);
        }
    }

    /// Publishes a message, to the subscribers of this node alone.
    pub(crate) fn tell_subscribers(&mut self, channel: &[u8], text: &[u8]) {
        let sessions: Vec<u64> = self.subscriptions.subscribers(Topic::Channel, channel).collect();
        self.push_to_all(&Message { words: &[b"message", channel, text] }, sessions);
        let mut steps = 0;
        let matching = self.subscriptions.matching(channel, &mut steps);
        self.work = self.work.saturating_add(steps * pattern::STEP_BYTES);
        for (pattern, sessions) in matching {
            self.push_to_all(&Message { words: &[b"pmessage", &pattern, channel, text] }, sessions);
        }
    }

    fn push_to_all(&mut self, message: &Message<'_>, sessions: Vec<u64>) {
        for session in sessions {
            let Some(client) = self.clients.get(&session) else { continue };
            let bytes = message.encode(client.protocol());
            self.work = self.work.saturating_add(bytes.len() as u64 + LOOK_BYTES);
            self.push(session, &bytes);
        }
    }
}

impl Context<'_> {
    /// Tells of an event of a key here and now. A client that has subscribed to what it does itself finds it where its
    /// reply is.
    pub(crate) fn notify(&mut self, class: Class, event: &str, key: &[u8], out: &mut Vec<u8>) {
        if !self.core.config.key_events.has(class) {
            return;
        }
        self.core.notify(self.session.db, class, event, key);
        out.extend(self.own_pushes());
    }

    /// The same for something that may have left nothing of the key: then it is gone too.
    pub(crate) fn notify_of_rest(&mut self, class: Class, event: &str, key: &[u8], out: &mut Vec<u8>) {
        self.notify(class, event, key, out);
        self.notify_if_gone(key, out);
    }

    /// Tells that a key is gone, if it is.
    pub(crate) fn notify_if_gone(&mut self, key: &[u8], out: &mut Vec<u8>) {
        if self.core.databases[self.session.db].get(key).is_none() {
            self.notify(Class::GENERIC, "del", key, out);
        }
    }

    /// Tells of a result that was stored at `key`, or that it was empty and took away what was there.
    pub(crate) fn notify_stored(&mut self, class: Class, key: &[u8], is_empty: bool, out: &mut Vec<u8>) {
        if is_empty {
            self.notify(Class::GENERIC, "del", key, out);
        } else {
            self.notify(class, self.spec.full_name, key, out);
        }
    }
}
