//! The messages between clients and etcd.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LeaseId(pub u64);

/// A client's request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Request {
    /// Asks for a lease.
    Grant {
        /// Its duration; two seconds at least.
        ttl: Duration,
    },
    /// Renews a lease.
    KeepAlive {
        /// The lease.
        lease: LeaseId,
    },
    /// Ends a lease, and its keys with it.
    Revoke {
        /// The lease.
        lease: LeaseId,
    },
    /// Does one of two lists of things, at once.
    Transaction {
        /// The key that decides.
        key: String,
        /// The revision at which it was made, for the first list; 0: there is no such key.
        created: u64,
        /// The first list.
        then: Vec<Op>,
        /// The other list.
        otherwise: Vec<Op>,
    },
    /// Asks to hear when a key is gone, once: at once if there is none.
    Watch {
        /// The key.
        key: String,
    },
}

impl Request {
    /// The words of all requests.
    pub const WORDS: &'static [&'static str] = &["GRANT", "KEEPALIVE", "REVOKE", "TXN", "WATCH"];

    pub(super) fn word(&self) -> &'static str {
        match self {
            Request::Grant { .. } => "GRANT",
            Request::KeepAlive { .. } => "KEEPALIVE",
            Request::Revoke { .. } => "REVOKE",
            Request::Transaction { .. } => "TXN",
            Request::Watch { .. } => "WATCH",
        }
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Request::Grant { ttl } => write!(f, "GRANT {ttl:?}"),
            Request::KeepAlive { lease: LeaseId(id) } | Request::Revoke { lease: LeaseId(id) } => {
                write!(f, "{} lease {id}", self.word())
            }
            Request::Transaction { key, created, then, .. } if !key.is_empty() => {
                write!(f, "TXN if {key} is of revision {created}: {}", list(then))
            }
            Request::Transaction { then, .. } => write!(f, "TXN {}", list(then)),
            Request::Watch { key } => write!(f, "WATCH {key}"),
        }
    }
}

fn list(ops: &[Op]) -> String {
    ops.iter().map(Op::to_string).collect::<Vec<_>>().join(", ")
}

/// One thing of a transaction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Op {
    /// Writes a key.
    Put {
        /// The key.
        key: String,
        /// The value to write.
        value: Vec<u8>,
        /// The lease that it goes with.
        lease: Option<LeaseId>,
    },
    /// Reads a key.
    Get {
        /// The key.
        key: String,
    },
    /// Reads the key under a prefix that was made first.
    First {
        /// The prefix.
        prefix: String,
    },
    /// Reads the key under a prefix that was made last before a revision.
    LastBefore {
        /// The prefix.
        prefix: String,
        /// The revision.
        revision: u64,
    },
    /// Removes a key.
    Delete {
        /// The key.
        key: String,
    },
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Op::Put { key, .. } => write!(f, "put {key}"),
            Op::Get { key } => write!(f, "get {key}"),
            Op::First { prefix } => write!(f, "get the first of {prefix}"),
            Op::LastBefore { prefix, revision } => write!(f, "get the last of {prefix} before {revision}"),
            Op::Delete { key } => write!(f, "delete {key}"),
        }
    }
}

/// The content of a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyValue {
    /// The value that was written.
    pub value: Vec<u8>,
    /// The revision at which the key was made.
    pub created: u64,
    /// The lease that it goes with.
    pub lease: Option<LeaseId>,
}

/// The outcome of one operation of a transaction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OpResult {
    /// It was written.
    Put,
    /// The key that was read, if there is one.
    Got(Option<(String, KeyValue)>),
    /// True if there was such a key.
    Deleted(bool),
}

/// A message of etcd.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// The lease is the client's.
    Granted {
        /// The lease.
        lease: LeaseId,
        /// Its duration.
        ttl: Duration,
    },
    /// The keep-alive arrived.
    Alive {
        /// The time that the lease lasts from now; zero: it is over.
        ttl: Duration,
    },
    /// The lease is over, as asked.
    Revoked,
    /// The transaction was executed.
    Done {
        /// The revision after it.
        revision: u64,
        /// True if the first list was executed.
        succeeded: bool,
        /// The outcome of each operation.
        results: Vec<OpResult>,
    },
    /// The watch stands.
    Watching,
    /// A key that is watched is gone, and so is the watch.
    KeyGone {
        /// The key.
        key: String,
    },
    /// The request was refused.
    Refused(EtcdError),
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Answer::Granted { lease: LeaseId(id), .. } => write!(f, "lease {id}"),
            Answer::Alive { ttl } => write!(f, "TTL {}", ttl.as_secs()),
            Answer::Revoked => f.write_str("revoked"),
            Answer::Done { revision, succeeded, .. } => {
                write!(f, "revision {revision}, {}", if *succeeded { "succeeded" } else { "failed" })
            }
            Answer::Watching => f.write_str("watching"),
            Answer::KeyGone { key } => write!(f, "{key} is gone"),
            Answer::Refused(why) => why.fmt(f),
        }
    }
}

/// The reason for which a request was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum EtcdError {
    /// There is no such lease.
    #[error("requested lease not found")]
    LeaseNotFound,
}
