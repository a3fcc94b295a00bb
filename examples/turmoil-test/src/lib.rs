//! A lock as one writes it with tokio and redis-rs: a lease with a watchdog that renews it, and waiting for a message.
//!
//! It knows nothing of turmoil or doublehold. Where its connections come from is its caller's business.

use std::time::Duration;

use futures_util::StreamExt;
use redis::aio::{MultiplexedConnection, PubSub};
use redis::{
    AsyncCommands, AsyncConnectionConfig, ExistenceCheck, RedisConnectionInfo, RedisResult, Script,
    SetExpiry, SetOptions,
};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout};

/// Deletes the key if it is still ours, and tells who waits.
const RELEASE: &str = "
    if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
    redis.call('DEL', KEYS[1])
    redis.call('PUBLISH', KEYS[1], 'free')
    return 1";

/// Gives the key its whole lease again if it is still ours.
const RENEW: &str = "
    if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
    return redis.call('PEXPIRE', KEYS[1], ARGV[2])";

/// The moment from which a lease is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaseFrom {
    /// From Redis' answer. The key's own time has been running since Redis had the request: this lease ends too late.
    Answer,
    /// From the request, before anything was sent.
    Request,
}

/// A lock at one Redis, as one client has it.
pub struct Lock {
    redis: MultiplexedConnection,
    messages: PubSub,
    name: String,
    lease: Duration,
    lease_from: LeaseFrom,
}

/// A lock that is held until it is given back, or cannot be renewed any more.
pub struct Guard {
    redis: MultiplexedConnection,
    name: String,
    token: String,
    until: watch::Receiver<Instant>,
    watchdog: JoinHandle<()>,
}

impl Lock {
    /// A lock over two connections, one for commands and one for messages.
    pub async fn new<S>(
        commands: S,
        messages: S,
        name: &str,
        lease: Duration,
        lease_from: LeaseFrom,
    ) -> RedisResult<Lock>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let info = RedisConnectionInfo::default();
        let (redis, driver) =
            MultiplexedConnection::new_with_config(&info, commands, AsyncConnectionConfig::default()).await?;
        tokio::spawn(driver);
        let mut messages = PubSub::new(&info, messages).await?;
        messages.subscribe(name).await?;
        Ok(Lock { redis, messages, name: name.to_owned(), lease, lease_from })
    }

    /// Takes the lock, waiting for at most so long. `token` must be another each time.
    pub async fn acquire(&mut self, token: &str, patience: Duration) -> RedisResult<Option<Guard>> {
        let give_up = Instant::now() + patience;
        loop {
            if let Some(until) = self.try_acquire(token).await? {
                return Ok(Some(self.guard(token, until)));
            }
            let left = give_up.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            // Nobody says so when a lease runs out: from time to time we look for ourselves.
            let _ = timeout(left.min(self.lease / 10), self.messages.on_message().next()).await;
        }
    }

    async fn try_acquire(&mut self, token: &str) -> RedisResult<Option<Instant>> {
        let asked = Instant::now();
        let lease = SetExpiry::PX(self.lease.as_millis() as u64);
        let if_free = SetOptions::default().conditional_set(ExistenceCheck::NX).with_expiration(lease);
        let is_ours: Option<String> = self.redis.set_options(&self.name, token, if_free).await?;
        Ok(is_ours.map(|_| self.lease_from.beginning(asked) + self.lease))
    }

    fn guard(&self, token: &str, until: Instant) -> Guard {
        let (told, until) = watch::channel(until);
        let (redis, name, token) = (self.redis.clone(), self.name.clone(), token.to_owned());
        let watchdog = tokio::spawn(renew(
            redis.clone(),
            name.clone(),
            token.clone(),
            self.lease,
            self.lease_from,
            told,
        ));
        Guard { redis, name, token, until, watchdog }
    }
}

/// Renews a lease three times in its length, for as long as it is ours.
async fn renew(
    mut redis: MultiplexedConnection,
    name: String,
    token: String,
    lease: Duration,
    lease_from: LeaseFrom,
    told: watch::Sender<Instant>,
) {
    let script = Script::new(RENEW);
    let mut beats = interval_at(Instant::now() + lease / 3, lease / 3);
    beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        beats.tick().await;
        let asked = Instant::now();
        let renewed =
            script.key(&name).arg(&token).arg(lease.as_millis() as u64).invoke_async(&mut redis).await;
        match renewed {
            Ok(true) => told.send_replace(lease_from.beginning(asked) + lease),
            Ok(false) => return,
            // The next beat tries again; the lease is not longer for it.
            Err(_) => continue,
        };
    }
}

impl LeaseFrom {
    fn beginning(self, asked: Instant) -> Instant {
        match self {
            LeaseFrom::Answer => Instant::now(),
            LeaseFrom::Request => asked,
        }
    }
}

impl Guard {
    /// Until when the lock may be believed in; it changes with each renewal.
    pub fn until(&self) -> watch::Receiver<Instant> {
        self.until.clone()
    }

    /// Gives the lock back. Returns whether it was still ours.
    pub async fn release(mut self) -> RedisResult<bool> {
        self.watchdog.abort();
        Script::new(RELEASE).key(&self.name).arg(&self.token).invoke_async(&mut self.redis).await
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.watchdog.abort();
    }
}
