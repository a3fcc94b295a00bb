//! The hosts of a scenario: nodes, the resource, clients, in this order, each with its clocks.
//!
//! Decision: "A thread is a client without a machine of its own" (docs/decisions/scenarios.md).

use std::collections::BTreeMap;
use std::time::Duration;

use doublehold_lockimpl::Nodes;
use doublehold_sim::{DelayLaw, RatePpb};
use doublehold_sim_redis::core::KeyEvents;
use doublehold_text::{exact_duration, several, shorten, suggest};

use super::key::Choices;
use super::key::{Key, words_of};
use super::lock::Chosen;
use super::problem::{Problem, Result};
use super::section::{Field, Section};
use super::sentinels;
use crate::model::fault::Names;
use crate::model::scenario::{
    HostIndex, HostSetup, KnownScripts, NodeVersion, NodesSetup, Persistence, RestartClock, Role,
};

/// Twice what a load test of a lock takes. What a world costs grows with what its hosts do, not with the square of
/// their number, but readers of a picture do not.
pub(super) const HOSTS_MAX: usize = 2_000;
const CLOCKS_KEYS: &[&str] = &["offset", "drift"];
const NODES_KEYS: &[&str] = &[
    "names",
    "version",
    "master",
    "persistence",
    "snapshot_interval",
    "fsync_time",
    "command_time",
    "scripts",
    "notify_keyspace_events",
    "restart_after",
    "restart_clock",
    "min_replicas_to_write",
    "min_replicas_max_lag",
];
const SCRIPTS: Choices<KnownScripts> =
    &[("unknown", KnownScripts::Unknown), ("loaded", KnownScripts::Loaded)];
const VERSIONS: Choices<NodeVersion> = &[("7.0", NodeVersion::V7_0), ("8.4", NodeVersion::V8_4)];
const PERSISTENCE: Choices<Persistence> = &[
    ("none", Persistence::None),
    ("everysec", Persistence::Everysec),
    ("always", Persistence::Always),
    ("rdb", Persistence::Rdb),
];
const RESTART_CLOCKS: Choices<RestartClock> = &[
    ("true-time", RestartClock::True),
    ("wall", RestartClock::Wall),
    ("monotonic", RestartClock::Monotonic),
];
/// That of redis.conf for a single change: `save 3600 1`.
const SNAPSHOT_INTERVAL: Duration = Duration::from_secs(3600);
/// That of redis.conf: `min-replicas-max-lag 10`.
const MAX_LAG: Duration = Duration::from_secs(10);
/// All nodes that a table of nodes does not name.
pub(super) const OTHERS: &str = "others";
/// The name of the host that guards the data.
const RESOURCE: &str = "resource";

/// What `[nodes]` and `[clocks]` take.
pub(super) fn vocabulary() -> Vec<Key> {
    [
        Key::all("nodes", NODES_KEYS),
        Key::words("nodes.version", &words_of(VERSIONS)),
        Key::words("nodes.persistence", &words_of(PERSISTENCE)),
        Key::words("nodes.restart_clock", &words_of(RESTART_CLOCKS)),
        Key::words("nodes.scripts", &words_of(SCRIPTS)),
        Key::all("nodes.command_time", &[OTHERS]),
        Key::all("clocks", CLOCKS_KEYS),
    ]
    .concat()
}

/// The hosts by name: what every later part of the file refers to.
pub(super) struct Hosts {
    pub(super) plans: Vec<HostSetup>,
}

impl Hosts {
    /// Names and numbers all hosts, and sets their clocks.
    pub(super) fn parse(root: &Section<'_>, clients: &[Field<'_>]) -> Result<Hosts> {
        let mut hosts = Hosts { plans: Vec::new() };
        for field in node_names(root)? {
            hosts.add(&field, Role::Node)?;
        }
        sentinels::add_hosts(root, &mut hosts)?;
        hosts.push(RESOURCE, Role::Resource);
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

fn nodes_section<'a>(root: &Section<'a>) -> Result<Section<'a>> {
    let nodes = root.require("nodes", "{ names = [\"A\", \"B\", \"C\", \"D\", \"E\"] }")?;
    nodes.section(NODES_KEYS)
}

