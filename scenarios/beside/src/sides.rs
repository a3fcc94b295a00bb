//! The two locks: the user's own, and the reference beside it.

use std::time::Duration;

use doublehold_history::{Event, EventKind, LockId, TrueNs};
use doublehold_lockimpl::{Descriptor, Switches};
use doublehold_scenarios::build::{Abilities, World};
use doublehold_scenarios::report::KeySpan;
use doublehold_scenarios::scenario::{DelayLaw, HostIndex, Role, Scenario, Step};
use doublehold_scenarios::{Engine, Prepared as _, Report, ScenarioError};

use crate::BesideError;

/// What a lock that cannot extend its lease says of it.
const NO_EXTENSION: &str = "this lock cannot be extended";

/// The result of a calm run of one client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockTrial {
    /// The steps and numbers that the lock has.
    pub can: Abilities,
    /// Its grants tell when they end.
    pub tells_deadline: bool,
    /// Its keys outlive their lease while their holder works.
    pub renews: bool,
    /// The nodes on which it set no key, where it set one on others.
    pub idle_nodes: Vec<String>,
}

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

    /// The scenario with this lock in place of its own. Its faults and the starts of its clients stay as they are, also
    /// those that wait for a step which this lock lacks: they never strike.
    ///
    /// # Errors
    ///
    /// If a file that says the rest would be refused.
    pub fn in_place_of(&self, scenario: &Scenario) -> Result<Scenario, ScenarioError> {
        let mut checked = Scenario { faults: Vec::new(), ..scenario.clone() };
        checked.lock.algorithm.clone_from(&self.lock);
        checked.lock.switches = self.switches.clone();
        checked.expect.clear();
        checked.clients.iter_mut().for_each(|client| client.start = None);
        let mut checked = checked.validate_with(self.engine.locks())?;
        checked.faults.clone_from(&scenario.faults);
        for (client, with_start) in checked.clients.iter_mut().zip(&scenario.clients) {
            client.start.clone_from(&with_start.start);
        }
        Ok(checked)
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

    /// Finds out what the lock does, in a run of one client without faults.
    ///
    /// # Errors
    ///
    /// If the lock cannot be run at all.
    pub fn try_out(&self) -> Result<LockTrial, BesideError> {
        let none = Abilities { extends: false, fences: false };
        // The nodes of a family, and one client that also extends.
        let alone = World::family().member(0, &self.descriptor()?, none).with(|scenario| {
            scenario.clients.truncate(1);
            scenario.hosts.truncate(scenario.clients[0].host.0 + 1);
        });
        let mut scenario = self.scenario(&alone)?;
        let (lock, ttl) = (LockId(0), scenario.lock.ttl);
        let work = Step::Work(DelayLaw::Fixed(ttl * 3 / 2));
        scenario.clients[0].program =
            vec![Step::Acquire(lock), Step::Extend(lock), work, Step::Release(lock)];
        let run = self.engine.prepare(&scenario)?.run(1);
        let mut can = Abilities { extends: true, fences: false };
        for event in run.history.events() {
            match &event.what {
                EventKind::ExtendFailed { why, .. } if why == NO_EXTENSION => can.extends = false,
                EventKind::Inconclusive { why } if why.ends_with(NO_EXTENSION) => can.extends = false,
                EventKind::Granted { fencing: Some(_), .. } => can.fences = true,
                _ => {}
            }
        }
        let tells_deadline = run.history.events().iter().any(has_deadline);
        let outlives = |key: &KeySpan| key.until.is_none_or(|(at, _)| lasts(key.from, at) > ttl * 6 / 5);
        let renews = run.keys.iter().any(outlives);
        Ok(LockTrial { can, tells_deadline, renews, idle_nodes: idle_nodes(&run) })
    }
}

fn lasts(from: TrueNs, to: TrueNs) -> Duration {
    Duration::from_nanos(to.since(from))
}

fn has_deadline(event: &Event) -> bool {
    matches!(event.what, EventKind::Granted { deadline: Some(_), .. })
}

fn idle_nodes(run: &Report) -> Vec<String> {
    let has_key = |node: HostIndex| run.keys.iter().any(|key| key.node == node);
    let nodes = (0..run.scenario.hosts.len()).map(HostIndex);
    let nodes = nodes.filter(|node| run.scenario.hosts[node.0].role == Role::Node);
    let (busy, idle): (Vec<HostIndex>, Vec<HostIndex>) = nodes.partition(|node| has_key(*node));
    let names = idle.iter().map(|node| run.scenario.hosts[node.0].name.clone());
    if busy.is_empty() { Vec::new() } else { names.collect() }
}
