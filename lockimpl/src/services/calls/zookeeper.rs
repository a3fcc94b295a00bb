//! ZooKeeper: nodes that go with the session, their line, the wait for a node's end, and the session's state.

use doublehold_services::zookeeper::{Answer, Request, ZooKeeperError};

use super::ServiceError;
use crate::env::Env;
use crate::services::zookeeper::ZooKeeperClient;

/// The kind of a node that is to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CreateMode {
    /// Stays until it is deleted.
    Persistent,
    /// Goes with its session.
    Ephemeral,
    /// Goes with its session, and has the next number of its parent behind its name: ten digits.
    EphemeralSequential,
}

/// A node that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreatedNode {
    /// Its path, with its number.
    pub path: String,
    /// The transaction that made it: higher than every one before, so a fencing number.
    pub zxid: u64,
}

/// The calls of ZooKeeper. A lock is a node whose children stand in line, called `/NAME`, and each child holds its
/// client's token: then pictures show whose it is.
///
/// ```
/// use doublehold_lockimpl::{Client, CreateMode, RedisRs, ServiceError, Wanted, ZooKeeperClient};
///
/// /// Stands in line, and waits until nobody is before it.
/// async fn stand_in_line<E: RedisRs>(
///     zookeeper: &ZooKeeperClient<E>,
///     client: &Client<E>,
///     wanted: &Wanted,
/// ) -> Result<String, ServiceError> {
///     zookeeper.wait_connected().await;
///     let lock = format!("/{}", wanted.resource);
///     let place = format!("{lock}/n-");
///     let own = zookeeper.create(&place, client.token(), CreateMode::EphemeralSequential).await?;
///     loop {
///         let mut line = zookeeper.children(&lock).await?;
///         line.sort();
///         let before = line.into_iter().map(|name| format!("{lock}/{name}")).take_while(|path| *path < own.path);
///         match before.last() {
///             None => return Ok(own.path),
///             Some(before) => zookeeper.wait_deleted(&before).await?,
///         }
///     }
/// }
/// ```
impl<E: Env> ZooKeeperClient<E> {
    /// Makes a node, and its parents if they are missing.
    ///
    /// # Errors
    ///
    /// If there is such a node, or there is no connection, or it ends first: the node may be there.
    pub async fn create(
        &self,
        path: &str,
        data: impl Into<Vec<u8>> + Send,
        mode: CreateMode,
    ) -> Result<CreatedNode, ServiceError> {
        let request = Request::Create {
            path: path.to_owned(),
            data: data.into(),
            ephemeral: mode != CreateMode::Persistent,
            sequential: mode == CreateMode::EphemeralSequential,
        };
        match self.ask(request).await? {
            Answer::Created { path, zxid } => Ok(CreatedNode { path, zxid }),
            Answer::Refused(why) => Err(why.into()),
            _ => Err(ServiceError::Misread),
        }
    }

    /// Returns the names of a node's children, in alphabetical order.
    ///
    /// # Errors
    ///
    /// If there is no such node, or no connection, or it ends first.
    pub async fn children(&self, path: &str) -> Result<Vec<String>, ServiceError> {
        match self.ask(Request::Children { path: path.to_owned(), watch: false }).await? {
            Answer::Children(names) => Ok(names),
            Answer::Refused(why) => Err(why.into()),
            _ => Err(ServiceError::Misread),
        }
    }

    /// Returns what a node holds; `None` if there is no such node.
    ///
    /// # Errors
    ///
    /// If there is no connection, or it ends first.
    pub async fn data(&self, path: &str) -> Result<Option<Vec<u8>>, ServiceError> {
        match self.ask(Request::Data { path: path.to_owned(), watch: false }).await? {
            Answer::Data(data) => Ok(Some(data)),
            Answer::Refused(ZooKeeperError::NoNode) => Ok(None),
            _ => Err(ServiceError::Misread),
        }
    }

    /// True if there is such a node.
    ///
    /// # Errors
    ///
    /// If there is no connection, or it ends first.
    pub async fn exists(&self, path: &str) -> Result<bool, ServiceError> {
        self.look(path, false).await
    }

    /// Removes a node, whoever made it; true if it was there.
    ///
    /// # Errors
    ///
    /// If it has children, or there is no connection, or it ends first: the node may be gone.
    pub async fn delete(&self, path: &str) -> Result<bool, ServiceError> {
        match self.ask(Request::Delete { path: path.to_owned() }).await? {
            Answer::Deleted => Ok(true),
            Answer::Refused(ZooKeeperError::NoNode) => Ok(false),
            Answer::Refused(why) => Err(why.into()),
            _ => Err(ServiceError::Misread),
        }
    }

    /// Watches a node until it is gone (`exists` with a watch, again after each that fires); returns at once if there
    /// is no such node.
    ///
    /// # Errors
    ///
    /// If there is no connection, or it ends: the node may be gone, or not.
    pub async fn wait_deleted(&self, path: &str) -> Result<(), ServiceError> {
        loop {
            let connection = self.changes();
            if !self.look(path, true).await? {
                return Ok(());
            }
            self.wait_for_watch_of(path, connection).await?;
        }
    }

    async fn look(&self, path: &str, watch: bool) -> Result<bool, ServiceError> {
        match self.ask(Request::Exists { path: path.to_owned(), watch }).await? {
            Answer::Exists(exists) => Ok(exists),
            _ => Err(ServiceError::Misread),
        }
    }
}
