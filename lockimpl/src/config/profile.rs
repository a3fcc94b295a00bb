//! Libraries as kinds of lock: an engine, with its switches where the library has them, and what is known of it.
//!
//! A profile says what a library does, in the words of the switches of a common engine. It is no copy of the library:
//! what of it is not here, the profile says itself.

use std::time::Duration;

use super::drivers::{DRIVER, DriverDefaults};
use super::switch::Switches;

/// A library that people use, as a lock with fixed switches.
#[derive(Debug)]
pub struct Profile {
    /// The name under which people know it, as scenario files use it: `redis-py`.
    pub name: &'static str,
    /// Other names by which it is looked for: of its package, of its class.
    pub also: &'static [&'static str],
    /// The library's own name: `redis-py`, `Spring Integration`.
    pub library: &'static str,
    /// The language whose people use it.
    pub language: &'static str,
    /// The version that was read.
    pub version: &'static str,
    /// The files that were read, with their repository.
    pub files: &'static str,
    /// The day on which they were read, as `2026-11-25`.
    pub read_on: &'static str,
    /// The version that was newest when somebody looked it up; none if nobody did.
    pub newest: Option<Newest>,
    /// What it is, in a line.
    pub meaning: &'static str,
    /// The lease that it takes if nobody says; none if it asks for one, or takes a key without an end.
    pub ttl: Option<Duration>,
    /// Its engine's switches as the library has them, also those that its user may set.
    pub fixed: fn() -> Switches,
    /// The switches that remain to be set: what the library's user can choose, and what repairs it.
    pub open: &'static [&'static str],
    /// What is wrong with it, each with a scenario that shows it.
    pub flaws: &'static [Flaw],
    /// What the library does that is not modelled.
    pub left_out: &'static [&'static str],
}

impl Profile {
    /// Its driver, if that was read.
    pub fn driver(&self) -> Option<&'static DriverDefaults> {
        DriverDefaults::named((self.fixed)().get(DRIVER))
    }

    /// The settings that the library makes itself although its driver has a default for them.
    pub fn beside_driver(&self) -> Vec<String> {
        let Some(driver) = self.driver() else { return Vec::new() };
        let fixed = (self.fixed)();
        let own = fixed.iter().filter(|(switch, _)| driver.default(switch).is_some());
        own.map(|(switch, value)| format!("`{switch} = {value}`")).collect()
    }
}

/// The newest version of a library on some day, as its registry said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Newest {
    /// The version.
    pub version: &'static str,
    /// The day, as `2026-11-28`.
    pub looked_up_on: &'static str,
}

/// Something that a library does, and that its users may not expect.
#[derive(Debug)]
pub struct Flaw {
    /// What happens, in a sentence.
    pub what: &'static str,
    /// The scenario of the catalogue that shows it.
    pub scenario: &'static str,
    /// The same scenario with one switch set otherwise, in which it does not happen.
    pub repaired: &'static str,
    /// The way out that its users have.
    pub remedy: Remedy,
}

/// The way out of a flaw that a library's users have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// An option of the library or of its driver, as they write it.
    Option(&'static str),
    /// Something that their own code can do: a sentence.
    Code(&'static str),
    /// None: only the library's authors can change it.
    Authors,
}

impl Remedy {
    /// The way out where a lease is as long as its caller says, and its holder is told too late or not at all.
    pub(crate) const MEASURE: Remedy = Remedy::Code(
        "Read a monotonic clock right before you ask for the lock, and begin no write when its lease has passed since \
         then.",
    );
}
