//! A counter on one node: whoever counts it up from nothing has the lock, and whoever is done counts it down.
//!
//! Its flaw: the count says that somebody is inside, and not who. A client that is done when its count has expired
//! counts another's down. Counting down also begins the key's time anew. Assumes a node that does not forget.

use std::time::Duration;

use redis::{Pipeline, Value};

use crate::config::{Descriptor, Facts, Form, LockConfig, Nodes, Sends, Switches};
use crate::connection::link::{Failure, Link, OnTimeout};
use crate::connection::request::says_yes;
use crate::connection::transport::{Transport, choose_request_timeout};
use crate::connection::units::millis;
use crate::env::{Env, NodeName};
use crate::lock::{Acquired, Grant, Lock, Refusal, Released, Token};
use crate::registry::{BoxLock, ConfigError, LockKind, only_node};

/// The switches of a counter.
struct CounterConfig {
    request_timeout: Option<Duration>,
    on_timeout: OnTimeout,
    transport: Transport,
}

impl LockConfig for CounterConfig {
    fn read(form: &mut Form<'_>) -> Self {
        Self {
            request_timeout: choose_request_timeout(form),
            on_timeout: OnTimeout::choose(form),
            transport: Transport::choose(form),
        }
    }

    fn facts(&self) -> Facts {
        let to_hold = ["SET", "WATCH", "GET", "UNWATCH", "MULTI", "EXEC"].to_vec();
        Facts {
            sends: Some(Sends { to_hold, to_extend: Vec::new() }),
            extends: false,
            deadline: false,
            fencing: false,
            waits: false,
            renews: false,
            readmits: false,
        }
    }
}

/// The kind of this lock.
pub(crate) struct Counter;

impl<E: Env> LockKind<E> for Counter {
    fn descriptor(&self) -> Descriptor {
        Descriptor::from_config::<CounterConfig>(
            NAME,
            "a number that is counted up by whoever enters and down by whoever leaves, and says nothing of who they are",
            "dramatiq's ConcurrentRateLimiter of 1, \"a distributed mutex\"",
            Nodes::One,
        )
    }

    fn build(&self, env: E, nodes: Vec<NodeName>, chosen: &Switches) -> Result<BoxLock, ConfigError> {
        let (node, config) = (only_node(NAME, nodes)?, CounterConfig::from_switches(chosen)?);
        let link =
            Link::new(node, config.request_timeout, config.on_timeout).with_transport(&env, config.transport);
        Ok(BoxLock::new(CounterLock { env, link, ttl: Duration::ZERO }))
    }
}

const NAME: &str = "counter";

struct CounterLock<E: Env> {
    env: E,
    link: Link<E>,
    /// The lease that was asked for last, which a release begins anew.
    ttl: Duration,
}

/// The result of counting.
enum Counted {
    Yes,
    /// Nobody may count there.
    No,
}

impl<E: Env> CounterLock<E> {
    /// Counts up or down where `may` lets it, unless somebody else counted meanwhile: then it looks again.
    async fn count(&mut self, key: &str, by: i64, may: impl Fn(i64) -> bool) -> Result<Counted, Failure> {
        loop {
            self.link.call(&self.env, redis::cmd("WATCH").arg(key)).await?;
            let held = self.link.call(&self.env, redis::cmd("GET").arg(key)).await?;
            let count = number(&held).saturating_add(by);
            if !may(count) {
                self.link.call(&self.env, &redis::cmd("UNWATCH")).await?;
                return Ok(Counted::No);
            }
            let mut set = Pipeline::with_capacity(3);
            set.cmd("MULTI").cmd("SET").arg(key).arg(count).arg("PX").arg(millis(self.ttl)).cmd("EXEC");
            let replies = self.link.pipeline(&self.env, &set).await?;
            if !matches!(replies.last(), None | Some(Value::Nil)) {
                return Ok(Counted::Yes);
            }
        }
    }

    async fn enter(&mut self, key: &str) -> Result<Counted, Failure> {
        let mut first = redis::cmd("SET");
        first.arg(key).arg(1).arg("NX").arg("PX").arg(millis(self.ttl));
        if says_yes(&self.link.call(&self.env, &first).await?) {
            return Ok(Counted::Yes);
        }
        self.count(key, 1, |count| count <= 1).await
    }
}

/// The number in a key; a key that is gone, or no number, says nothing.
fn number(held: &Value) -> i64 {
    let Value::BulkString(text) = held else { return 0 };
    std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).unwrap_or(0)
}

impl<E: Env> Lock for CounterLock<E> {
    async fn acquire(&mut self, resource: &str, ttl: Duration) -> Acquired {
        self.ttl = ttl;
        self.env.marks_key(resource.as_bytes());
        match self.enter(resource).await {
            Ok(Counted::Yes) => Acquired::Granted(Grant::new(resource, Token::new("1"))),
            Ok(Counted::No) => Acquired::Refused(Refusal::Taken),
            Err(failure) => failure.into_acquired(),
        }
    }

    async fn release(&mut self, grant: &Grant) -> Released {
        match self.count(&grant.resource, -1, |count| count >= 0).await {
            Ok(Counted::Yes) => Released::Released,
            Ok(Counted::No) => Released::NotOwner,
            Err(failure) => Released::Unknown(failure.into_doubt()),
        }
    }
}
