//! The world in which a lock is searched where nobody names a scenario: as small as contention can be, and with nothing
//! random in it, so that one seed shows what there is.
//!
//! Each client starts 30 ms after the one before it, and works for longer than that: all but the first meet a lock that
//! is held, in runs without faults. Clients that start at the same instant would split Redlock's votes in every round.
//!
//! The first works for 50 ms and the others for 3 s, of a lease of 4 s. So whoever comes after the first still holds
//! the lock when a fault of 6 s is over that struck the first one: a stop that ends when nobody holds anything shows
//! little.

use std::time::Duration;

use doublehold_lockimpl::{Descriptor, Nodes};
use doublehold_scenarios::build::World;
use doublehold_scenarios::model::scenario::DelayLaw;
use doublehold_scenarios::model::when::When;

/// How many clients there are in [`small_world`] where nobody says.
pub const CLIENTS: usize = 2;

/// What the first client does, and what the others do.
const PROGRAMS: [[&str; 6]; 2] = [
    ["acquire", "read", "work 50ms", "check", "write", "release"],
    ["acquire", "read", "work 3s", "check", "write", "release"],
];

/// A world for a lock, with so many clients that each take so many turns.
pub fn small_world(lock: &Descriptor, clients: usize, rounds: u32) -> World {
    let world = World::new(lock.name);
    let world = match lock.nodes {
        Nodes::One => world.nodes(["A"]),
        Nodes::Replicated => world.nodes(["M", "R1"]).master("M"),
        Nodes::Independent => world.nodes(["A", "B", "C", "D", "E"]),
    };
    let client = |world: World, number: usize| {
        world.client(&format!("c{}", number + 1), PROGRAMS[number.min(PROGRAMS.len() - 1)])
    };
    let world = (0..clients).fold(world, client).rounds(rounds).ttl(Duration::from_secs(4));
    world.obtain_within(Duration::from_secs(60)).with(|scenario| {
        scenario.limits.after_faults = true;
        scenario.link.delay = DelayLaw::Fixed(Duration::from_millis(1));
        for (number, client) in (0..).zip(&mut scenario.clients) {
            client.retry = DelayLaw::Fixed(Duration::from_millis(700));
            // Longer than the bound of LV after the last fault, and not much: who waits in vain costs most.
            client.give_up_after = Duration::from_secs(75);
            client.start = (number > 0).then(|| When::from(Duration::from_millis(30 * number)));
        }
    })
}
