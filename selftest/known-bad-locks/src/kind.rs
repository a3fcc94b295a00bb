//! A kind of lock made of a function that builds one, so that fifty of them need no fifty types: code of this crate, or
//! a library as the program has it.
//!
//! Says nothing of what the lock sends, so that no fault is refused because of what a lock is known to send.

use std::fmt;
use std::sync::Arc;

use doublehold::check::{
    BoxLock, ConfigError, Descriptor, Lock, LockKind, NodeName, Nodes, SimEnv, Switches,
};
use doublehold_scenarios::builtin_locks;

type Build = Arc<dyn Fn(SimEnv, Vec<NodeName>) -> Result<BoxLock, ConfigError> + Send + Sync>;

/// A kind of lock.
#[derive(Clone)]
pub struct Kind {
    name: &'static str,
    nodes: Nodes,
    build: Build,
}

impl Kind {
    /// A lock that is built by a function.
    pub fn new<L: Lock + 'static>(
        name: &'static str,
        nodes: Nodes,
        build: impl Fn(SimEnv, Vec<NodeName>) -> L + Send + Sync + 'static,
    ) -> Kind {
        Kind { name, nodes, build: Arc::new(move |env, nodes| Ok(BoxLock::new(build(env, nodes)))) }
    }

    /// A library with these of its open switches set otherwise.
    ///
    /// # Panics
    ///
    /// If the program has no library of that name.
    pub fn from_library(name: &'static str, library: &str, switches: Switches) -> Kind {
        let libraries = builtin_locks();
        let kind = libraries.get(library).unwrap_or_else(|| panic!("there is no {library}")).clone();
        let nodes = kind.descriptor().nodes;
        Kind { name, nodes, build: Arc::new(move |env, nodes| kind.build(env, nodes, &switches)) }
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.name
    }
}

impl LockKind<SimEnv> for Kind {
    fn descriptor(&self) -> Descriptor {
        Descriptor::from_config::<()>(
            self.name,
            "a lock with a known bug, or its control",
            "a library",
            self.nodes,
        )
    }

    fn build(&self, env: SimEnv, nodes: Vec<NodeName>, _: &Switches) -> Result<BoxLock, ConfigError> {
        (self.build)(env, nodes)
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Kind").field(&self.name).finish()
    }
}
