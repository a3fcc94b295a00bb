//! The fate of each write to replicas, for the history: no replica and no client knows it alone. Beside it, that of the
//! commits of a database with a standby.
//!
//! A write counts as applied once as many replicas have stored it as a write waits for, or once a read has returned it:
//! before that nobody can tell that it was there. It counts as refused once so many have refused it that this cannot
//! come to be. A write that too few answer for is neither.
//!
//! Nothing here is asked by anybody who is judged.
//!
//! Decision: "A write to replicas is applied once its quorum has it, or a read returns it" (docs/decisions/locks.md).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use doublehold_history::{CallId, ClientId, EventKind, ObjectId};

use super::commits::Commits;
use crate::model::scenario::ReplicasSetup;
use crate::run::recorder::Recorder;

/// The writes of a run, by their versions. Clones are the same.
#[derive(Clone, Default)]
pub(crate) struct Ledger {
    writes: Arc<Mutex<BTreeMap<(ObjectId, u64), Write>>>,
    pub(crate) commits: Commits,
}

/// A write as its client sends it.
#[derive(Clone, Copy)]
pub(crate) struct SentWrite {
    pub(crate) client: ClientId,
    pub(crate) grant: CallId,
    pub(crate) object: ObjectId,
    pub(crate) version: u64,
    pub(crate) based_on: Option<u64>,
    pub(crate) value: u64,
    pub(crate) fencing: Option<u64>,
}

struct Write {
    sent: SentWrite,
    stored: usize,
    refused: usize,
    is_applied: bool,
}

impl Ledger {
    /// A client sends a write. Two grants that make one version are evidence of nothing.
    pub(crate) fn record_sent(&self, recorder: &Recorder, sent: SentWrite) {
        let write = Write { sent, stored: 0, refused: 0, is_applied: false };
        let before = self.lock().insert((sent.object, sent.version), write);
        if before.is_some_and(|before| before.sent.grant != sent.grant) {
            recorder.inconclusive("two grants with one number have made one version".to_owned());
        }
    }

    /// A replica has stored it.
    pub(crate) fn record_stored(
        &self,
        recorder: &Recorder,
        (object, version): (ObjectId, u64),
        of: ReplicasSetup,
    ) {
        let mut writes = self.lock();
        let Some(write) = writes.get_mut(&(object, version)) else { return };
        write.stored += 1;
        if write.stored >= of.write_quorum {
            write.apply(recorder);
        }
    }

    /// A read returns it.
    pub(crate) fn record_read(&self, recorder: &Recorder, object: ObjectId, version: u64) {
        if let Some(write) = self.lock().get_mut(&(object, version)) {
            write.apply(recorder);
        }
    }

    /// A replica has refused what this grant asked for: its own write, or another's that it has read.
    pub(crate) fn record_refused(
        &self,
        recorder: &Recorder,
        grant: CallId,
        (object, version): (ObjectId, u64),
        of: ReplicasSetup,
        (why, highest_seen): (String, Option<u64>),
    ) {
        let mut writes = self.lock();
        let Some(write) = writes.get_mut(&(object, version)).filter(|write| write.sent.grant == grant) else {
            return;
        };
        write.refused += 1;
        if write.refused != of.count - of.write_quorum + 1 || write.is_applied {
            return;
        }
        let SentWrite { client, fencing, .. } = write.sent;
        recorder.note(client, |client| EventKind::WriteRefused {
            client,
            grant,
            object,
            why,
            fencing,
            highest_seen,
        });
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<(ObjectId, u64), Write>> {
        self.writes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Write {
    fn apply(&mut self, recorder: &Recorder) {
        if self.is_applied {
            return;
        }
        self.is_applied = true;
        self.sent.record_applied(recorder);
    }
}

impl SentWrite {
    /// Records that the resource has applied it.
    pub(super) fn record_applied(self, recorder: &Recorder) {
        let SentWrite { client, grant, object, version, based_on, value, fencing } = self;
        recorder.note(client, |client| EventKind::WriteApplied {
            client,
            grant,
            object,
            version,
            based_on,
            value,
            fencing,
        });
    }
}
