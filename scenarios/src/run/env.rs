//! A simulated host as the environment of a lock, and of the program around it.
//!
//! The newtype joins two crates that do not know each other: locks know only their [`Env`], hosts know nothing of
//! Redis. The driver between them is redis-rs' own `MultiplexedConnection`, over the simulated byte stream, between the two
//! halves of what tells the recorder which lock call sent what.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use doublehold_lockimpl::{
    BootTime, DeadlinePassed, Env, MonotonicTime, NodeName, WallTime, connection_config, connection_info,
};
use doublehold_sim::{Host, HostId};
use redis::aio::MultiplexedConnection;

use super::calls::{CallConnection, CallStream};
use super::recorder::Recorder;

/// The port every simulated node listens on.
pub(crate) const REDIS_PORT: u16 = 6379;

/// What a lock on a simulated client sees of the world.
#[derive(Clone)]
pub(crate) struct SimEnv {
    host: Host,
    nodes: Arc<BTreeMap<String, HostId>>,
    recorder: Recorder,
}

impl SimEnv {
    pub(crate) fn new(host: Host, nodes: Arc<BTreeMap<String, HostId>>, recorder: Recorder) -> SimEnv {
        SimEnv { host, nodes, recorder }
    }
}

impl Env for SimEnv {
    type Conn = CallConnection;

    async fn wall(&self) -> WallTime {
        WallTime(self.host.wall().await.0)
    }

    async fn monotonic(&self) -> MonotonicTime {
        MonotonicTime(self.host.monotonic().await.0)
    }

    async fn boot(&self) -> BootTime {
        BootTime(self.host.boot().await.0)
    }

    async fn sleep_until(&self, at: MonotonicTime) {
        self.host.sleep_until(doublehold_sim::MonotonicTime(at.0)).await;
    }

    async fn race<F>(&self, operation: F, deadline: MonotonicTime) -> Result<F::Output, DeadlinePassed>
    where
        F: Future + Send,
        F::Output: Send,
    {
        let deadline = doublehold_sim::MonotonicTime(deadline.0);
        self.host.race(operation, deadline).await.map_err(|_| DeadlinePassed)
    }

    fn random(&self, bytes: &mut [u8]) {
        self.host.random(bytes);
    }

    fn marks(&self, value: &[u8]) {
        self.recorder.marks(self.host.id(), value);
    }

    async fn connect(&self, node: &NodeName) -> redis::RedisResult<CallConnection> {
        let unknown = || io::Error::new(io::ErrorKind::NotFound, format!("no host is named `{node}`"));
        let to = *self.nodes.get(node.as_str()).ok_or_else(unknown)?;
        let stream = self.host.connect(to, REDIS_PORT).await.map_err(io::Error::from)?;
        let stream = CallStream::new(stream, self.recorder.clone());
        let (connection, driver) =
            MultiplexedConnection::new_with_config(&connection_info(), stream, connection_config()).await?;
        self.host.spawn(driver);
        Ok(CallConnection::new(connection, self.host.id(), self.recorder.clone()))
    }
}
