//! The hosts of a scenario: nodes, the resource, clients, in this order, each with its clocks.
//!
//! Decision: "A thread is a client without a machine of its own" (docs/decisions/scenarios.md).

use doublehold_sim::RatePpb;
use doublehold_text::{shorten, suggest};

use super::key::Key;
use super::problem::{Problem, Result};
use super::section::{Field, Section};
use super::{nodes, replicas, sentinels};
use crate::model::fault::Names;
use crate::model::scenario::{HostIndex, HostSetup, Role};

/// Twice what a load test of a lock takes. What a world costs grows with what its hosts do, not with the square of
/// their number, but readers of a picture do not.
pub(super) const HOSTS_MAX: usize = 2_000;
const CLOCKS_KEYS: &[&str] = &["offset", "drift"];
/// The name of the host that guards the data.
const RESOURCE: &str = "resource";

/// The keys of `[clocks]`.
pub(super) fn vocabulary() -> Vec<Key> {
    Key::all("clocks", CLOCKS_KEYS)
}

/// The hosts by name: what every later part of the file refers to.
pub(super) struct Hosts {
    pub(super) plans: Vec<HostSetup>,
}

impl Hosts {
    /// Names and numbers all hosts, and sets their clocks.
    pub(super) fn parse(root: &Section<'_>, clients: &[Field<'_>]) -> Result<Hosts> {
        let mut hosts = Hosts { plans: Vec::new() };
        nodes::add_hosts(root, &mut hosts)?;
        sentinels::add_hosts(root, &mut hosts)?;
        replicas::add_hosts(root, &mut hosts, RESOURCE)?;
        hosts.read_clients(clients)?;
        hosts.read_clocks(root)?;
        Ok(hosts)
    }

    /// Clients, and the processes that several of them are threads of, each before its first thread.
    fn read_clients(&mut self, clients: &[Field<'_>]) -> Result<()> {
        let mut processes: Vec<(HostIndex, Field<'_>, usize)> = Vec::new();
        for client in clients {
            let client = client.section(super::clients::KEYS)?;
            let name = client.require("name", "\"c1\"")?;
            let Some(field) = client.get("process") else {
                self.add(&name, Role::Client)?;
                continue;
            };
            let named =
                field.naming("the name of a process", "name it as another client does, such as \"web\"")?;
            let known = processes.iter_mut().find(|(process, ..)| self.plans[process.0].name == named);
            let process = match known {
                Some((process, _, threads)) => {
                    *threads += 1;
                    *process
                }
                None => {
                    if self.find(named).is_some() || clients.iter().any(|other| is_called(other, named)) {
                        let cause = format!("`{}`: `{named}` is the name of a host", field.path);
                        return Err(field.problem(cause, "give the process a name of its own"));
                    }
                    let process = HostIndex(self.plans.len());
                    self.add(&field, Role::Client)?;
                    processes.push((process, field, 1));
                    process
                }
            };
            self.add(&name, Role::Thread(process))?;
        }
        match processes.iter().find(|(.., threads)| *threads == 1) {
            None => Ok(()),
            Some((process, field, _)) => {
                let cause = format!("`{}`: the process `{}` has one thread", field.path, self.name(*process));
                Err(field
                    .problem(cause, "name it in another client too, or remove it: a client is a process"))
            }
        }
    }

    pub(super) fn add(&mut self, field: &Field<'_>, role: Role) -> Result<()> {
        let name = field.text()?;
        let well_formed = name.starts_with(|letter: char| letter.is_ascii_alphabetic())
            && name.len() <= 32
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
        if !well_formed {
            let hint = "use a letter and then letters, digits, `-` and `_`, at most 32 of them";
            return Err(field.problem(format!("`{}` is no name of a host", shorten(name)), hint));
        }
        if name == RESOURCE {
            let hint = "that name belongs to the host that guards the data: choose another";
            return Err(field.problem(format!("a host must not be named `{RESOURCE}`"), hint));
        }
        if self.find(name).is_some() {
            return Err(
                field.problem(format!("there are two hosts named `{name}`"), "give each its own name")
            );
        }
        if self.plans.len() == HOSTS_MAX {
            return Err(
                field.problem(format!("there are more than {HOSTS_MAX} hosts"), "use fewer nodes or clients")
            );
        }
        self.push(name, role);
        Ok(())
    }

    pub(super) fn push(&mut self, name: &str, role: Role) {
        self.plans.push(HostSetup { name: name.to_owned(), role, wall_offset_ns: 0, drift: RatePpb(0) });
    }

    fn read_clocks(&mut self, root: &Section<'_>) -> Result<()> {
        for (name, field) in root.section("clocks", &[])?.fields() {
            let host = self.require_host(name, &field)?;
            let clocks = field.section(CLOCKS_KEYS)?;
            let offset = clocks.get("offset").map_or(Ok(0), |offset| offset.signed_duration_ns())?;
            let drift = clocks.get("drift").map_or(Ok(RatePpb(0)), |drift| drift.rate())?;
            self.plans[host.0].wall_offset_ns = offset;
            self.plans[host.0].drift = drift;
        }
        Ok(())
    }

    pub(super) fn find(&self, name: &str) -> Option<HostIndex> {
        self.plans.iter().position(|host| host.name == name).map(HostIndex)
    }

    /// The host a text names.
    pub(super) fn get(&self, field: &Field<'_>) -> Result<HostIndex> {
        self.require_host(field.naming("the name of a host", "name one host")?, field)
    }

    fn require_host(&self, name: &str, field: &Field<'_>) -> Result<HostIndex> {
        self.machine(self.find(name).ok_or_else(|| self.unknown_host(name, field))?, field)
    }

    /// A host that is a machine: whatever is done to a thread's is done to all of its process.
    pub(super) fn machine(&self, host: HostIndex, field: &Field<'_>) -> Result<HostIndex> {
        let Role::Thread(process) = self.role(host) else { return Ok(host) };
        let (thread, process) = (self.name(host), self.name(process));
        let cause = format!("`{}`: `{thread}` is a thread of `{process}`", field.path);
        let hint = format!(
            "clocks, connections and whatever strikes a machine are those of the whole process: name `{process}`"
        );
        Err(field.problem(cause, hint))
    }

    /// The client that a text names, which may be a thread.
    pub(super) fn client(&self, field: &Field<'_>) -> Result<HostIndex> {
        let name = field.naming("the name of a client", "name one client")?;
        self.find(name).ok_or_else(|| self.unknown_host(name, field))
    }

    /// The clients, threads among them, and no process of several.
    pub(super) fn clients(&self) -> Vec<&str> {
        let clients = (0..self.plans.len()).map(HostIndex).filter(|host| self.is_client(*host));
        clients.map(|host| self.name(host)).collect()
    }

    /// Whether a host is a client: a thread, or the only one of its process.
    pub(super) fn is_client(&self, host: HostIndex) -> bool {
        match self.role(host) {
            Role::Thread(_) => true,
            Role::Client => !self.plans.iter().any(|other| other.role == Role::Thread(host)),
            Role::Node | Role::Sentinel | Role::Resource => false,
        }
    }

    pub(super) fn unknown_host(&self, name: &str, field: &Field<'_>) -> Problem {
        let cause = format!("`{}`: there is no host `{}`", field.path, shorten(name));
        field.problem(cause, suggest::hint(name, &self.names()))
    }

    /// The hosts a text or a list of texts names, each once.
    pub(super) fn get_many(&self, field: &Field<'_>) -> Result<Vec<HostIndex>> {
        let mut hosts = Vec::new();
        for item in field.one_or_many() {
            item.naming("the name of a host", "name a host, or a list of hosts")?;
            let host = self.get(&item)?;
            if hosts.contains(&host) {
                return Err(
                    item.problem(format!("`{}` is named twice", self.name(host)), "name each host once")
                );
            }
            hosts.push(host);
        }
        if hosts.is_empty() {
            return Err(field.problem(format!("`{}` names no host", field.path), "name at least one"));
        }
        Ok(hosts)
    }

    /// The names of the hosts a text or a list of texts names, each once.
    pub(super) fn names_of(&self, field: &Field<'_>) -> Result<Names> {
        Ok(self.get_many(field)?.into_iter().map(|host| self.name(host)).collect())
    }

    pub(super) fn names(&self) -> Vec<&str> {
        self.plans.iter().map(|host| host.name.as_str()).collect()
    }

    pub(super) fn name(&self, host: HostIndex) -> &str {
        &self.plans[host.0].name
    }

    pub(super) fn role(&self, host: HostIndex) -> Role {
        self.plans[host.0].role
    }

    /// All hosts of one role.
    pub(super) fn hosts_of_role(&self, role: Role) -> Vec<HostIndex> {
        (0..self.plans.len()).map(HostIndex).filter(|&host| self.role(host) == role).collect()
    }
}

/// Whether a client's table gives it this name.
fn is_called(client: &Field<'_>, name: &str) -> bool {
    let own = client.section(super::clients::KEYS).ok().and_then(|client| client.get("name"));
    own.is_some_and(|own| own.text().is_ok_and(|own| own == name))
}
