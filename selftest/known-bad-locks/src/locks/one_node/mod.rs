//! Known-bad locks of locks on one node: atomicity, identity, release, watchdog, process-local stage, fencing.
//!
//! Five families, each one compact implementation: `plain` (a key, a token, an extension on demand), `renewing` (a
//! watchdog extends), `reentrant` (a hash that counts), `local` (a stage inside the process before the node is asked)
//! and `fenced` (a counter). A family's flaw is one branch at one place; without a flaw it is the control.
//!
//! Families differ from the lock that ships where a bug needs it: a grant has a deadline, so that P2 tells believing
//! too long from being slow, and a release whose reply was lost is asked for again.

mod fenced;
mod lease;
mod local;
mod plain;
mod reentrant;
mod renewing;
mod scenes;
mod searches;
mod watchdog;

use std::time::Duration;

use doublehold::check::{Env as _, NodeName, SimEnv};

use crate::BadLock;
use crate::node::Node;

/// How long one command may take.
const TIMEOUT: Duration = Duration::from_secs(1);

/// All of them.
pub(crate) fn bad_locks() -> Vec<BadLock> {
    [
        plain::bad_locks(),
        renewing::bad_locks(),
        reentrant::bad_locks(),
        local::bad_locks(),
        fenced::bad_locks(),
    ]
    .concat()
}

/// A machine and the name of its node: what it takes to open another connection.
#[derive(Clone)]
struct Way {
    env: SimEnv,
    name: NodeName,
}

impl Way {
    fn node(&self) -> Node {
        Node::new(self.env.clone(), self.name.clone(), TIMEOUT)
    }

    async fn sleep(&self, time: Duration) {
        let now = self.env.monotonic().await;
        self.env.sleep_until(now.saturating_add(time)).await;
    }
}
