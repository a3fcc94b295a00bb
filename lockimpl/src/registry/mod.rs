//! Locks by name: those of this crate, which `locks` and `profiles` list, and those that somebody adds.
//!
//! A kind of lock is a descriptor and a way to build it. After [`Registry`] comes `box_lock`: [`BoxLock`], any lock
//! that was built; and `library`: [`ProfileKind`], a library as a kind of lock.
//!
//! Decision: "Locks are looked up by name, and each lock declares its own switches" (docs/decisions/locks.md).

mod box_lock;
mod library;

use std::fmt;
use std::sync::Arc;

use crate::config::{Descriptor, SwitchError, Switches};
use crate::env::null_env::NullEnv;
use crate::env::{Env, NodeName};

pub use box_lock::BoxLock;
pub use library::ProfileKind;

/// A kind of lock: what is known of it, and how one is built.
///
/// ```
/// use doublehold_lockimpl::{
///     Acquired, BoxLock, ConfigError, Descriptor, Env, Grant, Lock, LockKind, NodeName, Nodes, Registry, Released,
///     Switches, Token,
/// };
/// use std::time::Duration;
///
/// /// Says yes to everybody.
/// struct Yes<E>(E);
///
/// impl<E: Env> Lock for Yes<E> {
///     async fn acquire(&mut self, resource: &str, _: Duration) -> Acquired {
///         Acquired::Granted(Grant::new(resource, Token::draw(&self.0)))
///     }
///     async fn release(&mut self, _: &Grant) -> Released {
///         Released::Released
///     }
/// }
///
/// struct YesKind;
///
/// impl<E: Env> LockKind<E> for YesKind {
///     fn descriptor(&self) -> Descriptor {
///         Descriptor::from_config::<()>("yes", "grants everything", "nobody's", Nodes::Independent)
///     }
///     fn build(&self, env: E, _: Vec<NodeName>, _: &Switches) -> Result<BoxLock, ConfigError> {
///         Ok(BoxLock::new(Yes(env)))
///     }
/// }
///
/// fn locks<E: Env>() -> Registry<E> {
///     Registry::builtin().with(YesKind)
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no kind of lock",
    note = "a function that takes your lock is made one by `Existing::on_one_node(\"mine\", take)`, or by \
            `Existing::on_nodes` if it opens its connections itself"
)]
pub trait LockKind<E: Env>: Send + Sync + 'static {
    /// What is known of it.
    fn descriptor(&self) -> Descriptor;

    /// Whether each of many runs has a lock of its own. Asked by whoever makes runs that are to have nothing in common;
    /// on a real machine nobody asks.
    ///
    /// # Errors
    ///
    /// If all clients of all runs would share something.
    fn check(&self) -> Result<(), ConfigError> {
        Ok(())
    }

    /// True if its code may wait on tokio's timers, as redis-rs does for a reply. Runs of a lock that was not said to
    /// are made again when its code asks for such a timer.
    fn awaits_tokio(&self) -> bool {
        false
    }

    /// Builds one client's lock. Nothing is sent until it is used.
    ///
    /// # Errors
    ///
    /// If it cannot run on that many nodes, or a switch makes no sense.
    fn build(&self, env: E, nodes: Vec<NodeName>, chosen: &Switches) -> Result<BoxLock, ConfigError>;
}

/// Kinds of locks, by name.
pub struct Registry<E: Env> {
    kinds: Vec<(Descriptor, Arc<dyn LockKind<E>>)>,
}

impl<E: Env> Registry<E> {
    /// No locks.
    pub fn empty() -> Self {
        Self { kinds: Vec::new() }
    }

    /// The same with one more kind, which takes the place of one with its name.
    #[must_use]
    pub fn with(mut self, kind: impl LockKind<E>) -> Self {
        let descriptor = kind.descriptor();
        self.kinds.retain(|(known, _)| known.name != descriptor.name);
        self.kinds.push((descriptor, Arc::new(kind)));
        self
    }

