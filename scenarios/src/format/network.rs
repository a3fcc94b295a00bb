//! The network: delay and loss where nothing else is said, and on single directions.

use std::time::Duration;

use doublehold_sim::{DelayLaw, Probability};

use super::hosts::Hosts;
use super::key::Key;
use super::problem::Result;
use super::section::{Field, Section};
use crate::model::scenario::{HostIndex, LinkSetup};

const KEYS: &[&str] = &["delay", "loss", "links"];
const LINK_KEYS: &[&str] = &["from", "to", "delay", "loss"];
const LINKS_MAX: usize = 1000;

/// A direction and its quality.
pub(super) type Direction = (HostIndex, HostIndex, LinkSetup);

/// What `[network]` takes.
pub(super) fn vocabulary() -> Vec<Key> {
    [Key::all("network", KEYS), Key::all("network.links", LINK_KEYS)].concat()
}

/// Reads `[network]`.
pub(super) fn read_network(root: &Section<'_>, hosts: &Hosts) -> Result<(LinkSetup, Vec<Direction>)> {
    let network = root.section("network", KEYS)?;
    let delay = DelayLaw::Uniform { min: Duration::from_millis(1), max: Duration::from_millis(5) };
    let usual = link(&network, &LinkSetup { delay, loss: Probability::NEVER })?;
    let mut links: Vec<Direction> = Vec::new();
    for field in network.list("links", LINKS_MAX)? {
        let table = field.section(LINK_KEYS)?;
        let quality = link(&table, &usual)?;
        for (from, to) in directions(&table, hosts)? {
            if links.iter().any(|(known_from, known_to, _)| (*known_from, *known_to) == (from, to)) {
                let cause =
                    format!("the link from `{}` to `{}` is set twice", hosts.name(from), hosts.name(to));
                return Err(field.problem(cause, "keep one of the two"));
            }
            links.push((from, to, quality.clone()));
        }
    }
    // Each direction is set once, so their order says nothing: two files that mean the same are the same scenario.
    links.sort_by_key(|(from, to, _)| (*from, *to));
    Ok((usual, links))
}

fn link(table: &Section<'_>, default: &LinkSetup) -> Result<LinkSetup> {
    Ok(LinkSetup {
        delay: table.law_or("delay", default.delay.clone())?,
        loss: table.get("loss").map_or(Ok(default.loss), |loss| loss.probability())?,
    })
}

/// All pairs of a host of `from` and another of `to`.
pub(super) fn directions(table: &Section<'_>, hosts: &Hosts) -> Result<Vec<(HostIndex, HostIndex)>> {
    let from_field = table.require("from", "\"c1\"")?;
    let to_field = table.require("to", "[\"D\", \"E\"]")?;
    let to = hosts.get_many(&to_field)?;
    let mut pairs = Vec::new();
    for from in hosts.get_many(&from_field)? {
        if to.contains(&from) {
            return Err(same_host(&to_field, hosts.name(from)));
        }
        pairs.extend(to.iter().map(|&to| (from, to)));
    }
    Ok(pairs)
}

fn same_host(field: &Field<'_>, name: &str) -> super::problem::Problem {
    field.problem(format!("`{name}` is on both ends of the link"), "a host needs no network to reach itself")
}
