//! Who listens to what: channels, patterns and shard channels, and the connections that subscribed to them.
//!
//! Whoever subscribed first is told first. The names of one connection are kept in the order in which it subscribed,
//! and patterns are tried in the order of their names. Redis keeps channels and patterns in hash tables whose seed is
//! random: what it does in their order, we do in ours (`known_differences.toml`).
//!
//! Not modelled: slots. A shard channel is one whose subscribers are counted apart.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::commands::pattern;

/// A channel or a pattern, shared by who has subscribed to it.
pub(crate) type Name = Arc<[u8]>;

/// The memory that a subscription takes besides its name, about.
const SUBSCRIPTION_BYTES: usize = 256;

/// The things that one can subscribe to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Topic {
    Channel,
    Pattern,
    ShardChannel,
}

/// All subscriptions of a node.
#[derive(Debug, Default)]
pub(crate) struct Subscriptions {
    /// For each kind of topic.
    subscribers: [BTreeMap<Name, Subscribers>; 3],
    by_session: BTreeMap<u64, [Names; 3]>,
    /// The count of those made so far.
    made: u64,
}

/// The subscribers of one name, by when they came.
type Subscribers = BTreeMap<u64, u64>;

/// The names one connection has subscribed to.
#[derive(Debug, Default)]
struct Names {
    /// The turn at which it came to each.
    when: BTreeMap<Name, u64>,
    in_order: BTreeMap<u64, Name>,
}

/// The counts of a connection's subscriptions of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) channels: usize,
    pub(crate) patterns: usize,
    pub(crate) shard_channels: usize,
}

impl Counts {
    /// The count in the reply to a subscription of this kind.
    pub(crate) fn told_with(self, topic: Topic) -> usize {
        match topic {
            Topic::Channel | Topic::Pattern => self.channels + self.patterns,
            Topic::ShardChannel => self.shard_channels,
        }
    }

    pub(crate) fn all(self) -> usize {
        self.channels + self.patterns + self.shard_channels
    }
}

impl Subscriptions {
    /// Subscribes once, however often it is asked for. The bytes that this takes.
    pub(crate) fn subscribe(&mut self, session: u64, topic: Topic, name: &[u8]) -> usize {
        let names = &mut self.by_session.entry(session).or_default()[topic as usize];
        if names.when.contains_key(name) {
            return 0;
        }
        let subscribers = &mut self.subscribers[topic as usize];
        let shared = subscribers.get_key_value(name).map(|(name, _)| Name::clone(name));
        let shared = shared.unwrap_or_else(|| name.into());
        self.made += 1;
        names.when.insert(Name::clone(&shared), self.made);
        names.in_order.insert(self.made, Name::clone(&shared));
        subscribers.entry(shared).or_default().insert(self.made, session);
        bytes(name)
    }

    /// Ends a subscription, if there is one. The bytes that it took.
    pub(crate) fn unsubscribe(&mut self, session: u64, topic: Topic, name: &[u8]) -> usize {
        let Some(all) = self.by_session.get_mut(&session) else { return 0 };
        let names = &mut all[topic as usize];
        let Some(when) = names.when.remove(name) else { return 0 };
        names.in_order.remove(&when);
        if all.iter().all(|names| names.when.is_empty()) {
            self.by_session.remove(&session);
        }
        self.remove_subscriber(topic as usize, name, when);
        bytes(name)
    }

    /// Ends all subscriptions of a connection, without a word.
    pub(crate) fn forget(&mut self, session: u64) {
        let Some(all) = self.by_session.remove(&session) else { return };
        for (topic, names) in all.iter().enumerate() {
            names.when.iter().for_each(|(name, when)| self.remove_subscriber(topic, name, *when));
        }
    }

    fn remove_subscriber(&mut self, topic: usize, name: &[u8], when: u64) {
        let subscribers = &mut self.subscribers[topic];
        let Some(sessions) = subscribers.get_mut(name) else { return };
        sessions.remove(&when);
        if sessions.is_empty() {
            subscribers.remove(name);
        }
    }

    /// The names a connection has subscribed to, the oldest first.
    pub(crate) fn names_of(&self, session: u64, topic: Topic) -> Vec<Name> {
        let names = self.by_session.get(&session).map(|all| &all[topic as usize]);
        names.map(|names| names.in_order.values().cloned().collect()).unwrap_or_default()
    }

    /// True if a connection has any.
    pub(crate) fn has(&self, session: u64) -> bool {
        self.by_session.contains_key(&session)
    }

    pub(crate) fn counts_of(&self, session: u64) -> Counts {
        let Some([channels, patterns, shard_channels]) = self.by_session.get(&session) else {
            return Counts::default();
        };
        let len = |names: &Names| names.when.len();
        Counts { channels: len(channels), patterns: len(patterns), shard_channels: len(shard_channels) }
    }

    /// The subscribers of one name, the first to come first.
    pub(crate) fn subscribers(&self, topic: Topic, name: &[u8]) -> impl Iterator<Item = u64> {
        self.subscribers[topic as usize].get(name).into_iter().flat_map(|sessions| sessions.values().copied())
    }

    /// How many subscribers a name has.
    pub(crate) fn count(&self, topic: Topic, name: &[u8]) -> usize {
        self.subscribers[topic as usize].get(name).map_or(0, BTreeMap::len)
    }

    /// The patterns that a channel matches, each with its subscribers. `steps` counts how often a byte is looked at.
    pub(crate) fn matching(&self, channel: &[u8], steps: &mut u64) -> Vec<(Name, Vec<u64>)> {
        let patterns = self.subscribers[Topic::Pattern as usize].iter();
        let matching = patterns.filter(|(pattern, _)| pattern::matches_in_steps(pattern, channel, steps));
        matching.map(|(name, sessions)| (Name::clone(name), sessions.values().copied().collect())).collect()
    }

    /// All names that somebody has subscribed to.
    pub(crate) fn names(&self, topic: Topic) -> impl ExactSizeIterator<Item = &[u8]> {
        self.subscribers[topic as usize].keys().map(AsRef::as_ref)
    }
}

fn bytes(name: &[u8]) -> usize {
    name.len() + SUBSCRIPTION_BYTES
}
