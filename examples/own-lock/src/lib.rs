//! A lock as many services have one: `SET key token NX PX ttl` takes it, and whoever took it gives it back.
//!
//! Nothing in here knows of doublehold. The tests beside it find what is wrong with the first way to give it back.

use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{AsyncCommands, RedisResult, Script};

/// A lock that is held.
pub struct Held {
    redis: MultiplexedConnection,
    key: String,
    token: String,
}

/// How the lock is given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// GET, compare, DEL: as it went into review.
    GetThenDelete,
    /// Compared and deleted in one step.
    Script,
}

/// Asks for the lock once. `token` must be nobody else's.
pub async fn take(
    mut redis: MultiplexedConnection,
    key: String,
    ttl: Duration,
    token: String,
) -> RedisResult<Option<Held>> {
    let millis = ttl.as_millis() as u64;
    let set = redis::cmd("SET").arg(&key).arg(&token).arg("NX").arg("PX").arg(millis).to_owned();
    let granted: Option<String> = set.query_async(&mut redis).await?;
    Ok(granted.map(|_| Held { redis, key, token }))
}

impl Held {
    /// What the key holds.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// Gives the lock back, if it is still ours.
    pub async fn release(self, how: Release) -> RedisResult<bool> {
        match how {
            Release::GetThenDelete => self.get_then_delete().await,
            Release::Script => self.script().await,
        }
    }

    /// This is how it went into review, and it looks right.
    async fn get_then_delete(mut self) -> RedisResult<bool> {
        let holder: Option<String> = self.redis.get(&self.key).await?;
        if holder.as_deref() != Some(&self.token) {
            return Ok(false);
        }
        self.redis.del(&self.key).await
    }

    /// The same, repaired: Redis compares and deletes in one step, and nothing can come between.
    async fn script(mut self) -> RedisResult<bool> {
        let script = Script::new(
            "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0",
        );
        script.key(&self.key).arg(&self.token).invoke_async(&mut self.redis).await
    }
}
