//! `[sentinels]`: the hosts that watch the nodes, and how clients find the master by them.

use std::time::Duration;

use doublehold_lockimpl::{Choice as _, MasterDiscovery, Nodes};
use doublehold_text::{exact_duration, file_duration, several};
use toml::Table;

use super::hosts::Hosts;
use super::key::{Choices, Key, words_of};
use super::lock::Chosen;
use super::problem::Result;
use super::section::{Field, Section};
use super::table::put;
use crate::model::scenario::{HostIndex, Role, Scenario};
use crate::model::sentinels::{Knowledge, SentinelsSetup};

const KEYS: &[&str] = &[
    "names",
    "count",
    "quorum",
    "down_after",
    "failover_timeout",
    "parallel_syncs",
    "knowledge",
    "discovery",
];
const KNOWLEDGE: Choices<Knowledge> = &[("all", Knowledge::All), ("master", Knowledge::Master)];
/// As many as anybody runs for one master, and twice that.
const SENTINELS_MAX: u64 = 15;
/// That of Redis' example file, and what most run.
const COUNT: u64 = 3;
/// That of sentinel.conf: `down-after-milliseconds 30000`.
const DOWN_AFTER: Duration = Duration::from_secs(30);
/// That of sentinel.conf: `failover-timeout 180000`.
const FAILOVER_TIMEOUT: Duration = Duration::from_secs(180);

/// The keys and words of `[sentinels]`.
pub(super) fn vocabulary() -> Vec<Key> {
    let discovery: Vec<&str> = MasterDiscovery::WORDS.iter().map(|(word, _)| *word).collect();
    [
        Key::all("sentinels", KEYS),
        Key::words("sentinels.knowledge", &words_of(KNOWLEDGE)),
        Key::words("sentinels.discovery", &discovery),
    ]
    .concat()
}

fn section<'a>(root: &Section<'a>) -> Result<Option<Section<'a>>> {
    root.get("sentinels").map(|field| field.section(KEYS)).transpose()
}

/// Adds the hosts: by their names, or `S1`, `S2` and so on.
pub(super) fn add_hosts(root: &Section<'_>, hosts: &mut Hosts) -> Result<()> {
    let Some(sentinels) = section(root)? else { return Ok(()) };
    let Some(names) = sentinels.get("names") else {
        let count = sentinels.get("count").map_or(Ok(COUNT), |field| field.number(1, SENTINELS_MAX))?;
        for number in 1..=count {
            let name = format!("S{number}");
            if hosts.find(&name).is_some() {
                let cause = format!("a node is named `{name}`, as a Sentinel would be");
                return Err(
                    sentinels.problem(cause, "name the Sentinels: `names = [\"W1\", \"W2\", \"W3\"]`")
                );
            }
            hosts.push(&name, Role::Sentinel);
        }
        return Ok(());
    };
    if let Some(count) = sentinels.get("count") {
        let cause = format!("`{}` says how many Sentinels there are, and so does `names`", count.path);
        return Err(count.problem(cause, "keep one of the two"));
    }
    let items = names.items("a list of names")?;
    if items.is_empty() || items.len() as u64 > SENTINELS_MAX {
        let cause = format!("`{}` names {}", names.path, several(items.len() as u64, "Sentinel"));
        return Err(names.problem(cause, format!("name 1 to {SENTINELS_MAX}")));
    }
    items.iter().try_for_each(|item| hosts.add(item, Role::Sentinel))
}

/// Reads `[sentinels]`, if there is such a table.
pub(super) fn read_sentinels(
    root: &Section<'_>,
    hosts: &Hosts,
    lock: &Chosen<'_>,
    master: Option<HostIndex>,
) -> Result<Option<SentinelsSetup>> {
    let Some(sentinels) = section(root)? else { return Ok(None) };
    refuse_misfits(&sentinels, hosts, lock, master)?;
    let count = hosts.hosts_of_role(Role::Sentinel).len() as u64;
    let majority = count / 2 + 1;
    let quorum = sentinels.get("quorum").map_or(Ok(majority), |field| quorum(&field, count))?;
    let duration = |key, usual| sentinels.get(key).map_or(Ok(usual), |field| millis(&field));
    let discovery =
        sentinels.get("discovery").map(|field| field.choice(MasterDiscovery::WORDS)).transpose()?;
    Ok(Some(SentinelsSetup {
        quorum: quorum as u32,
        down_after: duration("down_after", DOWN_AFTER)?,
        failover_timeout: duration("failover_timeout", FAILOVER_TIMEOUT)?,
        parallel_syncs: sentinels.get("parallel_syncs").map_or(Ok(1), |field| field.number(1, 1_000))? as u32,
        knowledge: sentinels.choice_or("knowledge", KNOWLEDGE, Knowledge::All)?,
        discovery,
    }))
}

