//! The worlds that mutants are tried in: nodes, clients and their programs. Faults come from weather, or from whoever
//! wants to show one bug.

use std::time::Duration;

use doublehold::check::World;

/// How long a grant lasts.
pub const TTL: Duration = Duration::from_secs(10);

/// Two clients on `nodes` independent nodes, one after the other at the lock.
pub fn independent(nodes: usize) -> World {
    const NAMES: [&str; 7] = ["A", "B", "C", "D", "E", "F", "G"];
    World::new(format!("{nodes} nodes")).nodes(NAMES.into_iter().take(nodes)).ttl(TTL)
}
