//! Changes of role: who is made a master or a replica, and which other nodes are told.
//!
//! Orders travel: a promotion is given at the promoted node, and the others hear of it from that machine over the network.
//! A `follow` is given at its own machine, so that a scenario can say which node hears what, and when.

use doublehold_sim::Fault;
use doublehold_sim_redis::Order;

use super::possible::Setting;
use super::problem::Result;
use super::section::{Field, Section};
use super::words;
use crate::scenario::{HostIndex, Role};

/// What a change of role does, and the verb that tells it.
type Effect = (Vec<Fault>, String);

/// One node becomes master, and tells others to follow it.
pub(super) fn promote(
    fault: &Section<'_>,
    host: &Field<'_>,
    hosts: &[HostIndex],
    setting: &Setting<'_>,
) -> Result<Effect> {
    let &[promoted] = hosts else {
        return Err(host.problem("there can be one master only", "promote a single node"));
    };
    if setting.master.is_none() {
        return Err(host.problem("nothing is replicated, so nothing can be promoted", "set `nodes.master`"));
    }
    let others: Vec<HostIndex> =
        setting.hosts.of(Role::Node).into_iter().filter(|&node| node != promoted).collect();
    let told = fault.get("tell").map(|tell| told(&tell, promoted, setting)).transpose()?;
    let verb = match &told {
        None => "are promoted to master".to_owned(),
        Some(none) if none.is_empty() => "are promoted to master, and nobody else is told".to_owned(),
        Some(some) => {
            let verb = if some.len() == 1 { "is" } else { "are" };
            format!("are promoted to master, and only {} {verb} told", words::names(&names(some, setting)))
        }
    };
    let (rewrite_config, verb) = kept(fault, verb)?;
    let tell = names(told.as_ref().unwrap_or(&others), setting).into_iter().map(str::to_owned).collect();
    Ok((vec![signal(promoted, &Order::Promote { tell, rewrite_config })], verb))
}

/// The nodes that hear of a promotion; `[]` is nobody.
fn told(tell: &Field<'_>, promoted: HostIndex, setting: &Setting<'_>) -> Result<Vec<HostIndex>> {
    let items = tell.one_or_many();
    if items.is_empty() {
        return Ok(Vec::new());
    }
    for item in &items {
        item.naming("the name of a node", "name a node, or a list of nodes")?;
    }
    let told = setting.hosts.get_many(tell)?;
    for (&node, item) in told.iter().zip(&items) {
        let name = setting.hosts.name(node);
        if setting.hosts.role(node) != Role::Node {
            let cause = format!("`{}`: `{name}` runs no Redis", item.path);
            return Err(item.problem(cause, "name nodes, or nobody: `tell = []`"));
        }
        if node == promoted {
            let cause = format!("`{}`: `{name}` is the one that is promoted", item.path);
            return Err(item.problem(cause, "name those that are to follow it"));
        }
    }
    Ok(told)
}

/// Nodes are made to follow another, each by an order given on its own machine.
pub(super) fn follow(fault: &Section<'_>, hosts: &[HostIndex], setting: &Setting<'_>) -> Result<Effect> {
    let field = fault.require("master", &format!("\"{}\"", to_follow(hosts, setting)))?;
    field.naming("the name of a node", "name one node")?;
    let master = setting.hosts.get(&field)?;
    let name = setting.hosts.name(master);
    if setting.hosts.role(master) != Role::Node {
        return Err(
            field.problem(format!("`{}`: `{name}` runs no Redis", field.path), "name one of the nodes")
        );
    }
    if setting.master.is_none() {
        return Err(field.problem("nothing is replicated, so nothing can be followed", "set `nodes.master`"));
    }
    if hosts.contains(&master) {
        return Err(field.problem(format!("`{name}` cannot follow itself"), "name another node"));
    }
    let (rewrite_config, verb) = kept(fault, format!("are told to follow {name}"))?;
    let order = Order::Follow { master: name.to_owned(), rewrite_config };
    Ok((hosts.iter().map(|&host| signal(host, &order)).collect(), verb))
}

/// A node that these can follow, for an example.
fn to_follow<'a>(hosts: &[HostIndex], setting: &Setting<'a>) -> &'a str {
    let others = setting.hosts.of(Role::Node).into_iter().find(|node| !hosts.contains(node));
    others.map_or("A", |node| setting.hosts.name(node))
}

/// Whether the nodes keep their roles after a restart, and the verb that says so if they do not.
fn kept(fault: &Section<'_>, verb: String) -> Result<(bool, String)> {
    let rewrite_config = fault.flag_or("rewrite_config", true)?;
    let verb = if rewrite_config { verb } else { format!("{verb}, without CONFIG REWRITE") };
    Ok((rewrite_config, verb))
}

fn signal(host: HostIndex, order: &Order) -> Fault {
    Fault::Signal { host: host.in_world(), signal: order.to_string() }
}

fn names<'a>(nodes: &[HostIndex], setting: &Setting<'a>) -> Vec<&'a str> {
    nodes.iter().map(|&node| setting.hosts.name(node)).collect()
}
