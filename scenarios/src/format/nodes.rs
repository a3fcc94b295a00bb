//! `[nodes]`: the Redis nodes, and whom they replicate.

use std::collections::BTreeMap;
use std::time::Duration;

use doublehold_lockimpl::Nodes;
use doublehold_sim::DelayLaw;
use doublehold_sim_redis::core::KeyEvents;
use doublehold_text::{exact_duration, several, shorten, suggest};

use super::hosts::{HOSTS_MAX, Hosts};
use super::key::{Choices, Key, words_of};
use super::lock::Chosen;
use super::problem::Result;
use super::section::{Field, Section};
use crate::model::scenario::{
    HostIndex, KnownScripts, NodeVersion, NodesSetup, PerNode, Persistence, RestartClock, Role,
};

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
    "replica_priority",
    "replica_serve_stale_data",
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
/// That of redis.conf: `replica-priority 100`.
const PRIORITY: u32 = 100;
/// All nodes that a table of nodes does not name.
pub(super) const OTHERS: &str = "others";
/// The keys and words of `[nodes]`.
pub(super) fn vocabulary() -> Vec<Key> {
    [
        Key::all("nodes", NODES_KEYS),
        Key::words("nodes.version", &words_of(VERSIONS)),
        Key::words("nodes.persistence", &words_of(PERSISTENCE)),
        Key::words("nodes.restart_clock", &words_of(RESTART_CLOCKS)),
        Key::words("nodes.scripts", &words_of(SCRIPTS)),
        Key::all("nodes.command_time", &[OTHERS]),
        Key::all("nodes.replica_priority", &[OTHERS]),
    ]
    .concat()
}

fn nodes_section<'a>(root: &Section<'a>) -> Result<Section<'a>> {
    let nodes = root.require("nodes", "{ names = [\"A\", \"B\", \"C\", \"D\", \"E\"] }")?;
    nodes.section(NODES_KEYS)
}

/// Adds the hosts by their names.
pub(super) fn add_hosts(root: &Section<'_>, hosts: &mut Hosts) -> Result<()> {
    let names = nodes_section(root)?.require("names", "[\"A\", \"B\", \"C\"]")?;
    let items = names.items("a list of names")?;
    if items.is_empty() {
        return Err(names.problem("there is no node", "name at least one: `names = [\"A\"]`"));
    }
    items.iter().try_for_each(|item| hosts.add(item, Role::Node))
}

/// Reads `[nodes]` and checks that the lock can run on them.
pub(super) fn read_nodes(root: &Section<'_>, hosts: &Hosts, lock: &Chosen<'_>) -> Result<NodesSetup> {
    let nodes = nodes_section(root)?;
    let master = nodes.get("master").map(|field| master(&field, hosts)).transpose()?;
    let count = hosts.hosts_of_role(Role::Node).len();
    let name = lock.descriptor.name;
    match (lock.descriptor.nodes, master) {
        // The hosts of a service are counted where that is read.
        (Nodes::One, None) if count != 1 && lock.descriptor.service.is_none() => {
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
    Ok(NodesSetup {
        version: nodes.choice_or("version", VERSIONS, NodeVersion::V7_0)?,
        persistence: nodes.choice_or("persistence", PERSISTENCE, Persistence::None)?,
        snapshot_interval: seconds_or(&nodes, "snapshot_interval", SNAPSHOT_INTERVAL)?,
        fsync_time: nodes.law_or("fsync_time", DelayLaw::Fixed(Duration::from_millis(1)))?,
        command_time: command_time(&nodes, hosts)?,
        master,
        scripts: known_scripts(&nodes, lock)?,
        key_events: key_events(&nodes)?,
        restart_after: nodes.duration_or("restart_after", Duration::ZERO)?,
        restart_clock: nodes.choice_or("restart_clock", RESTART_CLOCKS, RestartClock::True)?,
        min_replicas_to_write: min_replicas(&nodes, master, count)?,
        min_replicas_max_lag: seconds_or(&nodes, "min_replicas_max_lag", MAX_LAG)?,
        replica_priority: replica_priority(root, &nodes, hosts)?,
        replica_serve_stale_data: serve_stale_data(&nodes, master)?,
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

fn command_time(nodes: &Section<'_>, hosts: &Hosts) -> Result<PerNode<DelayLaw>> {
    let nothing = DelayLaw::Fixed(Duration::ZERO);
    let Some(field) = nodes.get("command_time") else { return Ok(PerNode::of_all(nothing)) };
    per_node(&field, hosts, nothing, |field| field.law())
}

/// Sentinels alone read a priority.
fn replica_priority(root: &Section<'_>, nodes: &Section<'_>, hosts: &Hosts) -> Result<PerNode<u32>> {
    let Some(field) = nodes.get("replica_priority") else { return Ok(PerNode::of_all(PRIORITY)) };
    if root.get("sentinels").is_none() {
        let cause = format!("`{}`: there are no Sentinels, and nobody else asks for it", field.path);
        return Err(field.problem(cause, "remove it, or add `[sentinels]`"));
    }
    per_node(&field, hosts, PRIORITY, |field| Ok(field.number(0, i32::MAX as u64)? as u32))
}

fn serve_stale_data(nodes: &Section<'_>, master: Option<HostIndex>) -> Result<bool> {
    let Some(field) = nodes.get("replica_serve_stale_data") else { return Ok(true) };
    let serves = field.flag()?;
    if master.is_none() {
        let cause = format!("`{}`: nothing is replicated, so no node is a replica", field.path);
        return Err(field.problem(cause, "set `nodes.master`, or remove it"));
    }
    Ok(serves)
}

/// One value of all nodes, or a table with that of each: `{ A = "2s", others = "0ms" }`.
fn per_node<T: PartialEq>(
    field: &Field<'_>,
    hosts: &Hosts,
    usual: T,
    read: impl Fn(&Field<'_>) -> Result<T>,
) -> Result<PerNode<T>> {
    if !field.is_no_law() {
        return Ok(PerNode::of_all(read(field)?));
    }
    let table = field.section(&[])?;
    let others = table.get(OTHERS).map_or(Ok(usual), |field| read(&field))?;
    let mut own = BTreeMap::new();
    for (name, field) in table.fields().into_iter().filter(|(name, _)| *name != OTHERS) {
        let host = hosts.find(name).filter(|host| hosts.role(*host) == Role::Node);
        let Some(node) = host else {
            let mut known: Vec<&str> =
                hosts.hosts_of_role(Role::Node).iter().map(|node| hosts.name(*node)).collect();
            known.push(OTHERS);
            let cause = format!("`{}`: there is no node `{}`", field.path, shorten(name));
            return Err(field.problem(cause, suggest::hint(name, &known)));
        };
        own.insert(node, read(&field)?);
    }
    own.retain(|_, value| *value != others);
    Ok(PerNode { others, own })
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
