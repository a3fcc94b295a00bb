//! The lock on a replicated master: the lock on a single node, taken on whichever node says that it
//! is the master, and followed when another is promoted.
//!
//! Assumes that somebody else promotes a replica when the master is gone. Does not model Sentinel: a
//! client asks the nodes themselves (`ROLE`), so that it believes an isolated old master that has not
//! been told, as clients with stale knowledge do.
//!
//! Decision: "Clients find the master by asking the nodes (`ROLE`)" (docs/decisions/locks.md).

use std::time::Duration;

use crate::config::{Descriptor, Facts, Form, LockConfig, Most, Nodes, Switches, Unfit};
use crate::connection::link::Link;
use crate::connection::request::{Request, is_master};
use crate::env::{Env, NodeName};
use crate::lock::{Acquired, Doubt, ErrorReply, Extended, Grant, Lock, Refusal, Released};
use crate::locks::single::{Protocol, Quirks, ReplicaWait, SingleConfig};
use crate::registry::{BoxLock, ConfigError, LockKind};

pub(crate) const NO_MASTER: &str = "no node says that it is the master";

/// The switches of the lock on a replicated master.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicatedConfig {
    /// The lock on the master.
    pub lock: SingleConfig,
    /// Have writes acknowledged by replicas. Off by default: replication is asynchronous, and a lock
    /// that was granted can be lost with its master.
    pub wait: Option<ReplicaWait>,
}

impl LockConfig for ReplicatedConfig {
    fn read(form: &mut Form<'_>) -> Self {
        let lock = SingleConfig::read(form);
        let replicas = form.optional_number(
            "wait_replicas",
            (1, Most::Replicas),
            "how many replicas must have a write for it to count (WAIT)",
        );
        let second = Duration::from_secs(1);
        let timeout = form.positive_duration("wait_timeout", second, "how long the master waits for them");
        form.needs("wait_replicas");
        Self { lock, wait: replicas.map(|replicas| ReplicaWait { replicas, timeout }) }
    }

    fn facts(&self) -> Facts {
        let mut facts = self.lock.facts();
        if let Some(sends) = &mut facts.sends {
            sends.to_hold.push("ROLE");
            sends.to_hold.extend(self.wait.map(|_| "WAIT"));
        }
        facts
    }

    fn unfit(&self, ttl: Duration) -> Option<Unfit> {
        self.lock.unfit(ttl)
    }
}

impl Default for ReplicatedConfig {
    fn default() -> Self {
        Self::defaults()
    }
}

/// The kind of this lock.
pub(crate) struct Replicated;

impl<E: Env> LockKind<E> for Replicated {
    fn descriptor(&self) -> Descriptor {
        Descriptor::from_config::<ReplicatedConfig>(
            "replicated",
            "the same key on whichever node is master, followed when another is promoted",
            "Redis documentation, \"Distributed Locks with Redis\": why failover-based implementations are not enough",
            Nodes::Replicated,
        )
        .with_scripts(crate::connection::scripts::scripts())
    }

    fn build(&self, env: E, nodes: Vec<NodeName>, chosen: &Switches) -> Result<BoxLock, ConfigError> {
        if nodes.is_empty() {
            return Err(ConfigError::NoNodes);
        }
        Ok(BoxLock::new(ReplicatedLock::new(env, nodes, ReplicatedConfig::from_switches(chosen)?)))
    }
}

/// The lock on a replicated master; see [`ReplicatedConfig`].
///
/// The master is looked for in node order, at first from the first node and later from the one after
/// the node that failed. It is looked for again after a timeout, a broken connection, and the error
/// replies of a node that is no master (`READONLY`, `MASTERDOWN`) or not ready (`LOADING`). A request
/// that certainly had no effect is then repeated on the new master, at most once per node; one whose
/// reply was lost never is.
///
/// A demoted master refuses every `SET`, but a script that finds no key of its grant writes nothing
/// and is answered there as well: an extension or release sent to it can hear `NotOwner`.
pub struct ReplicatedLock<E: Env> {
    env: E,
    config: ReplicatedConfig,
    masters: Masters<E>,
}

impl<E: Env> ReplicatedLock<E> {
    /// A lock on the master among `nodes`. Connects when it is first used.
    pub fn new(env: E, nodes: Vec<NodeName>, config: ReplicatedConfig) -> Self {
        let SingleConfig { request_timeout, on_timeout, transport, .. } = config.lock;
        let link = |node| Link::new(node, request_timeout, on_timeout).with_transport(&env, transport);
        let masters = Masters::new(nodes.into_iter().map(link).collect());
        Self { env, config, masters }
    }

    /// The protocol with the master, if there is one to be found.
    async fn with_master(&mut self) -> Option<Protocol<'_, E>> {
        let link = self.masters.link(&self.env).await?;
        let (config, wait) = (&self.config.lock, self.config.wait);
        Some(Protocol { env: &self.env, config, quirks: &Quirks::NONE, wait, link })
    }
}

/// The way to whichever node is master.
pub(crate) struct Masters<E: Env> {
    links: Vec<Link<E>>,
    /// There is one node, and nobody looks for another.
    alone: bool,
    master: Option<usize>,
    look_from: usize,
}

