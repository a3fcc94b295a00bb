//! etcd: leases, transactions that compare the revision at which a key was made, and the wait for a key's end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use doublehold_services::etcd::{Answer, Etcd, KeyValue, LeaseId, Op, OpResult, Request};

use super::ServiceError;
use crate::adapter::spawn_looking;
use crate::env::{Env, Task};
use crate::services::etcd::EtcdClient;
use crate::services::{LinkEnded, ServiceLink};

/// The outcome of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transacted {
    /// True if the key was as compared, and the first list was executed.
    pub succeeded: bool,
    /// The revision of the store afterwards: that of each key which the transaction has made.
    pub revision: u64,
    /// The outcome of each operation.
    pub results: Vec<OpResult>,
}

/// The calls of etcd. Keys are texts; a lock's key is called as the lock, or `NAME/…`, and holds the holder's token:
/// then pictures show whose it is.
///
/// ```
/// use doublehold_lockimpl::{Client, EtcdClient, LeaseId, Op, RedisRs, ServiceError, Wanted};
///
/// /// Writes the key with a lease, unless it is there. The revision that made it is the fencing number.
/// async fn put_if_absent<E: RedisRs>(
///     etcd: &EtcdClient<E>,
///     client: &Client<E>,
///     wanted: &Wanted,
/// ) -> Result<Option<(LeaseId, u64)>, ServiceError> {
///     let lease = etcd.grant(wanted.ttl).await?;
///     let key = wanted.resource.clone();
///     let put = Op::Put { key: key.clone(), value: client.token().into(), lease: Some(lease) };
///     let put = etcd.transact(&key, 0, vec![put], Vec::new()).await?;
///     Ok(put.succeeded.then_some((lease, put.revision)))
/// }
/// ```
impl<E: Env> EtcdClient<E> {
    /// Asks for a lease (`LeaseGrant`). etcd counts whole seconds, and gives two at least.
    ///
    /// # Errors
    ///
    /// If the connection ends first.
    pub async fn grant(&self, ttl: Duration) -> Result<LeaseId, ServiceError> {
        let ttl = Duration::from_secs(ttl.as_secs() + u64::from(ttl.subsec_nanos() > 0));
        match self.ask(&Request::Grant { ttl }).await? {
            Answer::Granted { lease, .. } => Ok(lease),
            _ => Err(ServiceError::Misread),
        }
    }

    /// Renews a lease once (`LeaseKeepAlive`), and returns the time that it has from now. A lease that is over is no
    /// error: its time is zero.
    ///
    /// # Errors
    ///
    /// If the connection ends first.
    pub async fn renew(&self, lease: LeaseId) -> Result<Duration, ServiceError> {
        match self.ask(&Request::KeepAlive { lease }).await? {
            Answer::Alive { ttl } => Ok(ttl),
            _ => Err(ServiceError::Misread),
        }
    }

    /// Keeps a lease of `ttl` alive beside the caller, as the session of Go's client does: from the answer to the last
    /// renewal on, it renews after a third of the lease, and gives the lease up when all of it has passed on its own
    /// clock. The loss is then [noticed](Env::notice_loss) as `Done`.
    pub fn keep(&self, lease: LeaseId, ttl: Duration) -> LeaseKeeper {
        let over = Arc::new(AtomicBool::new(false));
        let (client, told) = (self.clone(), over.clone());
        let task = spawn_looking(&self.env, async move {
            client.renew_as_go(lease, ttl).await;
            client.env.notice_loss("Done").await;
            told.store(true, Ordering::Relaxed);
        });
        LeaseKeeper { over, task }
    }

    /// Ends a lease, and its keys with it (`LeaseRevoke`).
    ///
    /// # Errors
    ///
    /// If there is no such lease, or the connection ends first.
    pub async fn revoke(&self, lease: LeaseId) -> Result<(), ServiceError> {
        match self.ask(&Request::Revoke { lease }).await? {
            Answer::Revoked => Ok(()),
            Answer::Refused(why) => Err(why.into()),
            _ => Err(ServiceError::Misread),
        }
    }

    /// Does one of two lists of things, at once (`Txn`): the first if `key` was made at the revision `created`, where 0
    /// means that there is no such key, and the other if not.
    ///
    /// # Errors
    ///
    /// If a key is to go with a lease that is over, or the connection ends first: it may have been done.
    pub async fn transact(
        &self,
        key: &str,
        created: u64,
        then: Vec<Op>,
        otherwise: Vec<Op>,
    ) -> Result<Transacted, ServiceError> {
        let request = Request::Transaction { key: key.to_owned(), created, then, otherwise };
        match self.ask(&request).await? {
            Answer::Done { succeeded, revision, results } => Ok(Transacted { succeeded, revision, results }),
            Answer::Refused(why) => Err(why.into()),
            _ => Err(ServiceError::Misread),
        }
    }

