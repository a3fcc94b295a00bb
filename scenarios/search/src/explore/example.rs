//! A minimal placement, to be shown: its faults, what they come to through redis-rs, and the scenario to keep.

use std::collections::BTreeMap;

use doublehold_history::{Predicate, Verdict};
use doublehold_scenarios::model::fault::Fault;
use doublehold_scenarios::model::scenario::{Expected, Scenario};
use doublehold_scenarios::{Engine, PrepareError, Prepared, Stepped};
use doublehold_text::list;

use super::Exploration;
use super::place::Place;
use crate::shrink::Target;

impl<P: Stepped> Exploration<P> {
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

    /// True if a placement does the same on another engine, such as the one that shows and replays runs.
    ///
    /// # Errors
    ///
    /// If the scenario cannot be run there.
    ///
    /// # Panics
    ///
    /// If the placement is another search's.
    pub fn is_reproduced_on(
        &self,
        engine: &impl Engine,
        target: Target,
        places: &[Place],
    ) -> Result<bool, PrepareError> {
        let faults = self.faults_of(places).into_iter().map(Fault::optional).collect();
        let scenario = Scenario { faults, ..self.scenario().clone() };
        Ok(target.is_in(&engine.prepare(&scenario)?.judge(self.seed)))
    }

    /// Why a placement's run does not decide a predicate, if so.
    pub fn why_undecided(&self, predicate: Predicate, places: &[Place]) -> Option<String> {
        match self.prepare_placement(places).judge(self.seed).verdicts.get(predicate) {
            Verdict::Inconclusive(why) => Some(why.clone()),
            _ => None,
        }
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
            seed: Some(self.seed),
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
        let table = |fault: &Fault| {
            let mut table = toml::Table::try_from(fault).expect("a fault is a table");
            // Their defaults, which a line to paste can do without.
            table.retain(|key, _| key != "each" && key != "optional");
            toml::Value::Table(table)
        };
        toml::Value::Array(self.faults_of(places).iter().map(table).collect()).to_string()
    }
}
