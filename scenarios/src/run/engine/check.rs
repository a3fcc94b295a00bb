//! Whether a scenario can be run at all. What was read from a file was checked there, with its place; a scenario that a
//! program made is checked here.
//!
//! Not checked: what merely makes no sense, such as a client that releases what it never acquired.

use std::collections::BTreeSet;

use super::cannot::{Limit, way_out};
use crate::format::numbers;
use crate::model::host::UnknownHost;
use crate::model::scenario::{HostIndex, Role, Scenario};

/// Why a scenario cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PrepareError {
    /// A host without a name.
    #[error("host {0} has no name: give it one")]
    NoName(usize),
    /// Two hosts with one name.
    #[error("two hosts are named `{0}`: give each a name of its own")]
    SameName(String),
    /// Something is said of a host that is another kind of host, or does not exist.
    #[error("{what} is to be a {wanted}, and host {host} is none: name another host")]
    WrongHost {
        /// What was to be on the host.
        what: &'static str,
        /// The kind of host it needs.
        wanted: &'static str,
        /// The host's place in the scenario.
        host: usize,
    },
    /// The engine's worlds cannot express what the scenario asks for.
    #[error(
        "the engine `{engine}` cannot run this scenario:\n  {}\nhint: {}",
        .limits.iter().map(Limit::to_string).collect::<Vec<_>>().join("\n  "),
        way_out(.limits)
    )]
    CannotExpress {
        /// The engine's name.
        engine: &'static str,
        /// Each thing with the reason.
        limits: Vec<Limit>,
    },
    /// A lock that nobody knows.
    #[error("there is no lock `{0}`: `doublehold locks` lists those there are")]
    NoSuchLock(String),
    /// A fault, or a client's start, is about a host that there is not.
    #[error("{0}: name one that it has")]
    UnknownHost(#[from] UnknownHost),
    /// A client with no program, or with two.
    #[error("the client `{host}` has {programs} programs: give it one")]
    NotOneProgram {
        /// Its name.
        host: String,
        /// How many it has.
        programs: usize,
    },
    /// A number of a lock, an object or a host that there is not.
    #[error("{cause}\nhint: {hint}")]
    NoSuchNumber {
        /// What is wrong.
        cause: String,
        /// The way out.
        hint: String,
    },
}

/// Looks for what an engine could not make a world of.
pub(in crate::run) fn check(scenario: &Scenario) -> Result<(), PrepareError> {
    let mut names = BTreeSet::new();
    for (host, setup) in scenario.hosts.iter().enumerate() {
        if setup.name.is_empty() {
            return Err(PrepareError::NoName(host));
        }
        if !names.insert(&setup.name) {
            return Err(PrepareError::SameName(setup.name.clone()));
        }
        let programs = scenario.clients.iter().filter(|client| client.host.0 == host).count();
        if setup.role == Role::Client && programs != 1 {
            return Err(PrepareError::NotOneProgram { host: setup.name.clone(), programs });
        }
    }
    let is = |host: HostIndex, what, role, wanted| match scenario.hosts.get(host.0) {
        Some(setup) if setup.role == role => Ok(()),
        _ => Err(PrepareError::WrongHost { what, wanted, host: host.0 }),
    };
    is(scenario.resource.host, "the resource's host", Role::Resource, "resource")?;
    scenario.nodes.master.map_or(Ok(()), |master| is(master, "the master", Role::Node, "node"))?;
    scenario
        .clients
        .iter()
        .try_for_each(|it| is(it.host, "the host of a program", Role::Client, "client"))?;
    numbers::wrong(scenario).map_err(|(cause, hint)| PrepareError::NoSuchNumber { cause, hint })
}
