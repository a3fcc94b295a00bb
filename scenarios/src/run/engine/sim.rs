//! The engines of the simulation kernel, and the engine of any other kind of world.

use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use doublehold_lockimpl::{Descriptor, LockKind, Registry};
use doublehold_sim::{Seed, World, WorldLike};

use super::check::{PrepareError, check};
use super::env::SimEnv;
use super::executor::{Executor, InWorlds};
use super::limits::{effect_limit, link_limit};
use super::prepared::PreparedSim;
use super::{Engine, Limited, Searchable, Stepped, TakesLocks};
use crate::model::cast::Cast;
use crate::model::fault::Effect;
use crate::model::scenario::{DelayLaw, LinkSetup, Probability, Role, Scenario};
use crate::run::Driver;
use crate::weather::{Climate, Weather};

/// Runs scenarios in the simulation kernel, in virtual time.
#[derive(Clone, Copy, Debug, Default)]
pub struct SimEngine;

/// Runs many scenarios, with our own lean connection between locks and nodes in place of redis-rs'.
///
/// A run takes about two thirds of the instructions. It violates each predicate as often as [`SimEngine`] does, but one
/// run may differ, and traces and their hashes do. So a run that is shown or replayed is one of [`SimEngine`].
#[derive(Clone, Copy, Debug, Default)]
pub struct LeanEngine;

/// The seed of the run whose steps random faults are placed at. Any would do.
const SURVEYED: Seed = Seed(1);

/// The locks of the program.
///
/// `Registry::builtin` is the same, and has them all compiled once more in an optimised crate that calls it.
pub fn builtin_locks() -> Registry<SimEnv> {
    locks().clone()
}

/// A `LazyLock` would name the function that fills it, and have all locks compiled for this crate's unit tests, which
/// run none of them.
fn locks() -> &'static Registry<SimEnv> {
    static LOCKS: OnceLock<Registry<SimEnv>> = OnceLock::new();
    LOCKS.get_or_init(Registry::builtin)
}

impl Engine for SimEngine {
    type Prepared = PreparedSim;

    fn name(&self) -> &'static str {
        "sim"
    }

    fn locks(&self) -> Vec<Descriptor> {
        locks().descriptors()
    }

    fn prepare(&self, scenario: &Scenario) -> Result<PreparedSim, PrepareError> {
        prepare::<World>(self.name(), Driver::RedisRs, locks(), scenario)
    }
}

impl Engine for LeanEngine {
    type Prepared = PreparedSim;

    fn name(&self) -> &'static str {
        "sim, lean connections"
    }

    fn locks(&self) -> Vec<Descriptor> {
        locks().descriptors()
    }

    fn prepare(&self, scenario: &Scenario) -> Result<PreparedSim, PrepareError> {
        prepare::<World>(self.name(), Driver::Lean, locks(), scenario)
    }
}

impl Limited for SimEngine {
    fn limit_of(&self, effect: &Effect) -> Option<&'static str> {
        limit_of_kind::<World>(effect)
    }

    fn limit_of_loss(&self) -> Option<&'static str> {
        limit_of_loss::<World>()
    }
}

/// [`SimEngine`] for scenarios that name locks of the caller's own.
///
/// ```
/// use doublehold_scenarios::{Engine, OwnLocks, builtin_locks, catalog};
///
/// // Here goes `.with(…)` of a lock kind of one's own.
/// let engine = OwnLocks(builtin_locks());
/// assert!(engine.prepare(&catalog::load("quiet", &[])?).is_ok());
/// # Ok::<(), doublehold_scenarios::ScenarioError>(())
/// ```
#[derive(Clone, Debug)]
pub struct OwnLocks(pub Registry<SimEnv>);

impl TakesLocks for OwnLocks {
    fn from_locks(locks: Registry<SimEnv>) -> OwnLocks {
        OwnLocks(locks)
    }
}

impl Engine for OwnLocks {
    type Prepared = PreparedSim;

