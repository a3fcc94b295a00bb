//! A pair of runs: both locks from one seed, in one world, under the same faults.
//!
//! Faults at times are drawn once for both. Those at steps strike at steps that a calm run of either lock has, so that
//! no fault is drawn which only one of them can meet. From the first message that differs on, the two runs go their own
//! ways.

use std::collections::BTreeSet;

use doublehold_scenarios::fault::Fault;
use doublehold_scenarios::report::{Report, Summary};
use doublehold_scenarios::scenario::Scenario;
use doublehold_scenarios::weather::{Climate, Weather};
use doublehold_scenarios::when::Nth;
use doublehold_scenarios::{Engine, Seed, Stepped};

use crate::BesideError;
use crate::sides::LockSide;

/// The seed of the runs whose steps random faults are placed at.
const SURVEYED: Seed = Seed(1);

/// Why no fault names a host that there is not.
const SAME_HOSTS: &str = "faults of a climate strike hosts that there are, and both scenarios have the same";

/// One condition, prepared for both locks.
pub(crate) struct Pair<M, T> {
    pub(crate) mine: M,
    pub(crate) theirs: T,
    climate: Climate,
    survey_climate: Climate,
}

impl<M: Stepped, T: Stepped> Pair<M, T> {
    /// Prepares a scenario of the first lock for both.
    pub(crate) fn new<A, B>(
        (mine, theirs): (&LockSide<A>, &LockSide<B>),
        scenario: &Scenario,
        weather: &Weather,
    ) -> Result<Pair<M, T>, BesideError>
    where
        A: Engine<Prepared = M>,
        B: Engine<Prepared = T>,
    {
        let calm = Scenario { weather: None, ..scenario.clone() };
        let their_scenario = theirs.in_place_of(&calm)?;
        let (mine, theirs) = (mine.engine.prepare(&calm)?, theirs.engine.prepare(&their_scenario)?);
        let (my_steps, their_steps) = match has_faults_at_steps(weather) {
            true => (mine.steps(SURVEYED), theirs.steps(SURVEYED)),
            // Two runs that nobody would look at.
            false => (Vec::new(), Vec::new()),
        };
        let survey_climate = Climate::new(weather, &their_scenario, &their_steps);
        let steps = common_steps(my_steps, their_steps);
        Ok(Pair { climate: Climate::new(weather, &calm, &steps), survey_climate, mine, theirs })
    }

    /// The faults of the runs from a seed, those of the scenario included.
    pub(crate) fn faults(&self, seed: Seed) -> Vec<Fault> {
        [self.mine.scenario().faults.clone(), self.climate.draw(seed)].concat()
    }

    /// The faults of the reference's own runs: they strike at its steps, also at those that the first lock lacks,
    /// so that a survey is the same beside any lock.
    pub(crate) fn survey_faults(&self, seed: Seed) -> Vec<Fault> {
        [self.theirs.scenario().faults.clone(), self.survey_climate.draw(seed)].concat()
    }

    pub(crate) fn judge_theirs(&self, seed: Seed, faults: Vec<Fault>) -> Summary {
        self.theirs.with_faults(faults).expect(SAME_HOSTS).judge(seed)
    }

    pub(crate) fn run_mine(&self, seed: Seed, faults: Vec<Fault>) -> Report {
        self.mine.with_faults(faults).expect(SAME_HOSTS).run(seed)
    }

    pub(crate) fn run_theirs(&self, seed: Seed, faults: Vec<Fault>) -> Report {
        self.theirs.with_faults(faults).expect(SAME_HOSTS).run(seed)
    }
}

fn has_faults_at_steps(weather: &Weather) -> bool {
    !weather.faults.is_empty() && weather.at_steps.as_f64() > 0.0
}

/// The steps that both runs have.
fn common_steps(mut mine: Vec<Nth>, theirs: Vec<Nth>) -> Vec<Nth> {
    let theirs: BTreeSet<Nth> = theirs.into_iter().collect();
    mine.retain(|step| theirs.contains(step));
    mine
}
