//! Whose command, and whose key: what is known of each request on its way to a node, and of each value a key may hold.
//!
//! Assumes nothing about what a lock sends. What it did not send in a call, and what it did not say it marks its keys with,
//! is known to nobody, and is never guessed.

use std::collections::BTreeMap;

use doublehold_history::{CallId, ClientId};

/// A connection between a client and a node, by a number that means the same at both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ConnectionNumber(pub(crate) u64);

/// What is known so far.
#[derive(Default)]
pub(super) struct Attribution {
    /// The lock call each client is in, by the grant it is about.
    calls: BTreeMap<ClientId, CallId>,
    /// The calls of each connection's requests, in the order sent.
    sent: BTreeMap<ConnectionNumber, Vec<Option<CallId>>>,
    /// Whose acquire call keys with each value are of.
    marks: BTreeMap<Vec<u8>, (ClientId, CallId)>,
}

impl Attribution {
    /// A client's lock call begins; it ends any it was in.
    pub(super) fn enter(&mut self, client: ClientId, grant: CallId) {
        self.calls.insert(client, grant);
    }

    /// The call is over, or its client is.
    pub(super) fn leave(&mut self, client: ClientId) {
        self.calls.remove(&client);
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

    /// A lock says that keys with this value are those of the call its client is in.
    pub(super) fn mark(&mut self, client: ClientId, value: &[u8]) {
        if let Some(grant) = self.call_of(client) {
            self.marks.insert(value.to_vec(), (client, grant));
        }
    }

    /// Whose key it is that holds this value.
    pub(super) fn owner(&self, value: &[u8]) -> Option<(ClientId, CallId)> {
        self.marks.get(value).copied()
    }
}
