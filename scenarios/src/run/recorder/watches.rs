//! Clocks that the record waits for: a deadline that passes on its client's clock, a key whose time is up by its
//! node's.
//!
//! Assumes that nobody in the world notices: what a clock shows is asked of the world's observer.

use doublehold_history::{CallId, ClientId, ClockKind, Deadline, EventKind, NodeId};

use super::Recorder;
use super::account::Account;
use crate::run::keys::key_lanes::Stretch;

impl Recorder {
    /// From now on, everything is written down that white-box rules ask. It changes nothing that happens.
    pub(crate) fn keep_account(&self) {
        self.lock().account = Some(Box::new(Account::default()));
    }

    /// Watches a grant's deadline on its client's clock, also while the client is stopped.
    pub(crate) fn watch_deadline(&self, client: ClientId, grant: CallId, deadline: Deadline) {
        let (recorder, host) = (self.clone(), self.cast.client(client));
        let mut record = self.lock();
        record.claimants.set_deadline(grant, deadline);
        let note = record.account.as_mut().and_then(|account| {
            account.note_deadline((host, grant), deadline, self.now(), || self.witness.reading(host))
        });
        drop(record);
        let passes = move || {
            let now = recorder.now();
            let mut record = recorder.lock();
            if let (Some(account), Some(note)) = (&mut record.account, note) {
                account.note_passed(note, now);
            }
            if record.claimants.counts(grant, deadline) {
                recorder.read_claimants(&mut record, client);
                let passed = EventKind::DeadlinePassed { client, grant };
                record.push(now, passed);
            }
        };
        self.witness.when(host, deadline.clock, deadline.reading_ns, Box::new(passes));
    }

    /// Records the key's end when its time is up by the node's clock, if it still holds this claim then.
    pub(super) fn watch_expiry(&self, node: NodeId, stretch: Stretch, expires_at_ms: i64) {
        let (recorder, host) = (self.clone(), self.cast.node(node));
        let expires = move || {
            let now = recorder.now();
            let mut record = recorder.lock();
            record.lanes.expire(stretch, expires_at_ms, now);
            if let Some(account) = &mut record.account {
                account.note_time_up(stretch, expires_at_ms, now);
            }
        };
        self.witness.when(host, ClockKind::Wall, gone_at(expires_at_ms), Box::new(expires));
    }
}

/// The reading of its node's wall clock at which a key is gone: Redis counts whole milliseconds, and a key is gone when
/// `now > when`.
pub(super) fn gone_at(expires_at_ms: i64) -> i64 {
    expires_at_ms.saturating_add(1).saturating_mul(1_000_000)
}
