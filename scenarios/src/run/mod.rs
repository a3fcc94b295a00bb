//! Running a scenario: an engine prepares it once, and runs it from as many seeds as are wanted.
//!
//! Everything above an engine (verdicts, expectations, pictures) is the same whatever executed the run, so that a
//! second engine can be a second opinion.

mod client;
mod clocks;
mod engine;
mod keys;
mod lean;
mod memory_budget;
mod node_config;
mod recorder;
#[cfg(test)]
mod tests;

pub use client::panic_guard::wants_runtime;
pub use engine::check::PrepareError;
pub use engine::env::{Connection, SimEnv};
pub use engine::limits::Limit;
pub use engine::prepared::PreparedSim;
pub(crate) use engine::signal::Signal;
pub use engine::sim::{LeanEngine, OwnLocks, SimEngine, WorldEngine, builtin_locks};
pub use engine::{Detailed, Engine, Futures, Limited, Prepared, Searchable, Stepped, TakesLocks};
pub use lean::LeanConnection;

/// What carries a lock's requests to the nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Driver {
    /// redis-rs' multiplexed connection, as a user has it.
    RedisRs,
    /// Our own, without a task of its own.
    Lean,
}
