//! A minimal placement, to be shown: its faults, what they come to through redis-rs, and the scenario to keep.

use std::collections::BTreeMap;

use doublehold_history::words::list;

use super::Exploration;
use super::place::Place;
use crate::fault::Fault;
use crate::report::Summary;
use crate::run::{Engine, PrepareError, Prepared, PreparedSim, SimEngine};
use crate::scenario::{Expected, Scenario};
use crate::shrink::Target;

impl Exploration {
    /// The faults of a placement, in the order in which they strike: those of a scenario that is about them, so none is
    /// optional.
    ///
    /// # Panics
    ///
    /// If the placement is another search's.
    pub fn faults_of(&self, places: &[Place]) -> Vec<Fault> {
        let fault = |place: &Place| place.fault(&self.kinds).expect("a placement of this search");
        places.iter().map(|place| Fault { optional: false, ..fault(place) }).collect()
    }

    /// The same scenario through redis-rs, to compare with.
    ///
    /// # Errors
    ///
    /// If it cannot be run, which it was.
    pub fn through_redis_rs(&self) -> Result<PreparedSim, PrepareError> {
        SimEngine.prepare(self.scenario())
    }

    /// What a placement comes to there.
    ///
    /// # Panics
    ///
    /// If the placement is another search's.
    pub fn compare(&self, through_redis_rs: &PreparedSim, places: &[Place]) -> Summary {
        let faults = self.faults_of(places).into_iter().map(Fault::optional).collect();
        through_redis_rs.with_faults(faults).expect("the same hosts").judge(self.seed)
    }

    /// The scenario that shows what a placement does, under a name.
    ///
    /// # Panics
    ///
    /// If the placement is another search's.
    pub fn scenario_of(&self, name: &str, finding: Target, places: &[Place]) -> Scenario {
        let faults = self.faults_of(places);
        let lock = &self.scenario().lock.algorithm;
        let words: Vec<String> = faults.iter().map(Fault::to_string).collect();
        let (broken, expect) = match finding {
            Target::Violates(predicate) => {
                (predicate.to_string(), BTreeMap::from([(predicate, Expected::Violated)]))
            }
            Target::Panics => ("its code".to_owned(), BTreeMap::new()),
        };
        let claim = match faults.len() {
            0 => format!("The lock `{lock}` breaks {broken} without any fault"),
            1 => format!("One fault is enough for the lock `{lock}` to break {broken}"),
            many => {
                format!("{many} faults are enough for the lock `{lock}` to break {broken}, and none fewer")
            }
        };
        Scenario {
            name: name.to_owned(),
            claim,
            source: format!("found by `doublehold explore`, seed {}", self.seed),
            story: if words.is_empty() { String::new() } else { format!("{}.", list(&words)) },
            expect,
            faults,
            ..self.scenario().clone()
        }
    }

    /// The faults of a placement as the value of `--set faults=…`.
    ///
    /// # Panics
    ///
    /// If the placement is another search's.
    pub fn as_set(&self, places: &[Place]) -> String {
        let table = |fault: &Fault| toml::Value::try_from(fault).expect("a fault is a table");
        toml::Value::Array(self.faults_of(places).iter().map(table).collect()).to_string()
    }
}
