//! Whose command, and whose key: what is known of each request on its way to a node, and of each value a key may hold.
//!
//! Assumes nothing about what a lock sends. What it did not send in a call, and what it did not say it marks its keys
//! with, is known to nobody, and is never guessed.
//!
//! Calls, clients and connections are numbered from zero or one on, so what is known of each is found by its number:
//! every request asks several times.
//!
//! Decision: "Locks report what marks their keys, and doublehold does not guess" (docs/decisions/locks.md).

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use doublehold_history::{CallId, ClientId, LockId};

/// A connection between a client and a node, by a number that means the same at both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ConnectionNumber(pub(crate) u64);

/// By what a lock knows its claim again.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::run) enum Mark {
    /// The value of a key that is a string, or the name of a field of one that is a hash.
    Value(Vec<u8>),
    /// The key itself, whatever it holds.
    Key(Vec<u8>),
}

/// A mark on the keys of one lock: `1` on one is not `1` on another.
pub(in crate::run) type LockMark = (LockId, Mark);

/// A call of acquire, and whose it is.
pub(in crate::run) type Owner = (ClientId, CallId);

/// Whose request it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::run) struct Sender {
    pub(in crate::run) call: CallId,
    /// The call had its grant when the request was sent: it extends, releases, or does what comes between.
    pub(in crate::run) granted: bool,
}

/// What is known so far.
#[derive(Default)]
pub(in crate::run) struct Attribution {
    /// The calls of acquire, by number.
    calls: Vec<Call>,
    /// The clients, by number.
    clients: Vec<Client>,
    /// The thread whose code runs right now, where a process has several: it may use what another thread made.
    acting: Option<ClientId>,
    /// Whose each connection's requests are, in the order sent.
    sent: Vec<Vec<Option<Sender>>>,
    /// Where in what a connection carried its requests begin; `None` where nothing is sent twice, and nobody asks.
    begins: Option<Vec<Begins>>,
    /// The calls that said that they mark their lock's keys like this, in order of calls.
    marks: BTreeMap<LockMark, Vec<Marker>>,
}

/// A call that said by what it marks its lock's keys.
struct Marker {
    /// When it said so first.
    when: Moment,
    owner: Owner,
    /// It was granted the lock with this token, and not with another that it marks keys with as well.
    granted_with: bool,
}

/// A call of acquire.
#[derive(Default)]
struct Call {
    /// Who asked.
    client: Option<ClientId>,
    /// The lock that it is about.
    lock: Option<LockId>,
    /// It was granted what it asked for.
    granted: bool,
    /// It said what it marks any key with.
    told: bool,
    /// It said that it marks keys with the token that it was granted the lock with.
    told_token: bool,
}

/// Where requests of a connection begin.
#[derive(Default)]
struct Begins {
    /// How many bytes were written.
    bytes: u64,
    /// How many requests were written before each of these bytes.
    before: BTreeMap<u64, u64>,
}

#[derive(Default)]
struct Client {
    /// The lock call it is in, by the grant it is about.
    call: Option<CallId>,
    /// The code of that call runs right now, or what it asked for is being written.
    runs: bool,
}

/// How much had been recorded before: the order of what happened at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::run) struct Moment(pub(in crate::run) usize);

impl Attribution {
    /// A call of acquire begins, about this lock.
    pub(in crate::run) fn begin(&mut self, client: ClientId, call: CallId, lock: LockId) {
        let about = place(&mut self.calls, call.0);
        (about.client, about.lock) = (Some(client), Some(lock));
        self.enter(client, call);
    }

    /// A client's lock call begins; it ends any it was in.
    pub(in crate::run) fn enter(&mut self, client: ClientId, grant: CallId) {
        self.set_call(client, Some(grant));
    }

    /// The call is over, or its client is.
    pub(in crate::run) fn leave(&mut self, client: ClientId) {
        self.set_call(client, None);
    }