    /// Writes a key, whatever it held, and returns the revision of that (`Put`).
    ///
    /// # Errors
    ///
    /// As [`transact`](Self::transact).
    pub async fn put(
        &self,
        key: &str,
        value: impl Into<Vec<u8>> + Send,
        lease: Option<LeaseId>,
    ) -> Result<u64, ServiceError> {
        let put = Op::Put { key: key.to_owned(), value: value.into(), lease };
        Ok(self.transact("", 0, vec![put], Vec::new()).await?.revision)
    }

    /// Reads a key (`Range`).
    ///
    /// # Errors
    ///
    /// If the connection ends first.
    pub async fn get(&self, key: &str) -> Result<Option<KeyValue>, ServiceError> {
        Ok(self.read(Op::Get { key: key.to_owned() }).await?.map(|(_, value)| value))
    }

    /// Reads the key under a prefix that was made last before a revision: whom a place in line waits for (`Range`, as
    /// `clientv3.WithLastCreate()` and `WithMaxCreateRev(revision - 1)` ask for it).
    ///
    /// # Errors
    ///
    /// If the connection ends first.
    pub async fn last_before(
        &self,
        prefix: &str,
        revision: u64,
    ) -> Result<Option<(String, KeyValue)>, ServiceError> {
        self.read(Op::LastBefore { prefix: prefix.to_owned(), revision }).await
    }

    /// Removes a key, whoever made it; true if it was there (`DeleteRange`).
    ///
    /// # Errors
    ///
    /// If the connection ends first: it may have been removed.
    pub async fn delete(&self, key: &str) -> Result<bool, ServiceError> {
        let delete = Op::Delete { key: key.to_owned() };
        let done = self.transact("", 0, vec![delete], Vec::new()).await?;
        Ok(done.results == [OpResult::Deleted(true)])
    }

    /// Watches a key as it is now until it is gone (`Watch`, up to its first `DELETE`); returns at once if there is no
    /// such key. By the time that this returns there may be another key of that name.
    ///
    /// # Errors
    ///
    /// If the connection ends: the key may be gone, or not.
    pub async fn wait_deleted(&self, key: &str) -> Result<(), ServiceError> {
        // All on one connection: a watch goes with its own.
        let link = self.link().await?;
        let mut created = None;
        loop {
            link.ask(&Request::Watch { key: key.to_owned() }).await?;
            if is_gone(&link, key, &mut created).await? {
                return Ok(());
            }
            wait_gone(&link, key).await?;
            // What is heard may be of a watch whose waiter went away long ago, and mean nothing.
            if is_gone(&link, key, &mut created).await? {
                return Ok(());
            }
        }
    }

    async fn read(&self, op: Op) -> Result<Option<(String, KeyValue)>, ServiceError> {
        found(self.ask(&reads(op)).await?)
    }
}

/// True if the key is not there, or not the one of that revision; the first key that is seen sets the revision.
async fn is_gone(
    link: &ServiceLink<Etcd>,
    key: &str,
    created: &mut Option<u64>,
) -> Result<bool, ServiceError> {
    let read = reads(Op::Get { key: key.to_owned() });
    Ok(match found(link.ask(&read).await?)? {
        None => true,
        Some((_, now)) => *created.get_or_insert(now.created) != now.created,
    })
}

/// Waits until the service says that a key is gone.
async fn wait_gone(link: &ServiceLink<Etcd>, key: &str) -> Result<(), LinkEnded> {
    loop {
        let (known, ended) = link.progress();
        if link.take_event(|event| matches!(event, Answer::KeyGone { key: gone } if gone == key)) {
            return Ok(());
        }
        if ended {
            return Err(LinkEnded);
        }
        link.wait_for_more(known).await;
    }
}

/// A transaction that only reads.
fn reads(op: Op) -> Request {
    Request::Transaction { key: String::new(), created: 0, then: vec![op], otherwise: Vec::new() }
}

fn found(answer: Answer) -> Result<Option<(String, KeyValue)>, ServiceError> {
    match answer {
        Answer::Done { mut results, .. } => match results.pop() {
            Some(OpResult::Got(found)) => Ok(found),
            _ => Err(ServiceError::Misread),
        },
        _ => Err(ServiceError::Misread),
    }
}

/// A lease that is [kept alive](EtcdClient::keep) beside its holder, until this is dropped: then it is renewed no more,
/// and ends when its time is up, unless it is [revoked](EtcdClient::revoke).
#[derive(Debug)]
pub struct LeaseKeeper {
    over: Arc<AtomicBool>,
    task: Task,
}

impl LeaseKeeper {
    /// True once the lease is known to be over: what [`Guard::lost`](crate::Guard::lost) is to say.
    pub fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }
}

impl Drop for LeaseKeeper {
    fn drop(&mut self) {
        self.task.abort();
    }
}
