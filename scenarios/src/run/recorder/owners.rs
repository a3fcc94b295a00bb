//! The locks of a service, as its own state has them: who owns each, and why that ends.
//!
//! Every call writes a token of its own there, so the token says whose the lock is. A request that removes what bears
//! another client's token is a wrong release: the locks of libraries send none, and a lock of one's own may.
//!
//! Not seen: what a thread removes, since several send from one host, and what a client removes of its own later grant.

use doublehold_history::{CallId, ClientId, EventKind, KeyOp, LockId, NodeId};
use doublehold_services::OwnerChange;
use doublehold_sim_redis::core::{KeyChange, Stored, StoredValue};

use super::Recorder;
use crate::report::KeyOrigin;
use crate::run::keys::attribution::{Mark, Sender};
use crate::run::keys::key_lanes::{Circumstances, Known};

impl Recorder {
    /// A lock of a service has another owner: the end of the one before, and the beginning of the next. `by` is whose
    /// request did it, if one did.
    pub(crate) fn record_owner_change(&self, node: NodeId, change: &OwnerChange, by: Option<ClientId>) {
        if let Some(client) = by {
            self.record_removal(node, change, client);
        }
        if change.before.is_some() {
            self.record_owner(node, change, change.before.as_ref(), None);
        }
        if change.after.is_some() {
            self.record_owner(node, change, None, change.after.as_ref());
        }
    }

    /// A client's request ended what another client had of a lock, unless it put its own in that place.
    fn record_removal(&self, node: NodeId, change: &OwnerChange, client: ClientId) {
        let mut guard = self.lock();
        let record = &mut *guard;
        let Some(lock) = record.keys.lock_of(&record.header, change.lock.as_bytes()) else { return };
        let owner = |token: &Option<Vec<u8>>| -> Option<(ClientId, CallId)> {
            record.attribution.only_marker(&(lock, Mark::Value(token.clone()?)))
        };
        let Some((other, held)) = owner(&change.before).filter(|(other, _)| *other != client) else { return };
        if owner(&change.after).is_some_and(|(next, _)| next == client) {
            return;
        }
        let what = match record.attribution.call_of(client) {
            Some(by) => EventKind::KeyTouched { client, node, lock, by, held, op: KeyOp::Release },
            None => unattributed(node, lock, &record.header.client(client), &record.header.client(other)),
        };
        record.push(self.now(), what);
    }

    /// A library says that the locks of its process are lost or may be, or takes that back: of every claim that its
    /// client has.
    pub(crate) fn record_loss_notice(&self, client: ClientId, notice: &str, recovered: bool) {
        for grant in self.claims(client) {
            let notice = notice.to_owned();
            self.note(client, |client| EventKind::LossNotice { client, grant, notice, recovered });
        }
    }

    fn record_owner(
        &self,
        node: NodeId,
        change: &OwnerChange,
        before: Option<&Vec<u8>>,
        after: Option<&Vec<u8>>,
    ) {
        let mut guard = self.lock();
        let record = &mut *guard;
        let key = change.lock.as_bytes();
        let Some(lock) = record.keys.lock_of(&record.header, key).filter(|_| !record.closed) else { return };
        let owner =
            after.and_then(|token| record.attribution.only_marker(&(lock, Mark::Value(token.clone()))));
        let sender = owner.map(|(_, call)| Sender { call, granted: false });
        let by = Circumstances {
            node,
            database: 0,
            lock,
            origin: KeyOrigin::Executed,
            sender,
            client: owner.map(|(client, _)| client),
            at: self.now(),
            moment: record.moment(),
        };
        record.keys.note_service();
        record.keys.record_change(lock, owner.map(|(_, call)| call));
        let change = KeyChange {
            database: 0,
            key,
            before: before.map(|token| stored(token)),
            after: after.map(|token| stored(token)),
            command: change.cause,
        };
        let known = Known { told: &record.attribution, claimants: &record.claimants, whole: false };
        record.lanes.apply_change(by, &change, known);
        self.witness.keeps(record.lanes.growth());
    }
}

fn unattributed(node: NodeId, lock: LockId, client: &str, other: &str) -> EventKind {
    let why =
        format!("a request of {client} removed what {other} had, and belongs to no call that is under way");
    EventKind::Unattributed { node: Some(node), lock, why }
}

fn stored(token: &[u8]) -> Stored<'_> {
    Stored { value: StoredValue::String(token), expires_at_ms: None }
}
