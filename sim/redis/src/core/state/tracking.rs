//! What CLIENT TRACKING has a node remember: who tracks, who has read which key, and what is still to be told.

use std::collections::{BTreeMap, BTreeSet};

/// All that is tracked on a node.
#[derive(Debug, Default)]
pub(crate) struct Tracking {
    pub(crate) clients: BTreeMap<u64, Tracked>,
    /// Who has read a key, and is to be told once.
    pub(crate) readers: BTreeMap<Vec<u8>, BTreeSet<u64>>,
    pub(crate) prefixes: BTreeMap<Vec<u8>, Prefix>,
    /// The connection whose command is being executed.
    pub(crate) current: Option<u64>,
    /// A script's command is.
    pub(crate) in_script: bool,
    /// Whose script it is and the keys it was called with, if that client tracks.
    pub(crate) script: Option<(u64, Vec<Vec<u8>>)>,
    /// What the connection is to hear behind the reply: a key, or that all are gone.
    pub(crate) pending: Vec<Option<Vec<u8>>>,
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
pub(crate) struct Prefix {
    pub(crate) clients: BTreeSet<u64>,
    /// Keys that have changed, and which client did it.
    pub(crate) changed: BTreeMap<Vec<u8>, Option<u64>>,
}

impl Tracking {
    pub(crate) fn client(&self, session: u64) -> Option<&Tracked> {
        self.clients.get(&session)
    }

    pub(crate) fn client_mut(&mut self, session: u64) -> Option<&mut Tracked> {
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

    pub(crate) fn has_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    pub(crate) fn is_used(&self) -> bool {
        !self.clients.is_empty()
    }

    pub(crate) fn remember<'a>(&mut self, session: u64, keys: impl Iterator<Item = &'a [u8]>) {
        for key in keys {
            self.readers.entry(key.to_vec()).or_default().insert(session);
        }
    }

    /// Whether what a connection reads now is to be remembered.
    pub(crate) fn remembers(&self, session: u64) -> bool {
        self.clients.get(&session).is_some_and(|tracked| {
            let Options { bcast, optin, optout, .. } = tracked.options;
            !(bcast || optin && !tracked.caching || optout && tracked.caching)
        })
    }
}
