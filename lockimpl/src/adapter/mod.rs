//! Lock code that exists already, as a [`Lock`]: a function that takes the lock over redis-rs, and a guard that gives
//! it back.
//!
//! [`Client`], in `client`, is the machine that such a function is given.
//!
//! Assumes that the code reaches its nodes through the connections of its [`Client`], and time and chance through the
//! client as well: what sleeps on tokio's own timer has no runtime to wake it in a simulated world.
//!
//! Does not model a guard that is dropped: what a `Drop` sends in the background is a task, and has to be
//! [spawned](Client::spawn).

mod client;

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{RedisError, RedisResult};

use crate::config::{Descriptor, LockConfig, Nodes, SwitchError, Switches};
use crate::connection::link::error_reply;
use crate::env::{Deadline, NodeName, RedisRs};
use crate::lock::{Acquired, Doubt, Extended, Grant, Lock, Refusal, Released, Token};
use crate::registry::{BoxLock, ConfigError, LockKind};

pub use client::Client;

/// A lock that somebody holds, in code that exists already.
pub trait Guard: Send + 'static {
    /// What the key holds, by which a wrong release is told from a right one. Asked for when the lock was taken, and
    /// again after each extension.
    fn token(&self) -> Vec<u8>;

    /// When to stop believing, on the client's own clock; `None` if the code computes no such time.
    fn deadline(&self) -> Option<Deadline> {
        None
    }

    /// The number that the resource is to check, if the lock hands out any.
    fn fencing(&self) -> Option<u64> {
        None
    }

    /// Gives the lock back: whether it was still held, or nobody can say.
    fn release(self) -> impl Future<Output = RedisResult<bool>> + Send;

    /// Keeps the lock for `ttl` from now: whether it was still held. `None` if this lock cannot be extended.
    fn extend(&mut self, ttl: Duration) -> impl Future<Output = Option<RedisResult<bool>>> + Send {
        let _ = ttl;
        async { None }
    }
}

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The lock's name, and its key unless [`Existing::key`] says otherwise.
    pub resource: String,
    /// For how long.
    pub ttl: Duration,
}

