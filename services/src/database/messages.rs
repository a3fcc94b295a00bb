//! The messages between clients and the database.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::replication::Commit;

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
        /// A row lock, or an advisory lock.
        mode: LockMode,
        /// The name that the lock has while it is this session's.
        token: Vec<u8>,
        /// True if the session waits for a lock that is taken.
        waits: bool,
    },
    /// Gives an advisory lock back.
    Unlock {
        /// Its name.
        name: String,
    },
    /// Reads the table.
    Read {
        /// The request to read, in the table's words.
        request: Vec<u8>,
    },
    /// Writes to the table, within the transaction if there is one.
    Write {
        /// The request to write, in the table's words.
        request: Vec<u8>,
    },
    /// Asks for each commit after the first so many, as a standby does.
    Replicate {
        /// The number of those that it has.
        received: u64,
    },
    /// Says that a standby is there.
    Received,
}

impl Request {
    /// The words of all requests.
    pub const WORDS: &'static [&'static str] = &[
        "BEGIN",
        "COMMIT",
        "ROLLBACK",
        "FORUPDATE",
        "ADVISORYLOCK",
        "ADVISORYUNLOCK",
        "SELECT",
        "UPDATE",
        "STARTREPLICATION",
        "STANDBYSTATUS",
    ];

    pub(super) fn word(&self) -> &'static str {
        match self {
            Request::Begin => "BEGIN",
            Request::Commit => "COMMIT",
            Request::Rollback => "ROLLBACK",
            Request::Lock { mode, .. } => mode.word(),
            Request::Unlock { .. } => "ADVISORYUNLOCK",
            Request::Read { .. } => "SELECT",
            Request::Write { .. } => "UPDATE",
            Request::Replicate { .. } => "STARTREPLICATION",
            Request::Received => "STANDBYSTATUS",
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

/// The event that ends a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LockMode {
    /// With its transaction: `SELECT … FOR UPDATE`.
    Row,
    /// Its release, or the end of its session: `pg_advisory_lock`.
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

/// A message of the database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// The statement was executed.
    Done,
    /// The lock is the session's.
    Locked,
    /// Another session has the lock.
    Taken,
    /// True if the advisory lock was the session's; it is not now.
    Unlocked(bool),
    /// The answer of the table.
    Row(Vec<u8>),
    /// Nothing: the machine's probe, which no client sees.
    Probe,
    /// The session is over.
    Ended(DatabaseError),
    /// The next commit, for a standby.
    Commit(Commit),
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
            Answer::Commit(_) => f.write_str("commit"),
        }
    }
}

/// The reason for which the database has ended a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum DatabaseError {
    /// It was idle in a transaction for too long.
    #[error("terminating connection due to idle-in-transaction timeout")]
    IdleInTransaction,
    /// It was idle for too long.
    #[error("terminating connection due to idle-session timeout")]
    IdleSession,
}
