//! The lock as doublehold takes it: how it is taken, what is held, and how it is configured. Copy this file first.

use std::time::Duration;

use doublehold::check::{
    Choice, Client, Deadline, Existing, Form, Guard, LockConfig, LockKind, MultiplexedConnection, SimEnv,
    Wanted,
};
use own_lock::{Held, Release, take};
use redis::{RedisError, RedisResult};

/// Its configuration. Each of these is a switch: scenarios set it, plans keep it, properties draw it.
struct Config {
    release: Release,
    margin: Duration,
}

/// `Release` is another crate's type here, as it is where the lock is tested from outside.
#[derive(Clone, Copy, PartialEq)]
struct How(Release);

impl Choice for How {
    const WORDS: &'static [(&'static str, How)] =
        &[("script", How(Release::Script)), ("get-then-delete", How(Release::GetThenDelete))];
}

impl LockConfig for Config {
    fn read(form: &mut Form<'_>) -> Config {
        let How(release) = form.choice("release", How(Release::Script), "how it is given back");
        let margin =
            form.duration("margin", Duration::ZERO, "how long before its end nobody relies on the lease");
        Config { release, margin }
    }
}

/// What a client has while it holds the lock.
struct Lease {
    held: Held,
    release: Release,
    until: Deadline,
}

impl Guard for Lease {
    fn token(&self) -> Vec<u8> {
        self.held.token().into()
    }
    fn deadline(&self) -> Option<Deadline> {
        Some(self.until)
    }
    async fn release(self) -> RedisResult<bool> {
        self.held.release(self.release).await
    }
}

/// The lock, for a check or a property.
pub fn lock() -> impl LockKind<SimEnv> {
    let lease = async |redis: MultiplexedConnection, client: Client, wanted: Wanted| {
        let Config { release, margin } = client.config();
        let asked = client.monotonic().await;
        let held = take(redis, wanted.resource, wanted.ttl, client.token()).await?;
        let until = Deadline::Monotonic(asked.saturating_add(wanted.ttl.saturating_sub(margin)));
        Ok::<_, RedisError>(held.map(|held| Lease { held, release, until }))
    };
    Existing::on_one_node("own-lock", lease).with_config::<Config>()
}