    fn name(&self) -> &'static str {
        "sim"
    }

    fn locks(&self) -> Vec<Descriptor> {
        self.0.descriptors()
    }

    fn prepare(&self, scenario: &Scenario) -> Result<PreparedSim, PrepareError> {
        prepare::<World>(self.name(), Driver::RedisRs, &self.0, scenario)
    }
}

/// Runs scenarios in worlds of type `W`, through redis-rs, with these locks.
#[derive(Clone, Debug)]
pub struct WorldEngine<W: WorldLike> {
    name: &'static str,
    locks: Registry<SimEnv>,
    world: PhantomData<fn() -> W>,
}

impl<W: WorldLike> WorldEngine<W> {
    /// An engine of that name in reports.
    pub fn new(name: &'static str, locks: Registry<SimEnv>) -> WorldEngine<W> {
        WorldEngine { name, locks, world: PhantomData }
    }
}

impl<W: WorldLike> Engine for WorldEngine<W> {
    type Prepared = PreparedSim;

    fn name(&self) -> &'static str {
        self.name
    }

    fn locks(&self) -> Vec<Descriptor> {
        self.locks.descriptors()
    }

    fn prepare(&self, scenario: &Scenario) -> Result<PreparedSim, PrepareError> {
        prepare::<W>(self.name, Driver::RedisRs, &self.locks, scenario)
    }
}

impl<W: WorldLike> Limited for WorldEngine<W> {
    fn limit_of(&self, effect: &Effect) -> Option<&'static str> {
        limit_of_kind::<W>(effect)
    }

    fn limit_of_loss(&self) -> Option<&'static str> {
        limit_of_loss::<W>()
    }
}

/// Asked of two hosts such as every scenario has.
fn limit_of_kind<W: WorldLike>(effect: &Effect) -> Option<&'static str> {
    effect_limit::<W>(effect, &Cast::new([("A", Role::Node), ("c1", Role::Client)]))
}

fn limit_of_loss<W: WorldLike>() -> Option<&'static str> {
    let delay = DelayLaw::Fixed(Duration::ZERO);
    link_limit::<W>(&LinkSetup { delay, loss: Probability::new(1, 2).expect("a half is a chance") })
}

/// A scenario, ready to be run in worlds of type `W`.
fn prepare<W: WorldLike>(
    engine: &'static str,
    driver: Driver,
    locks: &Registry<SimEnv>,
    scenario: &Scenario,
) -> Result<PreparedSim, PrepareError> {
    check(scenario)?;
    let kind = lock_kind(locks, scenario)?.clone();
    kind.check()?;
    let executor = move |scenario: &Scenario, cast: &Arc<Cast>| -> Arc<dyn Executor> {
        Arc::new(InWorlds::<W>::new(kind, driver, scenario, cast))
    };
    PreparedSim::new(engine, scenario, executor, |calm| {
        let weather = calm.scenario().weather.as_ref();
        weather.map(|weather| climate(weather, locks, calm.scenario())).transpose()
    })
}

/// A scenario's weather over it. Its steps are those of a run in the kernel and through redis-rs, whatever executes
/// runs and carries requests otherwise, so that a seed means the same faults everywhere.
fn climate(
    weather: &Weather,
    locks: &Registry<SimEnv>,
    scenario: &Scenario,
) -> Result<Climate, PrepareError> {
    let calm = Scenario { weather: None, ..scenario.clone() };
    let surveyed = prepare::<World>("sim", Driver::RedisRs, locks, &calm)?;
    Ok(Climate::new(weather, scenario, &surveyed.steps(SURVEYED)))
}

/// What builds the scenario's lock.
fn lock_kind<'a>(
    locks: &'a Registry<SimEnv>,
    scenario: &Scenario,
) -> Result<&'a Arc<dyn LockKind<SimEnv>>, PrepareError> {
    let name = &scenario.lock.algorithm;
    locks.get(name).ok_or_else(|| PrepareError::NoSuchLock(name.clone()))
}
