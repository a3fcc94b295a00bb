//! Whose command, and whose key: what is known of each request on its way to a node, and of each value a key may hold.
//!
//! Assumes nothing about what a lock sends. What it did not send in a call, and what it did not say it marks its keys
//! with, is known to nobody, and is never guessed.

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
    /// The acquire calls that mark their keys with each value. Values such as `1` are everybody's.
    marks: BTreeMap<Vec<u8>, BTreeMap<CallId, ClientId>>,
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
            self.marks.entry(value.to_vec()).or_default().insert(grant, client);
        }
    }

    /// Whether any lock had said so of this value.
    pub(super) fn is_mark(&self, value: &[u8]) -> bool {
        self.marks.contains_key(value)
    }

    /// Whose key it is that was set to this value by a command of that call: the call's own, if it marks its keys so.
    /// Otherwise of the only one that does; a value that several mark theirs with tells no owner.
    pub(super) fn owner(&self, value: &[u8], set_by: Option<CallId>) -> Option<(ClientId, CallId)> {
        let calls = self.marks.get(value)?;
        let only = || if calls.len() == 1 { calls.first_key_value() } else { None };
        let (call, client) = set_by.and_then(|call| calls.get_key_value(&call)).or_else(only)?;
        Some((*client, *call))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: (ClientId, CallId) = (ClientId(0), CallId(1));
    const SECOND: (ClientId, CallId) = (ClientId(1), CallId(2));

    fn marked(value: &[u8], calls: &[(ClientId, CallId)]) -> Attribution {
        let mut attribution = Attribution::default();
        for (client, call) in calls {
            attribution.enter(*client, *call);
            attribution.mark(*client, value);
        }
        attribution
    }

    #[test]
    fn a_value_that_one_call_marks_its_keys_with_tells_the_owner_whoever_set_it() {
        let attribution = marked(b"token", &[FIRST, FIRST]);
        assert_eq!(attribution.owner(b"token", None), Some(FIRST));
        assert_eq!(attribution.owner(b"token", Some(SECOND.1)), Some(FIRST));
        assert_eq!(attribution.owner(b"other", Some(FIRST.1)), None);
    }

    #[test]
    fn a_value_that_several_calls_mark_their_keys_with_tells_no_owner_by_itself() {
        let attribution = marked(b"1", &[FIRST, SECOND]);
        assert!(attribution.is_mark(b"1"));
        assert_eq!(attribution.owner(b"1", None), None);
        assert_eq!(attribution.owner(b"1", Some(CallId(3))), None, "a call that marks its keys otherwise");
        assert_eq!(attribution.owner(b"1", Some(FIRST.1)), Some(FIRST));
        assert_eq!(attribution.owner(b"1", Some(SECOND.1)), Some(SECOND));
    }
}
