//! Running a scenario: an engine carries it out and reports what it came to.
//!
//! Everything above an engine (verdicts, expectations, pictures) is the same whatever executed the run, so that a
//! second engine can be a second opinion.

mod attribution;
mod calls;
mod env;
mod kept;
mod lean;
mod program;
mod recorder;
mod resource;
#[cfg(test)]
mod scripts;
mod signal;
mod sim;
#[cfg(test)]
mod tests;

pub use lean::LeanConnection;
pub(crate) use signal::Signal;
pub use sim::{LeanEngine, SimEngine};

use crate::report::Report;
use crate::scenario::Scenario;

/// What to keep of a run besides its history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Nothing: the trace is hashed and forgotten.
    History,
    /// Every event of the trace.
    Trace,
}

/// What carries a lock's requests to the nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Driver {
    /// redis-rs' multiplexed connection, as a user has it.
    RedisRs,
    /// Our own, without a task of its own.
    Lean,
}

/// Something that can execute scenarios.
pub trait Engine {
    /// Its name in reports.
    fn name(&self) -> &'static str;

    /// Runs a scenario from a seed. The same scenario and seed give the same report, whatever ran before and on
    /// whatever thread.
    fn run(&self, scenario: &Scenario, seed: u64, keep: Keep) -> Report;
}
