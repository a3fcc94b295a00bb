//! Redlock by name: its switches, what is known of it with them, and how one is built. Every switch is at its published
//! value by default.
//!
//! What they do is in the algorithm, one file up; here they are only chosen.

use std::time::Duration;

use super::RedlockLock;
use crate::clock::Timing;
use crate::descriptor::{Descriptor, Facts, Nodes, Sends};
use crate::env::{Env, NodeName};
use crate::form::{Choice, Form, LockConfig};
use crate::link::OnTimeout;
use crate::locks::single::choose_extend_if_missing;
use crate::registry::{BoxLock, ConfigError, LockKind};
use crate::request::{RUNS_A_SCRIPT, ReleaseMethod};
use crate::switch::{Switches, Unfit};

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
    /// How many attempts one call makes, at least 1. Default 3, as the reference implementation.
    pub tries: u32,
    /// The longest wait between two attempts. Default 200 ms.
    pub retry_delay: Duration,
    /// Draw each wait uniformly from zero to `retry_delay`, as published; without it every wait is
    /// `retry_delay`, and clients that split the vote once may go on splitting it for ever.
    pub jitter: bool,
    /// How keys are given back.
    pub release: ReleaseMethod,
    /// Which nodes are told that a lock was given back or not obtained.
    pub release_on: ReleaseOn,
    /// What a failed extension does. The page does not say.
    pub on_failed_extension: OnFailedExtension,
    /// Let an extension set keys again that are absent, as redsync offers and RedLock.net does.
    /// Another client may have held the lock in the gap, and nobody is told. Off.
    pub extend_if_missing: bool,
    /// Let an extension count that came after the deadline it was to extend, as most libraries do: they look at the new
    /// lease only. Whoever's key was gone meanwhile is told so by the nodes, unless the extension sets it again. Off.
    pub late_renewal_counts: bool,
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
        let tries = |tries: u64| u32::try_from(tries).unwrap_or(u32::MAX);
        Self {
            timing: Timing::choose(form, Timing::checked()),
            quorum: form.choice_or_votes(
                "quorum",
                Quorum::default(),
                Quorum::Fixed,
                "how many nodes must say yes",
            ),
            order: form.choice(
                "order",
                Order::default(),
                "whether nodes are asked one after another or all at once",
            ),
            node_timeout: form.timeout(
                "node_timeout",
                Some(Duration::from_millis(50)),
                "how long one command may take on one node, connecting included",
            ),
            on_timeout: OnTimeout::choose(form),
            token: form.choice(
                "token",
                TokenScope::default(),
                "what has a token of its own: a call, or each attempt of it",
            ),
            tries: tries(form.number("tries", (1, 1000), 3, "how many attempts one call makes")),
            retry_delay: form.duration(
                "retry_delay",
                Duration::from_millis(200),
                "the longest wait between two attempts",
            ),
            jitter: form.flag("jitter", true, "draw each wait between zero and `retry_delay`"),
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
            late_renewal_counts: form.flag(
                "late_renewal_counts",
                false,
                "let an extension count that came after the deadline it was to extend",
            ),
            extension_votes: form.choice(
                "extension_votes",
                ExtensionVotes::default(),
                "which nodes count for an extension: that renewed the key, or that answered",
            ),
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
        self.timing.unfit(ttl)
    }
}

impl Default for RedlockConfig {
    fn default() -> Self {
        Self::published()
    }
}

/// The kind of this lock.
pub(crate) struct Redlock;

impl<E: Env> LockKind<E> for Redlock {
    fn descriptor(&self) -> Descriptor {
        Descriptor::of::<RedlockConfig>(
            "redlock",
            "the same key on a majority of nodes that know nothing of each other",
            "Redis documentation, \"Distributed Locks with Redis\": the Redlock algorithm",
            Nodes::Independent,
        )
        .sending(crate::request::scripts())
    }

    fn build(&self, env: E, nodes: Vec<NodeName>, chosen: &Switches) -> Result<BoxLock, ConfigError> {
        let config = RedlockConfig::chosen(chosen)?;
        match config.quorum {
            _ if nodes.is_empty() => Err(ConfigError::NoNodes),
            Quorum::Fixed(votes) if votes > nodes.len() => {
                Err(ConfigError::Quorum { votes, nodes: nodes.len() })
            }
            _ => Ok(BoxLock::new(RedlockLock::new(env, nodes, config))),
        }
    }
}

