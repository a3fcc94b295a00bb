//! `SET … EX` without `NX`: the lock of articles that forgot two letters.
//!
//! Its flaw: whoever asks gets it. All else is as it should be: there is an end, in the same command, and the release
//! compares the token.

use std::time::Duration;

use redis::Value;

use crate::config::{Descriptor, Facts, Form, LockConfig, Nodes, Switches, Unfit};
use crate::connection::plain_node::{PlainNode, facts, unfit};
use crate::connection::request::ReleaseMethod;
use crate::connection::units::seconds;
use crate::env::{Env, NodeName};
use crate::lock::{Acquired, Grant, Lock, Refusal, Released, Token};
use crate::registry::{BoxLock, ConfigError, LockKind, only_node};

/// The kind of this lock. It has no switches.
pub(crate) struct SetEx;

impl LockConfig for SetEx {
    fn read(_: &mut Form<'_>) -> Self {
        Self
    }

    fn facts(&self) -> Facts {
        facts(&["SET", "EVALSHA", "SCRIPT"])
    }

    fn unfit(&self, ttl: Duration) -> Option<Unfit> {
        unfit("SET … EX", ttl)
    }
}

impl<E: Env> LockKind<E> for SetEx {
    fn descriptor(&self) -> Descriptor {
        Descriptor::from_config::<Self>(
            NAME,
            "SET EX without NX: whoever asks gets it; a script that compares the token gives it back",
            "Articles and answers that take a lock with SETEX or SET EX",
            Nodes::One,
        )
        .with_scripts(crate::connection::scripts::scripts())
    }

    fn build(&self, env: E, nodes: Vec<NodeName>, _: &Switches) -> Result<BoxLock, ConfigError> {
        Ok(BoxLock::new(SetExLock(PlainNode::new(env, only_node(NAME, nodes)?))))
    }
}

const NAME: &str = "set-ex";

struct SetExLock<E: Env>(PlainNode<E>);

impl<E: Env> Lock for SetExLock<E> {
    async fn acquire(&mut self, resource: &str, ttl: Duration) -> Acquired {
        let token = Token::draw(&self.0.env);
        let mut set = redis::cmd("SET");
        set.arg(resource).arg(token.as_bytes()).arg("EX").arg(seconds(ttl));
        match self.0.call(&set).await {
            Ok(Value::Okay) => Acquired::Granted(Grant::new(resource, token)),
            Ok(_) => Acquired::Refused(Refusal::Taken),
            Err(failure) => failure.into_acquired(),
        }
    }

    async fn release(&mut self, grant: &Grant) -> Released {
        self.0.release(grant, ReleaseMethod::CompareAndDelete).await
    }
}
