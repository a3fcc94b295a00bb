//! An engine of two engines, in whose runs a predicate is violated where exactly one of the two violates it: so the
//! shrinker finds the least scenario on which they still differ.
//!
//! Decision: "For the shrinker, a difference between the engines is a violation" (docs/decisions/engines.md).

use doublehold_history::{Predicate, TrueNs, Verdict, Verdicts};
use doublehold_lockimpl::Descriptor;
use doublehold_scenarios::fault::Fault;
use doublehold_scenarios::model::host::UnknownHost;
use doublehold_scenarios::report::{Report, Summary};
use doublehold_scenarios::weather::Climate;
use doublehold_scenarios::when::Nth;
use doublehold_scenarios::{
    Engine, PrepareError, Prepared, PreparedSim, Scenario, Searchable, Seed, SimEngine, Stepped, catalog,
};
use doublehold_turmoil_engine::TurmoilEngine;

/// The one of the two that violates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Whose {
    Sim,
    Turmoil,
}

impl Whose {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Whose::Sim => "sim",
            Whose::Turmoil => "turmoil",
        }
    }
}

/// A predicate, and the engine that alone violates it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Difference {
    pub(crate) predicate: Predicate,
    pub(crate) whose: Whose,
}

impl Difference {
    /// All in which two runs differ.
    pub(crate) fn all(sim: &Summary, turmoil: &Summary) -> Vec<Difference> {
        let whose = [Whose::Sim, Whose::Turmoil];
        let all = Predicate::ALL
            .into_iter()
            .flat_map(|predicate| whose.map(|whose| Difference { predicate, whose }));
        all.filter(|it| it.is_between(sim, turmoil)).collect()
    }

    fn is_between(self, sim: &Summary, turmoil: &Summary) -> bool {
        let [violates, holds] = match self.whose {
            Whose::Sim => [sim, turmoil],
            Whose::Turmoil => [turmoil, sim],
        };
        violates.violates(self.predicate) && *holds.verdicts.get(self.predicate) == Verdict::Holds
    }
}

/// Tells if a run violates a predicate.
pub(crate) trait Violates {
    fn violates(&self, predicate: Predicate) -> bool;
}

impl Violates for Summary {
    fn violates(&self, predicate: Predicate) -> bool {
        matches!(self.verdicts.get(predicate), Verdict::Violated(_))
    }
}

/// The engine that shows one difference.
pub(crate) struct Both(pub(crate) Difference);

/// A scenario that both are ready to run.
pub(crate) struct PreparedBoth {
    difference: Difference,
    sim: PreparedSim,
    turmoil: PreparedSim,
    /// The verdicts of a run in which nothing is violated.
    nothing: Verdicts,
}

impl PreparedBoth {
    /// The one whose violation is looked for.
    fn violator(&self) -> &PreparedSim {
        match self.difference.whose {
            Whose::Sim => &self.sim,
            Whose::Turmoil => &self.turmoil,
        }
    }

    fn with(&self, sim: PreparedSim, turmoil: PreparedSim) -> PreparedBoth {
        PreparedBoth { sim, turmoil, nothing: self.nothing.clone(), ..*self }
    }

    /// True if the two differ so.
    fn differ(&self, seed: Seed) -> bool {
        self.difference.is_between(&self.sim.judge(seed), &self.turmoil.judge(seed))
    }
}

impl Engine for Both {
    type Prepared = PreparedBoth;

    fn name(&self) -> &'static str {
        "sim and turmoil"
    }

    fn locks(&self) -> Vec<Descriptor> {
        SimEngine.locks()
    }

    fn prepare(&self, scenario: &Scenario) -> Result<PreparedBoth, PrepareError> {
        let quiet = catalog::load("quiet", &[]).expect("it is in the catalogue");
        Ok(PreparedBoth {
            difference: self.0,
            sim: SimEngine.prepare(scenario)?,
            turmoil: TurmoilEngine.prepare(scenario)?,
            nothing: SimEngine.prepare(&quiet)?.judge(1).verdicts,
        })
    }
}

impl Prepared for PreparedBoth {
    type Record = <PreparedSim as Prepared>::Record;

    fn judge(&self, seed: impl Into<Seed>) -> Summary {
        let seed = seed.into();
        let [sim, turmoil] = [&self.sim, &self.turmoil].map(|prepared| prepared.judge(seed));
        let is_found = self.difference.is_between(&sim, &turmoil);
        let run = match self.difference.whose {
            Whose::Sim => sim,
            Whose::Turmoil => turmoil,
        };
        if is_found { run } else { Summary { verdicts: self.nothing.clone(), ..run } }
    }

    fn run(&self, seed: impl Into<Seed>) -> Report {
        self.run_traced(seed).0
    }

    fn run_traced(&self, seed: impl Into<Seed>) -> (Report, Vec<Self::Record>) {
        let seed = seed.into();
        let (run, trace) = self.violator().run_traced(seed);
        let run = if self.differ(seed) { run } else { Report { verdicts: self.nothing.clone(), ..run } };
        (run, trace)
    }
}

impl Searchable for PreparedBoth {
    fn scenario(&self) -> &Scenario {
        self.sim.scenario()
    }

    fn climate(&self) -> Option<&Climate> {
        self.sim.climate()
    }

    fn with_faults(&self, faults: Vec<Fault>) -> Result<PreparedBoth, UnknownHost> {
        Ok(self.with(self.sim.with_faults(faults.clone())?, self.turmoil.with_faults(faults)?))
    }

    fn with_scenario(&self, scenario: &Scenario) -> Result<PreparedBoth, PrepareError> {
        Ok(self.with(self.sim.with_scenario(scenario)?, self.turmoil.with_scenario(scenario)?))
    }
}

impl Stepped for PreparedBoth {
    fn timed_steps(&self, seed: impl Into<Seed>) -> Vec<(TrueNs, Nth)> {
        self.violator().timed_steps(seed)
    }
}
