//! Whose command, and whose key: what is known of each request on its way to a node, and of each value a key may hold.
//!
//! Assumes nothing about what a lock sends. What it did not send in a call, and what it did not say it marks its keys
//! with, is known to nobody, and is never guessed.

use std::collections::{BTreeMap, BTreeSet};

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

/// Whose request it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sender {
    pub(super) call: CallId,
    /// The call had its grant when the request was sent: it extends, releases, or does what comes between.
    pub(super) granted: bool,
}

/// What is known so far.
#[derive(Default)]
pub(super) struct Attribution {
    /// The lock that each call of acquire is about.
    locks: BTreeMap<CallId, LockId>,
    /// The lock call each client is in, by the grant it is about.
    calls: BTreeMap<ClientId, CallId>,
    /// The calls whose code last ran on each client, all at one instant.
    ran: BTreeMap<ClientId, (TrueNs, Vec<CallId>)>,
    /// The calls that were granted what they asked for.
    granted: BTreeSet<CallId>,
    /// Whose each connection's requests are, in the order sent.
    sent: BTreeMap<ConnectionNumber, Vec<Option<Sender>>>,
    /// The calls that said that they mark their lock's keys like this, with when they said so first; in order of calls.
    marks: BTreeMap<LockMark, Vec<(Moment, Owner)>>,
    /// The calls that said what they mark any key with.
    tellers: BTreeSet<CallId>,
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

    /// A call was granted what it asked for.
    pub(super) fn granted(&mut self, call: CallId) {
        self.granted.insert(call);
    }

    pub(super) fn sent(&mut self, connection: ConnectionNumber, calls: &[Option<CallId>]) {
        let granted = &self.granted;
        let sender =
            |call: &Option<CallId>| call.map(|call| Sender { call, granted: granted.contains(&call) });
        self.sent.entry(connection).or_default().extend(calls.iter().map(sender));
    }

    /// Whose a connection's n-th request is, counted from 0.
    pub(super) fn sender(&self, connection: ConnectionNumber, request: u64) -> Option<Sender> {
        *self.sent.get(&connection)?.get(usize::try_from(request).ok()?)?
    }

    /// A lock says that what is marked like this is of the call its client is in. It may say so after the fact.
    pub(super) fn mark(&mut self, at: Moment, client: ClientId, mark: Mark) {
        if let Some(grant) = self.call_of(client)
            && let Some(lock) = self.locks.get(&grant)
        {
            self.tellers.insert(grant);
            let told = self.marks.entry((*lock, mark)).or_default();
            if let Err(place) = told.binary_search_by_key(&grant, |(_, (_, call))| *call) {
                told.insert(place, (at, (client, grant)));
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
        let place = told.binary_search_by_key(&call, |(_, (_, marker))| *marker).ok()?;
        Some(told[place].1)
    }

    /// Whether the call may have marked its keys like this, for all that is told by now: it did, or told nothing yet.
    pub(super) fn may_have_marked(&self, mark: &LockMark, call: CallId) -> bool {
        !self.has_told(call) || self.marked_by(mark, call).is_some()
    }

    /// Whether the call said what it marks any key with.
    pub(super) fn has_told(&self, call: CallId) -> bool {
        self.tellers.contains(&call)
    }

    /// The only call that said that it marks its keys like this.
    pub(super) fn only_marker(&self, mark: &LockMark) -> Option<Owner> {
        match self.marks.get(mark)?[..] {
            [(_, owner)] => Some(owner),
            _ => None,
        }
    }

    /// Whether one client's calls alone mark their keys like this.
    pub(super) fn is_of_one_client(&self, mark: &LockMark) -> bool {
        let Some([(_, (first, _)), others @ ..]) = self.marks.get(mark).map(Vec::as_slice) else {
            return false;
        };
        others.iter().all(|(_, (client, _))| client == first)
    }

    /// The last call that had said so by then, or else the first that did later.
    pub(super) fn likely_marker(&self, mark: &LockMark, by: Moment) -> Option<Owner> {
        let told = self.marks.get(mark)?;
        let last = told.iter().rev().find(|(at, _)| *at <= by);
        last.or_else(|| told.first()).map(|(_, owner)| *owner)
    }
}
