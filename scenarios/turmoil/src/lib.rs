//! The `turmoil` engine: doublehold's scenarios in worlds whose network is turmoil's.
//!
//! The scenarios, locks, nodes, resource, recorder and judge are the same as in the kernel's runs; the network and the
//! order of tasks are not.

use std::sync::LazyLock;

use doublehold_lockimpl::{Descriptor, Registry};
use doublehold_scenarios::scenario::Scenario;
use doublehold_scenarios::{Engine, PrepareError, PreparedSim, SimEnv, WorldEngine};
use doublehold_sim_turmoil::{TurmoilHost, TurmoilWorld};

/// A lock's surroundings on a host of turmoil's network.
pub type TurmoilEnv = SimEnv<TurmoilHost>;

static BUILTIN: LazyLock<WorldEngine<TurmoilWorld>> =
    LazyLock::new(|| WorldEngine::new("turmoil", Registry::builtin()));

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
