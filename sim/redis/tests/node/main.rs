//! A node around the core: connections, the append-only file, replication, in a small world on tokio's paused clock.
//!
//! The world is not the simulator's kernel: it shows that a node needs nothing but
//! [`Machine`](doublehold_sim_redis::Machine).
#![expect(
    clippy::disallowed_methods,
    reason = "this world's clock is tokio's, paused, and no seed depends on it"
)]

mod blocking;
mod config_file;
mod connection;
mod expiry;
mod key_events;
mod limits;
mod link;
mod pause;
mod persistence;
mod pubsub;
mod push;
mod replication;
mod resync;
mod snapshots;
mod waitaof;
mod world;