impl<E: Env> Masters<E> {
    /// The master is one of these nodes, and has to be asked for.
    ///
    /// One that is the master of a group is not looked for here: its link does that.
    pub(crate) fn new(links: Vec<Link<E>>) -> Self {
        let alone = matches!(&links[..], [link] if link.node().group().is_some());
        Self { links, alone, master: alone.then_some(0), look_from: 0 }
    }

    /// The node that there is, whatever it says that it is.
    pub(crate) fn only(link: Link<E>) -> Self {
        Self { links: vec![link], alone: true, master: Some(0), look_from: 0 }
    }

    /// The same ways, for somebody else of this client.
    pub(crate) fn twin(&self) -> Self {
        let links = self.links.iter().map(Link::twin).collect();
        Self { links, alone: self.alone, master: self.master, look_from: self.look_from }
    }

    /// How often a call is made at most: once per node.
    pub(crate) fn tries(&self) -> usize {
        self.links.len()
    }

    /// The way to the master, if there is one to be found.
    pub(crate) async fn link(&mut self, env: &E) -> Option<&mut Link<E>> {
        if self.master.is_none() {
            self.master = self.find_master(env).await;
        }
        self.links.get_mut(self.master?)
    }

    async fn find_master(&mut self, env: &E) -> Option<usize> {
        let count = self.links.len();
        for index in (0..count).map(|step| (self.look_from + step) % count) {
            let reply = self.links.get_mut(index)?.ask(env, &Request::Role).await;
            if reply.is_ok_and(|role| is_master(&role)) {
                return Some(index);
            }
        }
        None
    }

    fn forget_master(&mut self) {
        if let Some(master) = self.master.take() {
            self.look_from = (master + 1) % self.links.len();
        }
    }

    /// Forgets a master that is not to be relied on. True if the call can be repeated on another.
    pub(crate) fn repeat_elsewhere(&mut self, trouble: Trouble) -> bool {
        if self.alone {
            return false;
        }
        if trouble != Trouble::None {
            self.forget_master();
        }
        trouble == Trouble::WithoutEffect
    }
}

impl<E: Env> Lock for ReplicatedLock<E> {
    async fn acquire(&mut self, resource: &str, ttl: Duration) -> Acquired {
        let mut outcome = Acquired::Refused(Refusal::Unreachable(NO_MASTER.into()));
        for _ in 0..self.masters.tries() {
            let Some(mut master) = self.with_master().await else { break };
            outcome = master.acquire(resource, ttl).await;
            if !self.masters.repeat_elsewhere(Trouble::from_acquired(&outcome)) {
                break;
            }
        }
        outcome
    }

    async fn extend(&mut self, grant: &mut Grant, ttl: Duration) -> Extended {
        let mut outcome = Extended::Unknown(Doubt::Unreachable(NO_MASTER.into()));
        for _ in 0..self.masters.tries() {
            let Some(mut master) = self.with_master().await else { break };
            outcome = master.extend(grant, ttl).await;
            let Extended::Unknown(doubt) = &outcome else { break };
            if !self.masters.repeat_elsewhere(Trouble::from_doubt(doubt)) {
                break;
            }
        }
        outcome
    }

    async fn release(&mut self, grant: &Grant) -> Released {
        let mut outcome = Released::Unknown(Doubt::Unreachable(NO_MASTER.into()));
        for _ in 0..self.masters.tries() {
            let Some(mut master) = self.with_master().await else { break };
            outcome = master.release(&grant.resource, &grant.token).await;
            let Released::Unknown(doubt) = &outcome else { break };
            if !self.masters.repeat_elsewhere(Trouble::from_doubt(doubt)) {
                break;
            }
        }
        outcome
    }
}

/// What an outcome says about the node it came from.
#[derive(PartialEq)]
pub(crate) enum Trouble {
    /// It is the master and answers.
    None,
    /// It is not to be relied on, and the request may have been executed.
    Lost,
    /// It is not to be relied on, and the request was certainly not executed.
    WithoutEffect,
}

impl Trouble {
    pub(crate) fn from_acquired(outcome: &Acquired) -> Self {
        match outcome {
            Acquired::Refused(Refusal::Unreachable(_)) => Self::WithoutEffect,
            Acquired::Refused(Refusal::ErrorReply(error)) => Self::from_error_reply(error),
            Acquired::Unknown(doubt) => Self::from_doubt(doubt),
            Acquired::Granted(_) | Acquired::Refused(_) => Self::None,
        }
    }

    pub(crate) fn from_doubt(doubt: &Doubt) -> Self {
        match doubt {
            Doubt::ErrorReply(error) => Self::from_error_reply(error),
            Doubt::Unreachable(_) => Self::WithoutEffect,
            Doubt::Timeout | Doubt::ConnectionLost(_) => Self::Lost,
            Doubt::Misread | Doubt::TooFewAnswers { .. } | Doubt::TooFewReplicas(_) => Self::None,
        }
    }

    fn from_error_reply(error: &ErrorReply) -> Self {
        match error.code.as_str() {
            "READONLY" | "MASTERDOWN" | "LOADING" => Self::WithoutEffect,
            // The reply to a WAIT or a script that a demotion cut short: its writes were made.
            "UNBLOCKED" => Self::Lost,
            _ => Self::None,
        }
    }
}
