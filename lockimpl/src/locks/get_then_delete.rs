//! `SET … NX PX` takes the lock; `GET`, a comparison in the client and `DEL` give it back: the release without a
//! script.
//!
//! Its flaw: between the answer to `GET` and the `DEL` the key may end and become another's. All else is the lock on
//! one node.

use std::time::Duration;

use crate::config::{Descriptor, Facts, Form, LockConfig, Nodes, Switches};
use crate::connection::plain_node::facts;
use crate::connection::request::ReleaseMethod;
use crate::env::{Env, NodeName};
use crate::lock::{Acquired, Grant, Lock, Released};
use crate::locks::single::{SingleConfig, SingleLock};
use crate::registry::{BoxLock, ConfigError, LockKind, only_node};

/// The kind of this lock. It has no switches.
pub(crate) struct GetThenDelete;

impl LockConfig for GetThenDelete {
    fn read(_: &mut Form<'_>) -> Self {
        Self
    }

    fn facts(&self) -> Facts {
        facts(&["SET", "GET", "DEL"])
    }
}

impl<E: Env> LockKind<E> for GetThenDelete {
    fn descriptor(&self) -> Descriptor {
        Descriptor::from_config::<Self>(
            NAME,
            "SET NX PX takes it; GET, a comparison in the client and DEL give it back",
            "Articles that mend a plain DEL without a script",
            Nodes::One,
        )
    }

    fn build(&self, env: E, nodes: Vec<NodeName>, _: &Switches) -> Result<BoxLock, ConfigError> {
        let config = SingleConfig { release: ReleaseMethod::GetThenDelete, ..SingleConfig::defaults() };
        Ok(BoxLock::new(GetThenDeleteLock(SingleLock::new(env, only_node(NAME, nodes)?, config))))
    }
}

const NAME: &str = "get-then-delete";

/// Without an extension, which would be a script.
struct GetThenDeleteLock<E: Env>(SingleLock<E>);

impl<E: Env> Lock for GetThenDeleteLock<E> {
    async fn acquire(&mut self, resource: &str, ttl: Duration) -> Acquired {
        self.0.acquire(resource, ttl).await
    }

    async fn release(&mut self, grant: &Grant) -> Released {
        self.0.release(grant).await
    }
}
