//! The messages between clients and ZooKeeper.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SessionId(pub u64);

/// A client's request. The first on a connection is [`Request::Connect`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Request {
    /// Begins a session, or goes on with one.
    Connect {
        /// The session to go on with; `None`: a new one.
        session: Option<SessionId>,
        /// The timeout that the client asks for.
        timeout: Duration,
    },
    /// Says that the client is alive.
    Ping,
    /// Makes a node.
    Create {
        /// Its path. With `sequential`, ten digits are put behind it.
        path: String,
        /// Its content.
        data: Vec<u8>,
        /// True if it goes with the session.
        ephemeral: bool,
        /// True if it gets the next number of its parent.
        sequential: bool,
    },
    /// Removes a node.
    Delete {
        /// Its path.
        path: String,
    },
    /// Asks for the names of a node's children.
    Children {
        /// The parent.
        path: String,
        /// True if the client wants to hear of the next change.
        watch: bool,
    },
    /// Asks for what a node holds. A node that is not there is not watched.
    Data {
        /// Its path.
        path: String,
        /// True if the client wants to hear of the next change.
        watch: bool,
    },
    /// Asks whether a node is there. One that is not is watched as well.
    Exists {
        /// Its path.
        path: String,
        /// True if the client wants to hear of the next change.
        watch: bool,
    },
    /// Ends the session, and its nodes with it.
    CloseSession,
}

impl Request {
    /// The words of all requests.
    pub const WORDS: &'static [&'static str] =
        &["CONNECT", "PING", "CREATE", "DELETE", "CHILDREN", "DATA", "EXISTS", "CLOSE"];

    pub(super) fn word(&self) -> &'static str {
        match self {
            Request::Connect { .. } => "CONNECT",
            Request::Ping => "PING",
            Request::Create { .. } => "CREATE",
            Request::Delete { .. } => "DELETE",
            Request::Children { .. } => "CHILDREN",
            Request::Data { .. } => "DATA",
            Request::Exists { .. } => "EXISTS",
            Request::CloseSession => "CLOSE",
        }
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Request::Connect { session: Some(SessionId(id)), .. } => write!(f, "CONNECT session {id}"),
            Request::Create { path, .. } | Request::Delete { path } => write!(f, "{} {path}", self.word()),
            Request::Children { path, watch }
            | Request::Data { path, watch }
            | Request::Exists { path, watch } => {
                write!(f, "{} {path}{}", self.word(), if *watch { " and watch" } else { "" })
            }
            Request::Connect { session: None, .. } | Request::Ping | Request::CloseSession => {
                f.write_str(self.word())
            }
        }
    }
}

/// A message of ZooKeeper.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// The session is the client's, on this connection.
    Connected {
        /// The session.
        session: SessionId,
        /// Its timeout, as the service has it.
        timeout: Duration,
    },
    /// The session that the client wants to go on with is over.
    Expired,
    /// The ping arrived.
    Pong,
    /// The node was made.
    Created {
        /// Its path, with its number.
        path: String,
        /// The transaction that made it: higher than every one before.
        zxid: u64,
    },
    /// The node is gone.
    Deleted,
    /// The names of the children, in alphabetical order.
    Children(Vec<String>),
    /// The content of the node.
    Data(Vec<u8>),
    /// True if the node is there.
    Exists(bool),
    /// The session is over, as asked.
    Closed,
    /// The request was refused.
    Refused(ZooKeeperError),
    /// A watch fired. It is gone now.
    Fired {
        /// The kind of change that was watched.
        kind: WatchKind,
        /// The node.
        path: String,
    },
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Answer::Connected { session: SessionId(id), .. } => write!(f, "session {id}"),
            Answer::Expired => f.write_str("session expired"),
            Answer::Pong => f.write_str("PONG"),
            Answer::Created { path, zxid } => write!(f, "created {path}, zxid {zxid}"),
            Answer::Deleted => f.write_str("deleted"),
            Answer::Children(names) => write!(f, "children {}", names.join(" ")),
            Answer::Data(_) => f.write_str("data"),
            Answer::Exists(exists) => write!(f, "exists: {exists}"),
            Answer::Closed => f.write_str("closed"),
            Answer::Refused(why) => why.fmt(f),
            Answer::Fired { path, .. } => write!(f, "{path} changed"),
        }
    }
}

/// The reason for which a request was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum ZooKeeperError {
    /// There is no such node.
    #[error("there is no such node")]
    NoNode,
    /// There is such a node.
    #[error("the node exists")]
    NodeExists,
    /// The node has children.
    #[error("the node has children")]
    NotEmpty,
}

/// The kind of change that a watch waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum WatchKind {
    /// The node comes or goes.
    Node,
    /// A child of it comes or goes.
    Children,
}
