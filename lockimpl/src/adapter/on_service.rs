//! Lock code that exists already, on a service other than Redis: the client of the service that it is given.
//!
//! A client of a service is made by the first call of each lock, and kept from then on: a session that is kept alive
//! belongs to its lock, not to one call.

use std::any::Any;
use std::future::Future;
use std::mem::needs_drop;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use doublehold_services::ServiceKind;

use super::watched::Looking;
use super::{Client, Existing, Guard, Wanted};
use crate::env::{Env, NodeName, RedisRs, Task};
use crate::services::calls::{DatabaseClient, ServiceError};
use crate::services::etcd::EtcdClient;
use crate::services::zookeeper::{Heeds, SessionClient, ZooKeeperClient};

/// A client of a service, which the code of a lock is given: [`EtcdClient`], [`ZooKeeperClient`] or
/// [`DatabaseClient`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no client of a service",
    note = "the function that takes the lock is given an `EtcdClient`, a `ZooKeeperClient` or a `DatabaseClient` first"
)]
pub trait ServiceClient<E: Env>: Clone + Send + Sync + 'static {
    /// The service that it speaks to.
    const KIND: ServiceKind;

    /// Makes one client. Where the service has sessions that need to be kept alive, `ttl` is the timeout of its own.
    #[doc(hidden)]
    fn start(env: &E, host: NodeName, ttl: Duration) -> Self;
}

impl<E: Env> ServiceClient<E> for EtcdClient<E> {
    const KIND: ServiceKind = ServiceKind::Etcd;

    fn start(env: &E, host: NodeName, _: Duration) -> Self {
        Self::new(env, host)
    }
}

impl<E: Env> ServiceClient<E> for ZooKeeperClient<E> {
    const KIND: ServiceKind = ServiceKind::ZooKeeper;

    fn start(env: &E, host: NodeName, ttl: Duration) -> Self {
        let client = Self::new(env, &host, SessionClient::Kazoo, Heeds::Nothing, ttl);
        spawn_looking(env, client.clone().keep_session());
        client
    }
}

impl<E: Env> ServiceClient<E> for DatabaseClient<E> {
    const KIND: ServiceKind = ServiceKind::Database;

    fn start(env: &E, host: NodeName, _: Duration) -> Self {
        Self::new(env, host)
    }
}

/// Starts a task after each step of which the guards of its process are looked at.
pub(crate) fn spawn_looking<E: Env>(env: &E, task: impl Future<Output = ()> + Send + 'static) -> Task {
    env.spawn(Looking { task: Box::pin(task), lookers: env.process_state() })
}

/// A call that takes a lock of a service.
pub type ServiceAcquiring<G> = Pin<Box<dyn Future<Output = Result<Option<G>, ServiceError>> + Send>>;

/// The client of a service that a lock has made, of whichever type.
pub(super) type AnyServiceClient = Box<dyn Any + Send>;

impl Existing<()> {
    /// Code that takes the lock on a service other than Redis: on the one that the first argument of the function is a
    /// client of. `Some` guard if the lock was granted, `None` if somebody else has it. Whether the function waits for
    /// the lock is its own affair: who is refused asks again.
    ///
    /// An error counts as "nobody can say", except a refusal of the service.
    ///
    /// ```
    /// use doublehold_lockimpl::{
    ///     Client, EtcdClient, Existing, Guard, LeaseKeeper, LockKind, Op, RedisRs, ServiceError, Wanted,
    /// };
    ///
    /// /// A key that goes with a lease, and the lease, which is kept alive.
    /// struct Held<E: RedisRs> {
    ///     etcd: EtcdClient<E>,
    ///     key: String,
    ///     token: String,
    ///     revision: u64,
    ///     lease: LeaseKeeper,
    /// }
    ///
    /// impl<E: RedisRs> Guard<ServiceError> for Held<E> {
    ///     fn token(&self) -> Vec<u8> {
    ///         self.token.clone().into()
    ///     }
    ///     fn lost(&self) -> Option<bool> {
    ///         Some(self.lease.is_over())
    ///     }
    ///     fn fencing(&self) -> Option<u64> {
    ///         Some(self.revision)
    ///     }
    ///     async fn release(self) -> Result<bool, ServiceError> {
    ///         let delete = Op::Delete { key: self.key.clone() };
    ///         Ok(self.etcd.transact(&self.key, self.revision, vec![delete], Vec::new()).await?.succeeded)
    ///     }
    /// }
    ///
    /// fn mine<E: RedisRs>() -> impl LockKind<E> {
    ///     let take = async |etcd: EtcdClient<E>, client: Client<E>, wanted: Wanted| {
    ///         let (key, token) = (wanted.resource, client.token());
    ///         let lease = etcd.grant(wanted.ttl).await?;
    ///         let put = Op::Put { key: key.clone(), value: token.clone().into(), lease: Some(lease) };
    ///         let put = etcd.transact(&key, 0, vec![put], Vec::new()).await?;
    ///         if !put.succeeded {
    ///             etcd.revoke(lease).await?;
    ///             return Ok(None);
    ///         }
    ///         let lease = etcd.keep(lease, wanted.ttl);
    ///         Ok(Some(Held { etcd, key, token, revision: put.revision, lease }))
    ///     };
    ///     Existing::on_service("mine", take)
    /// }
    /// # let _ = mine::<doublehold_lockimpl::TokioEnv>;
    /// ```
    pub fn on_service<E, S, F, Taken, G>(
        name: &'static str,
        acquire: F,
    ) -> Existing<impl Fn(Client<E>, Wanted) -> ServiceAcquiring<G> + Clone + Send + Sync + 'static>
    where
        E: RedisRs,
        S: ServiceClient<E>,
        // Compilers show the line of a bound that a closure does not meet.
        F: Fn(S, Client<E>, Wanted) -> Taken + Send + Sync + 'static, // `move |etcd, client, wanted| async move { … }`
        Taken: Future<Output = Result<Option<G>, ServiceError>> + Send + 'static,
        G: Guard<ServiceError>,
    {
        let owns = needs_drop::<F>();
        let acquire = Arc::new(acquire);
        let connected = move |client: Client<E>, wanted: Wanted| -> ServiceAcquiring<G> {
            let acquire = acquire.clone();
            Box::pin(async move { acquire(client.service(wanted.ttl), client, wanted).await })
        };
        Existing {
            service: Some(S::KIND),
            ..Existing::new((name, crate::config::Nodes::One), connected, owns)
        }
    }
}
