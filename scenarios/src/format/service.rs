//! `[service]`: what the hosts under `[nodes]` are, where they are not Redis.
//!
//! The lock says which service it needs, and the table only changes settings. The group behind a service is taken as
//! correct, so a service is one host, and no fault strikes inside it.

use std::time::Duration;

use doublehold_services::ServiceKind;
use doublehold_services::zookeeper::{TICK, ZooKeeperRules};
use doublehold_text::{exact_duration, file_duration, several};
use toml::Table;

use super::hosts::Hosts;
use super::key::Key;
use super::lock::Chosen;
use super::problem::Result;
use super::section::Section;
use super::table::put;
use crate::model::scenario::Role;
use crate::model::service::ServiceSetup;

const KEYS: &[&str] = &["kind", "tick", "lock_delay"];

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
        let others = lock.running_on_service();
        return Err(field.problem(cause, format!("remove `[service]`, or use {others}")));
    };
    let kinds = ServiceKind::ALL.map(|kind| (kind.as_str(), kind));
    if let Some(field) = table.get("kind") {
        let typed = field.choice(&kinds)?;
        if typed != kind {
            let cause =
                format!("`{}`: the `{name}` lock needs {}, not {}", field.path, kind.as_str(), typed.as_str());
            return Err(field.problem(cause, format!("write `kind = \"{}\"`", kind.as_str())));
        }
    }
    one_host(root, hosts, kind)?;
    redis_only(root, kind)?;
    let tick = table.get("tick").map_or(Ok(TICK), |field| field.positive_duration())?;
    let lock_delay = table.duration_or("lock_delay", Duration::ZERO)?;
    let rules = ZooKeeperRules { tick, lock_delay };
    if rules.negotiate(lock.setup.ttl) != lock.setup.ttl {
        let field = root.require("lock", "{}")?.section(&[])?.require("ttl", "\"10s\"")?;
        let (ttl, least, most) = (exact_duration(lock.setup.ttl), tick * 2, tick * 20);
        let cause = format!(
            "`{}` is {ttl}, and with a tick of {} ZooKeeper gives sessions from {} to {}: two heartbeats fit into no less",
            field.path,
            exact_duration(tick),
            exact_duration(least),
            exact_duration(most)
        );
        return Err(field.problem(cause, "use such a `ttl`, or another `service.tick`"));
    }
    Ok(Some(ServiceSetup::ZooKeeper(rules)))
}

/// Refuses a group: its members do nothing of their own here.
fn one_host(root: &Section<'_>, hosts: &Hosts, kind: ServiceKind) -> Result<()> {
    let count = hosts.hosts_of_role(Role::Node).len();
    if count == 1 {
        return Ok(());
    }
    let names = root.require("nodes", "{}")?.section(&[])?.require("names", "[\"A\"]")?;
    let even = if count.is_multiple_of(2) { ", and an even group survives no more than one less" } else { "" };
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
pub(super) fn write(setup: &ServiceSetup) -> Table {
    let mut table = Table::new();
    put(&mut table, "kind", setup.kind().as_str());
    match setup {
        ServiceSetup::ZooKeeper(ZooKeeperRules { tick, lock_delay }) => {
            put(&mut table, "tick", file_duration(*tick));
            put(&mut table, "lock_delay", file_duration(*lock_delay));
        }
    }
    table
}
