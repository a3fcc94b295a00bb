//! Running a scenario: an engine prepares it once, and runs it from as many seeds as are wanted.
//!
//! Everything above an engine (verdicts, expectations, pictures) is the same whatever executed the run, so that a
//! second engine can be a second opinion.

mod attribution;
mod calls;
mod caught;
mod check;
mod claimants;
mod clocks;
mod closing;
#[cfg(test)]
mod counted;
mod detail;
mod drivers;
mod engine;
mod env;
mod header;
mod kept;
mod key_claims;
mod key_lanes;
mod lean;
mod lock_keys;
mod lower;
mod on_sim;
mod program;
#[cfg(test)]
mod random;
mod recorder;
mod resource;
#[cfg(test)]
mod scripts;
mod shares;
mod signal;
mod sim;
mod stage;
pub(crate) mod steps;
#[cfg(test)]
mod taken;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod told;
mod touched;
mod world;

pub use check::PrepareError;
pub use engine::{Detailed, Engine, Futures, Prepared, Searchable, Stepped, TakesLocks};
pub use env::{Connection, SimEnv};
pub use lean::LeanConnection;
pub(crate) use signal::Signal;
pub use sim::{LeanEngine, OwnLocks, PreparedSim, SimEngine};

/// What carries a lock's requests to the nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Driver {
    /// redis-rs' multiplexed connection, as a user has it.
    RedisRs,
    /// Our own, without a task of its own.
    Lean,
}