fn node_names<'a>(root: &Section<'a>) -> Result<Vec<Field<'a>>> {
    let names = nodes_section(root)?.require("names", "[\"A\", \"B\", \"C\"]")?;
    let items = names.items("a list of names")?;
    if items.is_empty() {
        return Err(names.problem("there is no node", "name at least one: `names = [\"A\"]`"));
    }
    Ok(items)
}

/// Reads `[nodes]` and checks that the lock can run on them.
pub(super) fn read_nodes(root: &Section<'_>, hosts: &Hosts, lock: &Chosen<'_>) -> Result<NodesSetup> {
    let nodes = nodes_section(root)?;
    let master = nodes.get("master").map(|field| master(&field, hosts)).transpose()?;
    let count = hosts.hosts_of_role(Role::Node).len();
    let name = lock.descriptor.name;
    match (lock.descriptor.nodes, master) {
        (Nodes::One, None) if count != 1 => {
            let cause = format!("the `{name}` lock runs on one node, and there are {count}");
            return Err(nodes.problem(cause, lock.way_to_several_nodes()));
        }
        _ if count < lock.descriptor.least_nodes => {
            let cause = format!("the `{name}` lock is one on several nodes at once, and there is {count}");
            let others = lock.running_on(|nodes| nodes == Nodes::One);
            let hint = format!("name {} nodes or more, or use {others}", lock.descriptor.least_nodes);
            return Err(nodes.problem(cause, hint));
        }
        (Nodes::Replicated, None) => {
            let cause = format!("the `{name}` lock needs a master");
            let first = hosts.hosts_of_role(Role::Node).first().map_or("A", |&node| hosts.name(node));
            let hint = format!("add `master = \"{first}\"` to `[nodes]`: the other nodes replicate it");
            return Err(nodes.problem(cause, hint));
        }
        (Nodes::Independent, Some(_)) => {
            let cause = "`nodes.master` does not fit this lock: its nodes stand alone";
            let others = lock.running_on(|nodes| nodes != Nodes::Independent);
            let hint = format!("remove `master`, or use {others}");
            return Err(nodes.problem(cause, hint));
        }
        _ => {}
    }
    let (command_time, command_times) = read_command_times(&nodes, hosts)?;
    Ok(NodesSetup {
        version: nodes.choice_or("version", VERSIONS, NodeVersion::V7_0)?,
        persistence: nodes.choice_or("persistence", PERSISTENCE, Persistence::None)?,
        snapshot_interval: seconds_or(&nodes, "snapshot_interval", SNAPSHOT_INTERVAL)?,
        fsync_time: nodes.law_or("fsync_time", DelayLaw::Fixed(Duration::from_millis(1)))?,
        command_time,
        command_times,
        master,
        scripts: known_scripts(&nodes, lock)?,
        key_events: key_events(&nodes)?,
        restart_after: nodes.duration_or("restart_after", Duration::ZERO)?,
        restart_clock: nodes.choice_or("restart_clock", RESTART_CLOCKS, RestartClock::True)?,
        min_replicas_to_write: min_replicas(&nodes, master, count)?,
        min_replicas_max_lag: seconds_or(&nodes, "min_replicas_max_lag", MAX_LAG)?,
    })
}

/// A number of whole seconds, as Redis counts them. With none of them it would do something else: take no snapshot, or
/// refuse nothing.
fn seconds_or(nodes: &Section<'_>, key: &str, usual: Duration) -> Result<Duration> {
    let Some(field) = nodes.get(key) else { return Ok(usual) };
    let seconds = field.duration()?;
    if seconds.is_zero() || seconds.subsec_nanos() > 0 {
        let length = exact_duration(seconds);
        let cause = format!("`{}` is {length}, and Redis counts whole seconds from one", field.path);
        return Err(field.problem(cause, "use \"1s\" or more seconds"));
    }
    Ok(seconds)
}

