//! doublehold's simulated Redis in a [turmoil](https://docs.rs/turmoil) simulation of yours, and beside it processes
//! that can be paused.
//!
//! The node is mounted as a host of your [`turmoil::Sim`]; turmoil's own partitions, holds, crashes and bounces strike
//! it as they strike any host. Your code runs as a [process](Guests::process): on a tokio runtime of its own, with
//! tokio's time, tasks and drivers as they are, so that a [pause](Guests::pause) stops all of it, whatever it has
//! spawned. A [`Notebook`] takes down who believes to hold what, and [`judge`](doublehold_history::judge) reads it.
//!
//! ```
//! use std::time::Duration;
//!
//! use doublehold_turmoil::{Guest, Guests, NodeConfig};
//! use redis::aio::MultiplexedConnection;
//!
//! async fn client(guest: Guest) -> turmoil::Result {
//!     let stream = guest.connect("redis:6379").await?;
//!     let (mut redis, driver) = MultiplexedConnection::new_with_config(&Default::default(), stream,
//! Default::default()).await?;
//!     tokio::spawn(driver);
//!     let () = redis::cmd("SET").arg("stock").arg("a").arg("PX").arg(10_000).query_async(&mut redis).await?;
//!     tokio::time::sleep(Duration::from_secs(3)).await; // the node's clock is set ahead meanwhile
//!     let gone: bool = redis::cmd("EXISTS").arg("stock").query_async::<u32>(&mut redis).await? == 0;
//!     assert!(gone, "a step of the node's wall clock ends a lease early");
//!     Ok(())
//! }
//!
//! let guests = Guests::new(7);
//! let mut sim = turmoil::Builder::new().rng_seed(7).build();
//! sim.host("redis", guests.redis("redis", 6379, NodeConfig::default()));
//! sim.client("a", guests.process("a", client));
//! guests.set_ahead("redis", Duration::from_secs(2), Duration::from_secs(10));
//! guests.run(&mut sim).expect("the client finds what it expects");
//! ```
//!
//! # Map, in reading order
//!
//! - `guests`: all of a simulation: what is mounted, what strikes, how it is run
//! - `hosts`: what turmoil's hosts lack: a wall clock, pauses, a disk
//! - `process`: a process on its runtime, and the bytes between it and turmoil's network
//! - `node`: a Redis node as a host's software
//! - `notebook`: what clients believed, for the judge
//!
//! # What it does not model
//!
//! tokio's clock is true on every host: what is wrong is the wall clock. A node cannot be paused
//! ([`hold`](turmoil::Sim::hold) its links: a node that hears nothing does nothing but expire keys), and its fsyncs
//! take no time. Time moves in turmoil's ticks: a byte waits for the next on its way into a process and out of it, and
//! a pause begins and ends with one. Whoever is reset reads an end. `select!` without `biased` draws from the operating
//! system, unless everything is compiled with `--cfg tokio_unstable`.
//!
//! Decision: "The package for a user's turmoil test is its own crate, below no other crate of ours"
//! (docs/decisions/crates.md).

mod guests;
mod hosts;
mod node;
mod notebook;
mod process;

pub use doublehold_sim_redis::{NodeConfig, Persistence};
pub use guests::Guests;
pub use notebook::{Asking, Holding, Notebook};
pub use process::{Guest, GuestStream, NotRun};
