//! The `turmoil` engine: doublehold's scenarios in worlds whose network is turmoil's.
//!
//! The scenarios, locks, nodes, resource, recorder and judge are the same as in the kernel's runs; the network and the
//! order of tasks are not.
//!
//! - [`TurmoilEngine`] runs scenarios, [`OwnLocksOnTurmoil`] those of locks of your own.
//! - [`table`]: what each of the two engines can do.

use std::sync::LazyLock;

use doublehold_lockimpl::{Descriptor, Registry};
use doublehold_scenarios::fault::Effect;
use doublehold_scenarios::scenario::Scenario;
use doublehold_scenarios::{
    Engine, Limited, PrepareError, PreparedSim, SimEnv, TakesLocks, WorldEngine, builtin_locks,
};
use doublehold_sim_turmoil::TurmoilWorld;

pub mod table;

const NAME: &str = "turmoil";

static BUILTIN: LazyLock<WorldEngine<TurmoilWorld>> =
    LazyLock::new(|| WorldEngine::new(NAME, builtin_locks()));

/// Runs scenarios on turmoil's network, in virtual time.
#[derive(Clone, Copy, Debug, Default)]
pub struct TurmoilEngine;

impl Engine for TurmoilEngine {
    type Prepared = PreparedSim;

    fn name(&self) -> &'static str {
        BUILTIN.name()
    }

    fn locks(&self) -> Vec<Descriptor> {
        BUILTIN.locks()
    }

    fn prepare(&self, scenario: &Scenario) -> Result<PreparedSim, PrepareError> {
        BUILTIN.prepare(scenario)
    }
}

impl Limited for TurmoilEngine {
    fn limit_of(&self, effect: &Effect) -> Option<&'static str> {
        BUILTIN.limit_of(effect)
    }

    fn limit_of_loss(&self) -> Option<&'static str> {
        BUILTIN.limit_of_loss()
    }
}

/// [`TurmoilEngine`] for locks of your own: the engine to name in `doublehold::check_on` and `Property::new_on`.
///
/// ```
/// use doublehold_scenarios::{Engine, TakesLocks, builtin_locks, catalog};
/// use doublehold_turmoil_engine::OwnLocksOnTurmoil;
///
/// // Here goes `.with(…)` of a lock kind of your own.
/// let engine = OwnLocksOnTurmoil::from_locks(builtin_locks());
/// assert!(engine.prepare(&catalog::load("quiet", &[])?).is_ok());
/// # Ok::<(), doublehold_scenarios::ScenarioError>(())
/// ```
pub struct OwnLocksOnTurmoil(WorldEngine<TurmoilWorld>);

impl TakesLocks for OwnLocksOnTurmoil {
    fn from_locks(locks: Registry<SimEnv>) -> OwnLocksOnTurmoil {
        OwnLocksOnTurmoil(WorldEngine::new(NAME, locks))
    }
}

impl Engine for OwnLocksOnTurmoil {
    type Prepared = PreparedSim;

    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn locks(&self) -> Vec<Descriptor> {
        self.0.locks()
    }

    fn prepare(&self, scenario: &Scenario) -> Result<PreparedSim, PrepareError> {
        self.0.prepare(scenario)
    }
}
