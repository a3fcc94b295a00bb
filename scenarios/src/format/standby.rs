//! The standby of a database: `service.standby`, and its promotion.
//!
//! Clients find the database by one name, so nobody is told of a promotion, and nothing takes it back.

use std::time::Duration;

use doublehold_text::{file_duration, shorten};
use toml::Table;

use super::hosts::Hosts;
use super::problem::Result;
use super::reachable::Setting;
use super::section::{Field, Section};
use super::table::put;
use crate::model::fault::{Effect, Names};
use crate::model::scenario::{HostIndex, Role, Scenario};
use crate::model::service::StandbySetup;

/// The keys of `[service]` about it.
pub(super) const KEYS: [&str; 2] = ["standby", "standby_lag"];

/// Reads which of two hosts is the standby.
pub(super) fn read_standby(
    root: &Section<'_>,
    service: &Section<'_>,
    hosts: &Hosts,
) -> Result<Option<StandbySetup>> {
    let Some(field) = service.get("standby") else {
        return match service.get("standby_lag") {
            None => Ok(None),
            Some(lag) => {
                let cause = format!("`{}` does nothing without a standby", lag.path);
                Err(lag.problem(cause, "add a host to `nodes.names`, and name it in `service.standby`"))
            }
        };
    };
    let name = field.naming("the name of a host", "name one of `nodes.names`")?;
    let nodes = hosts.hosts_of_role(Role::Node);
    let Some(host) = hosts.find(name).filter(|host| nodes.contains(host)) else {
        let cause = format!("`{}`: `{}` is none of `nodes.names`", field.path, shorten(name));
        return Err(field.problem(cause, "add it there, beside the primary"));
    };
    if nodes.len() != 2 {
        let names = root.require("nodes", "{}")?.section(&[])?.require("names", "[\"db\", \"db2\"]")?;
        let count = nodes.len();
        let cause = format!("`{}` names {count}, and a primary with its standby are 2 hosts", names.path);
        return Err(names.problem(cause, "name a primary and a standby"));
    }
    Ok(Some(StandbySetup { host, lag: service.duration_or("standby_lag", Duration::ZERO)? }))
}

/// Refuses a promotion that a database cannot have. `host` is the field that names who is promoted.
pub(super) fn check_promotion(
    effect: &Effect,
    fault: &Section<'_>,
    host: &Field<'_>,
    setting: &Setting<'_>,
) -> Result<()> {
    let Effect::Promote { host: promoted, rewrite_config, .. } = effect else { return Ok(()) };
    let Some(standby) = setting.standby else {
        let cause = format!("`{}`: {promoted} has no standby, so nothing can be promoted", host.path);
        return Err(host.problem(cause, "add a host to `nodes.names`, and name it in `service.standby`"));
    };
    let standby = setting.hosts.name(standby);
    if *promoted != Names::from(standby) {
        let cause = format!("`{}`: {promoted} is not the standby", host.path);
        return Err(host.problem(cause, format!("promote `{standby}`")));
    }
    let redis = fault.get("tell").or_else(|| fault.get("rewrite_config").filter(|_| !rewrite_config));
    match redis {
        None => Ok(()),
        Some(field) => {
            let cause =
                format!("`{}` means nothing to a database, which clients find by its name", field.path);
            Err(field.problem(cause, "remove it"))
        }
    }
}

/// Writes it.
pub(super) fn write(table: &mut Table, standby: Option<StandbySetup>, scenario: &Scenario) {
    let Some(StandbySetup { host: HostIndex(host), lag }) = standby else { return };
    put(table, KEYS[0], scenario.hosts.get(host).map_or("", |host| host.name.as_str()));
    put(table, KEYS[1], file_duration(lag));
}
