//! The lock on a single node: `SET key token NX PX ttl` takes it, a script that compares the token
//! gives it back. The published form of it checks no time at all; the switches add what was asked of
//! it since.
//!
//! Assumes a node that does not forget. Asks again only where it is told how to wait.

mod protocol;
mod quirks;

use std::time::Duration;

use crate::config::{Descriptor, FENCING, Facts, Form, LockConfig, Nodes, Sends, Switches, Unfit};
use crate::connection::link::{Link, OnTimeout};
use crate::connection::request::{RUNS_A_SCRIPT, ReleaseMethod};
use crate::connection::transport::{Transport, choose_request_timeout};
use crate::env::{Env, NodeName};
use crate::lock::{Acquired, Extended, Grant, Lock, Released};
use crate::parts::timing::Timing;
use crate::parts::tokens::Tokens;
use crate::parts::waiting::{Signals, Wait, Waiting};
use crate::parts::watchdog::{Renewable, WatchedConfig};
use crate::registry::{BoxLock, ConfigError, LockKind, only_node};

pub(crate) use protocol::Protocol;
use protocol::read_release;
pub use quirks::{DeadlineFrom, ExpiryClock, ExtendBy, Probe, Quirks};

/// The switches of the lock on one node. The default is the lock of the Redis documentation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SingleConfig {
    /// Whether replies can come too late, and who measures it. Published without any check: an OK
    /// that arrives after the lease has ended is a grant. antirez: any lock that expires should
    /// check. A grant has a deadline only if it is computed here.
    pub timing: Timing,
    /// How long one command may take, connecting included; none waits for ever. Default 1 s. A
    /// command that was given up may still be executed.
    pub request_timeout: Option<Duration>,
    /// What happens to a connection on which a reply did not come in time.
    pub on_timeout: OnTimeout,
    /// How often the driver connects anew, and when. Published: never.
    pub transport: Transport,
    /// How the key is given back.
    pub release: ReleaseMethod,
    /// Take the lock by a script that also increments the counter at key `{resource}:fencing` (the
    /// braces are part of it), whose value becomes the grant's fencing number. Off as published.
    /// Kleppmann asks for such a number, and objects that a counter on one node is only as durable
    /// as the node: lost increments make numbers go backwards.
    pub fencing: bool,
    /// Let an extension set the key again when it is absent, as redsync offers and RedLock.net
    /// does. Another client may have held the lock in the gap, and nobody is told. Off.
    pub extend_if_missing: bool,
    /// After a claim that may have set the key without a grant (no reply, a reply too late, too few
    /// replicas), try once to release it. Default on, as Redlock does; off, the key locks everybody
    /// out for a lease.
    pub release_on_failure: bool,
}

impl LockConfig for SingleConfig {
    fn read(form: &mut Form<'_>) -> Self {
        Self {
            timing: Timing::choose(form, Timing::unchecked()),
            request_timeout: choose_request_timeout(form),
            on_timeout: OnTimeout::choose(form),
            transport: Transport::choose(form),
            release: ReleaseMethod::choose(form),
            fencing: form.flag("fencing", false, FENCING),
            extend_if_missing: choose_extend_if_missing(form),
            release_on_failure: form.flag(
                "release_on_failure",
                true,
                "try once to take back a claim that failed and may have set the key",
            ),
        }
    }

    fn facts(&self) -> Facts {
        let claim: &[&str] = if self.fencing { &RUNS_A_SCRIPT } else { &["SET"] };
        Facts {
            sends: Some(Sends {
                to_hold: [claim, self.release.sends()].concat(),
                to_extend: RUNS_A_SCRIPT.to_vec(),
            }),
            extends: true,
            deadline: self.timing.has_deadline(),
            fencing: self.fencing,
            waits: false,
            renews: false,
            readmits: false,
        }
    }

    fn unfit(&self, ttl: Duration) -> Option<Unfit> {
        self.timing.unfit(ttl)
    }
}

impl Default for SingleConfig {
    fn default() -> Self {
        Self::defaults()
    }
}

/// The lock on one node, what libraries do otherwise with it, and how its clients wait. Apart, since a lock on a
/// replicated master takes the first alone.
struct WaitingConfig {
    lock: SingleConfig,
    quirks: Quirks,
    waiting: Waiting,
}

impl LockConfig for WaitingConfig {
    fn read(form: &mut Form<'_>) -> Self {
        Self { lock: SingleConfig::read(form), quirks: Quirks::read(form), waiting: Waiting::choose(form) }
    }

    fn facts(&self) -> Facts {
        let lock = self.lock.facts();
        let deadline = lock.deadline && self.quirks.tells_deadline;
        let (waits, extends) = (self.waiting.waits(), self.quirks.extends());
        let mut facts = Facts { waits, extends, deadline, ..lock };
        if let Some(sends) = &mut facts.sends {
            sends.to_hold.extend(self.quirks.sends_to_hold());
            sends.to_hold.extend(self.waiting.sends());
            sends.to_extend = self.quirks.sends_to_extend();
        }
        facts
    }

    fn unfit(&self, ttl: Duration) -> Option<Unfit> {
        let silent = self.waiting.is_told() && self.lock.release != ReleaseMethod::CompareAndDelete;
        let silent = silent.then(|| Unfit {
            cause: "only a release by a script tells those who wait".into(),
            hint: "use `release = \"compare-and-delete\"`, or another `wake`".into(),
        });
        let quirks = self.quirks.unfit(self.lock.fencing, self.lock.extend_if_missing);
        self.lock.unfit(ttl).or(quirks).or_else(|| self.waiting.unfit()).or(silent)
    }
}

