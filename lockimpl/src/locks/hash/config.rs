//! The lock of a hash by name, on one node and on a master: its switches, what is known of it with them, and how one is
//! built.
//!
//! What they do is in the algorithm, one file up.

use std::time::Duration;

use super::{HashLock, scripts};
use crate::config::{Choice, Descriptor, Facts, Form, LockConfig, Nodes, Sends, Switches, Unfit};
use crate::connection::link::{Link, OnTimeout};
use crate::connection::request::RUNS_A_SCRIPT;
use crate::connection::transport::{Transport, choose_request_timeout};
use crate::env::{Env, NodeName};
use crate::locks::replicated::Masters;
use crate::parts::timing::Timing;
use crate::parts::waiting::{Waiting, Wake};
use crate::parts::watchdog::WatchedConfig;
use crate::registry::{BoxLock, ConfigError, LockKind, only_node};

/// The switches of the lock that is a hash.
#[derive(Clone)]
pub(in crate::locks) struct HashConfig {
    pub(in crate::locks) timing: Timing,
    pub(in crate::locks) request_timeout: Option<Duration>,
    pub(in crate::locks) on_timeout: OnTimeout,
    pub(in crate::locks) transport: Transport,
    /// True if an acquire without a reply is counted down again, once and at once.
    pub(in crate::locks) release_on_failure: bool,
    pub(in crate::locks) waiting: Waiting,
}

impl LockConfig for HashConfig {
    fn read(form: &mut Form<'_>) -> Self {
        Self {
            timing: Timing::choose(form, Timing::unchecked()),
            request_timeout: choose_request_timeout(form),
            on_timeout: OnTimeout::choose(form),
            transport: Transport::choose(form),
            release_on_failure: form.flag(
                "release_on_failure",
                false,
                "try once to take back a claim that failed and may have set the key",
            ),
            waiting: Waiting::choose(form),
        }
    }

    fn facts(&self) -> Facts {
        let to_hold = [&RUNS_A_SCRIPT[..], &self.waiting.sends()].concat();
        Facts {
            sends: Some(Sends { to_hold, to_extend: RUNS_A_SCRIPT.to_vec() }),
            extends: true,
            deadline: self.timing.has_deadline(),
            fencing: false,
            waits: self.waiting.waits(),
            renews: false,
            readmits: true,
        }
    }

    fn unfit(&self, ttl: Duration) -> Option<Unfit> {
        let cause = match self.waiting.wake {
            Wake::List => "the release of a hash publishes, and leaves nothing on a list",
            Wake::Tracking => "a key that is a hash cannot be read with GET, which is how it is tracked",
            Wake::None | Wake::Poll | Wake::Pubsub | Wake::Keyspace => {
                return self.timing.unfit(ttl).or_else(|| self.waiting.unfit());
            }
        };
        Some(Unfit { cause: cause.into(), hint: "use `wake = \"pubsub\"`".into() })
    }
}

/// The same where the master is followed, with what replicas must have.
#[derive(Clone)]
struct FollowingConfig {
    lock: HashConfig,
    synced: Synced,
    timeout: Duration,
}

/// Which replicas must have a write for it to count. The master waits for all that follow it, or until the time is
/// over.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Synced {
    /// None: nobody waits.
    #[default]
    None,
    /// One of those that followed the master when it was asked last, and none if none did: another may be promoted.
    Any,
    /// All nodes but the master, also those that do not follow it.
    All,
}

impl Choice for Synced {
    const WORDS: &'static [(&'static str, Self)] =
        &[("none", Self::None), ("any", Self::Any), ("all", Self::All)];
}

impl LockConfig for FollowingConfig {
    fn read(form: &mut Form<'_>) -> Self {
        let lock = HashConfig::read(form);
        let synced = form.choice(
            "synced",
            Synced::default(),
            "which replicas must have a write for it to count (WAIT)",
        );
        let second = Duration::from_secs(1);
        let timeout = form.positive_duration("wait_timeout", second, "how long the master waits for them");
        form.needs("synced");
        Self { lock, synced, timeout }
    }

    fn facts(&self) -> Facts {
        let mut facts = self.lock.facts();
        if let Some(sends) = &mut facts.sends {
            sends.to_hold.push("ROLE");
            sends.to_hold.extend((self.synced != Synced::None).then_some("WAIT"));
        }
        facts
    }

    fn unfit(&self, ttl: Duration) -> Option<Unfit> {
        self.lock.unfit(ttl)
    }
}

/// The kind of this lock.
pub(crate) struct Hash;

/// The same on whichever node is master.
pub(crate) struct HashReplicated;

impl<E: Env> LockKind<E> for Hash {
    fn descriptor(&self) -> Descriptor {
        Descriptor::from_config::<WatchedConfig<HashConfig>>(
            "hash",
            "a hash on one node that counts how often a thread took the lock, which may take it again",
            "Redisson's RLock: HINCRBY of the field of a thread, in scripts",
            Nodes::One,
        )
        .with_scripts(scripts())
    }

    fn build(&self, env: E, nodes: Vec<NodeName>, chosen: &Switches) -> Result<BoxLock, ConfigError> {
        let node = only_node("hash", nodes)?;
        let WatchedConfig { lock, renewal } = WatchedConfig::<HashConfig>::from_switches(chosen)?;
        let link = link(&env, &lock, node);
        let synced = (Synced::None, Duration::ZERO);
        Ok(renewal.wrap_lock(env.clone(), HashLock::new(env, lock, synced, Masters::only(link))))
    }
}

impl<E: Env> LockKind<E> for HashReplicated {
    fn descriptor(&self) -> Descriptor {
        Descriptor::from_config::<WatchedConfig<FollowingConfig>>(
            "hash-replicated",
            "the same hash on whichever node is master, followed when another is promoted",
            "Redisson's RLock with replicas: WAIT after each script (`checkLockSyncedSlaves`)",
            Nodes::Replicated,
        )
        .with_scripts(scripts())
    }

    fn build(&self, env: E, nodes: Vec<NodeName>, chosen: &Switches) -> Result<BoxLock, ConfigError> {
        if nodes.is_empty() {
            return Err(ConfigError::NoNodes);
        }
        let WatchedConfig { lock: FollowingConfig { lock, synced, timeout }, renewal } =
            WatchedConfig::from_switches(chosen)?;
        let masters = Masters::new(nodes.into_iter().map(|node| link(&env, &lock, node)).collect());
        Ok(renewal.wrap_lock(env.clone(), HashLock::new(env, lock, (synced, timeout), masters)))
    }
}

pub(super) fn link<E: Env>(env: &E, config: &HashConfig, node: NodeName) -> Link<E> {
    Link::new(node, config.request_timeout, config.on_timeout).with_transport(env, config.transport)
}
