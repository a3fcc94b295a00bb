//! Lock code that exists already, as a [`Lock`]: a function that takes the lock over redis-rs, and a guard that gives
//! it back.
//!
//! | file | holds |
//! |---|---|
//! | `client` | [`Client`]: the machine that such a function is given |
//! | `on_service` | [`Existing::on_service`]: a service other than Redis, and the client of it |
//! | `call_error` | the errors of such code |
//! | `guard` | [`Guard`]: what its caller has while it holds the lock |
//! | `state` | what a process keeps once |
//! | `existing_lock` | the calls of one client |
//! | `watched` | what a guard that is renewed beside its holder tells |
//!
//! Assumes that the code reaches its nodes through the connections of its [`Client`], and chance through the client as
//! well.
//!
//! Time is the client's, too: its clocks drift and jump as the machine's do, and its sleep is exact. Code that sleeps
//! or times out on tokio's timers, as redis-rs does for a response timeout, runs on simulated time as well: true time,
//! in whole milliseconds from the beginning of the run. Such a timer knows no drift, and goes on while its machine is
//! suspended; a process that was paused finds it due when it goes on, after what has arrived. `tokio::spawn` and
//! tokio's sockets are not simulated, and refused.
//!
//! Does not model a guard that is dropped: what a `Drop` sends in the background is a task, and has to be
//! [spawned](Client::spawn).

mod call_error;
mod client;
mod existing_lock;
mod guard;
mod on_service;
mod state;
mod watched;

use std::future::Future;
use std::mem::needs_drop;
use std::sync::Arc;
use std::time::Duration;

use doublehold_services::ServiceKind;
use redis::RedisResult;
use redis::aio::MultiplexedConnection;

use self::existing_lock::ExistingLock;
use crate::config::{Descriptor, LockConfig, Nodes, SwitchError, Switches};
use crate::env::{NodeName, RedisRs};
use crate::registry::{BoxLock, ConfigError, LockKind};

