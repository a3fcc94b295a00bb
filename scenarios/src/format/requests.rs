//! Who sends requests, and to whom: what a `duplicate` can strike. Clients ask nodes and the resource, and a node asks
//! another whose replica it is, or which it tells to follow it. Nobody connects to a client.

use super::hosts::Hosts;
use super::problem::{Problem, Result};
use super::reachable::Setting;
use super::section::{Field, Section};
use crate::model::scenario::{HostIndex, Role};
use crate::model::weather::HostGroup;

/// Refuses hosts that send no request, or are sent none.
pub(super) fn check(
    fault: &Section<'_>,
    setting: &Setting<'_>,
    ways: &[(HostIndex, HostIndex)],
) -> Result<()> {
    let (from, to) = (fault.require("from", "\"c1\"")?, fault.require("to", "\"A\"")?);
    for (sender, receiver) in ways {
        if setting.hosts.role(*sender) == Role::Resource {
            return Err(asks_nobody(&from, setting.hosts.name(*sender)));
        }
        if setting.hosts.role(*receiver) == Role::Client {
            return Err(is_asked_by_nobody(&to, setting.hosts.name(*receiver)));
        }
    }
    Ok(())
}

/// The same of a line of a weather, whose `from` and `to` may be groups.
pub(super) fn check_random(key: &str, field: &Field<'_>, hosts: Option<&Hosts>) -> Result<()> {
    for item in field.one_or_many() {
        let name = item.naming("a host or a group of hosts", "name `clients`, `nodes`, or one host")?;
        let of_host = hosts.and_then(|hosts| Some(hosts.role(hosts.find(name)?)));
        let of_group = HostGroup::from_word(name).map(|group| match group {
            HostGroup::Clients => Role::Client,
            HostGroup::Nodes | HostGroup::Master | HostGroup::Replicas => Role::Node,
            HostGroup::Sentinels => Role::Sentinel,
            HostGroup::Resource => Role::Resource,
        });
        match (key, of_host.or(of_group)) {
            ("from", Some(Role::Resource)) => return Err(asks_nobody(&item, name)),
            ("to", Some(Role::Client)) => return Err(is_asked_by_nobody(&item, name)),
            _ => {}
        }
    }
    Ok(())
}

/// The refusal of a sender that only answers.
fn asks_nobody(field: &Field<'_>, name: &str) -> Problem {
    let cause = format!("`{}`: `{name}` only answers, and a `duplicate` is of a request", field.path);
    field.problem(cause, "name clients, or nodes that talk to nodes")
}

/// The refusal of a receiver to which nobody connects.
fn is_asked_by_nobody(field: &Field<'_>, name: &str) -> Problem {
    let cause =
        format!("`{}`: nobody sends `{name}` a request, and a `duplicate` is of a request", field.path);
    field.problem(cause, "name nodes or the resource: who asks them is `from`")
}
