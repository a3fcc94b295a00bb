//! Redlock by name: its switches, what is known of it with them, and how one is built. Every switch is at its published
//! value by default.
//!
//! What they do is in the algorithm, one file up; here they are only chosen.

use std::time::Duration;

use super::RedlockLock;
use super::options::{
    Expiry, ExtendCheck, ExtensionVotes, OnFailedExtension, OnNodeError, Order, Quorum, ReleaseOn, Subset,
    Tie, WaitFor,
};
use super::retry::Retry;
use crate::config::{Descriptor, Facts, Form, LockConfig, Nodes, Sends, Switches, Unfit};
use crate::connection::link::OnTimeout;
use crate::connection::request::{RUNS_A_SCRIPT, ReleaseMethod};
use crate::connection::transport::Transport;
use crate::env::{Env, NodeName};
use crate::locks::single::choose_extend_if_missing;
use crate::parts::timing::Timing;
use crate::parts::tokens::TokenScope;
use crate::parts::watchdog::WatchedConfig;
use crate::registry::{BoxLock, ConfigError, LockKind};

/// The switches of Redlock.
///
/// ```
/// use doublehold_lockimpl::{Clock, RedlockConfig, Timing};
///
/// // node-redlock: measures with the wall clock and hands out locks that have already expired.
/// let timing = Timing { clock: Clock::Wall, unchecked_deadline: true, ..Timing::unchecked() };
/// let node_redlock = RedlockConfig { timing, ..RedlockConfig::default() };
/// assert!(!node_redlock.timing.elapsed_check);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedlockConfig {
    /// Whether replies can come too late, and who measures it: published with the check.
    pub timing: Timing,
    /// How many nodes must say yes.
    pub quorum: Quorum,
    /// The number of nodes that are asked at all.
    pub subset: Subset,
    /// Whether nodes are asked one after another or all at once.
    pub order: Order,
    /// How long one command may take on one node, connecting included; none waits for ever. Published:
    /// small beside the lease, "5–50 ms" for 10 s; default 50 ms. Too long, and dead nodes eat the
    /// lease. It waits on the monotonic clock, so a machine that was suspended meanwhile still
    /// counts replies that it finds in its buffers or that are sent again soon after it woke:
    /// measure the lease with a clock that does not stand still ([`Clock::Boot`](crate::Clock::Boot)).
    pub node_timeout: Option<Duration>,
    /// What happens to a connection on which a reply did not come in time.
    pub on_timeout: OnTimeout,
    /// Whether a retry is a new owner.
    pub token: TokenScope,
    /// The attempts of one call, and the waits between them.
    pub retry: Retry,
    /// How often the driver connects anew, and when. Published: never.
    pub transport: Transport,
    /// Who is waited for once it is clear what an attempt comes to.
    pub wait_for: WaitFor,
    /// What becomes of an attempt that no quorum decided.
    pub tie: Tie,
    /// What a node that did not answer means for a quorum that did.
    pub on_node_error: OnNodeError,
    /// How a key ends whose owner does not delete it.
    pub expiry: Expiry,
    /// Give back what a failed attempt got before the next one, as published; without it only after the last, as
    /// node-redlock and aioredlock: a client meets its own keys.
    pub release_between_tries: bool,
    /// Give back a lock that came too late and try again, as published; without it the call ends there and its keys
    /// stay, as in rslock.
    pub release_on_late: bool,
    /// Which times an extension looks at.
    pub extend_check: ExtendCheck,
    /// How keys are given back.
    pub release: ReleaseMethod,
    /// Which nodes are told that a lock was given back or not obtained.
    pub release_on: ReleaseOn,
    /// What a failed extension does. The page does not say.
    pub on_failed_extension: OnFailedExtension,
    /// Let an extension set keys again that are absent, as redsync offers and RedLock.net does.
    /// Another client may have held the lock in the gap, and nobody is told. Off.
    pub extend_if_missing: bool,
    /// Which nodes count for an extension.
    pub extension_votes: ExtensionVotes,
    /// Hand out the deadline that the check computes. Without it holders have a flag, as aioredlock's and
    /// RedLock.net's: it was checked once, and stays up. On.
    pub tells_deadline: bool,
    /// Take back what a failed attempt or extension may have left, as published. Without it a key that was won in vain
    /// stays for a lease, whoever else asks. On.
    pub release_on_failure: bool,
}