pub use call_error::CallError;
pub use client::Client;
pub use guard::Guard;
pub(crate) use on_service::spawn_looking;
pub use on_service::{ServiceAcquiring, ServiceClient};
pub use state::{MakesState, NoState, StateMaker};

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
///
/// **The forms of the function.** An `async fn` that takes its arguments by value, or an `async` closure that captures
/// nothing, with or without the types of its arguments where it is written in the call. A closure that captures (only
/// what it can copy, see below) is `move |redis, client, wanted| async move { … }`: an `async move` closure lends what
/// it captured to its future, and no compiler takes it for an `Fn` then.
///
/// ```
/// # use doublehold_lockimpl::{Client, Existing, Guard, LockKind, RedisRs, Wanted};
/// # use redis::{RedisResult, aio::MultiplexedConnection};
/// # struct Held;
/// # impl Guard for Held {
/// #     fn token(&self) -> Vec<u8> { Vec::new() }
/// #     async fn release(self) -> RedisResult<bool> { Ok(true) }
/// # }
/// # async fn set(_: MultiplexedConnection, _: &str, _: u64) -> RedisResult<Option<Held>> { Ok(None) }
/// async fn take<E: RedisRs>(
///     redis: MultiplexedConnection,
///     client: Client<E>,
///     wanted: Wanted,
/// ) -> RedisResult<Option<Held>> {
///     set(redis, &wanted.resource, 1).await
/// }
///
/// fn a_function<E: RedisRs>() -> impl LockKind<E> {
///     Existing::on_one_node("mine", take::<E>)
/// }
///
/// fn a_closure<E: RedisRs>() -> impl LockKind<E> {
///     Existing::on_one_node("mine", async |redis, client: Client<E>, wanted: Wanted| {
///         set(redis, &wanted.resource, 1).await
///     })
/// }
///
/// fn a_closure_that_captures<E: RedisRs>(tries: u64) -> impl LockKind<E> {
///     Existing::on_one_node("mine", move |redis, client: Client<E>, wanted: Wanted| async move {
///         set(redis, &wanted.resource, tries).await
///     })
/// }
/// ```
///
/// **What is kept between calls.** The function is called for all clients of all runs, so it may own nothing: what it
/// captured would be theirs together, as it is nowhere in production. [`LockKind::check`] refuses one that captured an
/// `Arc`, a `Mutex<String>`, a `Vec` or anything else that has to be dropped. [`Existing::with_state`] makes what a
/// process keeps. Not seen: a static, a reference to one, and an atomic that was captured by value.
#[derive(Clone, Debug)]
pub struct Existing<F, S = NoState> {
    descriptor: (&'static str, Nodes),
    /// The service that it runs on, where that is not Redis.
    service: Option<ServiceKind>,
    config: Config,
    key: fn(&str) -> String,
    acquire: F,
    state: S,
    /// The user's function has something to drop.
    owns: bool,
}

impl<F> Existing<F> {
    /// Code that takes the lock on whatever nodes its client names: `Some` guard if it was granted, `None` if not.
    ///
    /// An error counts as "nobody can say", except an error that a node replied with: that is a no.
    pub fn on_nodes<E, Taken, G>(name: &'static str, acquire: F) -> Self
    where
        E: RedisRs,
        // Compilers show the line of a bound that a closure does not meet.
        F: Fn(Client<E>, Wanted) -> Taken + Clone + Send + Sync + 'static, // `move |client, wanted| async move { … }`
        Taken: Future<Output = RedisResult<Option<G>>> + Send + 'static,
        G: Guard,
    {
        Self::new((name, Nodes::Independent), acquire, needs_drop::<F>())
    }

    fn new(descriptor: (&'static str, Nodes), acquire: F, owns: bool) -> Self {
        let (config, key, state) = (Config::new::<()>(), str::to_owned, NoState);
        Self { descriptor, service: None, config, key, acquire, state, owns }
    }

    /// What a process of the lock keeps once: its client id, a pool, a cached token, a mutex of its own. The function
    /// is called once in each process, when its lock first [asks](Client::state), and again after a restart. The
    /// threads of a process share what it makes.
    ///
    /// ```
    /// use std::sync::Mutex;
    ///
    /// use doublehold_lockimpl::{Client, Existing, Guard, RedisRs, Wanted};
    /// use redis::aio::MultiplexedConnection;
    ///
    /// /// In the service it is a field of the one lock manager that the process has.
    /// struct Process {
    ///     id: String,
    ///     /// The name of the lock that this process took last.
    ///     last: Mutex<Option<String>>,
    /// }
    ///
    /// # struct MyGuard(String);
    /// # impl Guard for MyGuard {
    /// #     fn token(&self) -> Vec<u8> { self.0.clone().into() }
    /// #     async fn release(self) -> redis::RedisResult<bool> { Ok(true) }
    /// # }
    /// fn mine<E: RedisRs>() -> impl doublehold_lockimpl::LockKind<E> {
    ///     let take = async |mut redis: MultiplexedConnection, client: Client<E>, wanted: Wanted| {
    ///         let process = client.state::<Process>();
    ///         let set = redis::cmd("SET").arg(&wanted.resource).arg(&process.id).arg("NX").to_owned();
    ///         let set: Option<String> = set.query_async(&mut redis).await?;
    ///         *process.last.lock().unwrap() = Some(wanted.resource);
    ///         Ok::<_, redis::RedisError>(set.map(|_| MyGuard(process.id.clone())))
    ///     };
    ///     let process = |client: &Client<E>| Process { id: client.token(), last: Mutex::default() };
    ///     Existing::on_one_node("mine", take).with_state(process)
    /// }
    /// # let _ = mine::<doublehold_lockimpl::TokioEnv>;
    /// ```
    ///
    /// A function that captured something to drop is refused, as for the lock's own.
    #[must_use]
    pub fn with_state<E, M, S>(self, make: M) -> Existing<F, StateMaker<M, S>>
    where
        E: RedisRs,
        M: Fn(&Client<E>) -> S + Send + Sync + 'static,
        S: Send + Sync + 'static,
    {
        let Existing { descriptor, service, config, key, acquire, owns, .. } = self;
        let owns = owns || needs_drop::<M>();
        Existing { descriptor, service, config, key, acquire, state: StateMaker::new(make), owns }
    }
}

impl<F, S> Existing<F, S> {
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
    /// replaced after a call that failed. Its limits are those of [`Client::connect`].
    pub fn on_one_node<E, F, Taken, G>(
        name: &'static str,
        acquire: F,
    ) -> Existing<impl Fn(Client<E>, Wanted) -> Acquiring<G> + Clone + Send + Sync + 'static>
    where
        E: RedisRs,
        // Compilers show the line of a bound that a closure does not meet.
        F: Fn(MultiplexedConnection, Client<E>, Wanted) -> Taken
            // `move |redis, client, wanted| async move { … }`
            + Send
            + Sync
            + 'static,
        Taken: Future<Output = RedisResult<Option<G>>> + Send + 'static,
        G: Guard,
    {
        let owns = needs_drop::<F>();
        let acquire = Arc::new(acquire);
        let connected = move |client: Client<E>, wanted: Wanted| -> Acquiring<G> {
            let acquire = acquire.clone();
            Box::pin(async move {
                let connection = client.connection().await?;
                acquire(connection, client, wanted).await
            })
        };
        Existing::new((name, Nodes::One), connected, owns)
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

impl<E, F, S, Taken, G, Error> LockKind<E> for Existing<F, S>
where
    E: RedisRs,
    F: Fn(Client<E>, Wanted) -> Taken + Clone + Send + Sync + 'static,
    S: MakesState<E>,
    Taken: Future<Output = Result<Option<G>, Error>> + Send + 'static,
    G: Guard<Error>,
    Error: CallError,
{
    fn descriptor(&self) -> Descriptor {
        let (name, nodes) = self.descriptor;
        let described = (self.config.describe)(name, nodes);
        match self.service {
            Some(service) => described.on_service(service),
            None => described,
        }
    }

    fn check(&self) -> Result<(), ConfigError> {
        if self.owns { Err(ConfigError::Shared(self.descriptor.0)) } else { Ok(()) }
    }

    fn awaits_tokio(&self) -> bool {
        true
    }

    fn build(&self, env: E, nodes: Vec<NodeName>, chosen: &Switches) -> Result<BoxLock, ConfigError> {
        if nodes.is_empty() {
            return Err(ConfigError::NoNodes);
        }
        (self.config.refuse)(chosen)?;
        let client = Client::new(env, nodes, chosen.clone()).with_state(self.state.state_of());
        Ok(BoxLock::new(ExistingLock::new(self.descriptor.0, client, self.key, self.acquire.clone())))
    }
}
