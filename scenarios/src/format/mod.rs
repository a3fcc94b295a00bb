//! Scenario files: from TOML as typed to a [`Scenario`](crate::Scenario) as meant.
//!
//! | step | where |
//! |---|---|
//! | TOML to a tree that knows its lines; variants and `--set` laid over it | `tree`, `syntax` |
//! | tables and values, and what to say when they are wrong | `section`, `units`, `problem` |
//! | one part of a scenario each | `hosts`, `nodes`, `sentinels`, `lock`, `resource`, `clients`, `program`, `network` |
//! | faults, and what only some of them can be wrong about | `fault`, `role_changes`, `requests` |
//! | the moments faults wait for, and whether they can come | `when`, `reachable` |
//! | random faults, and what they bring | `weather`, `attached_fault` |
//! | the whole scenario from its text | `source` |
//! | a scenario as a file again, and whether it can be one | `write`, `table`, `numbers`, `conversions` |
//! | every word of all these as data, so that a test can demand that each matters | `key`, `vocabulary` |
//!
//! Everything is checked here and nothing later: a name, a unit, a combination that says nothing. What needs a run to
//! find out (a fault that could strike and did not) is the runner's to report.

mod attached_fault;
mod clients;
mod conversions;
mod fault;
mod hosts;
mod key;
mod lock;
mod network;
mod nodes;
pub(crate) mod numbers;
pub mod problem;
mod program;
pub(crate) mod reachable;
mod replicas;
mod requests;
mod resource;
mod role_changes;
pub mod section;
mod sentinels;
mod service;
mod source;
mod standby;
pub mod synonyms;
pub(crate) mod syntax;
mod table;
pub mod tree;
pub mod units;
mod vocabulary;
pub mod weather;
pub(crate) mod when;
mod write;
mod writes;

use std::time::Duration;

pub use conversions::NoMoment;
use doublehold_text::{file_duration, shorten};
pub(crate) use fault::write as fault_table;
pub use key::Key;
pub(crate) use program::step_text;
pub use source::Source;
pub use source::seed;
pub use vocabulary::vocabulary;
pub(crate) use write::write;

/// A duration as files write it, `2.5s`; or why it is none, and the way out.
///
/// # Errors
///
/// If it is no number with a unit, or out of range.
pub fn duration(text: &str) -> std::result::Result<Duration, String> {
    units::duration(text)
        .map_err(|refusal| format!("{} `{}`; {}", refusal.cause, shorten(text), refusal.hint))
}

/// A weather as the table that a scenario has of it.
pub fn weather_table(weather: &crate::model::weather::Weather) -> toml::Table {
    weather::write(weather)
}

/// The keys of a weather's line with their values, as files write them.
pub fn weather_line(fault: &crate::model::weather::RandomFault) -> Vec<(String, String)> {
    let shown = |value: toml::Value| match value {
        toml::Value::String(text) => text,
        other => other.to_string(),
    };
    weather::random_fault_table(fault).into_iter().map(|(key, value)| (key, shown(value))).collect()
}

/// A duration as files write it.
pub fn duration_text(duration: Duration) -> String {
    file_duration(duration)
}
