//! `[service]`: what the hosts under `[nodes]` are, where they are not Redis.
//!
//! The lock says which service it needs, and the table only changes settings. The group behind a service is taken as
//! correct, so a service is one host, and no fault strikes inside it. Only a database may have a standby beside it.

use std::time::Duration;

use doublehold_services::database::DatabaseRules;
use doublehold_services::zookeeper::{TICK, ZooKeeperRules};
use doublehold_services::{Keepalive, ServiceKind};
use doublehold_text::{exact_duration, file_duration, several, suggest};
use toml::Table;

use super::hosts::Hosts;
use super::key::Key;
use super::lock::Chosen;
use super::problem::Result;
use super::section::{Field, Section};
use super::standby;
use super::table::put;
use crate::model::scenario::{Role, Scenario};
use crate::model::service::{DatabaseSetup, ServiceSetup, StandbySetup};

const KEYS: &[&str] = &[
    "kind",
    "tick",
    "lock_delay",
    "idle_in_transaction_timeout",
    "idle_session_timeout",
    "keepalive_idle",
    "keepalive_interval",
    "keepalive_count",
    "standby",
    "standby_lag",
];
/// Those of Linux: `tcp_keepalive_intvl` and `tcp_keepalive_probes`.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(75);
const KEEPALIVE_COUNT: u64 = 9;
/// That of Linux.
const KEEPALIVE_COUNT_MAX: u64 = 127;

/// The keys and words of `[service]`.
pub(super) fn vocabulary() -> Vec<Key> {
    let kinds = ServiceKind::ALL.map(ServiceKind::as_str);
    [Key::all("service", KEYS), Key::words("service.kind", &kinds)].concat()
}

/// Reads `[service]`, and checks it against the lock and the hosts.
pub(super) fn read_service(
    root: &Section<'_>,
    hosts: &Hosts,
    lock: &Chosen<'_>,
) -> Result<Option<ServiceSetup>> {
    let table = root.section("service", KEYS)?;
    let name = lock.descriptor.name;
    let Some(kind) = lock.descriptor.service else {
        let Some((_, field)) = table.fields().into_iter().next() else { return Ok(None) };
        let cause = format!("`{}`: the `{name}` lock runs on Redis", field.path);
        return Err(field.problem(cause, format!("remove `[service]`, or {}", lock.way_to_a_service())));
    };
    let kinds = ServiceKind::ALL.map(|kind| (kind.as_str(), kind));
    if let Some(field) = table.get("kind") {
        let typed = field.choice(&kinds)?;
        if typed != kind {
            let cause = format!(
                "`{}`: the `{name}` lock needs {}, not {}",
                field.path,
                kind.as_str(),
                typed.as_str()
            );
            return Err(field.problem(cause, format!("write `kind = \"{}\"`", kind.as_str())));
        }
    }
    refuse_keys_of_others(&table, kind)?;
    let standby = standby::read_standby(root, &table, hosts)?;
    one_host(root, hosts, kind, standby)?;
    redis_only(root, kind)?;
    Ok(Some(match kind {
        ServiceKind::ZooKeeper => ServiceSetup::ZooKeeper(zookeeper(root, &table, lock)?),
        ServiceKind::Etcd => ServiceSetup::Etcd,
        ServiceKind::Database => ServiceSetup::Database(DatabaseSetup { rules: database(&table)?, standby }),
    }))
}

fn refuse_keys_of_others(table: &Section<'_>, kind: ServiceKind) -> Result<()> {
    let own = keys_of(kind);
    let other = table.fields().into_iter().find(|(key, _)| *key != "kind" && !own.contains(key));
    let Some((key, field)) = other else { return Ok(()) };
    if standby::KEYS.contains(&key) {
        let cause = format!(
            "`{}`: {} has no standby, since the group behind it is taken as correct",
            field.path,
            kind.as_str()
        );
        return Err(field.problem(cause, "remove it, or use `row-lock` or `advisory-lock`"));
    }
    let takes = if own.is_empty() { "nothing".to_owned() } else { suggest::list(own) };
    let cause = format!("`{}` means nothing to {}", field.path, kind.as_str());
    Err(field.problem(cause, format!("remove it; {} takes {takes}", kind.as_str())))
}

fn keys_of(kind: ServiceKind) -> &'static [&'static str] {
    match kind {
        ServiceKind::ZooKeeper => &["tick", "lock_delay"],
        ServiceKind::Etcd => &[],
        ServiceKind::Database => &KEYS[3..],
    }
}

