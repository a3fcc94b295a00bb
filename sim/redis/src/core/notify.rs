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
//! Also not modelled: the classes of modules and streams. They can be set and nothing is told of them.

use super::Core;
use super::commands::pattern;
use super::commands::pubsub::Message;
use super::context::{Context, LOOK_BYTES};
use super::subscriptions::Topic;

/// A class of events, or a way to tell them: the letters of `notify-keyspace-events`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Class(u16);

impl Class {
    pub(crate) const KEYSPACE: Class = Class(1);
    pub(crate) const KEYEVENT: Class = Class(1 << 1);
    pub(crate) const GENERIC: Class = Class(1 << 2);
    pub(crate) const STRING: Class = Class(1 << 3);
    pub(crate) const LIST: Class = Class(1 << 4);
    pub(crate) const SET: Class = Class(1 << 5);
    pub(crate) const HASH: Class = Class(1 << 6);
    pub(crate) const SORTED_SET: Class = Class(1 << 7);
    pub(crate) const EXPIRED: Class = Class(1 << 8);
    pub(crate) const EVICTED: Class = Class(1 << 9);
    const STREAM: Class = Class(1 << 10);
    pub(crate) const MISS: Class = Class(1 << 11);
    const MODULE: Class = Class(1 << 13);
    pub(crate) const NEW: Class = Class(1 << 14);
}

/// The letters of the classes that `A` stands for, in the order in which CONFIG GET shows them.
const ALL: [(u8, Class); 10] = [
    (b'g', Class::GENERIC),
    (b'$', Class::STRING),
    (b'l', Class::LIST),
    (b's', Class::SET),
    (b'h', Class::HASH),
    (b'z', Class::SORTED_SET),
    (b'x', Class::EXPIRED),
    (b'e', Class::EVICTED),
    (b't', Class::STREAM),
    (b'd', Class::MODULE),
];

/// The others, likewise. `n` disappears behind an `A`: Redis forgets to show it.
const OTHERS: [(u8, Class); 4] =
    [(b'n', Class::NEW), (b'K', Class::KEYSPACE), (b'E', Class::KEYEVENT), (b'm', Class::MISS)];

/// What `notify-keyspace-events` is set to. `Default`: nobody is told anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeyEvents(u16);

impl KeyEvents {
    /// What these letters ask for; `None` if one of them stands for nothing.
    pub fn parse(letters: &[u8]) -> Option<KeyEvents> {
        let mut bits = letters.iter().map(|letter| match letter {
            b'A' => Some(KeyEvents::all()),
            letter => {
                let mut known = ALL.iter().chain(&OTHERS);
                known.find(|(known, _)| known == letter).map(|(_, class)| class.0)
            }
        });
        bits.try_fold(0, |all, bits| Some(all | bits?)).map(KeyEvents)
    }

    fn all() -> u16 {
        ALL.iter().fold(0, |all, (_, class)| all | class.0)
    }

    /// The letters, as CONFIG GET shows them.
    pub(crate) fn text(self) -> String {
        let has_all = self.0 & KeyEvents::all() == KeyEvents::all();
        let mut text = String::from(if has_all { "A" } else { "" });
        let classes = ALL.iter().filter(|_| !has_all).chain(&OTHERS);
        let shown = classes.filter(|(letter, class)| self.has(*class) && !(has_all && *letter == b'n'));
        text.extend(shown.map(|(letter, _)| char::from(*letter)));
        text
    }

    pub(crate) fn has(self, class: Class) -> bool {
        self.0 & class.0 != 0
    }
}

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

    fn tell_subscribers(&mut self, channel: &[u8], text: &[u8]) {
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
            let bytes = message.encoded(client.protocol());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_shown_in_the_order_in_which_redis_shows_them() {
        let cases = [
            ("", ""),
            ("KEA", "AKE"),
            ("EKg$lshzxetd", "AKE"),
            ("Ex", "xE"),
            ("xEmn", "xnEm"),
            ("AKEmn", "AKEm"),
            ("KKzz", "zK"),
        ];
        for (letters, shown) in cases {
            assert_eq!(KeyEvents::parse(letters.as_bytes()).map(KeyEvents::text).as_deref(), Some(shown));
        }
        for bad in ["q", "KEA ", "ke", "K\0"] {
            assert_eq!(KeyEvents::parse(bad.as_bytes()), None, "{bad}");
        }
    }
}
