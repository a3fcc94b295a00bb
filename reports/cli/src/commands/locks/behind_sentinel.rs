//! The libraries by their driver, and what becomes of a lock behind Sentinel with each.

use std::collections::BTreeMap;

use doublehold_lockimpl::{Descriptor, Nodes};

use super::markdown::link;
use super::outcome::Outcome;
use crate::error::CliError;

/// What a reader has to know first.
const HEAD: &str = include_str!("behind_sentinel.md");

/// A row for each driver, with the libraries whose default it is.
pub(super) fn part(locks: &[Descriptor]) -> Result<String, CliError> {
    let mut text = HEAD.to_owned();
    for (driver, libraries) in libraries_by_driver(locks) {
        let outcome = Outcome::simulate("sentinel-stop", &[("lock.driver", driver)])?;
        text += &format!(
            "| `{driver}` | {} | {} | `doublehold run sentinel-stop --set lock.driver={driver}` |\n",
            libraries.join(", "),
            outcome.words()
        );
    }
    Ok(text)
}

/// Of the locks on one node, and of the drivers of which it is known how they find a master.
fn libraries_by_driver(locks: &[Descriptor]) -> BTreeMap<&'static str, Vec<String>> {
    let mut libraries: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for lock in locks.iter().filter(|lock| lock.nodes == Nodes::One) {
        let Some((profile, _)) = lock.profile else { continue };
        let driver = profile.driver().filter(|driver| driver.discovery().is_some());
        if let Some(driver) = driver {
            libraries.entry(driver.name).or_default().push(link(profile));
        }
    }
    libraries
}