/// How many of N nodes must say yes. Division drops the remainder, as in the programs this is about.
///
/// | N | 1 | 2 | 3 | 4 | 5 | 6 | 7 |
/// |---|---|---|---|---|---|---|---|
/// | `Majority` | 1 | 2 | 2 | 3 | 3 | 4 | 4 |
/// | `HalfOfOthers` | 1 | **1** | 2 | **2** | 3 | **3** | 4 |
/// | `MoreThanMajority` | *2* | *3* | 3 | 4 | 4 | 5 | 5 |
///
/// Bold: two clients can both have it. Italic: nobody ever can.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Quorum {
    /// `N / 2 + 1`, as published.
    #[default]
    Majority,
    /// `(N - 1) / 2 + 1`, as some articles print it: no majority when N is even.
    HalfOfOthers,
    /// More than `N / 2 + 1`, as others print it: one node more than needed.
    MoreThanMajority,
    /// That many, whatever N is.
    Fixed(usize),
}

impl Choice for Quorum {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("majority", Self::Majority),
        ("half-of-others", Self::HalfOfOthers),
        ("more-than-majority", Self::MoreThanMajority),
    ];
}

impl Quorum {
    /// The votes needed among `nodes`.
    pub fn votes(self, nodes: usize) -> usize {
        match self {
            Self::Majority => nodes / 2 + 1,
            Self::HalfOfOthers => nodes.saturating_sub(1) / 2 + 1,
            Self::MoreThanMajority => nodes / 2 + 2,
            Self::Fixed(votes) => votes,
        }
    }
}

/// Whether nodes are asked one after another or all at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// One after another, in node order, as published. Every slow node eats into the lease, and the
    /// window in which clients split the vote is as long as the walk.
    #[default]
    Sequential,
    /// All at once, sent in node order; waits for every reply or timeout. The page recommends it.
    Parallel,
}

impl Choice for Order {
    const WORDS: &'static [(&'static str, Self)] =
        &[("sequential", Self::Sequential), ("parallel", Self::Parallel)];
}

/// Whether a retry is a new owner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TokenScope {
    /// One token for all attempts of a call, as the reference implementation and most libraries. A
    /// request of an earlier attempt that arrives late counts for the later one, or against it.
    #[default]
    Call,
    /// A new token for each attempt.
    Attempt,
}

impl Choice for TokenScope {
    const WORDS: &'static [(&'static str, Self)] = &[("call", Self::Call), ("attempt", Self::Attempt)];
}

/// Which nodes are told that a lock was given back or not obtained.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReleaseOn {
    /// All, also those that said no or nothing: as published, and antirez insists on it. A node
    /// whose yes was lost would otherwise keep the key for a lease.
    #[default]
    All,
    /// Only those whose yes arrived.
    Answered,
}

impl Choice for ReleaseOn {
    const WORDS: &'static [(&'static str, Self)] = &[("all", Self::All), ("answered", Self::Answered)];
}

/// What a failed extension does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnFailedExtension {
    /// Nothing: the grant stays valid until its old deadline. redsync and most others do this.
    #[default]
    Keep,
    /// Release the lock, as rslock and redis-plus-plus do: a lease that was still good is given up,
    /// whether or not the holder has noticed.
    Release,
}

impl Choice for OnFailedExtension {
    const WORDS: &'static [(&'static str, Self)] = &[("keep", Self::Keep), ("release", Self::Release)];
}

/// Which nodes count for an extension.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExtensionVotes {
    /// Those that renewed the key.
    #[default]
    Renewed,
    /// All that answered, also those that have no key of this owner: redis-plus-plus, where it uses transactions. A
    /// lock that is another's is extended again and again, and nobody is told.
    Answered,
}

impl Choice for ExtensionVotes {
    const WORDS: &'static [(&'static str, Self)] =
        &[("renewed", Self::Renewed), ("answered", Self::Answered)];
}
