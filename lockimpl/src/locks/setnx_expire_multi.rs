//! `SETNX` and `EXPIRE` in one transaction, so that no client can die between the two.
//!
//! Its flaw: a transaction has no "if". `EXPIRE` is executed also where `SETNX` was not, and whoever is refused
//! prolongs the lease of the holder, dead or alive.

use std::time::Duration;

use redis::Value;

use crate::config::{Descriptor, Facts, Form, LockConfig, Nodes, Switches, Unfit};
use crate::connection::plain_node::{PlainNode, facts, unfit};
use crate::connection::request::{ReleaseMethod, says_yes};
use crate::connection::units::seconds;
use crate::env::{Env, NodeName};
use crate::lock::{Acquired, Grant, Lock, Refusal, Released, Token};
use crate::registry::{BoxLock, ConfigError, LockKind, only_node};

/// The kind of this lock. It has no switches.
pub(crate) struct SetnxExpireMulti;

impl LockConfig for SetnxExpireMulti {
    fn read(_: &mut Form<'_>) -> Self {
        Self
    }

    fn facts(&self) -> Facts {
        facts(&["MULTI", "SETNX", "EXPIRE", "EXEC", "DEL"])
    }

    fn unfit(&self, ttl: Duration) -> Option<Unfit> {
        unfit("EXPIRE", ttl)
    }
}

impl<E: Env> LockKind<E> for SetnxExpireMulti {
    fn descriptor(&self) -> Descriptor {
        Descriptor::from_config::<Self>(
            NAME,
            "SETNX and EXPIRE in one MULTI/EXEC, whatever SETNX says; DEL gives it back",
            "Articles that mend SETNX and EXPIRE with a transaction",
            Nodes::One,
        )
    }

    fn build(&self, env: E, nodes: Vec<NodeName>, _: &Switches) -> Result<BoxLock, ConfigError> {
        Ok(BoxLock::new(SetnxExpireMultiLock(PlainNode::new(env, only_node(NAME, nodes)?))))
    }
}

const NAME: &str = "setnx-expire-multi";

struct SetnxExpireMultiLock<E: Env>(PlainNode<E>);

impl<E: Env> Lock for SetnxExpireMultiLock<E> {
    async fn acquire(&mut self, resource: &str, ttl: Duration) -> Acquired {
        let token = Token::draw(&self.0.env);
        // Not redis-rs' `atomic`, which adds the first and the last by itself: they would be of no lock call.
        let mut transaction = redis::pipe();
        transaction.cmd("MULTI");
        transaction.cmd("SETNX").arg(resource).arg(token.as_bytes());
        transaction.cmd("EXPIRE").arg(resource).arg(seconds(ttl));
        transaction.cmd("EXEC");
        match self.0.pipeline(&transaction).await {
            Ok(replies) if was_set(&replies) => Acquired::Granted(Grant::new(resource, token)),
            Ok(_) => Acquired::Refused(Refusal::Taken),
            Err(failure) => failure.into_acquired(),
        }
    }

    async fn release(&mut self, grant: &Grant) -> Released {
        self.0.release(grant, ReleaseMethod::PlainDelete).await
    }
}

/// Whether SETNX said yes: the last reply, to `EXEC`, holds those to all commands.
fn was_set(replies: &[Value]) -> bool {
    matches!(replies.last(), Some(Value::Array(executed)) if executed.first().is_some_and(says_yes))
}
