//! A client of a database: one session, which is one connection.
//!
//! A driver looks at its connection when it sends a statement, and not in between. So a client whose session has ended
//! learns it from its next statement, however long that is.
//!
//! Sources: psycopg 3.3.9; PostgreSQL 15's libpq.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use doublehold_services::database::{Answer, Database, Request};

use super::ServiceLink;

/// The session is over: what it held is not the client's any more.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SessionEnded(String);

/// A session of a database, through which its holder reads and writes the table that the lock protects. Clones are of
/// the same session.
#[derive(Clone)]
pub struct DataSession(Arc<Mutex<State>>);

struct State {
    link: ServiceLink<Database>,
    ended: Option<SessionEnded>,
}

impl DataSession {
    pub(crate) fn new(link: ServiceLink<Database>) -> Self {
        Self(Arc::new(Mutex::new(State { link, ended: None })))
    }

    /// Reads the table; the answer is in the table's words.
    ///
    /// # Errors
    ///
    /// If the session has ended.
    pub async fn read(&self, request: Vec<u8>) -> Result<Vec<u8>, SessionEnded> {
        self.row(Request::Read { request }).await
    }

    /// Writes to the table. Within a transaction the answer is empty: the write counts when the lock is released.
    ///
    /// # Errors
    ///
    /// If the session has ended: then nothing is written.
    pub async fn write(&self, request: Vec<u8>) -> Result<Vec<u8>, SessionEnded> {
        self.row(Request::Write { request }).await
    }

    async fn row(&self, request: Request) -> Result<Vec<u8>, SessionEnded> {
        match self.execute(&request).await? {
            Answer::Row(row) => Ok(row),
            _ => Ok(Vec::new()),
        }
    }

    pub(crate) async fn execute(&self, statement: &Request) -> Result<Answer, SessionEnded> {
        let (link, ended) = {
            let state = self.state();
            (state.link.clone(), state.ended.clone())
        };
        if let Some(ended) = ended {
            return Err(ended);
        }
        let answer = link.ask(statement).await;
        let said = link.take_events().into_iter().find_map(|event| match event {
            Answer::Ended(why) => Some(why.to_string()),
            _ => None,
        });
        match (answer, said) {
            (Ok(answer), None) => Ok(answer),
            (_, said) => {
                let why = said.unwrap_or_else(|| "server closed the connection unexpectedly".to_owned());
                let ended = SessionEnded(why);
                self.state().ended = Some(ended.clone());
                Err(ended)
            }
        }
    }

    /// Ends the session from this side.
    pub(crate) fn end(&self) {
        self.state().link.close();
    }

    pub(crate) fn is_over(&self) -> bool {
        let state = self.state();
        state.ended.is_some() || state.link.progress().1
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PartialEq for DataSession {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for DataSession {}

impl fmt::Debug for DataSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DataSession").field("ended", &self.state().ended).finish_non_exhaustive()
    }
}
