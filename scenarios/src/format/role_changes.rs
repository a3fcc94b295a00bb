//! Changes of role: who is made a master or a replica, and which other nodes are told; what can be wrong about them.
//!
//! Orders travel: a promotion is given at the promoted node, and the others hear of it from that machine over the
//! network. A `follow` is given at its own machine, so that a scenario can say which node hears what, and when.

use super::problem::Result;
use super::reachable::Setting;
use super::section::{Field, Section};
use crate::model::fault::{Effect, Names};
use crate::model::scenario::Role;

/// The nodes that hear of a promotion; `[]` is nobody.
pub(super) fn read_told_nodes(tell: &Field<'_>, setting: &Setting<'_>) -> Result<Names> {
    let items = tell.one_or_many();
    if items.is_empty() {
        return Ok(Names::default());
    }
    for item in &items {
        item.naming("the name of a node", "name a node, or a list of nodes")?;
    }
    let told = setting.hosts.get_many(tell)?;
    for (&node, item) in told.iter().zip(&items) {
        if setting.hosts.role(node) != Role::Node {
            let cause = format!("`{}`: `{}` runs no Redis", item.path, setting.hosts.name(node));
            return Err(item.problem(cause, "name nodes, or nobody: `tell = []`"));
        }
    }
    setting.hosts.names_of(tell)
}

/// The node that others are to follow.
pub(super) fn master(key: &str, fault: &Section<'_>, setting: &Setting<'_>) -> Result<String> {
    let struck = fault.get("host").map(|field| setting.hosts.get_many(&field)).transpose()?;
    let nodes = setting.hosts.hosts_of_role(Role::Node).into_iter();
    let example = nodes.into_iter().find(|node| struck.as_ref().is_none_or(|struck| !struck.contains(node)));
    let example = example.map_or("A", |node| setting.hosts.name(node));
    let field = fault.require(key, &format!("\"{example}\""))?;
    field.naming("the name of a node", "name one node")?;
    let master = setting.hosts.get(&field)?;
    let name = setting.hosts.name(master);
    if setting.hosts.role(master) != Role::Node {
        return Err(
            field.problem(format!("`{}`: `{name}` runs no Redis", field.path), "name one of the nodes")
        );
    }
    Ok(name.to_owned())
}

/// Refuses orders that nobody could obey. `host` is the field that names those who get them.
pub(super) fn check(
    effect: &Effect,
    fault: &Section<'_>,
    host: &Field<'_>,
    setting: &Setting<'_>,
) -> Result<()> {
    if matches!(effect, Effect::Promote { .. } | Effect::Follow { .. })
        && !setting.hosts.hosts_of_role(Role::Sentinel).is_empty()
    {
        let cause = "Sentinels decide who is master here, and would undo the order";
        return Err(
            host.problem(cause, "remove it and stop, cut off or crash the master, or remove `[sentinels]`")
        );
    }
    match effect {
        Effect::Promote { host: promoted, tell, .. } => {
            let [promoted] = &promoted.0[..] else {
                return Err(host.problem("there can be one master only", "promote a single node"));
            };
            if setting.master.is_none() {
                return Err(
                    host.problem("nothing is replicated, so nothing can be promoted", "set `nodes.master`")
                );
            }
            let told = tell.iter().flat_map(|tell| &tell.0).position(|node| node == promoted);
            let (Some(told), Some(tell)) = (told, fault.get("tell")) else { return Ok(()) };
            let item = &tell.one_or_many()[told];
            let cause = format!("`{}`: `{promoted}` is the one that is promoted", item.path);
            Err(item.problem(cause, "name those that are to follow it"))
        }
        Effect::Follow { hosts, master, .. } => {
            let field = fault.require("master", "\"A\"")?;
            if setting.master.is_none() {
                return Err(
                    field.problem("nothing is replicated, so nothing can be followed", "set `nodes.master`")
                );
            }
            if hosts.0.contains(master) {
                return Err(field.problem(format!("`{master}` cannot follow itself"), "name another node"));
            }
            Ok(())
        }
        _ => Ok(()),
    }
}
