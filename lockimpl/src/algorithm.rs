//! Any of the locks, chosen at run time: what a scenario names and a program builds.
//!
//! Assumes nothing about the nodes named; whether they exist shows when the lock is used.

use std::time::Duration;

use crate::env::{Env, NodeName};
use crate::lock::{Acquired, Extended, Grant, Lock, Released, Token};
use crate::redlock::{Quorum, RedlockConfig, RedlockLock};
use crate::replicated::{ReplicatedConfig, ReplicatedLock};
use crate::single::{SingleConfig, SingleLock};

/// An algorithm with its switches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// A key on one node.
    Single(SingleConfig),
    /// A key on a master that may be replaced by one of its replicas.
    Replicated(ReplicatedConfig),
    /// A key on a majority of independent nodes.
    Redlock(RedlockConfig),
}

impl Algorithm {
    /// Builds one client's lock. Nothing is sent until it is used.
    ///
    /// # Errors
    ///
    /// If the algorithm cannot run on that many nodes, or a switch makes no sense.
    ///
    /// ```
    /// use doublehold_lockimpl::{Algorithm, AnyLock, Env, NodeName, RedlockConfig};
    ///
    /// fn redlock<E: Env>(env: E) -> Result<AnyLock<E>, doublehold_lockimpl::ConfigError> {
    ///     let nodes = ["a", "b", "c", "d", "e"].map(NodeName::new).to_vec();
    ///     Algorithm::Redlock(RedlockConfig::default()).build(env, nodes)
    /// }
    /// ```
    pub fn build<E: Env>(&self, env: E, nodes: Vec<NodeName>) -> Result<AnyLock<E>, ConfigError> {
        match self {
            Self::Single(config) => match <[NodeName; 1]>::try_from(nodes) {
                Ok([node]) => Ok(AnyLock::Single(SingleLock::new(env, node, config.clone()))),
                Err(nodes) => Err(ConfigError::NotOneNode(nodes.len())),
            },
            Self::Replicated(_) | Self::Redlock(_) if nodes.is_empty() => Err(ConfigError::NoNodes),
            Self::Replicated(config) => {
                Ok(AnyLock::Replicated(ReplicatedLock::new(env, nodes, config.clone())))
            }
            Self::Redlock(config) => {
                check(config, nodes.len())?;
                Ok(AnyLock::Redlock(RedlockLock::new(env, nodes, config.clone())))
            }
        }
    }
}

fn check(config: &RedlockConfig, nodes: usize) -> Result<(), ConfigError> {
    if config.tries == 0 {
        return Err(ConfigError::NoTries);
    }
    match config.quorum {
        Quorum::Fixed(votes) if votes == 0 || votes > nodes => Err(ConfigError::Quorum { votes, nodes }),
        _ => Ok(()),
    }
}

/// A lock that cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The single-node lock was given none, or several.
    #[error("the `single` lock needs exactly one node, not {0}: name one, or use `replicated` or `redlock`")]
    NotOneNode(usize),
    /// A lock on several nodes was given none.
    #[error("the lock has no nodes: name at least one")]
    NoNodes,
    /// A lock that never tries can never be taken.
    #[error("`tries` is 0: the first attempt counts, so use at least 1")]
    NoTries,
    /// Nobody would have to agree, or more nodes than there are.
    #[error("a `quorum` of {votes} makes no sense with {nodes} nodes: use 1 to {nodes}")]
    Quorum {
        /// The votes asked for.
        votes: usize,
        /// The nodes there are.
        nodes: usize,
    },
}

/// A lock of any algorithm.
pub enum AnyLock<E: Env> {
    /// On one node.
    Single(SingleLock<E>),
    /// On a replicated master.
    Replicated(ReplicatedLock<E>),
    /// On a majority of nodes.
    Redlock(RedlockLock<E>),
}

impl<E: Env> Lock for AnyLock<E> {
    async fn acquire(&mut self, resource: &str, ttl: Duration) -> Acquired {
        match self {
            Self::Single(lock) => lock.acquire(resource, ttl).await,
            Self::Replicated(lock) => lock.acquire(resource, ttl).await,
            Self::Redlock(lock) => lock.acquire(resource, ttl).await,
        }
    }

    async fn extend(&mut self, grant: &mut Grant, ttl: Duration) -> Extended {
        match self {
            Self::Single(lock) => lock.extend(grant, ttl).await,
            Self::Replicated(lock) => lock.extend(grant, ttl).await,
            Self::Redlock(lock) => lock.extend(grant, ttl).await,
        }
    }

    async fn release(&mut self, grant: &Grant) -> Released {
        match self {
            Self::Single(lock) => lock.release(grant).await,
            Self::Replicated(lock) => lock.release(grant).await,
            Self::Redlock(lock) => lock.release(grant).await,
        }
    }
}

/// A new token: 20 random bytes, as published. The keys of the acquire call under way will hold it.
pub(crate) fn draw_token<E: Env>(env: &E) -> Token {
    let mut token = [0; 20];
    env.random(&mut token);
    env.marks(&token);
    Token(token)
}
