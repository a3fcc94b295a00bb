//! `SETNX` takes the lock and `DEL` gives it back: the oldest of them, and the first line of many articles.
//!
//! Its flaw: nothing ends the lock of a holder that died. The value tells nobody whose the key is, and `ttl` is not
//! used.

use std::time::Duration;

use crate::config::{Descriptor, Facts, Form, LockConfig, Nodes, Switches};
use crate::connection::plain_node::{PlainNode, facts};
use crate::connection::request::{ReleaseMethod, says_yes};
use crate::env::{Env, NodeName};
use crate::lock::{Acquired, Grant, Lock, Refusal, Released, Token};
use crate::registry::{BoxLock, ConfigError, LockKind, only_node};

/// The kind of this lock. It has no switches.
pub(crate) struct Setnx;

impl LockConfig for Setnx {
    fn read(_: &mut Form<'_>) -> Self {
        Self
    }

    fn facts(&self) -> Facts {
        facts(&["SETNX", "DEL"])
    }
}

impl<E: Env> LockKind<E> for Setnx {
    fn descriptor(&self) -> Descriptor {
        Descriptor::from_config::<Self>(
            NAME,
            "SETNX takes it, DEL gives it back; nothing expires, and `ttl` is not used",
            "Redis documentation, SETNX: \"Design pattern: Locking with SETNX\", before its section on deadlocks",
            Nodes::One,
        )
    }

    fn build(&self, env: E, nodes: Vec<NodeName>, _: &Switches) -> Result<BoxLock, ConfigError> {
        Ok(BoxLock::new(SetnxLock(PlainNode::new(env, only_node(NAME, nodes)?))))
    }
}

const NAME: &str = "setnx";
/// What every holder's key holds.
const VALUE: &str = "1";

struct SetnxLock<E: Env>(PlainNode<E>);

impl<E: Env> Lock for SetnxLock<E> {
    async fn acquire(&mut self, resource: &str, _: Duration) -> Acquired {
        self.0.env.marks(VALUE.as_bytes());
        match self.0.call(redis::cmd("SETNX").arg(resource).arg(VALUE)).await {
            Ok(reply) if says_yes(&reply) => Acquired::Granted(Grant::new(resource, Token::new(VALUE))),
            Ok(_) => Acquired::Refused(Refusal::Taken),
            Err(failure) => failure.into_acquired(),
        }
    }

    async fn release(&mut self, grant: &Grant) -> Released {
        self.0.release(grant, ReleaseMethod::PlainDelete).await
    }
}