fn zookeeper(root: &Section<'_>, table: &Section<'_>, lock: &Chosen<'_>) -> Result<ZooKeeperRules> {
    let tick = table.get("tick").map_or(Ok(TICK), |field| field.positive_duration())?;
    let rules = ZooKeeperRules { tick, lock_delay: table.duration_or("lock_delay", Duration::ZERO)? };
    if rules.negotiate(lock.setup.ttl) == lock.setup.ttl {
        return Ok(rules);
    }
    let field = root.require("lock", "{}")?.section(&[])?.require("ttl", "\"10s\"")?;
    let cause = format!(
        "`{}` is {}, and with a tick of {} ZooKeeper gives sessions from {} to {}: two heartbeats fit into no less",
        field.path,
        exact_duration(lock.setup.ttl),
        exact_duration(tick),
        exact_duration(tick * 2),
        exact_duration(tick * 20)
    );
    Err(field.problem(cause, "use such a `ttl`, or another `service.tick`"))
}

fn database(table: &Section<'_>) -> Result<DatabaseRules> {
    let timeout = |key| table.get(key).map(|field: Field<'_>| field.positive_duration()).transpose();
    let idle = timeout("keepalive_idle")?;
    for key in ["keepalive_interval", "keepalive_count"] {
        if let (Some(field), None) = (table.get(key), idle) {
            let cause = format!("`{}` does nothing without `keepalive_idle`", field.path);
            return Err(field.problem(cause, "add `keepalive_idle = \"2s\"`"));
        }
    }
    let keepalive = match idle {
        None => None,
        Some(idle) => Some(Keepalive {
            idle,
            interval: timeout("keepalive_interval")?.unwrap_or(KEEPALIVE_INTERVAL),
            count: table
                .get("keepalive_count")
                .map_or(Ok(KEEPALIVE_COUNT), |field| field.number(1, KEEPALIVE_COUNT_MAX))?
                as u32,
        }),
    };
    Ok(DatabaseRules {
        idle_in_transaction: timeout("idle_in_transaction_timeout")?,
        idle_session: timeout("idle_session_timeout")?,
        keepalive,
    })
}

/// Refuses a group: its members do nothing of their own here.
fn one_host(
    root: &Section<'_>,
    hosts: &Hosts,
    kind: ServiceKind,
    standby: Option<StandbySetup>,
) -> Result<()> {
    let count = hosts.hosts_of_role(Role::Node).len();
    if standby.is_some() || count == 1 {
        return Ok(());
    }
    let names = root.require("nodes", "{}")?.section(&[])?.require("names", "[\"A\"]")?;
    if kind == ServiceKind::Database {
        let cause = format!("`{}` names {count} hosts, and a database is one without a standby", names.path);
        return Err(names.problem(cause, "name one host, or two and one of them in `service.standby`"));
    }
    let even =
        if count.is_multiple_of(2) { ", and an even group survives no more than one less" } else { "" };
    let cause = format!(
        "`{}` names {}: {} is one host here, since the group behind it is taken as correct{even}",
        names.path,
        several(count as u64, "host"),
        kind.as_str()
    );
    Err(names.problem(cause, "name one host; a fault inside the group cannot be simulated"))
}

/// Refuses what only Redis nodes have.
fn redis_only(root: &Section<'_>, kind: ServiceKind) -> Result<()> {
    let nodes = root.require("nodes", "{}")?.section(&[])?;
    let other = nodes.fields().into_iter().find(|(key, _)| *key != "names");
    let field = other.map(|(_, field)| field).or_else(|| root.get("sentinels"));
    match field {
        None => Ok(()),
        Some(field) => {
            let cause = format!("`{}` is a setting of Redis, and the node is {}", field.path, kind.as_str());
            Err(field.problem(cause, "remove it; what a service can be told stands under `[service]`"))
        }
    }
}

/// The service as a table of a file.
pub(super) fn write(setup: &ServiceSetup, scenario: &Scenario) -> Table {
    let mut table = Table::new();
    put(&mut table, "kind", setup.kind().as_str());
    match setup {
        ServiceSetup::ZooKeeper(ZooKeeperRules { tick, lock_delay }) => {
            put(&mut table, "tick", file_duration(*tick));
            put(&mut table, "lock_delay", file_duration(*lock_delay));
        }
        ServiceSetup::Etcd => {}
        ServiceSetup::Database(DatabaseSetup { rules, standby }) => {
            let timeouts = [
                ("idle_in_transaction_timeout", rules.idle_in_transaction),
                ("idle_session_timeout", rules.idle_session),
                ("keepalive_idle", rules.keepalive.map(|keepalive| keepalive.idle)),
                ("keepalive_interval", rules.keepalive.map(|keepalive| keepalive.interval)),
            ];
            for (key, timeout) in timeouts.into_iter().filter_map(|(key, timeout)| Some((key, timeout?))) {
                put(&mut table, key, file_duration(timeout));
            }
            if let Some(keepalive) = rules.keepalive {
                put(&mut table, "keepalive_count", i64::from(keepalive.count));
            }
            standby::write(&mut table, *standby, scenario);
        }
    }
    table
}