/// The kind of this lock.
pub(crate) struct Single;

impl<E: Env> LockKind<E> for Single {
    fn descriptor(&self) -> Descriptor {
        Descriptor::from_config::<WatchedConfig<WaitingConfig>>(
            "single",
            "a key on one node: SET NX PX takes it, a script that compares the token gives it back",
            "Redis documentation, \"Distributed Locks with Redis\": a correct implementation with a single instance",
            Nodes::One,
        )
        .with_scripts(
            [
                crate::connection::scripts::scripts(),
                crate::connection::extension_scripts::quirk_scripts(),
                Signals::new().scripts().into(),
            ]
            .concat(),
        )
    }

    fn build(&self, env: E, nodes: Vec<NodeName>, chosen: &Switches) -> Result<BoxLock, ConfigError> {
        let node = only_node("single", nodes)?;
        let WatchedConfig { lock: WaitingConfig { lock, quirks, waiting }, renewal } =
            WatchedConfig::from_switches(chosen)?;
        let lock = SingleLock::new(env.clone(), node, lock).with_quirks(quirks).with_waiting(waiting);
        Ok(renewal.wrap_lock(env, lock))
    }
}

/// Asks for a switch that every lock has which extends a lease.
pub(crate) fn choose_extend_if_missing(form: &mut Form<'_>) -> bool {
    form.flag("extend_if_missing", false, "let an extension set a key again that is gone")
}

/// A write counts only if that many replicas have it: `WAIT` after every claim and extension, on the
/// same connection. The time it takes is part of the lease.
///
/// Redisson relies on it. It makes a lost lock rarer: the replicas acknowledge from memory, and the
/// one that is promoted need not be one that acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplicaWait {
    /// How many replicas must acknowledge.
    pub replicas: u64,
    /// How long the master waits for them, rounded up to whole milliseconds, at least one.
    pub timeout: Duration,
}

/// The lock on one node; see [`SingleConfig`].
pub struct SingleLock<E: Env> {
    env: E,
    config: SingleConfig,
    quirks: Quirks,
    link: Link<E>,
    tokens: Tokens<E>,
    waiting: Option<(Waiting, Signals)>,
}

impl<E: Env> SingleLock<E> {
    /// A lock on `node`. Connects when it is first used.
    pub fn new(env: E, node: NodeName, config: SingleConfig) -> Self {
        let link =
            Link::new(node, config.request_timeout, config.on_timeout).with_transport(&env, config.transport);
        let quirks = Quirks::defaults();
        let tokens = Tokens::new(&env, quirks.token, quirks.token_value);
        Self { env, config, quirks, link, tokens, waiting: None }
    }

    /// The same, as a library has it.
    #[must_use]
    pub fn with_quirks(self, quirks: Quirks) -> Self {
        let tokens = Tokens::new(&self.env, quirks.token, quirks.token_value);
        Self { quirks, tokens, ..self }
    }

    /// The same, whose clients wait.
    #[must_use]
    pub fn with_waiting(self, waiting: Waiting) -> Self {
        let waiting = waiting.waits().then(|| (waiting, Signals::new()));
        Self { waiting, ..self }
    }

    fn protocol(&mut self) -> Protocol<'_, E> {
        let Self { env, config, quirks, link, .. } = self;
        Protocol { env, config, quirks, wait: None, link }
    }
}

impl<E: Env> Lock for SingleLock<E> {
    async fn acquire(&mut self, resource: &str, ttl: Duration) -> Acquired {
        let token = self.tokens.next(resource, true).await;
        self.protocol().acquire_with(resource, ttl, token).await
    }

    async fn extend(&mut self, grant: &mut Grant, ttl: Duration) -> Extended {
        self.protocol().extend(grant, ttl).await
    }

    async fn acquire_within(&mut self, resource: &str, ttl: Duration, limit: Duration) -> Acquired {
        let Self { env, config, quirks, link, tokens, waiting } = self;
        let Some((waiting, _)) = waiting else { return self.acquire(resource, ttl).await };
        let mut protocol = Protocol { env, config, quirks, wait: None, link };
        let way = (protocol.link.node().clone(), config.request_timeout);
        let mut wait = Wait::begin(env, waiting, way, (resource, limit)).await;
        let mut first = true;
        loop {
            let token = tokens.next(resource, first).await;
            let acquired = protocol.acquire_with(resource, ttl, token).await;
            if matches!(acquired, Acquired::Granted(_)) || !wait.turn().await {
                return acquired;
            }
            first = false;
        }
    }

    async fn release(&mut self, grant: &Grant) -> Released {
        let Self { env, link, waiting: Some((waiting, signals)), .. } = self else {
            return self.protocol().release(&grant.resource, &grant.token).await;
        };
        if !waiting.is_told() {
            return self.protocol().release(&grant.resource, &grant.token).await;
        }
        read_release(signals.release(env, link, waiting, (&grant.resource, &grant.token)).await)
    }
}

/// Waits for nothing.
impl<E: Env> Renewable for SingleLock<E> {
    fn twin(&self) -> Self {
        let Self { env, config, quirks, link, .. } = self;
        Self {
            env: env.clone(),
            config: config.clone(),
            quirks: quirks.clone(),
            link: link.twin(),
            tokens: Tokens::new(env, quirks.token, quirks.token_value),
            waiting: None,
        }
    }
}
