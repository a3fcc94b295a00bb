//! Tests your own Redis lock: in worlds that you describe, or in drawn ones, from many seeds.
//!
//! # Map, in reading order
//!
//! - [`check`]: your own lock, tried in a world from many seeds
//! - `property`: your own lock, tried in drawn worlds, weathers and configurations (feature `proptest`)
//! - [`findings`]: the results of a search, in words
//! - [`nondeterminism`]: finds what reaches into runs from outside the simulation: real time, and state kept between
//!   runs
//!
//! Pictures and texts of runs come from `doublehold-render`; the program is `doublehold-cli`.

pub mod check;
pub mod findings;
pub mod nondeterminism;
#[cfg(feature = "proptest")]
pub mod property;
mod regressions;
