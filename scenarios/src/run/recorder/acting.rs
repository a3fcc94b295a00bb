//! Whose call something is: who is in which call of the lock, which thread runs, and who sent what.
//!
//! Assumes that whoever enters a call says so before it sends anything.

use doublehold_history::{CallId, ClientId};

use super::{Recorder, Sent};
use crate::run::keys::attribution::ConnectionNumber;
use crate::run::memory_budget;

impl Recorder {
    /// The client's call to the lock has returned.
    pub(crate) fn leave(&self, client: ClientId) {
        self.lock().attribution.leave(client);
    }

    /// The call to the lock that a client is in.
    pub(crate) fn call_of(&self, client: ClientId) -> Option<CallId> {
        self.lock().attribution.call_of(client)
    }

    /// Puts a client into a call, or into none. The call it was in.
    pub(crate) fn set_call(&self, client: ClientId, call: Option<CallId>) -> Option<CallId> {
        self.lock().attribution.set_call(client, call)
    }

    /// From now on the code of this thread runs, or none that is a thread's. Whose ran before.
    pub(crate) fn set_acting(&self, thread: Option<ClientId>) -> Option<ClientId> {
        self.lock().attribution.set_acting(thread)
    }

    /// Whose code runs that holds what was made for this client.
    pub(crate) fn acting_for(&self, client: ClientId) -> ClientId {
        self.lock().attribution.acting_for(client)
    }

    /// Who began a call of acquire.
    pub(crate) fn client_of(&self, call: CallId) -> Option<ClientId> {
        self.lock().attribution.client_of(call)
    }

    /// Whose request it is, if that is known.
    pub(crate) fn whose(&self, sent: Sent) -> Option<ClientId> {
        let record = self.lock();
        let sent = record.first_sent(sent);
        record.client_of(sent, record.attribution.sender(sent.connection, sent.request))
    }

    /// Whether the code of the call that a client is in runs from now on.
    pub(crate) fn set_running(&self, client: ClientId, runs: bool) {
        self.lock().attribution.set_running(client, runs);
    }

    /// The call whose code runs on a client right now.
    pub(crate) fn running_call(&self, client: ClientId) -> Option<CallId> {
        self.lock().attribution.running_call(client)
    }

    /// Requests of so many bytes were written to a connection, each by this call.
    pub(crate) fn record_sent(&self, connection: ConnectionNumber, calls: &[Option<CallId>], bytes: usize) {
        self.witness.keeps(memory_budget::requests(calls.len()));
        let mut record = self.lock();
        record.attribution.record_sent(connection, calls, bytes);
        if let Some(account) = &mut record.account {
            account.note_sent(self.witness.now(), connection, calls);
        }
    }
}