    /// Puts a client into a call, or into none. The call it was in.
    pub(in crate::run) fn set_call(&mut self, client: ClientId, call: Option<CallId>) -> Option<CallId> {
        std::mem::replace(&mut place(&mut self.clients, client.0.into()).call, call)
    }

    /// Whether the code of the call that a client is in runs from now on.
    pub(in crate::run) fn set_running(&mut self, client: ClientId, runs: bool) {
        place(&mut self.clients, client.0.into()).runs = runs;
    }

    /// The call whose code runs right now.
    pub(in crate::run) fn running_call(&self, client: ClientId) -> Option<CallId> {
        at(&self.clients, self.acting_for(client).0.into()).filter(|client| client.runs)?.call
    }

    /// The call that a client is in, or the thread that acts in its place.
    pub(in crate::run) fn call_of(&self, client: ClientId) -> Option<CallId> {
        at(&self.clients, self.acting_for(client).0.into())?.call
    }

    /// From now on the code of this thread runs, or none that is a thread's. Whose ran before.
    pub(in crate::run) fn set_acting(&mut self, thread: Option<ClientId>) -> Option<ClientId> {
        std::mem::replace(&mut self.acting, thread)
    }

    /// Whose code runs that holds what was made for this client: a connection is any thread's of its process.
    pub(in crate::run) fn acting_for(&self, client: ClientId) -> ClientId {
        self.acting.unwrap_or(client)
    }

    /// Who began a call of acquire.
    pub(in crate::run) fn client_of(&self, call: CallId) -> Option<ClientId> {
        at(&self.calls, call.0)?.client
    }

    /// A call was granted what it asked for.
    pub(in crate::run) fn record_grant(&mut self, call: CallId) {
        place(&mut self.calls, call.0).granted = true;
    }

    /// Requests may be sent twice: where each begins is to be remembered.
    pub(in crate::run) fn expect_copies(&mut self) {
        self.begins = Some(Vec::new());
    }

    /// Requests of so many bytes were written to a connection, each by this call.
    pub(in crate::run) fn record_sent(
        &mut self,
        connection: ConnectionNumber,
        calls: &[Option<CallId>],
        bytes: usize,
    ) {
        if let Some(begins) = &mut self.begins {
            let before = place(&mut self.sent, connection.0).len() as u64;
            let begins = place(begins, connection.0);
            begins.before.entry(begins.bytes).or_insert(before);
            begins.bytes += bytes as u64;
        }
        let granted = |call: CallId| at(&self.calls, call.0).is_some_and(|call| call.granted);
        let sender = |call: &Option<CallId>| call.map(|call| Sender { call, granted: granted(call) });
        place(&mut self.sent, connection.0).extend(calls.iter().map(sender));
    }

    /// Whose a connection's n-th request is, counted from 0.
    pub(in crate::run) fn sender(&self, connection: ConnectionNumber, request: u64) -> Option<Sender> {
        *at(at(&self.sent, connection.0)?, request)?
    }

    /// The number of the request that begins after so many bytes of a connection, counted from 0; `None` if none does.
    pub(in crate::run) fn request_after(&self, connection: ConnectionNumber, bytes: u64) -> Option<u64> {
        at(self.begins.as_deref()?, connection.0)?.before.get(&bytes).copied()
    }

    /// Whether requests may be sent twice, and nobody is known to have written to this connection.
    pub(in crate::run) fn may_be_copy(&self, connection: ConnectionNumber) -> bool {
        self.begins.is_some() && at(&self.sent, connection.0).is_none_or(Vec::is_empty)
    }

    /// A lock says that what is marked like this is of the call its client is in. It may say so after the fact.
    pub(in crate::run) fn mark(&mut self, when: Moment, client: ClientId, mark: Mark) {
        let client = self.acting_for(client);
        if let Some(grant) = self.call_of(client)
            && let Some(lock) = at(&self.calls, grant.0).and_then(|call| call.lock)
        {
            place(&mut self.calls, grant.0).told = true;
            let told = self.marks.entry((lock, mark)).or_default();
            if let Err(index) = told.binary_search_by_key(&grant, |it| it.owner.1) {
                told.insert(index, Marker { when, owner: (client, grant), granted_with: false });
            }
        }
    }

