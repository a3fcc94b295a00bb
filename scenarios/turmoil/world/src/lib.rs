//! A second simulator for the same code: doublehold's clocks, disks and faults on turmoil's network and tokio's tasks.
//!
//! [`TurmoilWorld`] implements the seam of [`doublehold_sim`], so whatever runs in the kernel's world runs here, and
//! two simulators can be asked for one run. Two things are not the kernel's: the order of tasks (tokio's queue), and
//! connections (`turmoil-net`'s TCP: handshake, windows, FIN and RST). The rest is the same code: the arithmetic of
//! clocks, the moments of planned faults, lives and deaths, and disks.
//!
//! # Map
//!
//! - `world`: hosts, links and faults put together; the loop that runs them. `state`, `queue`: all that changes in a
//!   run.
//! - `process`: a host's tasks, and the gate around each. `host`, `stream`: what is behind the handles of code on a
//!   host.
//! - `network`, `flows`: everything between machines, and when a packet arrives.
//! - `faults`: where faults change the world. `timers`, `syncs`: waiting for a clock or a disk.

mod faults;
mod flows;
mod host;
mod network;
mod process;
mod queue;
mod state;
mod stream;
mod syncs;
mod timers;
mod world;

pub use world::{TurmoilObserver, TurmoilWorld};
