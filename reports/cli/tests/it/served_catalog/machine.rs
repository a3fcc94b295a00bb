//! The machine of one client: this one, with a name on each of its connections, and a wall clock that may be off.
//!
//! Not here: faults of a client. Nothing pauses it, and its monotonic clock is this machine's.

use std::sync::Arc;
use std::time::Duration;

use doublehold_lockimpl::{BootTime, Env, MonotonicTime, NodeName, Pushes, Task, TokioEnv, WallTime};
use redis::RedisResult;
use redis::aio::MultiplexedConnection;
use tokio::net::TcpStream;

#[derive(Clone)]
pub(super) struct Machine {
    process: TokioEnv,
    pub(super) client: Arc<str>,
    wall_offset_ns: i64,
}

impl Env for Machine {
    type Conn = MultiplexedConnection;
    type Stream = TcpStream;

    async fn wall(&self) -> WallTime {
        let WallTime(ns) = self.process.wall().await;
        WallTime(ns.saturating_add(self.wall_offset_ns))
    }

    async fn monotonic(&self) -> MonotonicTime {
        self.process.monotonic().await
    }

    async fn boot(&self) -> BootTime {
        self.process.boot().await
    }

    async fn sleep_until(&self, at: MonotonicTime) {
        self.process.sleep_until(at).await;
    }

    fn random(&self, bytes: &mut [u8]) {
        self.process.random(bytes);
    }

    fn process_state<T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        self.process.process_state()
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> Task {
        self.process.spawn(task)
    }

    async fn stream(&self, host: &str, port: u16) -> std::io::Result<TcpStream> {
        self.process.stream(host, port).await
    }

    async fn connect(&self, node: &NodeName) -> RedisResult<MultiplexedConnection> {
        let mut connection = self.process.connect(node).await?;
        self.name(&mut connection).await?;
        Ok(connection)
    }

    async fn listen(&self, node: &NodeName) -> RedisResult<(MultiplexedConnection, Pushes)> {
        let (mut connection, pushes) = self.process.listen(node).await?;
        self.name(&mut connection).await?;
        Ok((connection, pushes))
    }
}

impl Machine {
    pub(super) fn new(client: &str, wall_offset_ns: i64) -> Machine {
        Machine { process: TokioEnv::new(), client: client.into(), wall_offset_ns }
    }

    /// Tells the other end whose connection it is.
    pub(super) async fn name(&self, connection: &mut MultiplexedConnection) -> RedisResult<()> {
        redis::cmd("CLIENT").arg("SETNAME").arg(&*self.client).query_async(connection).await
    }

    /// Waits for so long.
    pub(super) async fn sleep(&self, time: Duration) {
        let now = self.monotonic().await;
        self.sleep_until(now.saturating_add(time)).await;
    }
}
