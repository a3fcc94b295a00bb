//! The commits of a database that has a standby, for the history: which of them a promotion loses.
//!
//! Until the promotion the primary's table is the resource, and from then on the standby's. What the primary has
//! committed and the standby has not replayed by then is lost, and so is what the primary commits later. That is lost
//! data once the client has been told that it is committed, which may be after the promotion.
//!
//! Versions of an object are counted over both tables, so that no two writes make the same one.
//!
//! Nothing here is asked by anybody who is judged.
//!
//! Decision: "A promotion makes the standby's table the resource" (docs/decisions/locks.md).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use doublehold_history::{CallId, ClientId, EventKind, ObjectId};

use super::ledger::SentWrite;
use crate::run::recorder::Recorder;

/// The commits of a run. Clones are the same.
#[derive(Clone, Default)]
pub(crate) struct Commits(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// The highest version of each object, on whichever host.
    versions: BTreeMap<ObjectId, u64>,
    /// The writes that the standby does not have, by object and version.
    missing: BTreeMap<(ObjectId, u64), Missing>,
    promoted: bool,
}

struct Missing {
    client: ClientId,
    grant: CallId,
    is_acknowledged: bool,
}

/// A write that a database commits.
#[derive(Clone, Copy)]
pub(crate) struct CommittedWrite {
    pub(crate) client: ClientId,
    pub(crate) grant: CallId,
    pub(crate) object: ObjectId,
    pub(crate) based_on: Option<u64>,
    pub(crate) value: u64,
}

impl Commits {
    /// The primary commits a write. Returns the version that it makes.
    pub(crate) fn record_on_primary(&self, recorder: &Recorder, write: CommittedWrite) -> u64 {
        let mut state = self.lock();
        let version = state.next_version(write.object);
        let CommittedWrite { client, grant, object, .. } = write;
        state.missing.insert((object, version), Missing { client, grant, is_acknowledged: false });
        if state.promoted {
            record_lost(recorder, write.client, grant, (object, version), false);
        } else {
            record_applied(recorder, write, version);
        }
        version
    }

    /// The standby commits a write, since it is promoted. Returns the version that it makes.
    pub(crate) fn record_on_promoted(&self, recorder: &Recorder, write: CommittedWrite) -> u64 {
        let version = self.lock().next_version(write.object);
        record_applied(recorder, write, version);
        version
    }

    /// The standby has replayed a write.
    pub(crate) fn record_replayed(&self, object: ObjectId, version: u64) {
        self.lock().missing.remove(&(object, version));
    }

    /// The standby is promoted.
    pub(crate) fn promote(&self, recorder: &Recorder) {
        let mut state = self.lock();
        state.promoted = true;
        for (what, missing) in &state.missing {
            record_lost(recorder, missing.client, missing.grant, *what, missing.is_acknowledged);
        }
        state.missing.retain(|_, missing| !missing.is_acknowledged);
    }

    /// A client is told that all is committed that a grant of it has written so far.
    pub(crate) fn acknowledge(&self, recorder: &Recorder, grant: CallId) {
        let mut state = self.lock();
        let promoted = state.promoted;
        for (what, missing) in state.missing.iter_mut().filter(|(_, missing)| missing.grant == grant) {
            missing.is_acknowledged = true;
            if promoted {
                record_lost(recorder, missing.client, grant, *what, true);
            }
        }
        if promoted {
            state.missing.retain(|_, missing| !missing.is_acknowledged);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn next_version(&mut self, object: ObjectId) -> u64 {
        let version = self.versions.entry(object).or_default();
        *version += 1;
        *version
    }
}

fn record_applied(recorder: &Recorder, write: CommittedWrite, version: u64) {
    let CommittedWrite { client, grant, object, based_on, value } = write;
    SentWrite { client, grant, object, version, based_on, value, fencing: None }.record_applied(recorder);
}

fn record_lost(
    recorder: &Recorder,
    client: ClientId,
    grant: CallId,
    (object, version): (ObjectId, u64),
    acknowledged: bool,
) {
    recorder.note(client, |client| EventKind::WriteLost { client, grant, object, version, acknowledged });
}
