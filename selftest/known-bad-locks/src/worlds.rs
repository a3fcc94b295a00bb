//! The worlds that known-bad locks are tried in: nodes, clients and their programs. Faults come from weather, or from
//! whoever wants to show one bug.

use std::time::Duration;

use doublehold::check::{Fault, When, World};

/// How long a grant lasts.
pub const TTL: Duration = Duration::from_secs(10);

/// Takes the lock, changes the data, and looks at the clock before writing.
pub const CAREFUL: [&str; 6] = ["acquire", "read", "work 1s..3s", "check", "write", "release"];

/// The same with work that may outlive the lease.
pub const LONG: [&str; 6] = ["acquire", "read", "work 1s..14s", "check", "write", "release"];

/// Work in two halves, with an extension between.
pub const EXTENDING: [&str; 8] =
    ["acquire", "read", "work 2s..8s", "extend", "work 2s..8s", "check", "write", "release"];

/// Takes the lock and gives it back.
pub const SHORT: [&str; 3] = ["acquire", "work 1s", "release"];

/// Nodes that know nothing of each other. No clients yet.
pub fn independent(nodes: usize) -> World {
    const NAMES: [&str; 7] = ["A", "B", "C", "D", "E", "F", "G"];
    World::new(format!("{nodes} nodes")).nodes(NAMES.into_iter().take(nodes)).ttl(TTL)
}

/// A master `M` and the replicas `R1` and `R2`. No clients yet.
pub fn replicated_nodes() -> World {
    World::new("a master and two replicas").nodes(["M", "R1", "R2"]).master("M").ttl(TTL)
}

/// Who waits for a lock that nobody claims gets it within five seconds. A client gives up after a minute.
#[must_use]
pub fn soon_obtained(world: World) -> World {
    let patience = Duration::from_secs(60);
    let world = world.with(move |scenario| {
        scenario.limits.time = 3 * patience;
        scenario.clients.iter_mut().for_each(|client| client.give_up_after = patience);
    });
    world.obtain_free_within(Duration::from_secs(5))
}

/// The same, counted from when the last fault is over, and with a lease that is longer than such a wait: what keeps a
/// key for a lease shows, and what a fault itself takes does not.
#[must_use]
pub fn soon_obtained_after_faults(world: World) -> World {
    let world = soon_obtained(world).ttl(Duration::from_secs(30)).obtain_free_within(Duration::from_secs(20));
    world.with(|scenario| scenario.limits.after_faults = true)
}

/// Whoever waits for a free lock gets it in the end: within three leases of the last fault.
#[must_use]
pub fn obtained_in_the_end(world: World) -> World {
    let world = soon_obtained(world).obtain_free_within(3 * TTL);
    world.with(|scenario| scenario.limits.after_faults = true)
}

/// Clients `c1` and `c2` with a program each; `c2` begins at `start`.
#[must_use]
pub fn one_after_the_other(
    world: World,
    first: &'static [&'static str],
    second: &'static [&'static str],
    start: impl Into<When>,
) -> World {
    let start = start.into();
    let world = world.client("c1", first.iter().copied()).client("c2", second.iter().copied());
    world.with(move |scenario| scenario.clients[1].start = Some(start.clone()))
}

/// The world in which all of these faults strike.
#[must_use]
pub fn with_faults(world: World, faults: impl IntoIterator<Item = Fault>) -> World {
    faults.into_iter().fold(world, World::fault)
}
