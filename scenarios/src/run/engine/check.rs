//! Whether a scenario can be run at all. What was read from a file was checked there, with its place; a scenario that a
//! program made is checked here.
//!
//! Not checked: what merely makes no sense, such as a client that releases what it never acquired.

use std::collections::{BTreeMap, BTreeSet};

use doublehold_lockimpl::ConfigError;

use super::limits::{Limit, way_out};
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
    /// A lock that runs cannot have each for itself.
    #[error(transparent)]
    Lock(#[from] ConfigError),
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
    /// A process that has one thread, or a program besides its threads'.
    #[error(
        "the process `{host}` has {threads} threads and {programs} programs of its own: give it two threads and none"
    )]
    NoProcess {
        /// Its name.
        host: String,
        /// The clients that are its threads.
        threads: usize,
        /// Its own programs.
        programs: usize,
    },
    /// A process that is elsewhere among the hosts than a file would put it.
    #[error("the process `{0}` is not right before the first of its threads: put it there")]
    ProcessPlace(String),
    /// A fault, or a link, of a thread, which is no machine.
    #[error(
        "`{thread}` is a thread of `{process}`: faults and links are the whole process's, so name `{process}`"
    )]
    OfThread {
        /// Its name.
        thread: String,
        /// Its process's.
        process: String,
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
    let mut threads: BTreeMap<usize, usize> = BTreeMap::new();
    for setup in &scenario.hosts {
        if let Role::Thread(process) = setup.role {
            *threads.entry(process.0).or_default() += 1;
        }
    }
    for (host, setup) in scenario.hosts.iter().enumerate() {
        if setup.name.is_empty() {
            return Err(PrepareError::NoName(host));
        }
        if !names.insert(&setup.name) {
            return Err(PrepareError::SameName(setup.name.clone()));
        }
        let programs = scenario.clients.iter().filter(|client| client.host.0 == host).count();
        let threads = threads.get(&host).copied().unwrap_or(0);
        match setup.role {
            Role::Client if threads > 0 => {
                if threads == 1 || programs > 0 {
                    return Err(PrepareError::NoProcess { host: setup.name.clone(), threads, programs });
                }
            }
            Role::Client | Role::Thread(_) if programs != 1 => {
                return Err(PrepareError::NotOneProgram { host: setup.name.clone(), programs });
            }
            Role::Node | Role::Sentinel | Role::Resource | Role::Client | Role::Thread(_) => {}
        }
    }
    let is = |host: HostIndex, what, role, wanted| match scenario.hosts.get(host.0) {
        Some(setup) if setup.role == role => Ok(()),
        _ => Err(PrepareError::WrongHost { what, wanted, host: host.0 }),
    };
    is(scenario.resource.host, "the resource's host", Role::Resource, "resource")?;
    scenario.nodes.master.map_or(Ok(()), |master| is(master, "the master", Role::Node, "node"))?;
    scenario.standby().map_or(Ok(()), |standby| is(standby, "the standby", Role::Node, "node"))?;
    for (host, setup) in scenario.hosts.iter().enumerate() {
        if let Role::Thread(process) = setup.role {
            is(process, "the process of a thread", Role::Client, "client")?;
            // Where a file would put it: in another place it would be another world when it was read again.
            let next = scenario.hosts.get(process.0 + 1).map(|next| next.role);
            if process.0 > host || next != Some(setup.role) {
                return Err(PrepareError::ProcessPlace(scenario.hosts[process.0].name.clone()));
            }
        }
    }
    scenario.clients.iter().try_for_each(|it| match scenario.process_of(it.host) {
        Some(_) => Ok(()),
        None => is(it.host, "the host of a program", Role::Client, "client"),
    })?;
    machines_only(scenario)?;
    numbers::find_wrong(scenario).map_err(|(cause, hint)| PrepareError::NoSuchNumber { cause, hint })
}

/// Looks for faults and links of threads: a file that said so could not be read.
fn machines_only(scenario: &Scenario) -> Result<(), PrepareError> {
    let refuse = |(thread, process): (usize, HostIndex)| PrepareError::OfThread {
        thread: scenario.hosts[thread].name.clone(),
        process: scenario.hosts[process.0].name.clone(),
    };
    let process = |host: HostIndex| Some((host.0, scenario.process_of(host)?));
    let linked = scenario.links.iter().find_map(|(from, to, _)| process(*from).or_else(|| process(*to)));
    let named = || {
        let names: Vec<String> = scenario.faults.iter().flat_map(|fault| fault.effect.hosts().0).collect();
        let threads = (0..scenario.hosts.len()).map(HostIndex).filter_map(process);
        threads.into_iter().find(|(thread, _)| names.contains(&scenario.hosts[*thread].name))
    };
    linked.or_else(named).map_or(Ok(()), |found| Err(refuse(found)))
}