/// Sentinels watch a master and its replicas, and nothing else.
fn refuse_misfits(
    sentinels: &Section<'_>,
    hosts: &Hosts,
    lock: &Chosen<'_>,
    master: Option<HostIndex>,
) -> Result<()> {
    if lock.descriptor.nodes == Nodes::Independent {
        let name = lock.descriptor.name;
        let cause = format!("the nodes of the `{name}` lock know nothing of each other: nobody fails over");
        let others = lock.running_on(|nodes| nodes != Nodes::Independent);
        return Err(sentinels.problem(cause, format!("remove `[sentinels]`, or use {others}")));
    }
    refuse_unread_driver(sentinels, lock)?;
    let nodes = hosts.hosts_of_role(Role::Node);
    if master.is_none() {
        let first = nodes.first().map_or("A", |node| hosts.name(*node));
        let hint = format!("add `master = \"{first}\"` to `[nodes]`, and name its replicas there");
        return Err(sentinels.problem("Sentinels watch a master, and there is none", hint));
    }
    if nodes.len() < 2 {
        let cause = "the master has no replica, so nothing can be promoted";
        return Err(sentinels.problem(cause, "name more nodes: `names = [\"A\", \"B\", \"C\"]`"));
    }
    Ok(())
}

/// A driver finds the master in its own way, and that of one was not read.
fn refuse_unread_driver(sentinels: &Section<'_>, lock: &Chosen<'_>) -> Result<()> {
    let Some(driver) = lock.descriptor.driver(&lock.setup.switches) else { return Ok(()) };
    if driver.discovery().is_some() || sentinels.get("discovery").is_some() {
        return Ok(());
    }
    let cause = format!("it is not known how the driver `{}` finds a master behind Sentinels", driver.name);
    let hint = "say how: `discovery = \"at-connect\"` asks at each new connection, and `discovery = \"fixed\"` never";
    Err(sentinels.problem(cause, hint))
}

fn quorum(field: &Field<'_>, count: u64) -> Result<u64> {
    let quorum = field.number(1, u64::from(u32::MAX))?;
    if quorum > count {
        let cause = format!("`{}` is {quorum}, and there {}", field.path, are(count));
        return Err(field.problem(cause, format!("use {count} or less: otherwise nobody ever fails over")));
    }
    Ok(quorum)
}

fn are(count: u64) -> String {
    if count == 1 { "is 1 Sentinel".to_owned() } else { format!("are {count} Sentinels") }
}

/// Sentinels count whole milliseconds.
fn millis(field: &Field<'_>) -> Result<Duration> {
    let length = field.positive_duration()?;
    if !length.as_nanos().is_multiple_of(1_000_000) {
        let cause =
            format!("`{}` is {}, and Sentinels count milliseconds", field.path, exact_duration(length));
        return Err(field.problem(cause, "use whole milliseconds"));
    }
    Ok(length)
}

/// The table of a file.
pub(super) fn write(setup: &SentinelsSetup, scenario: &Scenario) -> Table {
    let SentinelsSetup { quorum, down_after, failover_timeout, parallel_syncs, knowledge, discovery } = setup;
    let hosts = scenario.hosts.iter().filter(|host| host.role == Role::Sentinel);
    let mut table = Table::new();
    put(&mut table, "names", hosts.map(|host| host.name.as_str()).collect::<Vec<_>>());
    put(&mut table, "quorum", i64::from(*quorum));
    put(&mut table, "down_after", file_duration(*down_after));
    put(&mut table, "failover_timeout", file_duration(*failover_timeout));
    put(&mut table, "parallel_syncs", i64::from(*parallel_syncs));
    let word = KNOWLEDGE.iter().find(|(_, meant)| meant == knowledge).map_or("all", |(word, _)| *word);
    put(&mut table, "knowledge", word);
    let word = |meant| MasterDiscovery::WORDS.iter().find(|(_, known)| known == meant).map(|(word, _)| *word);
    if let Some(word) = discovery.as_ref().and_then(word) {
        put(&mut table, "discovery", word);
    }
    table
}
