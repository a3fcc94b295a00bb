//! The keys of locks on nodes: which call's token each holds, and who changes it.
//!
//! A key is a lock's if a client set it, as a string, between asking for a lock and hearing what came of it, over a
//! connection that it had named. A value that another client writes over itself is no token: a library that tries what
//! its Redis can do leaves such a key. Not followed: hashes, lists and counters.

use std::collections::{BTreeMap, BTreeSet};

use doublehold_history::{CallId, ClientId, EventKind, KeyEnd, KeyOp, LockId, NodeId};
use doublehold_sim_redis::core::{KeyChange, Stored};

use super::call::{Call, Calls};

/// On whose behalf a node changed a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Changer<'a> {
    /// A client's that has told of a lock.
    Client(ClientId),
    /// That of a client of this name, which has told nothing.
    Silent(&'a str),
    /// A connection's that nobody has named.
    Nameless,
    /// Its master's, its file's or its own.
    Node,
}

impl Changer<'_> {
    fn is_another_than(self, client: ClientId) -> bool {
        matches!(self, Changer::Client(it) if it != client)
    }
}

type Place = (NodeId, usize, Vec<u8>);

/// Whose token a key holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Holding {
    pub(super) grant: CallId,
    lock: LockId,
    pub(super) client: ClientId,
}

/// All keys that are followed.
#[derive(Debug, Default)]
pub(super) struct Keys {
    held: BTreeMap<Place, Holding>,
    /// Whose each token was, to know it again on a replica or from a file.
    tokens: BTreeMap<Vec<u8>, Holding>,
    /// Values that several clients have written over each other: no tokens.
    shared: BTreeSet<Vec<u8>>,
    /// Calls that have set a key somewhere.
    seen: BTreeSet<CallId>,
}

impl Keys {
    /// What is to be written down of a change.
    pub(super) fn change(
        &mut self,
        calls: &Calls,
        node: NodeId,
        changer: Changer<'_>,
        change: &KeyChange<'_>,
    ) -> Vec<EventKind> {
        let place = (node, change.database, change.key.to_vec());
        let before = change.before.as_ref().and_then(Stored::as_string);
        let after = change.after.as_ref().and_then(Stored::as_string);
        match (self.held.get(&place).cloned(), after) {
            (held, Some(token)) if before != after => {
                let set_by = self.setter(calls, changer, token);
                self.set(calls, place, held, set_by, changer, token)
            }
            (Some(held), Some(value))
                if is_written(change.command) && changer.is_another_than(held.client) =>
            {
                self.held.remove(&place);
                self.shared.insert(value.to_vec());
                let Holding { grant, lock, .. } = held;
                vec![EventKind::KeyGone { node, lock, grant, how: KeyEnd::Overwritten }]
            }
            (Some(held), Some(_)) => {
                touched(calls, node, changer, &held, KeyOp::Extend).into_iter().collect()
            }
            (Some(held), None) => {
                self.held.remove(&place);
                let how = end_of(change.command);
                let touched = (how == KeyEnd::Deleted)
                    .then(|| touched(calls, node, changer, &held, KeyOp::Release))
                    .flatten();
                let Holding { grant, lock, .. } = held;
                touched.into_iter().chain([EventKind::KeyGone { node, lock, grant, how }]).collect()
            }
            (None, _) => Vec::new(),
        }
    }

    /// The call whose token this is, if it is one's.
    fn setter(&self, calls: &Calls, changer: Changer<'_>, token: &[u8]) -> Option<Holding> {
        if self.shared.contains(token) {
            return None;
        }
        match changer {
            Changer::Client(client) => {
                let asked = calls.asked_by(client).collect::<Vec<_>>();
                // Past the grant, a node that was slow or cut off gets the same key.
                let late = || self.tokens.get(token).filter(|it| it.client == client).cloned();
                match asked.as_slice() {
                    [call] => Some(Holding { grant: call.id, lock: call.lock, client }),
                    _ => late(),
                }
            }
            Changer::Node => self.tokens.get(token).cloned(),
            Changer::Silent(_) | Changer::Nameless => None,
        }
    }

