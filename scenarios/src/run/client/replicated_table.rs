//! The table of a database that has a standby, and that of the standby.
//!
//! No rule of a resource guards it: whoever writes in a session holds its lock, or the session is over.

use doublehold_history::Content;
use doublehold_services::database::DataTable;

use super::commits::CommittedWrite;
use super::frames::{Action, Answer, Request};
use crate::model::scenario::ResourceSetup;
use crate::run::recorder::Recorder;

/// The database that a table is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DatabaseRole {
    /// The one that clients use until the promotion.
    Primary,
    /// The one that they use from then on.
    Standby,
}

/// The table of one of the two.
pub(crate) struct ReplicatedTable {
    role: DatabaseRole,
    rows: Vec<Content>,
    recorder: Recorder,
}

impl ReplicatedTable {
    pub(crate) fn new(role: DatabaseRole, setup: &ResourceSetup, recorder: Recorder) -> ReplicatedTable {
        ReplicatedTable { role, rows: vec![Content::default(); setup.objects.len()], recorder }
    }

    fn answer(&mut self, request: &Request) -> Option<Content> {
        let client = self.recorder.client_of(request.grant)?;
        let row = self.rows.get_mut(request.object.0 as usize)?;
        match request.action {
            Action::Read => {}
            Action::Write { based_on, value } => {
                let Request { grant, object, .. } = *request;
                let write = CommittedWrite { client, grant, object, based_on, value };
                let commits = &self.recorder.ledger.commits;
                let version = match self.role {
                    DatabaseRole::Primary => commits.record_on_primary(&self.recorder, write),
                    DatabaseRole::Standby => commits.record_on_promoted(&self.recorder, write),
                };
                *row = Content { version, value };
            }
            Action::Prepare | Action::Marker | Action::Put { .. } => return None,
        }
        Some(*row)
    }
}

impl DataTable for ReplicatedTable {
    fn execute(&mut self, request: &[u8]) -> Vec<u8> {
        let Ok(frame) = request.try_into() else { return Vec::new() };
        let answer = self.answer(&Request::decode(frame)).map_or(Answer::Refused, Answer::Content);
        answer.encode().to_vec()
    }

    fn replay(&mut self, request: &[u8], row: &[u8]) {
        let (Ok(request), Ok(row)) = (request.try_into(), row.try_into()) else { return };
        let object = Request::decode(request).object;
        let own = self.rows.get_mut(object.0 as usize);
        if let (Some(own), Answer::Content(content)) = (own, Answer::decode(row)) {
            *own = content;
            self.recorder.ledger.commits.record_replayed(object, content.version);
        }
    }
}
