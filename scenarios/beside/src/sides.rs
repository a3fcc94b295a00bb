//! The two locks: the user's own, and the reference beside it.

use doublehold_history::EventKind;
use doublehold_lockimpl::{Descriptor, Switches};
use doublehold_scenarios::build::{Abilities, World};
use doublehold_scenarios::scenario::Scenario;
use doublehold_scenarios::{Engine, Prepared as _, ScenarioError};

use crate::BesideError;

/// What a lock that cannot extend its lease says of it.
const NO_EXTENSION: &str = "this lock cannot be extended";

/// One of the two locks, and what runs it.
///
/// Each has an engine of its own: two versions of one lock may have one name.
#[derive(Debug)]
pub struct LockSide<E> {
    /// Runs scenarios of this lock.
    pub engine: E,
    /// Its name, as scenarios know it.
    pub lock: String,
    /// Its switches that differ from what they are where nothing is said.
    pub switches: Switches,
    /// What reports call it.
    pub title: String,
}

impl<E: Engine> LockSide<E> {
    /// What is known of the lock.
    ///
    /// # Errors
    ///
    /// If the engine has no such lock.
    pub fn descriptor(&self) -> Result<Descriptor, BesideError> {
        let known = self.engine.locks().into_iter().find(|lock| lock.name == self.lock);
        known.ok_or_else(|| BesideError::NoSuchLock(self.lock.clone()))
    }

    /// The scenario with this lock in place of its own.
    ///
    /// # Errors
    ///
    /// If a file that says the same would be refused.
    pub fn in_place_of(&self, scenario: &Scenario) -> Result<Scenario, ScenarioError> {
        let mut scenario = scenario.clone();
        scenario.lock.algorithm.clone_from(&self.lock);
        scenario.lock.switches = self.switches.clone();
        scenario.expect.clear();
        scenario.validate_with(self.engine.locks())
    }

    /// The scenario of a world in which this lock runs.
    ///
    /// # Errors
    ///
    /// If a file that says the same would be refused.
    pub fn scenario(&self, world: &World) -> Result<Scenario, ScenarioError> {
        let mut world = world.clone();
        if self.switches != Switches::new() {
            // Before it is checked: a switch may be what makes the lock fit the world.
            let switches = self.switches.clone();
            world = world.with(move |scenario| scenario.lock.switches = switches.clone());
        }
        world.scenario(&self.lock, self.engine.locks())
    }

    /// What the lock can do, as one client alone finds out in a run without faults.
    ///
    /// # Errors
    ///
    /// If the lock cannot be run at all.
    pub fn abilities(&self) -> Result<Abilities, BesideError> {
        let none = Abilities { extends: false, fences: false };
        // The nodes of a family, and one client that also extends.
        let alone = World::family().member(0, &self.descriptor()?, none).with(|scenario| {
            scenario.clients.truncate(1);
            scenario.hosts.truncate(scenario.clients[0].host.0 + 1);
        });
        let mut scenario = self.scenario(&alone)?;
        let extend = doublehold_scenarios::scenario::Step::Extend(doublehold_history::LockId(0));
        scenario.clients[0].program.insert(1, extend);
        let history = self.engine.prepare(&scenario)?.run(1).history;
        let mut can = Abilities { extends: true, fences: false };
        for event in history.events() {
            match &event.what {
                EventKind::ExtendFailed { why, .. } if why == NO_EXTENSION => can.extends = false,
                EventKind::Inconclusive { why } if why.ends_with(NO_EXTENSION) => can.extends = false,
                EventKind::Granted { fencing: Some(_), .. } => can.fences = true,
                _ => {}
            }
        }
        Ok(can)
    }
}
