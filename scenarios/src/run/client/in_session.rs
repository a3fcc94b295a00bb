//! A database that is its own resource: clients read and write it through the session that holds the lock, so that
//! nobody can write after that has ended.
//!
//! The rules of what is applied are those of any resource. A write within a transaction counts when that is committed.

use doublehold_history::{CallId, Content, EventKind, ObjectId};
use doublehold_lockimpl::{DataSession, Grant, SessionEnded};
use doublehold_services::database::DataTable;

use super::frames::{Action, Answer, Request};
use super::program::Client;
use super::resource::Store;
use super::stage::Stage;
use crate::model::scenario::ResourceSetup;
use crate::run::recorder::Recorder;

/// A lock's code hands out no session where its holder is to write in one.
pub(super) const NO_SESSION: &str = "clients are to write in the session that holds the lock, and a grant came without \
                                     one: return it from `Guard::session`, or set `resource.writes = \"elsewhere\"` (in \
                                     Rust, `scenario.resource.in_session = false`)";

/// The table of a database: what its sessions read and write.
pub(crate) struct StoreTable {
    store: Store,
    recorder: Recorder,
}

impl StoreTable {
    pub(crate) fn new(setup: &ResourceSetup, recorder: Recorder) -> StoreTable {
        StoreTable { store: Store::new(setup), recorder }
    }
}

impl DataTable for StoreTable {
    fn execute(&mut self, request: &[u8]) -> Vec<u8> {
        let Ok(frame) = request.try_into() else { return Vec::new() };
        self.store.execute(&Request::decode(frame), Ok(()), None, &self.recorder).encode().to_vec()
    }

    /// Nothing: without a standby nothing is replicated.
    fn replay(&mut self, _: &[u8], _: &[u8]) {}
}

impl<S: Stage> Client<'_, S> {
    /// The session through which a grant's holder reads and writes, if the resource is a database's table.
    pub(super) fn session_of(&self, lease: &Grant) -> Option<DataSession> {
        lease.session.clone().filter(|_| self.program.in_session)
    }

    /// Reads through the session; `None` if it is over, or the database refuses.
    pub(super) async fn read_in(
        &self,
        session: &DataSession,
        grant: CallId,
        object: ObjectId,
    ) -> Option<Content> {
        let request = Request { grant, fencing: None, object, action: Action::Read };
        let row = self.or_notice(session.read(request.encode().to_vec()).await).await.ok()?;
        match Answer::decode(row.as_slice().try_into().ok()?) {
            Answer::Content(content) => Some(content),
            Answer::Refused => None,
        }
    }

    /// Writes through the session. If it is over, nothing is written.
    pub(super) async fn write_in(
        &self,
        session: &DataSession,
        (grant, object): (CallId, ObjectId),
        based_on: Option<u64>,
        value: u64,
    ) {
        let request = Request { grant, fencing: None, object, action: Action::Write { based_on, value } };
        match self.or_notice(session.write(request.encode().to_vec()).await).await {
            // A row is the answer outside of a transaction, where the write is committed.
            Ok(row) if !row.is_empty() => self.recorder.ledger.commits.acknowledge(self.recorder, grant),
            Ok(_) => {}
            Err(ended) => {
                let (why, fencing, highest_seen) = (ended.to_string(), None, None);
                self.note(|client| EventKind::WriteRefused {
                    client,
                    grant,
                    object,
                    why,
                    fencing,
                    highest_seen,
                });
            }
        }
    }

    /// A release has succeeded: what was written within a transaction is committed, and its client knows.
    pub(super) fn note_released(&self, grant: CallId) {
        if self.program.in_session {
            self.recorder.ledger.commits.acknowledge(self.recorder, grant);
        }
    }

    /// Returns the outcome of a statement. One that finds its session over is how its client learns of it.
    async fn or_notice<T>(&self, came_to: Result<T, SessionEnded>) -> Result<T, SessionEnded> {
        if came_to.is_err() {
            self.stage.notice_loss("session over").await;
        }
        came_to
    }
}
