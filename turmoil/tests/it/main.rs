//! Nodes and processes in simulations of turmoil: what a pause stops, what a crash leaves, whose clock is wrong, and
//! that a simulation runs the same from the same seed.

// The lint looks at macros of the whole crate at once.
#![expect(clippy::disallowed_macros, reason = "planted in `same`: a `select!` that makes two runs differ")]

mod defects;
mod nodes;
mod notes;
mod pauses;
mod same;

use doublehold_turmoil::{Guest, Guests, NodeConfig};
use redis::aio::MultiplexedConnection;
use turmoil::Sim;

/// A simulation with a node.
fn with_redis(guests: &Guests, config: NodeConfig) -> Sim<'static> {
    let mut sim = turmoil::Builder::new().rng_seed(7).build();
    sim.host("redis", guests.redis("redis", 6379, config));
    sim
}

/// A connection of redis-rs to the node.
async fn connect(guest: &Guest) -> turmoil::Result<MultiplexedConnection> {
    let stream = guest.connect("redis:6379").await?;
    let (connection, driver) =
        MultiplexedConnection::new_with_config(&Default::default(), stream, Default::default()).await?;
    tokio::spawn(driver);
    Ok(connection)
}
