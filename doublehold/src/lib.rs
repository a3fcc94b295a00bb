//! Tests your own lock, on Redis or on a [service](services): in worlds that you describe, or in drawn ones, from many
//! seeds.
//!
//! # Map, in reading order
//!
//! - [`check`]: your own lock, tried in a world from many seeds
//! - [`beside`]: your own lock beside a reference: what only yours does
//! - `property`: your own lock, tried in drawn worlds, weathers and configurations (feature `proptest`)
//! - [`marks`]: places in a lock's code that a check has to come to: [`reached`]
//! - [`services`]: ZooKeeper, etcd and a database, and their clients, for a lock of your own on one of them
//! - [`findings`]: the results of a search, in words
//! - [`nondeterminism`]: finds what reaches into runs from outside the simulation: real time, and state kept between
//!   runs
//!
//! Pictures and texts of runs come from `doublehold-render`; the program is `doublehold-cli`.

pub mod beside;
pub mod check;
pub mod findings;
pub mod marks;
pub mod nondeterminism;
#[cfg(feature = "proptest")]
pub mod property;
mod regressions;
pub mod services;

pub use marks::reached;
