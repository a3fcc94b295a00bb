//! The crudest bug there is: `SET` without `NX`. A check that does not find this one at once finds nothing.

use std::time::Duration;

use doublehold::check::{Acquired, Grant, Lock, Nodes, Predicate, Refusal, Released, SimEnv, Token};
use redis::Value;

use crate::node::{Node, millis, release_outcome};
use crate::{BadLock, Kind, worlds};

/// A lock on one node that lasts for a lease, and asks for nothing else if `not_exists` is off.
struct Plain {
    env: SimEnv,
    node: Node,
    not_exists: bool,
}

impl Lock for Plain {
    async fn acquire(&mut self, resource: &str, ttl: Duration) -> Acquired {
        let token = Token::draw(&self.env);
        let mut set = redis::cmd("SET");
        set.arg(resource).arg(token.as_bytes()).arg("PX").arg(millis(ttl));
        if self.not_exists {
            set.arg("NX");
        }
        match self.node.call(&set).await {
            Ok(Value::Okay) => Acquired::Granted(Grant::new(resource, token)),
            Ok(_) => Acquired::Refused(Refusal::Taken),
            Err(silence) => silence.into_acquired(),
        }
    }

    async fn release(&mut self, grant: &Grant) -> Released {
        release_outcome(self.node.delete(&grant.resource, grant.token.as_bytes()).await)
    }
}

fn kind(name: &'static str, not_exists: bool) -> Kind {
    Kind::new(name, Nodes::One, move |env, nodes| {
        let node = Node::new(env.clone(), nodes[0].clone(), Duration::from_secs(1));
        Plain { env, node, not_exists }
    })
}

/// The one known-bad lock that every check must find within its first few seeds.
pub(crate) fn bad_lock() -> BadLock {
    let world = worlds::independent(1).clients(2, ["acquire", "read", "work 1s..3s", "write", "release"]);
    BadLock {
        name: "set-without-nx",
        source: "canary",
        what: "SET without NX: whoever asks has the lock.",
        breaks: &[Predicate::P1, Predicate::P2],
        lock: kind("set-without-nx", false),
        control: kind("set-nx-px", true),
        world: world.clone(),
        weather: "calm",
        shown: world,
        survives: None,
    }
}
