//! The errors that existing code returns, as outcomes of a lock's calls.

use std::fmt;

use redis::RedisError;

use crate::connection::link::error_reply;
use crate::lock::ErrorReply;
use crate::services::calls::ServiceError;

/// An error that a call of existing code returns: redis-rs' own, or that of a service's client.
pub trait CallError: fmt::Display + Send + 'static {
    /// The reply that says no; `None` if nobody can say what the call came to.
    #[doc(hidden)]
    fn reply(&self) -> Option<ErrorReply>;
}

impl CallError for RedisError {
    fn reply(&self) -> Option<ErrorReply> {
        error_reply(self)
    }
}

impl CallError for ServiceError {
    fn reply(&self) -> Option<ErrorReply> {
        let code = match self {
            Self::Etcd(_) => "etcd:",
            Self::ZooKeeper(_) => "ZooKeeper:",
            Self::Disconnected | Self::SessionEnded(_) | Self::Misread => return None,
        };
        Some(ErrorReply { code: code.to_owned(), message: self.to_string() })
    }
}