/// Lock code that exists already, as a kind of lock.
///
/// ```
/// use doublehold_lockimpl::{Client, Existing, Guard, Registry, RedisRs, Wanted};
/// use redis::aio::MultiplexedConnection;
///
/// /// As it may stand in a service today.
/// struct MyGuard {
///     connection: MultiplexedConnection,
///     key: String,
///     token: String,
/// }
///
/// impl Guard for MyGuard {
///     fn token(&self) -> Vec<u8> {
///         self.token.clone().into()
///     }
///     async fn release(mut self) -> redis::RedisResult<bool> {
///         redis::cmd("DEL").arg(&self.key).query_async(&mut self.connection).await
///     }
/// }
///
/// fn locks<E: RedisRs>() -> Registry<E> {
///     let mine = async |mut connection: MultiplexedConnection, client: Client<E>, wanted: Wanted| {
///         let (key, token) = (wanted.resource, client.token());
///         let mut set = redis::cmd("SET");
///         set.arg(&key).arg(&token).arg("NX").arg("PX").arg(wanted.ttl.as_millis() as u64);
///         let set: Option<String> = set.query_async(&mut connection).await?;
///         Ok(set.map(|_| MyGuard { connection, key, token }))
///     };
///     Registry::empty().with(Existing::on_one_node("mine", mine))
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Existing<F> {
    descriptor: (&'static str, Nodes),
    config: Config,
    key: fn(&str) -> String,
    acquire: F,
}

impl<F> Existing<F> {
    /// Code that takes the lock on whatever nodes its client names: `Some` guard if it was granted, `None` if not.
    ///
    /// An error counts as "nobody can say", except an error that a node replied with: that is a no.
    pub fn on_nodes(name: &'static str, acquire: F) -> Self {
        Self {
            descriptor: (name, Nodes::Independent),
            config: Config::new::<()>(),
            key: str::to_owned,
            acquire,
        }
    }

    /// What the code makes of a lock's name to have its key, such as `|name| format!("lock:{name}")`. Without it
    /// nothing is seen of such a key, and what was done to it is unknown.
    #[must_use]
    pub fn key(self, key: fn(&str) -> String) -> Self {
        Self { key, ..self }
    }

    /// Code with a configuration of its own, which it asks its client for ([`Client::config`]). Its switches are then
    /// part of each scenario, and of plans: one can be set, and a property can draw all of them.
    ///
    /// ```
    /// use doublehold_lockimpl::{Client, Existing, Form, Guard, LockConfig, RedisRs, Wanted};
    /// use std::time::Duration;
    ///
    /// struct Config {
    ///     margin: Duration,
    /// }
    ///
    /// impl LockConfig for Config {
    ///     fn read(form: &mut Form<'_>) -> Config {
    ///         let margin = form.duration("margin", Duration::ZERO, "what is taken off each lease");
    ///         Config { margin }
    ///     }
    /// }
    ///
    /// # struct MyGuard;
    /// # impl Guard for MyGuard {
    /// #     fn token(&self) -> Vec<u8> { Vec::new() }
    /// #     async fn release(self) -> redis::RedisResult<bool> { Ok(true) }
    /// # }
    /// # fn mine<E: RedisRs>() -> impl doublehold_lockimpl::LockKind<E> {
    /// let take = async |client: Client<E>, wanted: Wanted| {
    ///     let lease = wanted.ttl.saturating_sub(client.config::<Config>().margin);
    ///     # let _ = lease;
    ///     // …
    ///     Ok::<Option<MyGuard>, redis::RedisError>(None)
    /// };
    /// Existing::on_nodes("mine", take).with_config::<Config>()
    /// # }
    /// ```
    #[must_use]
    pub fn with_config<C: LockConfig>(self) -> Self {
        Self { config: Config::new::<C>(), ..self }
    }
}

impl Existing<()> {
    /// The same for code that takes an open connection to its one node. A connection is kept from call to call, and
    /// replaced after a call that failed.
    pub fn on_one_node<E, F, Taken, G>(
        name: &'static str,
        acquire: F,
    ) -> Existing<impl Fn(Client<E>, Wanted) -> Acquiring<G> + Clone + Send + Sync + 'static>
    where
        E: RedisRs,
        F: Fn(MultiplexedConnection, Client<E>, Wanted) -> Taken + Send + Sync + 'static,
        Taken: Future<Output = RedisResult<Option<G>>> + Send + 'static,
        G: Guard,
    {
        let acquire = Arc::new(acquire);
        let connected = move |client: Client<E>, wanted: Wanted| -> Acquiring<G> {
            let acquire = acquire.clone();
            Box::pin(async move {
                let connection = client.connection().await?;
                acquire(connection, client, wanted).await
            })
        };
        let config = Config::new::<()>();
        Existing { descriptor: (name, Nodes::One), config, key: str::to_owned, acquire: connected }
    }
}

/// What is to be known of a type of configuration.
#[derive(Clone, Copy, Debug)]
struct Config {
    describe: fn(&'static str, Nodes) -> Descriptor,
    refuse: fn(&Switches) -> Result<(), SwitchError>,
}

impl Config {
    fn new<C: LockConfig>() -> Config {
        Config {
            describe: |name, nodes| {
                Descriptor::from_config::<C>(name, "a lock of the user's own", "the user's own code", nodes)
            },
            refuse: |chosen| C::from_switches(chosen).map(drop),
        }
    }
}

/// A call that takes a lock.
pub type Acquiring<G> = std::pin::Pin<Box<dyn Future<Output = RedisResult<Option<G>>> + Send>>;

impl<E, F, Taken, G> LockKind<E> for Existing<F>
where
    E: RedisRs,
    F: Fn(Client<E>, Wanted) -> Taken + Clone + Send + Sync + 'static,
    Taken: Future<Output = RedisResult<Option<G>>> + Send + 'static,
    G: Guard,
{
    fn descriptor(&self) -> Descriptor {
        let (name, nodes) = self.descriptor;
        (self.config.describe)(name, nodes)
    }

    fn build(&self, env: E, nodes: Vec<NodeName>, chosen: &Switches) -> Result<BoxLock, ConfigError> {
        if nodes.is_empty() {
            return Err(ConfigError::NoNodes);
        }
        (self.config.refuse)(chosen)?;
        let client = Client::new(env, nodes, chosen.clone());
        let (acquire, held) = (self.acquire.clone(), BTreeMap::new());
        Ok(BoxLock::new(ExistingLock { client, key: self.key, acquire, held }))
    }
}

/// One client's locks.
struct ExistingLock<E, F, G> {
    client: Client<E>,
    key: fn(&str) -> String,
    acquire: F,
    /// What it has of each resource.
    held: BTreeMap<String, G>,
}

impl<E, F, Taken, G> Lock for ExistingLock<E, F, G>
where
    E: RedisRs,
    F: Fn(Client<E>, Wanted) -> Taken + Send + Sync,
    Taken: Future<Output = RedisResult<Option<G>>> + Send,
    G: Guard,
{
    async fn acquire(&mut self, resource: &str, ttl: Duration) -> Acquired {
        let wanted = Wanted { resource: resource.to_owned(), ttl };
        // Whatever of an earlier grant was not released is dropped, as the code's caller would drop it.
        self.held.remove(resource);
        self.client.env.names_key(resource, (self.key)(resource).as_bytes());
        match (self.acquire)(self.client.clone(), wanted).await {
            Ok(Some(guard)) => {
                let token = guard.token();
                self.client.env.marks(&token);
                let (fencing, deadline) = (guard.fencing(), guard.deadline());
                self.held.insert(resource.to_owned(), guard);
                Acquired::Granted(Grant { fencing, deadline, ..Grant::new(resource, Token::new(token)) })
            }
            Ok(None) => Acquired::Refused(Refusal::Taken),
            Err(error) => match error_reply(&error) {
                Some(reply) => Acquired::Refused(Refusal::ErrorReply(reply)),
                None => Acquired::Unknown(self.doubt_after_error(&error)),
            },
        }
    }

    async fn extend(&mut self, grant: &mut Grant, ttl: Duration) -> Extended {
        let Some(guard) = self.held.get_mut(&grant.resource) else { return Extended::NotOwner };
        let extended = guard.extend(ttl).await;
        // It may hold another token by now.
        self.client.env.marks(&guard.token());
        match extended {
            None => Extended::Unsupported,
            Some(Ok(true)) => {
                grant.deadline = guard.deadline();
                Extended::Extended { deadline: grant.deadline }
            }
            Some(Ok(false)) => Extended::NotOwner,
            Some(Err(error)) => Extended::Unknown(self.doubt_after_error(&error)),
        }
    }

    async fn release(&mut self, grant: &Grant) -> Released {
        let Some(guard) = self.held.remove(&grant.resource) else { return Released::NotOwner };
        match guard.release().await {
            Ok(true) => Released::Released,
            Ok(false) => Released::NotOwner,
            Err(error) => Released::Unknown(self.doubt_after_error(&error)),
        }
    }
}

impl<E: RedisRs, F, G> ExistingLock<E, F, G> {
    /// Says what an error leaves unknown, and drops the connection that is kept: it may be broken.
    fn doubt_after_error(&self, error: &RedisError) -> Doubt {
        match error_reply(error) {
            Some(reply) => Doubt::ErrorReply(reply),
            None => {
                *self.client.cached_connection() = None;
                Doubt::ConnectionLost(error.to_string())
            }
        }
    }
}
