//! A scenario as a file again: what reads as the same scenario.
//!
//! Every key is written that means something, also where it has its default: what was written means the same to a
//! version with other defaults. Left out are texts that are empty, clocks that are right, and what a link has in
//! common with all links.

use std::time::Duration;

use doublehold_text::{self as words, file_duration, signed_file_duration};
use toml::{Table, Value};

use super::nodes::OTHERS;
use super::table::{NOTHING, put};
use super::units::law_value;
use super::{fault, lock, program, resource, sentinels, service, weather};
use crate::model::scenario::{
    ClientSetup, HostIndex, HostSetup, KnownScripts, Limits, LinkSetup, NodeVersion, NodesSetup, OnLostLock,
    PerNode, Persistence, RestartClock, Role, Scenario,
};

/// The scenario as the table that its file is.
pub(crate) fn write(scenario: &Scenario) -> Table {
    let Scenario { id, claim, source, story, seed, expect, .. } = scenario;
    let mut file = Table::new();
    for (key, words) in [("id", id), ("claim", claim), ("source", source), ("story", story)] {
        if !words.is_empty() {
            put(&mut file, key, words.as_str());
        }
    }
    if let Some(seed) = seed {
        put(&mut file, "seed", seed.to_string());
    }
    let expected =
        |(predicate, expected): (&doublehold_history::Predicate, &crate::model::scenario::Expected)| {
            (predicate.as_str().to_owned(), expected.as_str().into())
        };
    put(&mut file, "expect", expect.iter().map(expected).collect::<Table>());
    put(&mut file, "lock", lock::write(&scenario.lock));
    put(&mut file, "nodes", nodes(&scenario.nodes, scenario));
    if let Some(setup) = &scenario.service {
        put(&mut file, "service", service::write(setup, scenario));
    }
    if let Some(setup) = &scenario.sentinels {
        put(&mut file, "sentinels", sentinels::write(setup, scenario));
    }
    put(&mut file, "network", network(scenario));
    put(&mut file, "clocks", clocks(&scenario.hosts));
    put(&mut file, "resource", resource::write(scenario));
    put(&mut file, "clients", list(&scenario.clients, |client| self::client(client, scenario)));
    put(&mut file, "faults", list(&scenario.faults, fault::write));
    if let Some(weather) = &scenario.weather {
        put(&mut file, "weather", weather::write(weather));
    }
    put(&mut file, "limits", limits(&scenario.limits));
    file
}

fn list<T>(items: &[T], table: impl Fn(&T) -> Table) -> Vec<Value> {
    items.iter().map(|item| table(item).into()).collect()
}

fn name(scenario: &Scenario, host: HostIndex) -> &str {
    scenario.hosts.get(host.0).map_or(NOTHING, |host| &host.name)
}

fn nodes(nodes: &NodesSetup, scenario: &Scenario) -> Table {
    let NodesSetup {
        version,
        persistence,
        snapshot_interval,
        fsync_time,
        master,
        scripts,
        key_events,
        restart_after,
        restart_clock,
        min_replicas_to_write,
        min_replicas_max_lag,
        command_time,
        replica_priority,
        replica_serve_stale_data,
    } = nodes;
    let names = scenario.hosts.iter().filter(|host| host.role == Role::Node).map(|host| host.name.as_str());
    let mut table = Table::new();
    put(&mut table, "names", names.collect::<Vec<_>>());
    if scenario.service.is_some() {
        return table; // the rest is of Redis
    }
    let version = match version {
        NodeVersion::V7_0 => "7.0",
        NodeVersion::V8_4 => "8.4",
    };
    put(&mut table, "version", version);
    let persistence = match persistence {
        Persistence::None => "none",
        Persistence::Everysec => "everysec",
        Persistence::Always => "always",
        Persistence::Rdb => "rdb",
    };
    put(&mut table, "persistence", persistence);
    put(&mut table, "snapshot_interval", file_duration(*snapshot_interval));
    put(&mut table, "fsync_time", law_value(fsync_time));
    put(&mut table, "command_time", per_node(command_time, scenario, law_value));
    let scripts = match scripts {
        KnownScripts::Unknown => "unknown",
        KnownScripts::Loaded => "loaded",
    };
    put(&mut table, "scripts", scripts);
    if !key_events.is_empty() {
        put(&mut table, "notify_keyspace_events", key_events.as_str());
    }
    put(&mut table, "restart_after", file_duration(*restart_after));
    let restart_clock = match restart_clock {
        RestartClock::True => "true-time",
        RestartClock::Wall => "wall",
        RestartClock::Monotonic => "monotonic",
    };
    put(&mut table, "restart_clock", restart_clock);
    put(&mut table, "min_replicas_to_write", i64::from(*min_replicas_to_write));
    put(&mut table, "min_replicas_max_lag", file_duration(*min_replicas_max_lag));
    if let Some(master) = master {
        put(&mut table, "master", name(scenario, *master));
        put(&mut table, "replica_serve_stale_data", *replica_serve_stale_data);
    }
    if scenario.sentinels.is_some() {
        let value = |priority: &u32| i64::from(*priority).into();
        put(&mut table, "replica_priority", per_node(replica_priority, scenario, value));
    }
    table
}

