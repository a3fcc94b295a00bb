//! The calls of each client that lock code of one's own makes: as few as a lock needs, named as the services name
//! them, and each waits for as long as TCP takes, as those of real clients do.
//!
//! A lock that is tired of waiting bounds the call itself ([`Client::timeout`](crate::Client::timeout)); what was sent
//! is not recalled.

mod database;
mod etcd;
mod zookeeper;

use doublehold_services::etcd::EtcdError;
use doublehold_services::zookeeper::ZooKeeperError;

use super::LinkEnded;
use super::database::SessionEnded;

pub use database::DatabaseClient;
pub use etcd::{LeaseKeeper, Transacted};
pub use zookeeper::{CreateMode, CreatedNode};

/// A call to a service that did not come to what was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ServiceError {
    /// There was no connection to be had, or it ended before the answer came: the service may have done what was asked.
    #[error("the connection to the service ended")]
    Disconnected,
    /// The session of the database is over, and what it held is not its client's any more.
    #[error(transparent)]
    SessionEnded(#[from] SessionEnded),
    /// etcd refused the request.
    #[error(transparent)]
    Etcd(#[from] EtcdError),
    /// ZooKeeper refused the request.
    #[error(transparent)]
    ZooKeeper(#[from] ZooKeeperError),
    /// The answer belongs to another kind of request.
    #[error("the service answered something else")]
    Misread,
}

impl From<LinkEnded> for ServiceError {
    fn from(_: LinkEnded) -> Self {
        Self::Disconnected
    }
}
