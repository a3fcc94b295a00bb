//! A database: a session, row locks within a transaction, advisory locks, and what is read and written in between.

use std::sync::{Arc, Mutex, PoisonError};

use doublehold_services::ServiceKind;
use doublehold_services::database::{Answer, LockMode, Request};

use super::ServiceError;
use crate::env::{Env, NodeName};
use crate::services::ServiceLink;
use crate::services::database::{DataSession, SessionEnded};

/// A client of a database, which has one session at a time. Clones share it.
///
/// ```
/// use doublehold_lockimpl::{Client, DataSession, DatabaseClient, RedisRs, ServiceError, Wanted};
///
/// /// Locks a row, and returns the session in whose transaction it is locked.
/// async fn lock_row<E: RedisRs>(
///     database: &DatabaseClient<E>,
///     client: &Client<E>,
///     wanted: &Wanted,
/// ) -> Result<DataSession, ServiceError> {
///     let session = database.session().await?;
///     session.begin().await?;
///     session.select_for_update(&wanted.resource, client.token()).await?;
///     Ok(session)
/// }
/// ```
pub struct DatabaseClient<E> {
    env: E,
    host: NodeName,
    session: Arc<Mutex<Option<DataSession>>>,
}

impl<E: Env> DatabaseClient<E> {
    pub(crate) fn new(env: &E, host: NodeName) -> Self {
        Self { env: env.clone(), host, session: Arc::default() }
    }

    /// Returns the session, or begins a new one if there is none or the last is known to be over.
    ///
    /// # Errors
    ///
    /// If the database takes no connection.
    pub async fn session(&self) -> Result<DataSession, ServiceError> {
        let known = self.session.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(session) = known.filter(|session| !session.is_over()) {
            return Ok(session);
        }
        let port = ServiceKind::Database.port();
        let stream =
            self.env.stream(self.host.as_str(), port).await.map_err(|_| ServiceError::Disconnected)?;
        let session = DataSession::new(ServiceLink::new(&self.env, stream));
        *self.session.lock().unwrap_or_else(PoisonError::into_inner) = Some(session.clone());
        Ok(session)
    }
}

impl<E: Clone> Clone for DatabaseClient<E> {
    fn clone(&self) -> Self {
        Self { env: self.env.clone(), host: self.host.clone(), session: self.session.clone() }
    }
}

/// The statements of a lock. The name of a row or of an advisory lock is the lock's name; `token` stands for its holder
/// in pictures.
impl DataSession {
    /// `BEGIN`.
    ///
    /// # Errors
    ///
    /// If the session has ended.
    pub async fn begin(&self) -> Result<(), SessionEnded> {
        self.execute(&Request::Begin).await.map(drop)
    }

    /// `COMMIT`: what was written in the transaction counts, and its rows are free.
    ///
    /// # Errors
    ///
    /// If the session has ended: then nothing that was written counts, unless it ended on the way of the answer.
    pub async fn commit(&self) -> Result<(), SessionEnded> {
        self.execute(&Request::Commit).await.map(drop)
    }

    /// `ROLLBACK`.
    ///
    /// # Errors
    ///
    /// If the session has ended.
    pub async fn rollback(&self) -> Result<(), SessionEnded> {
        self.execute(&Request::Rollback).await.map(drop)
    }

    /// `SELECT … FOR UPDATE`: locks a row until the transaction ends, and waits for it in line. A wait cannot be taken
    /// back but by [ending](DataSession::close) the session.
    ///
    /// # Errors
    ///
    /// If the session has ended.
    pub async fn select_for_update(
        &self,
        row: &str,
        token: impl Into<Vec<u8>> + Send,
    ) -> Result<(), SessionEnded> {
        self.lock(row, LockMode::Row, token.into(), true).await.map(drop)
    }

    /// `SELECT … FOR UPDATE SKIP LOCKED`: locks the row if nobody has it; true if so.
    ///
    /// # Errors
    ///
    /// If the session has ended.
    pub async fn try_select_for_update(
        &self,
        row: &str,
        token: impl Into<Vec<u8>> + Send,
    ) -> Result<bool, SessionEnded> {
        self.lock(row, LockMode::Row, token.into(), false).await
    }

    /// `pg_advisory_lock`: takes a lock until it is given back or the session ends, and waits for it in line.
    ///
    /// # Errors
    ///
    /// If the session has ended.
    pub async fn advisory_lock(
        &self,
        name: &str,
        token: impl Into<Vec<u8>> + Send,
    ) -> Result<(), SessionEnded> {
        self.lock(name, LockMode::Advisory, token.into(), true).await.map(drop)
    }

    /// `pg_try_advisory_lock`: takes the lock if nobody has it; true if so.
    ///
    /// # Errors
    ///
    /// If the session has ended.
    pub async fn try_advisory_lock(
        &self,
        name: &str,
        token: impl Into<Vec<u8>> + Send,
    ) -> Result<bool, SessionEnded> {
        self.lock(name, LockMode::Advisory, token.into(), false).await
    }

    /// `pg_advisory_unlock`: gives the lock back; true if the session had it.
    ///
    /// # Errors
    ///
    /// If the session has ended, and the lock with it.
    pub async fn advisory_unlock(&self, name: &str) -> Result<bool, SessionEnded> {
        let answer = self.execute(&Request::Unlock { name: name.to_owned() }).await?;
        Ok(answer == Answer::Unlocked(true))
    }

    /// Ends the session from this side, and with it its locks and its transaction.
    pub fn close(&self) {
        self.end();
    }

    async fn lock(
        &self,
        name: &str,
        mode: LockMode,
        token: Vec<u8>,
        waits: bool,
    ) -> Result<bool, SessionEnded> {
        let lock = Request::Lock { name: name.to_owned(), mode, token, waits };
        Ok(self.execute(&lock).await? == Answer::Locked)
    }
}
