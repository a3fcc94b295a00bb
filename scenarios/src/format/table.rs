//! The tables of a file that is written.

use doublehold_history::LockId;
use toml::{Table, Value};

use crate::model::scenario::Scenario;

/// Puts a value under its key.
pub(super) fn put(table: &mut Table, key: &str, value: impl Into<Value>) {
    table.insert(key.to_owned(), value.into());
}

/// What is written where a number is of nothing. Such a scenario is refused before it is run: see `numbers`.
pub(super) const NOTHING: &str = "?";

/// The name of a lock of the scenario; `None` if there is no such lock.
pub(super) fn lock_name(lock: LockId, scenario: &Scenario) -> Option<&str> {
    scenario.lock.names.get(lock.0 as usize).map(String::as_str)
}
