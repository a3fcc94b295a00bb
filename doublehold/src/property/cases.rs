//! The cases of a property as if they were the seeds of one scenario, so that they are run as those are: on all
//! cores, counted in order, with the same result on any number of threads.

use doublehold_scenarios::plan::Plan;
use doublehold_scenarios::report::Summary;
use doublehold_scenarios::{Engine, Prepared, Report, Scenario, Seed};
use proptest::prelude::*;

/// From what seeds cases are run. Short numbers are easier to speak of.
const SEEDS: std::ops::RangeInclusive<u64> = 1..=999_999;

/// The seeds of cases.
pub(super) fn seeds() -> impl Strategy<Value = u64> {
    SEEDS
}

/// A scenario, and the seed to run it from.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) scenario: Scenario,
    pub(super) seed: Seed,
}

impl Case {
    pub(super) fn from_plan(plan: &Plan) -> Case {
        Case { scenario: plan.scenario.clone(), seed: plan.seed }
    }
}

/// All cases, counted from 1.
pub(super) struct Cases<E> {
    pub(super) engine: E,
    pub(super) cases: Vec<Case>,
}

impl<E: Engine> Cases<E> {
    pub(super) fn case(&self, number: Seed) -> &Case {
        &self.cases[number.0 as usize - 1]
    }

    fn prepare_case(&self, case: &Case) -> E::Prepared {
        self.engine.prepare(&case.scenario).expect("a scenario that was checked can be run")
    }
}

/// Here a seed is the number of a case.
impl<E: Engine + Send + Sync> Prepared for Cases<E> {
    type Record = <E::Prepared as Prepared>::Record;

    fn judge(&self, number: impl Into<Seed>) -> Summary {
        let number = number.into();
        let case = self.case(number);
        Summary { seed: number, ..self.prepare_case(case).judge(case.seed) }
    }

    fn run(&self, number: impl Into<Seed>) -> Report {
        let case = self.case(number.into());
        self.prepare_case(case).run(case.seed)
    }

    fn run_traced(&self, number: impl Into<Seed>) -> (Report, Vec<Self::Record>) {
        let case = self.case(number.into());
        self.prepare_case(case).run_traced(case.seed)
    }
}