    fn set(
        &mut self,
        calls: &Calls,
        place: Place,
        held: Option<Holding>,
        set_by: Option<Holding>,
        changer: Changer<'_>,
        token: &[u8],
    ) -> Vec<EventKind> {
        let node = place.0;
        let mut events = Vec::new();
        if let Some(held) = &held {
            // What an acquire call writes over another's key is a double hold, and no extension.
            let acquires = set_by.as_ref().is_some_and(|it| calls.is_asked(it.grant));
            if !acquires {
                events.extend(touched(calls, node, changer, held, KeyOp::Extend));
            }
            let Holding { grant, lock, .. } = *held;
            events.push(EventKind::KeyGone { node, lock, grant, how: KeyEnd::Overwritten });
            self.held.remove(&place);
        }
        if let Some(holding) = set_by {
            let Holding { grant, lock, .. } = holding;
            events.push(EventKind::KeySet { node, lock, grant });
            self.seen.insert(grant);
            self.tokens.insert(token.to_vec(), holding.clone());
            self.held.insert(place, holding);
        }
        events
    }

    /// A node's process has ended: it holds nothing, unless it loads it again.
    pub(super) fn forget(&mut self, node: NodeId) -> Vec<EventKind> {
        let mut events = Vec::new();
        self.held.retain(|place, &mut Holding { grant, lock, .. }| {
            if place.0 == node {
                events.push(EventKind::KeyGone { node, lock, grant, how: KeyEnd::Forgotten });
            }
            place.0 != node
        });
        events
    }

    /// The calls whose keys are on most of so many nodes now.
    pub(super) fn held_by_most(&self, nodes: usize) -> impl Iterator<Item = &Holding> {
        let mut places: BTreeMap<CallId, (BTreeSet<NodeId>, &Holding)> = BTreeMap::new();
        for ((node, ..), it) in &self.held {
            places.entry(it.grant).or_insert((BTreeSet::new(), it)).0.insert(*node);
        }
        places.into_values().filter(move |(on, _)| on.len() * 2 > nodes).map(|(_, it)| it)
    }

    /// Whether any call has set a key. If none has, nobody has named connections, or the lock's key is no string.
    pub(super) fn is_any_seen(&self) -> bool {
        !self.seen.is_empty()
    }

    /// Whether a call has set a key.
    pub(super) fn is_seen(&self, call: CallId) -> bool {
        self.seen.contains(&call)
    }
}

/// A command has changed a key that holds a token: by which call?
fn touched(
    calls: &Calls,
    node: NodeId,
    changer: Changer<'_>,
    held: &Holding,
    op: KeyOp,
) -> Option<EventKind> {
    let unattributed = |why: &str| {
        let why = format!("{why} changed a lock's key: {}", way_out(changer));
        EventKind::Unattributed { node: Some(node), lock: held.lock, why }
    };
    let client = match changer {
        Changer::Client(client) => client,
        Changer::Node => return None,
        Changer::Silent(name) => return Some(unattributed(&format!("{name}, which has told nothing,"))),
        Changer::Nameless => return Some(unattributed("a connection without a name")),
    };
    if client == held.client {
        // Its release of an earlier grant may arrive when it has asked again: which of its calls it was, nobody knows.
        let (lock, by) = (held.lock, held.grant);
        return Some(EventKind::KeyTouched { client, node, lock, by, held: held.grant, op });
    }
    let candidates = calls.of_command(client);
    let of_lock: Vec<Call> = candidates.iter().filter(|call| call.lock == held.lock).copied().collect();
    Some(match (candidates.as_slice(), of_lock.as_slice()) {
        ([call], _) | (_, [call]) => {
            EventKind::KeyTouched { client, node, lock: held.lock, by: call.id, held: held.grant, op }
        }
        _ => unattributed("a client with several calls under way"),
    })
}

/// Says what to do so that a key's change can be given to a call.
fn way_out(changer: Changer<'_>) -> String {
    match changer {
        Changer::Silent(name) => format!("tell `DOUBLEHOLD ASKS {name}` before it asks for the lock"),
        Changer::Nameless => "name it by CLIENT SETNAME or `DOUBLEHOLD IAM`".to_owned(),
        Changer::Client(_) | Changer::Node => "give each a client of its own".to_owned(),
    }
}

/// Whether a command writes a value, and does not only move an expiry.
fn is_written(command: &str) -> bool {
    matches!(command, "SET" | "SETEX" | "PSETEX" | "GETSET" | "MSET")
}

/// Why a key is gone, by the command that took it away.
fn end_of(command: &str) -> KeyEnd {
    match command {
        "EXPIRED" => KeyEnd::Expired,
        "EVICTED" => KeyEnd::Evicted,
        "FLUSHALL" | "FLUSHDB" => KeyEnd::Flushed,
        _ => KeyEnd::Deleted,
    }
}
