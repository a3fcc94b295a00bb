//! A key on one node and a list beside it: a release leaves a signal on the list, and whoever was refused waits at the
//! node until there is one (`BLPOP`).
//!
//! The signal lives for a while and no longer: a client that comes to the list later has missed it, and waits for the
//! next, or until the lease it would have been given has passed. A key without an end has no such bound. Assumes a
//! node that does not forget. Models no `reset` of somebody else's lock.

use std::sync::LazyLock;
use std::time::Duration;

use redis::Value;

use crate::config::{Descriptor, Facts, Form, LockConfig, Nodes, Sends, Switches, Unfit};
use crate::connection::cached_script::CachedScript;
use crate::connection::link::{Failure, Link, OnTimeout};
use crate::connection::plain_node::unfit;
use crate::connection::request::{RUNS_A_SCRIPT, says_yes};
use crate::connection::subscription::Subscription;
use crate::connection::transport::{Transport, choose_request_timeout};
use crate::connection::tries::{Tries, sleep};
use crate::connection::units::{millis, seconds};
use crate::connection::wire::deadline_after;
use crate::env::{Env, NodeName};
use crate::lock::{Acquired, Extended, Grant, Lock, Refusal, Released, Token};
use crate::locks::redlock::Expiry;
use crate::parts::watchdog::{Renewable, WatchedConfig};
use crate::registry::{BoxLock, ConfigError, LockKind, only_node};

/// The switches of the lock with a list.
#[derive(Clone)]
struct ListConfig {
    expiry: Expiry,
    signal_ttl: Duration,
    request_timeout: Option<Duration>,
    on_timeout: OnTimeout,
    transport: Transport,
}

impl LockConfig for ListConfig {
    fn read(form: &mut Form<'_>) -> Self {
        Self {
            expiry: form.choice("expiry", Expiry::default(), "how a key ends that its owner does not delete"),
            signal_ttl: form.positive_duration(
                "signal_ttl",
                Duration::from_secs(1),
                "how long what a release puts on a list stays there",
            ),
            request_timeout: choose_request_timeout(form),
            on_timeout: OnTimeout::choose(form),
            transport: Transport::choose(form),
        }
    }

    fn facts(&self) -> Facts {
        let extends = self.expiry != Expiry::None;
        let to_hold = [&["GET", "SET", "BLPOP"], &RUNS_A_SCRIPT[..]].concat();
        let to_extend = if extends { RUNS_A_SCRIPT.to_vec() } else { Vec::new() };
        Facts {
            sends: Some(Sends { to_hold, to_extend }),
            extends,
            deadline: false,
            fencing: false,
            waits: true,
            renews: false,
            readmits: false,
        }
    }

    fn unfit(&self, ttl: Duration) -> Option<Unfit> {
        if self.expiry == Expiry::None { None } else { unfit("SET … EX", ttl) }
    }
}

/// The kind of this lock.
pub(crate) struct List;

impl<E: Env> LockKind<E> for List {
    fn descriptor(&self) -> Descriptor {
        Descriptor::from_config::<WatchedConfig<ListConfig>>(
            "list",
            "a key on one node, and a list on which a release leaves a signal for one who waits",
            "python-redis-lock (2013 to 2026): SET NX and BLPOP",
            Nodes::One,
        )
        .with_scripts([&RELEASE, &EXTEND].map(|script| script.source().to_owned()).into())
    }

    fn build(&self, env: E, nodes: Vec<NodeName>, chosen: &Switches) -> Result<BoxLock, ConfigError> {
        let node = only_node("list", nodes)?;
        let WatchedConfig { lock: config, renewal } = WatchedConfig::<ListConfig>::from_switches(chosen)?;
        let link =
            Link::new(node, config.request_timeout, config.on_timeout).with_transport(&env, config.transport);
        let lock = ListLock { env: env.clone(), link, config, token: None, listening: None };
        Ok(renewal.wrap_lock(env, lock))
    }
}

pub(crate) static RELEASE: LazyLock<CachedScript> = LazyLock::new(|| {
    CachedScript::new(
        "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end \
         redis.call('DEL', KEYS[1], KEYS[2]) \
         redis.call('RPUSH', KEYS[2], '1') \
         redis.call('PEXPIRE', KEYS[2], ARGV[2]) \
         return 1",
    )
});

pub(crate) static EXTEND: LazyLock<CachedScript> = LazyLock::new(|| {
    CachedScript::new(
        "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end \
         return redis.call('EXPIRE', KEYS[1], ARGV[2])",
    )
});

struct ListLock<E: Env> {
    env: E,
    link: Link<E>,
    config: ListConfig,
    /// The value of its key, for as long as there is this lock.
    token: Option<Token>,
    /// The connection on which it has waited.
    listening: Option<Subscription<E>>,
}

impl<E: Env> ListLock<E> {
    /// Its token, which it draws once. Keys that hold it are the call's under way.
    fn token(&mut self) -> Token {
        if let Some(token) = &self.token {
            self.env.marks(token.as_bytes());
            return token.clone();
        }
        self.token.insert(Token::draw(&self.env)).clone()
    }

