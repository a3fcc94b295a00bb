//! The runs of a study: the seeds of its batches, and one run of a cell as a scenario.

use doublehold_scenarios::model::scenario::Scenario;
use doublehold_scenarios::{Engine, Searchable, Seed};

use super::SweepError;
use super::order::{BATCH, Unit};
use crate::study::{CellId, RUNS_MAX, Study};

impl Study {
    /// The first seed of a batch.
    pub(crate) fn first_seed(&self, unit: Unit) -> Seed {
        Seed(self.seed.0 + unit.stratum * RUNS_MAX + unit.batch * BATCH)
    }

    /// The scenario of one run of a cell, with the faults that its seed draws written out.
    ///
    /// # Errors
    ///
    /// If the cell cannot be run.
    pub fn run_of(
        &self,
        engine: &impl Engine<Prepared: Searchable>,
        cell: CellId,
        part: u64,
        seed: Seed,
    ) -> Result<Scenario, SweepError> {
        let scenario = self.scenario(cell)?;
        let prepared = engine.prepare(&scenario)?;
        let Some(climate) = prepared.climate() else { return Ok(scenario) };
        let drawn = match &self.strata {
            None => climate.draw(seed),
            Some(strata) => climate.draw_just(seed, &strata.all()[part as usize]),
        };
        Ok(Scenario { faults: [&scenario.faults[..], &drawn].concat(), weather: None, ..scenario })
    }
}
