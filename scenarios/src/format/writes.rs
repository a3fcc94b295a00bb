//! `resource.writes`: if clients write through the session of a database that holds their lock, or to a host of the
//! resource's own.

use doublehold_lockimpl::ServiceKind;
use toml::Table;

use super::key::{Choices, Key, words_of};
use super::lock::Chosen;
use super::problem::Result;
use super::section::Section;
use super::table::put;
use crate::model::scenario::Scenario;

const WRITES: Choices<bool> = &[("in-session", true), ("elsewhere", false)];

/// The words of `resource.writes`.
pub(super) fn vocabulary() -> Vec<Key> {
    Key::words("resource.writes", &words_of(WRITES))
}

/// Reads if clients write through the session that holds the lock. They do if nobody says otherwise and there is one.
pub(super) fn read_writes(resource: &Section<'_>, lock: &Chosen<'_>) -> Result<bool> {
    let name = lock.descriptor.name;
    let has_session = lock.descriptor.service == Some(ServiceKind::Database);
    let in_session = match resource.get("writes") {
        None => has_session,
        Some(field) => {
            let in_session = field.choice(WRITES)?;
            if in_session && !has_session {
                let cause = format!("`{}`: the `{name}` lock has no session to write in", field.path);
                return Err(field.problem(cause, "write `writes = \"elsewhere\"`, or use `row-lock`"));
            }
            in_session
        }
    };
    let guards = ["fencing", "version_check", "replicas"];
    let guard = guards.into_iter().find_map(|key| resource.get(key)).filter(|_| in_session);
    match guard.filter(|field| field.text() != Ok("off") && field.flag() != Ok(false)) {
        None => Ok(in_session),
        Some(field) => {
            let cause =
                format!("`{}` guards nothing: clients write in the session that holds the lock", field.path);
            Err(field.problem(cause, "remove it, or write `resource.writes = \"elsewhere\"`"))
        }
    }
}

/// Says where clients write, if there is a session to write in.
pub(super) fn put_writes(table: &mut Table, scenario: &Scenario) {
    if scenario.service.is_some_and(|service| service.kind() == ServiceKind::Database) {
        put(table, "writes", if scenario.resource.in_session { "in-session" } else { "elsewhere" });
    }
}
