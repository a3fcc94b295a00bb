//! The libraries by their driver, and what becomes of a lock behind Sentinel with each.

use doublehold_lockimpl::{Descriptor, DriverDefaults, Nodes};
use doublehold_text::duration;

use super::markdown::link;
use super::outcome::Outcome;
use crate::error::CliError;

/// What a reader has to know first.
const HEAD: &str = include_str!("behind_sentinel.md");

/// A row for each driver of which it is known how it finds a master.
pub(super) fn part(locks: &[Descriptor]) -> Result<String, CliError> {
    let mut text = HEAD.to_owned();
    for driver in DriverDefaults::all().iter().filter(|driver| driver.discovery().is_some()) {
        let name = driver.name;
        let came_out = match Outcome::simulate("sentinel-stop", &[("lock.driver", name)])?.overlaps() {
            Some((count, ns)) => format!("two hold the lock {count} times, {} in all", duration(ns)),
            None => "nobody holds it beside another".to_owned(),
        };
        let libraries = libraries_with(locks, name).join(", ");
        text += &format!(
            "| `{name}` | {libraries} | {came_out} | `doublehold run sentinel-stop --set lock.driver={name}` |\n"
        );
    }
    Ok(text)
}

/// The libraries on one node whose default a driver is.
fn libraries_with(locks: &[Descriptor], driver: &str) -> Vec<String> {
    let on_one_node = locks.iter().filter(|lock| lock.nodes == Nodes::One);
    let profiles = on_one_node.filter_map(|lock| lock.profile).map(|(profile, _)| profile);
    profiles.filter(|it| it.driver().is_some_and(|own| own.name == driver)).map(link).collect()
}
