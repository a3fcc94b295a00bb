//! What clients and the database say to each other.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A client's request. A connection is a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Request {
    /// Begins a transaction.
    Begin,
    /// Ends the transaction: what it wrote counts, and its rows are free.
    Commit,
    /// Ends the transaction as if it had not been.
    Rollback,
    /// Takes a lock.
    Lock {
        /// The name of the row, or of the advisory lock.
        name: String,
        /// Which of the two it is.
        mode: LockMode,
        /// What the lock is known by while it is this session's.
        token: Vec<u8>,
        /// Whether the session waits for a lock that is taken.
        waits: bool,
    },
    /// Gives an advisory lock back.
    Unlock {
        /// Its name.
        name: String,
    },
    /// Reads the table.
    Read {
        /// What is read, in the table's words.
        request: Vec<u8>,
    },
    /// Writes to the table, within the transaction if there is one.
    Write {
        /// What is written, in the table's words.
        request: Vec<u8>,
    },
}

impl Request {
    /// The words of all requests.
    pub const WORDS: &'static [&'static str] =
        &["BEGIN", "COMMIT", "ROLLBACK", "FORUPDATE", "ADVISORYLOCK", "ADVISORYUNLOCK", "SELECT", "UPDATE"];

    pub(super) fn word(&self) -> &'static str {
        match self {
            Request::Begin => "BEGIN",
            Request::Commit => "COMMIT",
            Request::Rollback => "ROLLBACK",
            Request::Lock { mode, .. } => mode.word(),
            Request::Unlock { .. } => "ADVISORYUNLOCK",
            Request::Read { .. } => "SELECT",
            Request::Write { .. } => "UPDATE",
        }
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Request::Lock { name, .. } | Request::Unlock { name } => write!(f, "{} {name}", self.word()),
            _ => f.write_str(self.word()),
        }
    }
}

/// How a lock ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LockMode {
    /// With its transaction: `SELECT … FOR UPDATE`.
    Row,
    /// When it is given back, or with its session: `pg_advisory_lock`.
    Advisory,
}

impl LockMode {
    pub(super) fn word(self) -> &'static str {
        match self {
            LockMode::Row => "FORUPDATE",
            LockMode::Advisory => "ADVISORYLOCK",
        }
    }
}

/// What the database says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// The statement was executed.
    Done,
    /// The lock is the session's.
    Locked,
    /// Another session has the lock.
    Taken,
    /// Whether the advisory lock was the session's; it is not now.
    Unlocked(bool),
    /// What the table says.
    Row(Vec<u8>),
    /// Nothing: the machine's probe, which no client sees.
    Probe,
    /// The session is over.
    Ended(DatabaseError),
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Answer::Done => f.write_str("done"),
            Answer::Locked => f.write_str("locked"),
            Answer::Taken => f.write_str("taken"),
            Answer::Unlocked(was_its) => write!(f, "unlocked: {was_its}"),
            Answer::Row(_) => f.write_str("row"),
            Answer::Probe => f.write_str("TCP probe"),
            Answer::Ended(why) => why.fmt(f),
        }
    }
}

/// Why the database has ended a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum DatabaseError {
    /// It was idle in a transaction for too long.
    #[error("terminating connection due to idle-in-transaction timeout")]
    IdleInTransaction,
    /// It was idle for too long.
    #[error("terminating connection due to idle-session timeout")]
    IdleSession,
}
