//! The choice of the simulator: the one place of the program where engines are chosen.

use clap::{Args, ValueEnum};
use doublehold_lockimpl::Descriptor;
use doublehold_scenarios::plan::Plan;
use doublehold_scenarios::{Engine, LeanEngine, PrepareError, PreparedSim, Scenario, SimEngine};
use doublehold_text::clean;
use doublehold_turmoil_engine::TurmoilEngine;

use crate::error::CliError;

/// The option of every command that runs scenarios.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Args)]
pub(crate) struct EngineChoice {
    /// The simulator that runs it; a plan has its own [default: sim]
    #[arg(long, value_name = "ENGINE")]
    engine: Option<Name>,
}

/// The engines by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Name {
    /// doublehold's own kernel and network
    Sim,
    /// turmoil's network and tokio's tasks: a second opinion
    Turmoil,
}

impl EngineChoice {
    /// The engine of that name in a plan or a report.
    pub(crate) fn from_name(name: &str) -> Option<EngineChoice> {
        let engine = Name::value_variants().iter().copied();
        engine.map(|engine| EngineChoice { engine: Some(engine) }).find(|choice| choice.name() == name)
    }

    /// The engine that a plan was made on, which another must not replay.
    pub(crate) fn choice_for_plan(self, plan: &Plan) -> Result<EngineChoice, CliError> {
        let made_on = EngineChoice::from_name(&plan.engine).ok_or_else(|| CliError::Usage {
            problem: format!(
                "the plan is of a run on the engine `{}`, which this program has not",
                clean(&plan.engine)
            ),
            hint: "replay it with the program that wrote it".to_owned(),
        })?;
        if self.engine.is_some() && made_on.engine != self.engine {
            return Err(CliError::Usage {
                problem: format!(
                    "the plan is of a run on the engine `{}`, whose events no other has",
                    made_on.name()
                ),
                hint: "leave out `--engine`, or `run` its scenario on the other".to_owned(),
            });
        }
        Ok(made_on)
    }

    /// The engine for runs that are shown or replayed.
    pub(crate) fn one(self) -> AnyEngine {
        match self.engine {
            None | Some(Name::Sim) => AnyEngine::Sim,
            Some(Name::Turmoil) => AnyEngine::Turmoil,
        }
    }

    /// The engine for many runs of which verdicts count.
    pub(crate) fn many(self) -> AnyEngine {
        match self.engine {
            None | Some(Name::Sim) => AnyEngine::Lean,
            Some(Name::Turmoil) => AnyEngine::Turmoil,
        }
    }

    /// The name, as reports and plans have it.
    pub(crate) fn name(self) -> &'static str {
        self.one().name()
    }

    /// The option as it is typed, where it must be.
    pub(crate) fn options(self) -> &'static [&'static str] {
        match self.engine {
            None | Some(Name::Sim) => &[],
            Some(Name::Turmoil) => &["--engine", "turmoil"],
        }
    }
}

/// An engine that was chosen when the program ran.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AnyEngine {
    Sim,
    Lean,
    Turmoil,
}

impl Engine for AnyEngine {
    type Prepared = PreparedSim;

    fn name(&self) -> &'static str {
        match self {
            AnyEngine::Sim => SimEngine.name(),
            AnyEngine::Lean => LeanEngine.name(),
            AnyEngine::Turmoil => TurmoilEngine.name(),
        }
    }

    fn locks(&self) -> Vec<Descriptor> {
        match self {
            AnyEngine::Sim => SimEngine.locks(),
            AnyEngine::Lean => LeanEngine.locks(),
            AnyEngine::Turmoil => TurmoilEngine.locks(),
        }
    }

    fn prepare(&self, scenario: &Scenario) -> Result<PreparedSim, PrepareError> {
        match self {
            AnyEngine::Sim => SimEngine.prepare(scenario),
            AnyEngine::Lean => LeanEngine.prepare(scenario),
            AnyEngine::Turmoil => TurmoilEngine.prepare(scenario),
        }
    }
}
