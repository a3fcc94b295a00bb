//! A client's machine, for lock code that exists already: connections, clocks, sleep, chance, its configuration.
//!
//! Everything comes from the environment below, so that the same code runs in a simulated world and on a real machine.

use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use redis::RedisResult;
use redis::aio::MultiplexedConnection;

use super::on_service::{AnyServiceClient, ServiceClient};
use super::state::StateOf;
use super::watched::{Lookers, Looking};
use crate::config::{LockConfig, Switches};
use crate::env::{BootTime, DeadlinePassed, MonotonicTime, NodeName, RedisRs, Task, WallTime};

/// The state of a lock that lasts from call to call.
#[derive(Default)]
struct Kept {
    connection: Option<MultiplexedConnection>,
    /// The client of a service other than Redis.
    service: Option<AnyServiceClient>,
}

/// A client's machine, for code that exists already: connections, clocks, sleep, chance.
#[derive(Clone)]
pub struct Client<E> {
    pub(crate) env: E,
    nodes: Arc<[NodeName]>,
    chosen: Arc<Switches>,
    kept: Arc<Mutex<Kept>>,
    state: Option<StateOf<E>>,
    pub(super) lookers: Arc<Lookers>,
}

impl<E: RedisRs> Client<E> {
    pub(crate) fn new(env: E, nodes: Vec<NodeName>, chosen: Switches) -> Self {
        let (chosen, kept, state) = (Arc::new(chosen), Arc::default(), None);
        let lookers = env.process_state();
        Self { env, nodes: nodes.into(), chosen, kept, state, lookers }
    }

    pub(super) fn with_state(self, state: Option<StateOf<E>>) -> Self {
        Self { state, ..self }
    }

    /// What this client's process keeps, see [`Existing::with_state`](crate::Existing::with_state).
    ///
    /// # Panics
    ///
    /// If the lock was given no function that makes such a state, or this is asked for while it is made.
    pub fn state<S: Send + Sync + 'static>(&self) -> Arc<S> {
        let state = self.state.as_ref().and_then(|state_of| state_of(self).downcast::<S>().ok());
        state.unwrap_or_else(|| {
            let wanted = std::any::type_name::<S>();
            panic!("no process of the lock keeps a `{wanted}`: give `Existing::with_state` a function that makes it")
        })
    }

    /// How the lock is configured here, see [`Existing::with_config`](crate::Existing::with_config).
    ///
    /// # Panics
    ///
    /// If the lock is configured by another type.
    pub fn config<C: LockConfig>(&self) -> C {
        C::from_switches(&self.chosen)
            .unwrap_or_else(|error| panic!("the lock has another configuration: {error}"))
    }

    /// The names of the nodes that the lock runs on.
    pub fn nodes(&self) -> &[NodeName] {
        &self.nodes
    }

    /// Opens a new connection to a node. As everywhere, redis-rs gives up on connecting after 1 s and on a reply after
    /// 500 ms; for other limits there is `set_response_timeout` of the connection, and [`timeout`](Client::timeout).
    ///
    /// # Errors
    ///
    /// If there is no such node, or it takes no connections.
    pub async fn connect(&self, node: &NodeName) -> RedisResult<MultiplexedConnection> {
        self.env.open_multiplexed(node).await
    }

    /// This client's connection to its first node: opened when it is first asked for, and anew after a call that
    /// failed.
    ///
    /// # Errors
    ///
    /// If the node takes no connections.
    pub async fn connection(&self) -> RedisResult<MultiplexedConnection> {
        if let Some(open) = self.kept().connection.clone() {
            return Ok(open);
        }
        let opened = self.connect(&self.nodes[0]).await?;
        self.kept().connection = Some(opened.clone());
        Ok(opened)
    }

    /// Opens a new connection when one is asked for next.
    pub(crate) fn forget_connection(&self) {
        self.kept().connection = None;
    }

    /// The client of the service that the lock runs on: made for the call that first asks for it.
    pub(super) fn service<S: ServiceClient<E>>(&self, ttl: Duration) -> S {
        let mut kept = self.kept();
        if let Some(known) = kept.service.as_ref().and_then(|known| known.downcast_ref::<S>()) {
            return known.clone();
        }
        let made = S::start(&self.env, self.nodes[0].clone(), ttl);
        kept.service = Some(Box::new(made.clone()));
        made
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the wall clock.
    pub async fn wall(&self) -> WallTime {
        self.env.wall().await
    }

    /// Reads the monotonic clock.
    pub async fn monotonic(&self) -> MonotonicTime {
        self.env.monotonic().await
    }

    /// Reads the boot clock.
    pub async fn boot(&self) -> BootTime {
        self.env.boot().await
    }

    /// Waits, on the monotonic clock.
    pub async fn sleep(&self, duration: Duration) {
        let now = self.env.monotonic().await;
        self.env.sleep_until(now.saturating_add(duration)).await;
    }

    /// Runs `operation` for `limit` at most, on the monotonic clock. What it sent is not recalled.
    ///
    /// # Errors
    ///
    /// If it took longer.
    pub async fn timeout<F>(&self, limit: Duration, operation: F) -> Result<F::Output, DeadlinePassed>
    where
        F: Future + Send,
        F::Output: Send,
    {
        let now = self.env.monotonic().await;
        self.env.race(operation, now.saturating_add(limit)).await
    }

    /// Fills `bytes` with random bytes.
    pub fn random(&self, bytes: &mut [u8]) {
        self.env.random(bytes);
    }

    /// A new token: 128 random bits in hexadecimal. Keys that hold it [are](Client::marks) this call's.
    pub fn token(&self) -> String {
        let mut bytes = [0; 16];
        self.env.random(&mut bytes);
        let token = format!("{:032x}", u128::from_le_bytes(bytes));
        self.marks(token.as_bytes());
        token
    }

    /// Says that keys with this value, or fields of a hash with this name, are those of the call under way, also if it
    /// never learns that it took the lock. A [guard](crate::Guard::token) says the same, of a call that did.
    pub fn marks(&self, value: &[u8]) {
        self.env.marks(value);
    }

    /// Says that a key is a claim whatever it holds, such as a counter: whoever makes it has the lock. To be said by
    /// each call before it touches the key.
    pub fn marks_key(&self, key: &str) {
        self.env.marks_key(key.as_bytes());
    }

    /// Says that what the lock rests on is lost or may be, in a word of the code's own, such as `LEASE OVER`: for runs
    /// that tell when a holder has heard of a loss. The clients of services say so by themselves, where they keep a
    /// session or a lease.
    pub async fn notice_loss(&self, notice: &'static str) {
        self.env.notice_loss(notice).await;
    }

    /// Starts a task beside the caller's code, such as a watchdog that renews a lease:
    /// [`Guard::lost`](crate::Guard::lost) shows one.
    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> Task {
        self.env.spawn(Looking { task: Box::pin(task), lookers: self.lookers.clone() })
    }
}
