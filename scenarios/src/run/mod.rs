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
use doublehold_lockimpl::Descriptor;
pub use env::{Connection, SimEnv};
pub use lean::LeanConnection;
use serde::Serialize;
pub(crate) use signal::Signal;
pub use sim::{LeanEngine, OwnLocks, PreparedSim, SimEngine};

use crate::Seed;
use crate::model::scenario::Scenario;
use crate::report::{Report, Summary};

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
    /// A scenario it is ready to run.
    type Prepared: Prepared;

    /// Its name in reports.
    fn name(&self) -> &'static str;

    /// The locks that its scenarios can name.
    fn locks(&self) -> Vec<Descriptor>;

    /// Does once what is the same in every run of a scenario.
    ///
    /// # Errors
    ///
    /// If the scenario cannot be run. One that was read from a file can.
    fn prepare(&self, scenario: &Scenario) -> Result<Self::Prepared, PrepareError>;

    /// Prepares a scenario and runs it from one seed.
    ///
    /// # Panics
    ///
    /// If the scenario cannot be run, see [`Engine::prepare`].
    fn run(&self, scenario: &Scenario, seed: impl Into<Seed>) -> Report {
        match self.prepare(scenario) {
            Ok(prepared) => prepared.run(seed),
            Err(error) => panic!("the scenario `{}` cannot be run: {error}", scenario.name),
        }
    }
}

/// A scenario that an engine is ready to run. The same seed gives the same run, whatever ran before, in whatever
/// order and on whatever thread; several threads may share one preparation.
///
/// ```
/// use doublehold_scenarios::{Engine, Prepared, SimEngine, catalog};
///
/// let quiet = SimEngine.prepare(&catalog::load("quiet", &[])?)?;
/// for seed in 1..=3 {
///     assert_eq!(quiet.judge(seed).trace_hash, quiet.run(seed).trace_hash);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Prepared: Send + Sync {
    /// One event of the engine's own account of a run.
    type Record: Serialize;

    /// Runs from a seed, and keeps the verdicts only.
    fn judge(&self, seed: impl Into<Seed>) -> Summary;

    /// Runs from a seed, and reports what happened.
    fn run(&self, seed: impl Into<Seed>) -> Report;

    /// Runs from a seed, and keeps every event as well.
    fn run_traced(&self, seed: impl Into<Seed>) -> (Report, Vec<Self::Record>);
}