    /// A call was granted the lock with this token.
    pub(in crate::run) fn record_token(&mut self, call: CallId, token: &[u8]) {
        let Some(about) = self.calls.get_mut(call.0 as usize) else { return };
        let Some(lock) = about.lock else { return };
        let Some(told) = self.marks.get_mut(&(lock, Mark::Value(token.to_vec()))) else { return };
        if let Ok(index) = told.binary_search_by_key(&call, |it| it.owner.1) {
            (told[index].granted_with, about.told_token) = (true, true);
        }
    }

    /// Whether a key that a call marked like this may hold the token that it was granted the lock with: false if that
    /// is another one.
    pub(in crate::run) fn may_be_token(&self, mark: &LockMark, call: CallId) -> bool {
        let is_known = at(&self.calls, call.0).is_some_and(|call| call.told_token);
        !is_known || self.marker(mark, call).is_some_and(|it| it.granted_with)
    }

    fn marker(&self, mark: &LockMark, call: CallId) -> Option<&Marker> {
        let told = self.marks.get(mark)?;
        told.binary_search_by_key(&call, |it| it.owner.1).ok().map(|index| &told[index])
    }

    /// Whether any lock said that it marks its keys like this.
    pub(in crate::run) fn is_known(&self, mark: &LockMark) -> bool {
        self.marks.contains_key(mark)
    }

    /// The call, if it said that it marks its keys like this, at any time.
    pub(in crate::run) fn marked_by(&self, mark: &LockMark, call: CallId) -> Option<Owner> {
        self.marker(mark, call).map(|it| it.owner)
    }

    /// Whether the call may have marked its keys like this, for all that is told by now: it did, or told nothing yet.
    pub(in crate::run) fn may_have_marked(&self, mark: &LockMark, call: CallId) -> bool {
        !self.has_told(call) || self.marked_by(mark, call).is_some()
    }

    /// Whether the call said what it marks any key with.
    fn has_told(&self, call: CallId) -> bool {
        at(&self.calls, call.0).is_some_and(|call| call.told)
    }

    /// The calls that said that they mark their keys like this, in order.
    pub(in crate::run) fn markers(&self, mark: &LockMark) -> impl Iterator<Item = CallId> {
        self.marks.get(mark).into_iter().flatten().map(|it| it.owner.1)
    }

    /// The only call that said that it marks its keys like this.
    pub(in crate::run) fn only_marker(&self, mark: &LockMark) -> Option<Owner> {
        match &self.marks.get(mark)?[..] {
            [only] => Some(only.owner),
            _ => None,
        }
    }

    /// Whether one client's calls alone mark their keys like this.
    pub(in crate::run) fn is_of_one_client(&self, mark: &LockMark) -> bool {
        let Some([first, others @ ..]) = self.marks.get(mark).map(Vec::as_slice) else {
            return false;
        };
        others.iter().all(|other| other.owner.0 == first.owner.0)
    }

    /// The last call that had said so by then, or else the first that did later.
    pub(in crate::run) fn likely_marker(&self, mark: &LockMark, by: Moment) -> Option<Owner> {
        let told = self.marks.get(mark)?;
        let last = told.iter().rev().find(|it| it.when <= by);
        last.or_else(|| told.first()).map(|it| it.owner)
    }
}

/// What is known under a number, if anything is.
fn at<T>(known: &[T], number: u64) -> Option<&T> {
    known.get(usize::try_from(number).ok()?)
}

/// Where what is known under a number goes.
fn place<T: Default>(known: &mut Vec<T>, number: u64) -> &mut T {
    let index = usize::try_from(number).expect("so many are in memory");
    if index >= known.len() {
        known.resize_with(index + 1, T::default);
    }
    &mut known[index]
}