    /// What is known of each.
    pub fn descriptors(&self) -> Vec<Descriptor> {
        self.kinds.iter().map(|(known, _)| known.clone()).collect()
    }

    /// The kind of that name.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn LockKind<E>>> {
        self.kinds.iter().find(|(known, _)| known.name == name).map(|(_, kind)| kind)
    }

    /// Builds one client's lock.
    ///
    /// # Errors
    ///
    /// If there is no such lock, or it cannot be built so.
    pub fn build(
        &self,
        name: &str,
        env: E,
        nodes: Vec<NodeName>,
        chosen: &Switches,
    ) -> Result<BoxLock, ConfigError> {
        match self.get(name) {
            Some(kind) => kind.build(env, nodes, chosen),
            None => Err(ConfigError::NoSuchLock(name.to_owned())),
        }
    }
}

impl<E: Env> Clone for Registry<E> {
    fn clone(&self) -> Self {
        Self { kinds: self.kinds.clone() }
    }
}

impl<E: Env> fmt::Debug for Registry<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.kinds.iter().map(|(known, _)| known.name)).finish()
    }
}

/// A list to which kinds of locks are added: of kinds that build locks, or of what is known of them.
pub(crate) trait Kinds<E: Env> {
    fn with(self, kind: impl LockKind<E>) -> Self;
}

impl<E: Env> Kinds<E> for Registry<E> {
    fn with(self, kind: impl LockKind<E>) -> Self {
        Registry::with(self, kind)
    }
}

/// A registry would do, and have every lock compiled for an environment in which none is ever built.
impl Kinds<NullEnv> for Vec<Descriptor> {
    fn with(mut self, kind: impl LockKind<NullEnv>) -> Self {
        self.push(kind.descriptor());
        self
    }
}

/// A lock that cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// There is no lock of that name.
    #[error("there is no lock `{0}`: `doublehold locks` lists those there are")]
    NoSuchLock(String),
    /// A lock for one node was given none, or several.
    #[error(
        "the `{lock}` lock needs exactly one node, not {nodes}: name one, or use `replicated` or `redlock`"
    )]
    NotOneNode {
        /// The lock's name.
        lock: &'static str,
        /// The nodes it was given.
        nodes: usize,
    },
    /// A lock on several nodes was given none.
    #[error("the lock has no nodes: name at least one")]
    NoNodes,
    /// Nobody would have to agree, or more nodes than there are.
    #[error("a `quorum` of {votes} makes no sense with {nodes} nodes: use 1 to {nodes}")]
    Quorum {
        /// The votes asked for.
        votes: usize,
        /// The nodes there are.
        nodes: usize,
    },
    /// More nodes would be asked than there are.
    #[error("a `subset` of {asked} makes no sense with {nodes} nodes: use 1 to {nodes}")]
    Subset {
        /// The nodes to be asked.
        asked: usize,
        /// The nodes there are.
        nodes: usize,
    },
    /// What clients of a real service have each for themselves, all clients of all runs would share.
    #[error(
        "the lock `{0}` owns what all clients of all runs would share, such as an `Arc`, a `Mutex` or a `String` that \
         its closure captured: let `Existing::with_state` make what a process keeps, `Existing::with_config` read what \
         is configured, and `Existing::key` name the key; capture constants as `&'static`"
    )]
    Shared(&'static str),
    /// A switch was set to what it is not.
    #[error(transparent)]
    Switch(#[from] SwitchError),
}

/// The one node that a lock runs on.
pub(crate) fn only_node(lock: &'static str, nodes: Vec<NodeName>) -> Result<NodeName, ConfigError> {
    match <[NodeName; 1]>::try_from(nodes) {
        Ok([node]) => Ok(node),
        Err(nodes) => Err(ConfigError::NotOneNode { lock, nodes: nodes.len() }),
    }
}