impl LockConfig for RedlockConfig {
    fn read(form: &mut Form<'_>) -> Self {
        Self {
            timing: Timing::choose(form, Timing::checked()),
            quorum: form.choice_or_votes(
                "quorum",
                Quorum::default(),
                Quorum::Fixed,
                "how many nodes must say yes",
            ),
            subset: Subset::choose(form),
            order: Order::choose(form),
            node_timeout: choose_node_timeout(form),
            on_timeout: OnTimeout::choose(form),
            token: TokenScope::choose(form),
            retry: Retry::choose(form),
            transport: Transport::choose(form),
            wait_for: WaitFor::choose(form),
            tie: Tie::choose(form),
            on_node_error: OnNodeError::choose(form),
            expiry: form.choice("expiry", Expiry::default(), "how a key ends that its owner does not delete"),
            release_between_tries: form.flag(
                "release_between_tries",
                true,
                "give back what a failed attempt got before the next one, and not only after the last",
            ),
            release_on_late: form.flag(
                "release_on_late",
                true,
                "give back a lock that came too late, and try again",
            ),
            extend_check: ExtendCheck::choose(form),
            release: ReleaseMethod::choose(form),
            release_on: form.choice(
                "release_on",
                ReleaseOn::default(),
                "which nodes are told that a lock was given back or not obtained",
            ),
            on_failed_extension: form.choice(
                "on_failed_extension",
                OnFailedExtension::default(),
                "what becomes of a lock whose extension failed",
            ),
            extend_if_missing: choose_extend_if_missing(form),
            extension_votes: ExtensionVotes::choose(form),
            tells_deadline: form.flag(
                "tells_deadline",
                true,
                "hand out the deadline that the check computes",
            ),
            release_on_failure: form.flag(
                "release_on_failure",
                true,
                "try once to take back a claim that failed and may have set the key",
            ),
        }
    }

    fn facts(&self) -> Facts {
        Facts {
            sends: Some(Sends {
                to_hold: [&["SET"], self.release.sends()].concat(),
                to_extend: RUNS_A_SCRIPT.to_vec(),
            }),
            extends: true,
            deadline: self.timing.has_deadline() && self.tells_deadline,
            fencing: false,
            waits: false,
            renews: false,
            readmits: false,
        }
    }

    fn unfit(&self, ttl: Duration) -> Option<Unfit> {
        let votes = match (self.subset, self.quorum) {
            (Subset::Fixed(asked), Quorum::Fixed(votes)) if asked < votes => Some(Unfit {
                cause:
                    "`lock.subset` asks fewer nodes than `lock.quorum` needs, so that no lock is ever granted"
                        .into(),
                hint: "use a `subset` that is at least as large".into(),
            }),
            _ => None,
        };
        votes.or_else(|| self.retry.unfit()).or_else(|| self.timing.unfit(ttl))
    }
}

fn choose_node_timeout(form: &mut Form<'_>) -> Option<Duration> {
    form.driver();
    form.timeout(
        "node_timeout",
        Some(Duration::from_millis(50)),
        "how long one command may take on one node, connecting included",
    )
}

impl Default for RedlockConfig {
    fn default() -> Self {
        Self::defaults()
    }
}

/// The kind of this lock.
pub(crate) struct Redlock;

impl<E: Env> LockKind<E> for Redlock {
    fn descriptor(&self) -> Descriptor {
        Descriptor::from_config::<WatchedConfig<RedlockConfig>>(
            "redlock",
            "the same key on a majority of nodes that know nothing of each other",
            "Redis documentation, \"Distributed Locks with Redis\": the Redlock algorithm",
            Nodes::Independent,
        )
        .with_scripts(crate::connection::scripts::scripts())
    }

    fn build(&self, env: E, nodes: Vec<NodeName>, chosen: &Switches) -> Result<BoxLock, ConfigError> {
        let WatchedConfig { lock: config, renewal } = WatchedConfig::<RedlockConfig>::from_switches(chosen)?;
        match (config.quorum, config.subset) {
            _ if nodes.is_empty() => Err(ConfigError::NoNodes),
            (Quorum::Fixed(votes), _) if votes > nodes.len() => {
                Err(ConfigError::Quorum { votes, nodes: nodes.len() })
            }
            (_, Subset::Fixed(asked)) if asked > nodes.len() => {
                Err(ConfigError::Subset { asked, nodes: nodes.len() })
            }
            _ => Ok(renewal.wrap_lock(env.clone(), RedlockLock::new(env, nodes, config))),
        }
    }
}
