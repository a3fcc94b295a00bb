//! Whose command, and whose key: what is known of each request on its way to a node, and of each value a key may hold.
//!
//! Assumes nothing about what a lock sends. What it did not send in a call, and what it did not say it marks its keys
//! with, is known to nobody, and is never guessed.

use std::collections::BTreeMap;

use doublehold_history::{CallId, ClientId, LockId, TrueNs};

/// A connection between a client and a node, by a number that means the same at both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ConnectionNumber(pub(crate) u64);

/// By what a lock knows its claim again.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mark {
    /// The value of a key that is a string, or the name of a field of one that is a hash.
    Value(Vec<u8>),
    /// The key itself, whatever it holds.
    Key(Vec<u8>),
}

/// A mark on the keys of one lock: `1` on one is not `1` on another.
pub(super) type LockMark = (LockId, Mark);

/// A call of acquire, and whose it is.
pub(super) type Owner = (ClientId, CallId);

/// What is known so far.
#[derive(Default)]
pub(super) struct Attribution {
    /// The lock that each call of acquire is about.
    locks: BTreeMap<CallId, LockId>,
    /// The lock call each client is in, by the grant it is about.
    calls: BTreeMap<ClientId, CallId>,
    /// The calls whose code last ran on each client, all at one instant.
    ran: BTreeMap<ClientId, (TrueNs, Vec<CallId>)>,
    /// The calls of each connection's requests, in the order sent.
    sent: BTreeMap<ConnectionNumber, Vec<Option<CallId>>>,
    /// The calls that said that they mark their lock's keys like this, with when they said so first.
    marks: BTreeMap<LockMark, Vec<(Moment, Owner)>>,
}

/// How much had been recorded before: the order of what happened at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Moment(pub(super) usize);

impl Attribution {
    /// A call of acquire begins, about this lock.
    pub(super) fn begin(&mut self, client: ClientId, call: CallId, lock: LockId) {
        self.locks.insert(call, lock);
        self.enter(client, call);
    }

    /// A client's lock call begins; it ends any it was in.
    pub(super) fn enter(&mut self, client: ClientId, grant: CallId) {
        self.calls.insert(client, grant);
    }

    /// The call is over, or its client is.
    pub(super) fn leave(&mut self, client: ClientId) {
        self.calls.remove(&client);
    }

    /// The code of the call that a client is in runs now.
    pub(super) fn runs(&mut self, client: ClientId, now: TrueNs) {
        let Some(call) = self.call_of(client) else { return };
        let (at, calls) = self.ran.entry(client).or_default();
        if *at != now {
            *at = now;
            calls.clear();
        }
        if !calls.contains(&call) {
            calls.push(call);
        }
    }

    /// The one call whose code ran on a client at this instant; `None` if several did, or none.
    pub(super) fn runs_alone(&self, client: ClientId, now: TrueNs) -> Option<CallId> {
        match self.ran.get(&client)? {
            (at, calls) if *at == now => {
                if let [call] = calls[..] {
                    Some(call)
                } else {
                    None
                }
            }
            _ => None,
        }
    }

    pub(super) fn call_of(&self, client: ClientId) -> Option<CallId> {
        self.calls.get(&client).copied()
    }

    pub(super) fn sent(&mut self, connection: ConnectionNumber, calls: &[Option<CallId>]) {
        self.sent.entry(connection).or_default().extend_from_slice(calls);
    }

    /// The call that sent a connection's n-th request, counted from 0.
    pub(super) fn sender(&self, connection: ConnectionNumber, request: u64) -> Option<CallId> {
        *self.sent.get(&connection)?.get(usize::try_from(request).ok()?)?
    }

    /// A lock says that what is marked like this is of the call its client is in. It may say so after the fact.
    pub(super) fn mark(&mut self, at: Moment, client: ClientId, mark: Mark) {
        if let Some(grant) = self.call_of(client)
            && let Some(lock) = self.locks.get(&grant)
        {
            let told = self.marks.entry((*lock, mark)).or_default();
            if told.iter().all(|(_, (_, call))| *call != grant) {
                told.push((at, (client, grant)));
            }
        }
    }

    /// Whether any lock said that it marks its keys like this.
    pub(super) fn is_known(&self, mark: &LockMark) -> bool {
        self.marks.contains_key(mark)
    }

    /// The call, if it said that it marks its keys like this, at any time.
    pub(super) fn marked_by(&self, mark: &LockMark, call: CallId) -> Option<Owner> {
        let told = self.marks.get(mark)?;
        told.iter().map(|(_, owner)| *owner).find(|(_, marker)| *marker == call)
    }

    /// The only call that said that it marks its keys like this.
    pub(super) fn only_marker(&self, mark: &LockMark) -> Option<Owner> {
        match self.marks.get(mark)?[..] {
            [(_, owner)] => Some(owner),
            _ => None,
        }
    }

    /// The last call that had said so by then, or else the first that did later.
    pub(super) fn likely_marker(&self, mark: &LockMark, by: Moment) -> Option<Owner> {
        let told = self.marks.get(mark)?;
        let last = told.iter().rev().find(|(at, _)| *at <= by);
        last.or_else(|| told.first()).map(|(_, owner)| *owner)
    }
}
