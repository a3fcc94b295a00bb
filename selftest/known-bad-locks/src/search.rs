//! A search for a known-bad lock's bug: run after run under its weather, up to the first that shows it.
//!
//! One thread, seeds in order: the same answer everywhere. How long it takes is for the caller to measure.

use std::ops::RangeInclusive;

use doublehold::check::{LockKind as _, Predicate, PrepareError, ScenarioError, World};
use doublehold_scenarios::{Engine as _, OwnLocks, Prepared as _, PreparedSim, Searchable, builtin_locks};

use crate::{BadLock, Kind, weathers};

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Discovery {
    /// The first seed that shows it. Seeds count from 1, so it took as many runs.
    pub seed: u64,
    /// What is violated there.
    pub predicates: Vec<Predicate>,
}

/// Why there could be no search.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// The world makes no sense.
    #[error(transparent)]
    World(#[from] ScenarioError),
    /// The scenario cannot be run.
    #[error(transparent)]
    Prepare(#[from] PrepareError),
}

impl BadLock {
    /// Searches for its bug: the first of these seeds from which it breaks what it is said to break.
    ///
    /// # Errors
    ///
    /// If its world makes no sense.
    pub fn search(&self, seeds: RangeInclusive<u64>) -> Result<Option<Discovery>, SearchError> {
        Ok(search(&prepare_world(&self.search_world(), &self.lock)?, self.breaks, seeds))
    }

    /// The same with its control, which is not to be found.
    ///
    /// # Errors
    ///
    /// If its world makes no sense.
    pub fn search_control(&self, seeds: RangeInclusive<u64>) -> Result<Option<Discovery>, SearchError> {
        Ok(search(&prepare_world(&self.search_world(), &self.control)?, self.breaks, seeds))
    }

    /// The scenario of the search in its control, as text: known-bad locks that share a family and a world need one
    /// such search.
    ///
    /// # Errors
    ///
    /// If its world makes no sense.
    pub fn control_scenario(&self) -> Result<String, SearchError> {
        let scenario = prepare_world(&self.search_world(), &self.control)?.scenario().to_toml();
        Ok(format!("{:?} of {scenario}", self.breaks))
    }

    /// Its world, under its weather.
    fn search_world(&self) -> World {
        weathers::under(self.world.clone(), self.weather)
    }
}

fn prepare_world(world: &World, lock: &Kind) -> Result<PreparedSim, SearchError> {
    let locks = builtin_locks().with(lock.clone());
    let scenario = world.scenario(lock.descriptor().name, locks.descriptors())?;
    Ok(OwnLocks(locks).prepare(&scenario)?)
}

fn search(prepared: &PreparedSim, wanted: &[Predicate], mut seeds: RangeInclusive<u64>) -> Option<Discovery> {
    seeds.find_map(|seed| {
        let verdicts = prepared.judge(seed).verdicts;
        let is_violated = |predicate: &Predicate| verdicts.get(*predicate).as_str() == "violated";
        let predicates: Vec<Predicate> = Predicate::ALL.into_iter().filter(is_violated).collect();
        let is_found = predicates.iter().any(|predicate| wanted.contains(predicate));
        is_found.then_some(Discovery { seed, predicates })
    })
}
