//! Whether the numbers in a scenario that was made in Rust are numbers of things that it has. Files have names in their
//! place: so this is asked before a scenario is written as one, where a number of nothing has no name.
//!
//! Not checked: whether a host is of the right kind. That shows when what was written is read.

use std::collections::BTreeSet;

use doublehold_text::shorten;

use crate::error::ScenarioError;
use crate::model::scenario::{Scenario, Step};

/// What is wrong, and the way out.
pub(crate) type Wrong = (String, String);

/// Refuses a number of nothing, and two objects of one name, of which a file can hold one.
pub(crate) fn check(scenario: &Scenario) -> Result<(), ScenarioError> {
    let refused = |(cause, hint)| ScenarioError::Made { name: scenario.name.clone(), cause, hint };
    find_wrong(scenario).map_err(refused)
}

/// The same for whoever runs a scenario that nobody wrote: what is wrong, and the way out.
pub(crate) fn find_wrong(scenario: &Scenario) -> Result<(), Wrong> {
    lists(scenario).and_then(|()| hosts(scenario)).and_then(|()| steps(scenario))
}

/// The locks and the objects themselves.
fn lists(scenario: &Scenario) -> Result<(), Wrong> {
    let (locks, objects) = (&scenario.lock.names, &scenario.resource.objects);
    for (list, is_empty) in [("lock.names", locks.is_empty()), ("resource.objects", objects.is_empty())] {
        if is_empty {
            return Err((format!("`{list}` is empty"), "name at least one".to_owned()));
        }
    }
    let mut names = BTreeSet::new();
    for (place, object) in objects.iter().enumerate() {
        if !names.insert(&object.name) {
            let cause = format!("there are two objects `{}`", shorten(&object.name));
            return Err((cause, "name each once".to_owned()));
        }
        check_index(
            &format!("resource.objects.{place}.lock"),
            "LockId",
            object.lock.0 as usize,
            locks.len(),
        )?;
    }
    Ok(())
}

fn hosts(scenario: &Scenario) -> Result<(), Wrong> {
    let known = |place: &str, host: usize| check_index(place, "HostIndex", host, scenario.hosts.len());
    scenario.nodes.master.map_or(Ok(()), |master| known("nodes.master", master.0))?;
    scenario.standby().map_or(Ok(()), |standby| known("service.standby", standby.0))?;
    for (place, (from, to, _)) in scenario.links.iter().enumerate() {
        [from, to].into_iter().try_for_each(|end| known(&format!("links.{place}"), end.0))?;
    }
    let mut clients = scenario.clients.iter().enumerate();
    clients.try_for_each(|(place, client)| known(&format!("clients.{place}.host"), client.host.0))
}

fn steps(scenario: &Scenario) -> Result<(), Wrong> {
    let (locks, objects) = (scenario.lock.names.len(), scenario.resource.objects.len());
    for (client, setup) in scenario.clients.iter().enumerate() {
        for (step, what) in setup.program.iter().enumerate() {
            let (id, number, count) = match what {
                Step::Work(_) => continue,
                Step::Read(object) | Step::Write(object) => ("ObjectId", object.0, objects),
                Step::Acquire(lock)
                | Step::Try(lock, _)
                | Step::Check(lock)
                | Step::Prepare(lock)
                | Step::Extend(lock)
                | Step::Release(lock) => ("LockId", lock.0, locks),
            };
            check_index(&format!("clients.{client}.program.{step}"), id, number as usize, count)?;
        }
    }
    Ok(())
}

/// Whether there is a thing of this number among so many.
fn check_index(place: &str, id: &str, number: usize, count: usize) -> Result<(), Wrong> {
    if number < count {
        return Ok(());
    }
    let cause = format!("`{place}` is `{id}({number})`, of which there is none");
    let known = match count {
        0 => "add it first".to_owned(),
        1 => format!("the only one is `{id}(0)`"),
        _ => format!("known are `{id}(0)` to `{id}({})`", count - 1),
    };
    Err((cause, known))
}