    /// Asks once.
    async fn claim(&mut self, key: &str, token: &Token, ttl: Duration) -> Result<bool, Failure> {
        let mut set = redis::cmd("SET");
        set.arg(key).arg(token.as_bytes()).arg("NX");
        if self.config.expiry == Expiry::Px {
            set.arg("EX").arg(seconds(ttl));
        }
        self.link.call(&self.env, &set).await.map(|reply| says_yes(&reply))
    }

    /// True if the key holds its own token: it was taken before, and never given back. That is no grant.
    async fn is_held(&mut self, key: &str, token: &Token) -> Result<bool, Failure> {
        let held = self.link.call(&self.env, redis::cmd("GET").arg(key)).await?;
        Ok(held == Value::BulkString(token.as_bytes().into()))
    }

    /// Waits for a signal for so long at most, as often as the driver tries. Whether there was one.
    async fn pop(&mut self, list: &str, limit: Duration) -> Result<bool, Failure> {
        let mut tries = Tries::new(self.config.transport);
        loop {
            match self.pop_once(list, limit).await {
                Ok(popped) => return Ok(popped),
                Err(failure) => sleep(&self.env, tries.pause_after(&self.env, failure)?).await,
            }
        }
    }

    /// Waits once.
    async fn pop_once(&mut self, list: &str, limit: Duration) -> Result<bool, Failure> {
        let Self { env, link, config, listening, .. } = self;
        let mut open = match listening.take() {
            Some(open) => open,
            None => {
                let limit = config.transport.connect_timeout.or(config.request_timeout);
                let deadline = deadline_after(env, limit).await;
                Subscription::open(env, link.node(), deadline).await?
            }
        };
        let waits = if config.transport.reconnect.times_waits() { Duration::ZERO } else { limit };
        let patience = config.request_timeout.map(|timeout| timeout.saturating_add(waits));
        let deadline = deadline_after(env, patience).await;
        let popped = open.pop(env, list, Some(limit), deadline).await?;
        // One that failed is not kept.
        *listening = Some(open);
        Ok(popped)
    }

    async fn wait(
        &mut self,
        resource: &str,
        ttl: Duration,
        limit: Duration,
    ) -> Result<Option<Token>, Failure> {
        let (key, list) = names(resource);
        let token = self.token();
        self.env.names_key(resource, key.as_bytes());
        if self.is_held(&key, &token).await? {
            return Ok(None);
        }
        let ends = self.env.monotonic().await.saturating_add(limit);
        // A limit beyond the lease is none: whoever waits without one waits for a lease each time.
        let bounded = self.config.expiry == Expiry::None || limit <= ttl;
        let each = if bounded { limit } else { ttl };
        let mut over = limit.is_zero();
        loop {
            if self.claim(&key, &token, ttl).await? {
                return Ok(Some(token));
            }
            if over {
                return Ok(None);
            }
            let woken = self.pop(&list, each).await?;
            // After a signal a limit counts anew, as the library has it.
            over = !woken && (bounded || self.env.monotonic().await >= ends);
        }
    }
}

impl<E: Env> Renewable for ListLock<E> {
    fn twin(&self) -> Self {
        let Self { env, link, config, token, .. } = self;
        let (env, link, config, token) = (env.clone(), link.twin(), config.clone(), token.clone());
        Self { env, link, config, token, listening: None }
    }
}

/// The names of a lock's key and of its list.
fn names(resource: &str) -> (String, String) {
    (format!("lock:{resource}"), format!("lock-signal:{resource}"))
}

impl<E: Env> Lock for ListLock<E> {
    async fn acquire(&mut self, resource: &str, ttl: Duration) -> Acquired {
        self.acquire_within(resource, ttl, Duration::ZERO).await
    }

    async fn acquire_within(&mut self, resource: &str, ttl: Duration, limit: Duration) -> Acquired {
        match self.wait(resource, ttl, limit).await {
            Ok(Some(token)) => Acquired::Granted(Grant::new(resource, token)),
            Ok(None) => Acquired::Refused(Refusal::Taken),
            Err(failure) => failure.into_acquired(),
        }
    }

    async fn extend(&mut self, grant: &mut Grant, ttl: Duration) -> Extended {
        if self.config.expiry == Expiry::None {
            return Extended::Unsupported;
        }
        let ((key, list), ttl) = (names(&grant.resource), seconds(ttl).to_string());
        let args = [grant.token.as_bytes(), ttl.as_bytes()];
        match EXTEND.run(&self.env, &mut self.link, &[&key, &list], &args).await {
            Ok(reply) if says_yes(&reply) => Extended::Extended { deadline: None },
            Ok(_) => Extended::NotOwner,
            Err(failure) => Extended::Unknown(failure.into_doubt()),
        }
    }

    async fn release(&mut self, grant: &Grant) -> Released {
        let ((key, list), lives) = (names(&grant.resource), millis(self.config.signal_ttl).to_string());
        let args = [grant.token.as_bytes(), lives.as_bytes()];
        match RELEASE.run(&self.env, &mut self.link, &[&key, &list], &args).await {
            Ok(reply) if says_yes(&reply) => Released::Released,
            Ok(_) => Released::NotOwner,
            Err(failure) => Released::Unknown(failure.into_doubt()),
        }
    }
}
