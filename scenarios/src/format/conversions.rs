//! Scenarios, faults and moments as texts of files, and back: what a value that was made in Rust can do, too.

use std::str::FromStr;

use doublehold_lockimpl::Descriptor;
use serde::{Serialize, Serializer};
use thiserror::Error;

use super::{Source, fault_table, numbers, when, write};
use crate::error::ScenarioError;
use crate::model::fault::Fault;
use crate::model::scenario::Scenario;
use crate::model::when::When;

impl Scenario {
    /// The scenario as the text of a file: its variant and what was set applied, and every default written out, so
    /// that it means the same to a later version whose defaults are others. Its name and [`Scenario::sets`] are no
    /// part of a file. The number of a thing that there is not, which [`Scenario::validate`] refuses, is written `?`.
    ///
    /// ```
    /// use doublehold_scenarios::{catalog, format::Source};
    ///
    /// let scenario = catalog::load("lease-pause/redlock", &[])?;
    /// let name = scenario.name.clone();
    /// let again = Source { name, text: scenario.to_toml(), ..Source::default() }.read()?;
    /// assert_eq!(again, scenario);
    /// # Ok::<(), doublehold_scenarios::ScenarioError>(())
    /// ```
    pub fn to_toml(&self) -> String {
        write(self).to_string()
    }

    /// The same scenario, checked like a file: for one that was made or changed in Rust.
    ///
    /// # Errors
    ///
    /// What a file would be refused for.
    pub fn validate(&self) -> Result<Scenario, ScenarioError> {
        self.validate_with(doublehold_lockimpl::descriptors())
    }

    /// As [`Scenario::validate`], where these are the locks that there are.
    ///
    /// # Errors
    ///
    /// As [`Scenario::validate`].
    pub fn validate_with(&self, locks: Vec<Descriptor>) -> Result<Scenario, ScenarioError> {
        numbers::check(self)?;
        let (name, file) = (self.name.clone(), self.name.clone());
        let source = Source { name, file, text: self.to_toml(), locks, ..Source::default() };
        let read = source.read().map_err(ScenarioError::made_in_rust)?;
        Ok(Scenario { sets: self.sets.clone(), ..read })
    }
}

impl Serialize for Scenario {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        write(self).serialize(serializer)
    }
}

/// As the table that it is in a file.
impl Serialize for Fault {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        fault_table(self).serialize(serializer)
    }
}

/// A text that is no moment.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{cause}\nhint: {hint}")]
pub struct NoMoment {
    /// What is wrong.
    pub cause: String,
    /// The way out.
    pub hint: String,
}

/// As scenario files write it. Whether the hosts exist is nobody's business yet.
impl FromStr for When {
    type Err = NoMoment;

    fn from_str(text: &str) -> Result<When, NoMoment> {
        when::parse_text(text).map_err(|(cause, hint)| NoMoment { cause, hint })
    }
}
