//! Sweeps: every cell of a study, run from its seeds, in batches, on several threads.
//!
//! Batches are handed out in one order, and told in the same order: round by round, and in each round every cell its
//! batches. So what a sweep has written is always the beginning of what it will have written, whatever ended it; a
//! sweep that goes on makes the batches that are missing, and shards have each their own batches of that order. When a
//! cell has had enough is decided after a round, by what all batches before have told, which is the same everywhere.
//!
//! Memory does not grow with runs: what a batch told is forgotten once it was told, but for one count a cell where a
//! precision is asked for.
//!
//! What depends on the machine is only a budget of time: it ends a sweep after some batch.

mod batch;
mod durations;
mod header;
mod order;
mod runs;
mod shard;
#[cfg(test)]
mod tests;
mod work;

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

pub use batch::{Batch, PredicateCount, Sums};
use doublehold_scenarios::error::ScenarioError;
use doublehold_scenarios::pool::Stuck;
use doublehold_scenarios::{Engine, PrepareError, Searchable};
pub use durations::Durations;
pub use header::{
    AxisHeader, DesignHeader, FIRST_FORMAT, FORMAT, PartialHeader, PrecisionHeader, StudyHeader, WeatherLine,
};
pub use order::{BATCH, Counted, HandOut, Order, ROW, Unit};
pub use shard::Shard;

use crate::study::Study;

/// How batches are run.
#[derive(Clone, Debug)]
pub struct SweepEffort {
    /// On how many threads.
    pub jobs: NonZeroUsize,
    /// How long no run may end, in real time, until it is said that code does not come back.
    pub patience: Duration,
}

/// Why a sweep cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// A cell is no scenario.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// A cell cannot be run.
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    /// Code does not come back.
    #[error(transparent)]
    Stuck(#[from] Stuck),
}

/// What a sweep tells while it goes on.
#[derive(Debug)]
pub enum SweepEvent<'a> {
    /// The next batch is done.
    Batch(&'a Batch),
    /// Nothing new, but time passed: so many runs were begun since the sweep began.
    Tick(u64),
}

/// Runs what is left of a study on an engine, in order, until it is done or `tell` says so.
///
/// # Errors
///
/// If a cell cannot be run, or its code does not come back.
pub fn sweep<E: Engine<Prepared: Searchable> + Send + Sync + 'static>(
    engine: &Arc<E>,
    study: &Arc<Study>,
    order: Order,
    effort: &SweepEffort,
    tell: impl FnMut(SweepEvent<'_>) -> ControlFlow<()>,
) -> Result<(), SweepError> {
    work::run_batches(engine, study, order, effort, tell)
}
