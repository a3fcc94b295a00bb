//! `SETNX`, and when that said yes `EXPIRE`: the lock that is meant to outlive no holder.
//!
//! Its flaw: a client that dies between the two leaves a key that never ends. The value tells nobody whose the key is.

use std::time::Duration;

use crate::config::{Descriptor, Facts, Form, LockConfig, Nodes, Switches, Unfit};
use crate::connection::plain_node::{PlainNode, facts, unfit};
use crate::connection::request::{ReleaseMethod, says_yes};
use crate::connection::units::seconds;
use crate::env::{Env, NodeName};
use crate::lock::{Acquired, Grant, Lock, Refusal, Released, Token};
use crate::registry::{BoxLock, ConfigError, LockKind, only_node};

/// The kind of this lock. It has no switches.
pub(crate) struct SetnxExpire;

impl LockConfig for SetnxExpire {
    fn read(_: &mut Form<'_>) -> Self {
        Self
    }

    fn facts(&self) -> Facts {
        facts(&["SETNX", "EXPIRE", "DEL"])
    }

    fn unfit(&self, ttl: Duration) -> Option<Unfit> {
        unfit("EXPIRE", ttl)
    }
}

impl<E: Env> LockKind<E> for SetnxExpire {
    fn descriptor(&self) -> Descriptor {
        Descriptor::from_config::<Self>(
            NAME,
            "SETNX takes it, then EXPIRE gives it an end; DEL gives it back",
            "Carlson, \"Redis in Action\" (2013), 6.2.5; articles from before SET NX EX (Redis 2.6.12)",
            Nodes::One,
        )
    }

    fn build(&self, env: E, nodes: Vec<NodeName>, _: &Switches) -> Result<BoxLock, ConfigError> {
        Ok(BoxLock::new(SetnxExpireLock(PlainNode::new(env, only_node(NAME, nodes)?))))
    }
}

const NAME: &str = "setnx-expire";
/// What every holder's key holds.
const VALUE: &str = "1";

struct SetnxExpireLock<E: Env>(PlainNode<E>);

impl<E: Env> Lock for SetnxExpireLock<E> {
    async fn acquire(&mut self, resource: &str, ttl: Duration) -> Acquired {
        self.0.env.marks(VALUE.as_bytes());
        match self.0.call(redis::cmd("SETNX").arg(resource).arg(VALUE)).await {
            Ok(reply) if says_yes(&reply) => {}
            Ok(_) => return Acquired::Refused(Refusal::Taken),
            Err(failure) => return failure.into_acquired(),
        }
        // Whatever it says, the key is this client's by now.
        match self.0.call(redis::cmd("EXPIRE").arg(resource).arg(seconds(ttl))).await {
            Ok(_) => Acquired::Granted(Grant::new(resource, Token::new(VALUE))),
            Err(failure) => Acquired::Unknown(failure.into_doubt()),
        }
    }

    async fn release(&mut self, grant: &Grant) -> Released {
        self.0.release(grant, ReleaseMethod::PlainDelete).await
    }
}
