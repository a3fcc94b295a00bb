//! The locks of a database: a row within a transaction, or an advisory lock of the session.
//!
//! Row: `BEGIN`, `SELECT … FOR UPDATE`, the holder's own statements, `COMMIT`. Advisory: `pg_advisory_lock`, the
//! statements, `pg_advisory_unlock`. There is no lease: the lock is the session's until that ends. Whoever writes
//! through the session cannot write after it has ended. A holder learns of that from its next statement.
//!
//! Sources: PostgreSQL 15's documentation, 13.3 "Explicit Locking"; psycopg 3.3.9.

use std::time::Duration;

use doublehold_services::ServiceKind;
use doublehold_services::database::{Answer, LockMode, Request};

use crate::config::{Descriptor, Facts, Form, LockConfig, Nodes, Sends, Switches};
use crate::env::{Env, NodeName};
use crate::lock::{Acquired, Doubt, Grant, Lock, Refusal, Released, Token};
use crate::registry::{BoxLock, ConfigError, LockKind, only_node};
use crate::services::ServiceLink;
use crate::services::database::DataSession;

/// The lock of this mode. It has no switches.
pub(crate) struct DatabaseKind(pub(crate) LockMode);

/// A row that is locked for update.
struct Row;
/// An advisory lock.
struct Advisory;

impl LockConfig for Row {
    fn read(_: &mut Form<'_>) -> Self {
        Self
    }

    fn facts(&self) -> Facts {
        facts(&["BEGIN", "FORUPDATE", "SELECT", "UPDATE", "COMMIT", "ROLLBACK"])
    }
}

impl LockConfig for Advisory {
    fn read(_: &mut Form<'_>) -> Self {
        Self
    }

    fn facts(&self) -> Facts {
        facts(&["ADVISORYLOCK", "SELECT", "UPDATE", "ADVISORYUNLOCK"])
    }
}

fn facts(statements: &[&'static str]) -> Facts {
    Facts {
        sends: Some(Sends { to_hold: statements.to_vec(), to_extend: Vec::new() }),
        extends: false,
        deadline: false,
        fencing: false,
        waits: true,
        renews: false,
        readmits: false,
    }
}

impl<E: Env> LockKind<E> for DatabaseKind {
    fn descriptor(&self) -> Descriptor {
        let described = match self.0 {
            LockMode::Row => Descriptor::from_config::<Row>(
                ROW,
                "SELECT … FOR UPDATE: a row that is locked until its transaction ends, or its session",
                "PostgreSQL 15's documentation, 13.3.2; psycopg 3.3.9",
                Nodes::One,
            ),
            LockMode::Advisory => Descriptor::from_config::<Advisory>(
                ADVISORY,
                "pg_advisory_lock: a number that is locked until it is given back, or its session ends",
                "PostgreSQL 15's documentation, 13.3.5; psycopg 3.3.9",
                Nodes::One,
            ),
        };
        described.on_service(ServiceKind::Database)
    }

    fn build(&self, env: E, nodes: Vec<NodeName>, _: &Switches) -> Result<BoxLock, ConfigError> {
        Ok(BoxLock::new(DatabaseLock { env, host: only_node(ROW, nodes)?, mode: self.0, session: None }))
    }
}

const ROW: &str = "row-lock";
const ADVISORY: &str = "advisory-lock";

struct DatabaseLock<E: Env> {
    env: E,
    host: NodeName,
    mode: LockMode,
    session: Option<DataSession>,
}

impl<E: Env> DatabaseLock<E> {
    /// The session, or a new one if there is none that is alive.
    async fn session(&mut self) -> Option<DataSession> {
        if let Some(session) = self.session.clone().filter(|session| !session.is_over()) {
            return Some(session);
        }
        let stream = self.env.stream(self.host.as_str(), ServiceKind::Database.port()).await.ok()?;
        let session = DataSession::new(ServiceLink::new(&self.env, stream));
        self.session = Some(session.clone());
        Some(session)
    }

    async fn take(&mut self, resource: &str, limit: Option<Duration>) -> Acquired {
        let Some(session) = self.session().await else {
            return Acquired::Refused(Refusal::Unreachable("no session".to_owned()));
        };
        let token = Token::draw(&self.env);
        let mode = self.mode;
        let (name, bytes) = (resource.to_owned(), token.as_bytes().to_vec());
        let lock = Request::Lock { name, mode, token: bytes, waits: limit.is_some() };
        let statements = async {
            if mode == LockMode::Row {
                session.execute(&Request::Begin).await?;
            }
            session.execute(&lock).await
        };
        let answer = match limit {
            None => Ok(statements.await),
            Some(limit) => {
                let deadline = self.env.monotonic().await.saturating_add(limit);
                self.env.race(statements, deadline).await
            }
        };
        match answer {
            Ok(Ok(Answer::Locked)) => {
                Acquired::Granted(Grant { session: Some(session), ..Grant::new(resource, token) })
            }
            Ok(Ok(_)) => {
                if mode == LockMode::Row {
                    // What it comes to is not asked: the session holds nothing.
                    let _ = session.execute(&Request::Rollback).await;
                }
                Acquired::Refused(Refusal::Taken)
            }
            Ok(Err(ended)) => Acquired::Unknown(Doubt::ConnectionLost(ended.to_string())),
            Err(_) => {
                // A statement that waits cannot be taken back but by ending the session.
                session.end();
                self.session = None;
                Acquired::Refused(Refusal::Taken)
            }
        }
    }
}

impl<E: Env> Lock for DatabaseLock<E> {
    async fn acquire(&mut self, resource: &str, _: Duration) -> Acquired {
        self.take(resource, None).await
    }

    async fn acquire_within(&mut self, resource: &str, _: Duration, limit: Duration) -> Acquired {
        self.take(resource, Some(limit)).await
    }

    async fn release(&mut self, grant: &Grant) -> Released {
        let Some(session) = &grant.session else { return Released::NotOwner };
        let statement = match self.mode {
            LockMode::Row => Request::Commit,
            LockMode::Advisory => Request::Unlock { name: grant.resource.clone() },
        };
        match session.execute(&statement).await {
            Ok(Answer::Unlocked(false)) => Released::NotOwner,
            Ok(_) => Released::Released,
            Err(_) => Released::NotOwner,
        }
    }
}