/// A number that replicas can reach. Where there are fewer, no write would ever be taken.
fn min_replicas(nodes: &Section<'_>, master: Option<HostIndex>, count: usize) -> Result<u32> {
    let Some(field) = nodes.get("min_replicas_to_write") else { return Ok(0) };
    let wanted = field.number(0, HOSTS_MAX as u64)?;
    if wanted > 0 && master.is_none() {
        let cause = format!("`{}`: nothing is replicated, so no write would be taken", field.path);
        return Err(field.problem(cause, "set `nodes.master`, or remove it"));
    }
    let replicas = count.saturating_sub(1) as u64;
    if wanted > replicas {
        let cause =
            format!("`{}` is {wanted}, and the master has {}", field.path, several(replicas, "replica"));
        return Err(field.problem(cause, "ask for fewer, or name more nodes"));
    }
    Ok(wanted as u32)
}

/// The law of all nodes, or a table with that of each: `{ A = "2s", others = "0ms" }`.
fn read_command_times(
    nodes: &Section<'_>,
    hosts: &Hosts,
) -> Result<(DelayLaw, BTreeMap<HostIndex, DelayLaw>)> {
    let (nothing, mut of) = (DelayLaw::Fixed(Duration::ZERO), BTreeMap::new());
    let Some(field) = nodes.get("command_time") else { return Ok((nothing, of)) };
    if !field.is_no_law() {
        return Ok((field.law()?, of));
    }
    let table = field.section(&[])?;
    let usual = table.law_or(OTHERS, nothing)?;
    for (name, field) in table.fields().into_iter().filter(|(name, _)| *name != OTHERS) {
        let host = hosts.find(name).filter(|host| hosts.role(*host) == Role::Node);
        let Some(node) = host else {
            let mut known: Vec<&str> =
                hosts.hosts_of_role(Role::Node).iter().map(|node| hosts.name(*node)).collect();
            known.push(OTHERS);
            let cause = format!("`{}`: there is no node `{}`", field.path, shorten(name));
            return Err(field.problem(cause, suggest::hint(name, &known)));
        };
        of.insert(node, field.law()?);
    }
    of.retain(|_, law| *law != usual);
    Ok((usual, of))
}

fn known_scripts(nodes: &Section<'_>, lock: &Chosen<'_>) -> Result<KnownScripts> {
    let Some(field) = nodes.get("scripts") else { return Ok(KnownScripts::Unknown) };
    let known = field.choice(SCRIPTS)?;
    if known == KnownScripts::Loaded && lock.descriptor.scripts.is_empty() {
        let cause =
            format!("`nodes.scripts`: the `{}` lock names no scripts that it sends", lock.descriptor.name);
        return Err(field.problem(cause, "remove `scripts`, or let the lock's descriptor name them"));
    }
    Ok(known)
}

/// The letters of `notify-keyspace-events`. With neither K nor E Redis takes them and tells nothing.
fn key_events(nodes: &Section<'_>) -> Result<String> {
    let Some(field) = nodes.get("notify_keyspace_events") else { return Ok(String::new()) };
    let letters = field.text()?;
    let tells = letters.is_empty() || letters.contains(['K', 'E']) && letters.len() > 1;
    if KeyEvents::parse(letters.as_bytes()).is_none() || !tells {
        let cause = format!("`{}`: `{}` asks a node for no events", field.path, shorten(letters));
        return Err(
            field.problem(cause, "use K, E or both, and A or letters of events, such as \"KA\" or \"Kgx\"")
        );
    }
    Ok(letters.to_owned())
}

fn master(field: &Field<'_>, hosts: &Hosts) -> Result<HostIndex> {
    field.naming("the name of a node", "name one node")?;
    let host = hosts.get(field)?;
    if hosts.role(host) != Role::Node {
        return Err(field.problem(format!("`{}` runs no Redis", hosts.name(host)), "name one of the nodes"));
    }
    Ok(host)
}
