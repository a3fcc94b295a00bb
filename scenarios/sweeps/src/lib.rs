//! Sweeps: how often does each lock break, over a grid of parameters?
//!
//! # Map, in reading order
//!
//! - [`study`]: designs, and a grid of parameters over which they are compared, with one clear message for everything
//!   that can be wrong in the file of one.
//! - [`grid`]: the numbers of its cells.
//! - [`mod@sweep`]: every cell of a study, run in batches.
//! - [`records`]: what a sweep leaves behind, resumed and merged. [`results`]: what that adds up to.
//!
//! Nothing here prints.

pub mod grid;
pub mod records;
pub mod results;
pub mod study;
pub mod sweep;
