//! The replicas of the resource, in `[resource]`: how many there are, and how many have to answer.

use doublehold_history::{NumberSource, ResourceRules};
use toml::Table;

use super::hosts::Hosts;
use super::lock::Chosen;
use super::problem::Result;
use super::section::Section;
use super::table::put;
use crate::model::scenario::{ReplicasSetup, Role};

/// The keys of `[resource]` that mean something with several replicas only.
pub(super) const QUORUM_KEYS: [&str; 4] = ["write_quorum", "read_quorum", "prepare_quorum", "read_repair"];
/// As many as the scenarios of the debate ask for.
const REPLICAS_MAX: u64 = 5;

/// Names the hosts that guard the data: one, or `resource-1` and so on.
pub(super) fn add_hosts(root: &Section<'_>, hosts: &mut Hosts, name: &str) -> Result<()> {
    let resource = root.section("resource", super::resource::KEYS)?;
    let count = count(&resource)?;
    if count == 1 {
        hosts.push(name, Role::Resource);
        return Ok(());
    }
    for number in 1..=count {
        let replica = format!("{name}-{number}");
        if hosts.find(&replica).is_some() {
            let cause = format!("`{replica}` is the name of a replica of the resource");
            return Err(resource.problem(cause, "give the other host another name"));
        }
        hosts.push(&replica, Role::Resource);
    }
    Ok(())
}

fn count(resource: &Section<'_>) -> Result<usize> {
    let count = resource.get("replicas").map_or(Ok(1), |field| field.number(1, REPLICAS_MAX))?;
    Ok(usize::try_from(count).unwrap_or(1))
}

/// Reads what is said of replicas, and checks that clients can go by it.
pub(super) fn read_replicas(
    resource: &Section<'_>,
    rules: ResourceRules,
    lock: &Chosen<'_>,
) -> Result<Option<ReplicasSetup>> {
    let count = count(resource)?;
    if count == 1 {
        return match QUORUM_KEYS.iter().find_map(|key| resource.get(key)) {
            Some(field) => {
                let cause = format!("`{}` does nothing while the data are on one host", field.path);
                Err(field.problem(cause, "set `replicas = 3` as well"))
            }
            None => Ok(None),
        };
    }
    let fenced_by_lock = rules.numbers == NumberSource::Lock && !rules.fencing.compares_tokens();
    if !fenced_by_lock || rules.version_check {
        let cause = "replicas order values by the lock's fencing numbers, and the resource is to compare something else";
        let way = "let `fencing` be off, reject-lower or reject-lower-or-equal, and leave `numbers` and `version_check`";
        return Err(resource.problem(cause, way));
    }
    if !lock.facts.fencing {
        let cause = "replicas order values by fencing numbers, and the lock makes none";
        let way = lock.way_to(|facts| facts.fencing);
        return Err(resource.problem(cause, format!("{way}, or remove `resource.replicas`")));
    }
    let quorum = |key: &str| match resource.get(key) {
        None => Ok(count / 2 + 1),
        Some(field) => {
            let quorum = usize::try_from(field.number(1, u64::from(u32::MAX))?).unwrap_or(usize::MAX);
            if quorum <= count {
                return Ok(quorum);
            }
            let cause = format!("`{}` is {quorum}, and there are {count} replicas", field.path);
            Err(field.problem(cause, format!("use 1 to {count}")))
        }
    };
    Ok(Some(ReplicasSetup {
        count,
        write_quorum: quorum("write_quorum")?,
        read_quorum: quorum("read_quorum")?,
        prepare_quorum: quorum("prepare_quorum")?,
        read_repair: resource.flag_or("read_repair", false)?,
    }))
}

/// Writes them.
pub(super) fn write(table: &mut Table, replicas: Option<ReplicasSetup>) {
    let Some(ReplicasSetup { count, write_quorum, read_quorum, prepare_quorum, read_repair }) = replicas
    else {
        return;
    };
    let quorums = [write_quorum, read_quorum, prepare_quorum];
    for (key, number) in ["replicas"].iter().chain(&QUORUM_KEYS).zip([count].iter().chain(&quorums)) {
        put(table, key, i64::try_from(*number).unwrap_or(i64::MAX));
    }
    put(table, "read_repair", read_repair);
}
