//! The environment of a real machine: tokio's timers and sockets, the system's clocks and randomness.
//! The one place in this crate that may use them.
//!
//! Assumes a tokio runtime with time and I/O enabled. Off Linux there is no `CLOCK_BOOTTIME`: the
//! boot clock is then the monotonic one, whatever that does there while the machine is suspended.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, IntoConnectionInfo, ProtocolVersion, RedisResult};
use tokio::net::TcpStream;
use tokio::time::Instant;

use super::process_state::ProcessState;
use super::push::Pushes;
use super::redis_config::{connection_config, default_config, listening_config};
use super::times::{BootTime, MonotonicTime, WallTime};
use crate::env::{Env, NodeName, RedisRs, Task};

/// The machine this program runs on. Its clones are the same process, and a new one is another. A node's name is its
/// address: `redis://127.0.0.1:6379`.
#[derive(Clone, Debug)]
pub struct TokioEnv {
    /// Where tokio's clock stood when `started_at` was read: timers wait on it, and it cannot be set
    /// to a number.
    started: Instant,
    started_at: MonotonicTime,
    process_state: ProcessState,
}

impl TokioEnv {
    /// The machine this program runs on.
    #[expect(clippy::disallowed_methods, reason = "on a real machine the host's clock is the real one")]
    pub fn new() -> Self {
        let started = Instant::now();
        Self { started, started_at: system::monotonic(started), process_state: ProcessState::default() }
    }
}

impl Default for TokioEnv {
    fn default() -> Self {
        Self::new()
    }
}

impl Env for TokioEnv {
    type Conn = MultiplexedConnection;
    type Stream = TcpStream;

    #[expect(clippy::disallowed_methods, reason = "on a real machine the host's clock is the real one")]
    async fn wall(&self) -> WallTime {
        let nanos = |duration: Duration| i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX);
        WallTime(match SystemTime::now().duration_since(SystemTime::UNIX_EPOCH) {
            Ok(since) => nanos(since),
            Err(before) => -nanos(before.duration()),
        })
    }

    async fn monotonic(&self) -> MonotonicTime {
        system::monotonic(self.started)
    }

    async fn boot(&self) -> BootTime {
        system::boot(self.started)
    }

    #[expect(clippy::disallowed_methods, reason = "on a real machine tokio's timer is the host's")]
    async fn sleep_until(&self, at: MonotonicTime) {
        let after_start = Duration::from_nanos(at.0.saturating_sub(self.started_at.0));
        match self.started.checked_add(after_start) {
            Some(at) => tokio::time::sleep_until(at).await,
            None => std::future::pending().await,
        }
    }

    #[expect(clippy::disallowed_methods, reason = "on a real machine the system draws the tokens")]
    fn random(&self, bytes: &mut [u8]) {
        getrandom::fill(bytes).expect("every supported system hands out random bytes");
    }

    fn process_state<T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        self.process_state.get()
    }

    #[expect(clippy::disallowed_methods, reason = "on a real machine the runtime's tasks are the host's")]
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> Task {
        let (handle, task) = Task::new(task);
        tokio::spawn(task);
        handle
    }

    async fn stream(&self, host: &str, port: u16) -> io::Result<TcpStream> {
        TcpStream::connect((host, port)).await
    }

    async fn connect(&self, node: &NodeName) -> RedisResult<MultiplexedConnection> {
        open(node, &connection_config()).await
    }

    async fn listen(&self, node: &NodeName) -> RedisResult<(MultiplexedConnection, Pushes)> {
        let info = node.as_str().into_connection_info()?;
        let settings = info.redis_settings().clone().set_skip_set_lib_name();
        let client = Client::open(info.set_redis_settings(settings.set_protocol(ProtocolVersion::RESP3)))?;
        let (sender, pushes) = Pushes::channel();
        let config = listening_config(sender);
        Ok((client.get_multiplexed_async_connection_with_config(&config).await?, pushes))
    }
}

impl RedisRs for TokioEnv {
    async fn open_multiplexed(&self, node: &NodeName) -> RedisResult<MultiplexedConnection> {
        open(node, &default_config()).await
    }
}

async fn open(node: &NodeName, config: &AsyncConnectionConfig) -> RedisResult<MultiplexedConnection> {
    let info = node.as_str().into_connection_info()?;
    let silent = info.redis_settings().clone().set_skip_set_lib_name();
    let client = Client::open(info.set_redis_settings(silent))?;
    client.get_multiplexed_async_connection_with_config(config).await
}

#[cfg(target_os = "linux")]
mod system {
    use super::{BootTime, Instant, MonotonicTime};
    use rustix::time::{ClockId, clock_gettime};

    pub(super) fn monotonic(_started: Instant) -> MonotonicTime {
        MonotonicTime(nanos(ClockId::Monotonic))
    }

    pub(super) fn boot(_started: Instant) -> BootTime {
        BootTime(nanos(ClockId::Boottime))
    }

    /// Both clocks count from boot, so that they are never negative and fit for 584 years.
    fn nanos(clock: ClockId) -> u64 {
        let now = clock_gettime(clock);
        let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
        seconds.saturating_mul(1_000_000_000).saturating_add(u64::try_from(now.tv_nsec).unwrap_or(0))
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use super::{BootTime, Instant, MonotonicTime};

    pub(super) fn monotonic(started: Instant) -> MonotonicTime {
        MonotonicTime(u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    pub(super) fn boot(started: Instant) -> BootTime {
        BootTime(monotonic(started).0)
    }
}