/// One value, or those of some nodes and that of the others.
fn per_node<T>(values: &PerNode<T>, scenario: &Scenario, write: impl Fn(&T) -> Value) -> Value {
    if values.own.is_empty() {
        return write(&values.others);
    }
    let mut table = Table::new();
    put(&mut table, OTHERS, write(&values.others));
    for (node, value) in &values.own {
        put(&mut table, name(scenario, *node), write(value));
    }
    table.into()
}

fn network(scenario: &Scenario) -> Table {
    let usual = &scenario.link;
    let mut table = Table::new();
    put(&mut table, "delay", law_value(&usual.delay));
    put(&mut table, "loss", usual.loss.to_string());
    put(
        &mut table,
        "links",
        list(&same_links(scenario), |links| {
            let LinkSetup { delay, loss } = links.quality;
            let mut table = Table::new();
            put(&mut table, "from", names(&links.from, scenario));
            put(&mut table, "to", names(&links.to, scenario));
            if *delay != usual.delay {
                put(&mut table, "delay", law_value(delay));
            }
            if *loss != usual.loss {
                put(&mut table, "loss", loss.to_string());
            }
            table
        }),
    );
    table
}

/// Directions of one quality: from each of some hosts to each of others.
struct Links<'a> {
    quality: &'a LinkSetup,
    from: Vec<HostIndex>,
    to: Vec<HostIndex>,
}

/// A file names many directions at once, and so does what is written: each table of a file is at most one here,
/// whatever its hosts. Links are in order of their ends, as they are read.
fn same_links(scenario: &Scenario) -> Vec<Links<'_>> {
    let mut by_sender: Vec<Links<'_>> = Vec::new();
    for (from, to, quality) in &scenario.links {
        let same = |links: &&mut Links<'_>| links.from == [*from] && links.quality == quality;
        match by_sender.iter_mut().rev().find(same) {
            Some(links) => links.to.push(*to),
            None => by_sender.push(Links { quality, from: vec![*from], to: vec![*to] }),
        }
    }
    let mut all: Vec<Links<'_>> = Vec::new();
    for links in by_sender {
        let same = |other: &&mut Links<'_>| other.to == links.to && other.quality == links.quality;
        match all.iter_mut().find(same) {
            Some(other) => other.from.extend(links.from),
            None => all.push(links),
        }
    }
    all
}

fn names(hosts: &[HostIndex], scenario: &Scenario) -> Value {
    match hosts {
        [host] => name(scenario, *host).into(),
        hosts => hosts.iter().map(|host| name(scenario, *host)).collect::<Vec<_>>().into(),
    }
}

fn clocks(hosts: &[HostSetup]) -> Table {
    let mut table = Table::new();
    for host in hosts.iter().filter(|host| host.wall_offset_ns != 0 || host.drift.0 != 0) {
        let mut clocks = Table::new();
        put(&mut clocks, "offset", signed_file_duration(host.wall_offset_ns));
        put(&mut clocks, "drift", host.drift.to_string());
        put(&mut table, &host.name, clocks);
    }
    table
}

fn client(client: &ClientSetup, scenario: &Scenario) -> Table {
    let ClientSetup { host, start, program, ttl, rounds, retry, give_up_after, on_lost_lock } = client;
    let mut table = Table::new();
    put(&mut table, "name", name(scenario, *host));
    if let Some(process) = scenario.process_of(*host) {
        put(&mut table, "process", name(scenario, process));
    }
    put(
        &mut table,
        "program",
        program.iter().map(|step| program::step_text(step, scenario)).collect::<Vec<_>>(),
    );
    if let Some(ttl) = ttl {
        put(&mut table, "ttl", file_duration(*ttl));
    }
    put(&mut table, "rounds", i64::from(*rounds));
    put(&mut table, "retry", law_value(retry));
    put(&mut table, "give_up_after", file_duration(*give_up_after));
    let on_lost_lock = match on_lost_lock {
        OnLostLock::Stop => "stop",
        OnLostLock::GoOn => "go-on",
    };
    put(&mut table, "on_lost_lock", on_lost_lock);
    if let Some(start) = start {
        put(&mut table, "start", start.to_string());
    }
    table
}

fn limits(limits: &Limits) -> Table {
    let Limits { time, events, memory, obtain_within, obtain_free_within, after_faults } = limits;
    let mut table = Table::new();
    put(&mut table, "time", file_duration(*time));
    put(&mut table, "events", i64::try_from(*events).unwrap_or(i64::MAX));
    put(&mut table, "memory", words::bytes(*memory));
    let bounds: [(&str, &Option<Duration>); 2] =
        [("obtain_within", obtain_within), ("obtain_free_within", obtain_free_within)];
    for (key, bound) in bounds {
        if let Some(bound) = bound {
            put(&mut table, key, file_duration(*bound));
        }
    }
    put(&mut table, "after_faults", *after_faults);
    table
}
