//! What a random fault brings with it: `brings = { kind = "promote", host = "replicas", after = "5s..15s" }`.
//!
//! A failover answers what happened to a master, and comes so much later. Drawn by themselves the two would seldom
//! meet. So both come from one draw, and neither without the other.

use doublehold_text::suggest;
use toml::Table;

use super::fault::bounded_law;
use super::hosts::Hosts;
use super::key::Key;
use super::problem::{Problem, Result};
use super::section::{Field, Section};
use super::table::put;
use super::units::law_value;
use super::weather::{read_told_targets, targets};
use crate::model::fault::{Effect, Names, Nature};
use crate::model::scenario::HostIndex;
use crate::model::weather::{AttachedFault, HostGroup};

const KEYS: [&str; 5] = ["kind", "host", "after", "tell", "rewrite_config"];
const KIND: &str = "promote";

/// What `brings` takes.
pub(super) fn vocabulary() -> Vec<Key> {
    let mut keys = Key::all("weather.faults", &["brings"]);
    keys.extend(Key::all("weather.faults.brings", &KEYS));
    keys.extend(Key::words("weather.faults.brings.kind", &[KIND]));
    keys
}

/// Reads what a line brings.
pub(super) fn read_attached(
    field: &Field<'_>,
    line: &Section<'_>,
    hosts: Option<&Hosts>,
) -> Result<AttachedFault> {
    for item in struck(line)?.one_or_many() {
        let group = HostGroup::from_word(item.text()?);
        if group.is_some_and(|group| group != HostGroup::Master) {
            return Err(no_master(field, item.text()?));
        }
    }
    let brings = field.section(&KEYS)?;
    brings.require("kind", "\"promote\"")?.choice(&[(KIND, ())])?;
    let host = brings.require("host", "\"replicas\"")?;
    let tell = brings.get("tell").map(|field| read_told_targets(&field, KIND, hosts)).transpose()?;
    let effect = Effect::Promote {
        host: targets(&host, KIND, Nature::Role, hosts)?,
        tell,
        rewrite_config: brings.flag_or("rewrite_config", true)?,
    };
    refuse_the_struck(&host, line)?;
    Ok(AttachedFault { effect, after: bounded_law(&brings.require("after", "\"5s..15s\"")?)? })
}

/// Who a line strikes: of a way, the host that it is about.
fn struck<'a>(line: &Section<'a>) -> Result<Field<'a>> {
    line.get("host").map_or_else(|| line.require("from", "\"master\""), Ok)
}

/// Who is struck is not who is promoted.
fn refuse_the_struck(host: &Field<'_>, line: &Section<'_>) -> Result<()> {
    let struck = struck(line)?.one_or_many().iter().map(|item| item.text()).collect::<Result<Vec<_>>>()?;
    for item in host.one_or_many() {
        let name = item.text()?;
        if struck.contains(&name) || HostGroup::from_word(name) == Some(HostGroup::Master) {
            let cause =
                format!("`{}`: `{name}` is struck itself, and cannot be promoted for that", item.path);
            return Err(item.problem(cause, "name `replicas`, or one of them"));
        }
    }
    Ok(())
}

fn no_master(field: &Field<'_>, name: &str) -> Problem {
    let cause = format!("`{}`: no failover answers what strikes `{name}`", field.path);
    field.problem(cause, "let `host`, or `from` of a way, be `master`")
}

/// Refuses what only the whole scenario can be wrong about: who is master.
///
/// Where nothing is replicated a line brings nothing, and that is not refused, whoever wrote it: a weather that comes
/// with the program is for all scenarios, and a scenario or study that is written out says its lines itself.
pub(super) fn check(lines: &[Field<'_>], hosts: &Hosts, master: Option<HostIndex>) -> Result<()> {
    let Some(master) = master else { return Ok(()) };
    for line in lines {
        let line = line.section(&[])?;
        let Some(brings) = line.get("brings") else { continue };
        for item in struck(&line)?.one_or_many() {
            let name = item.text()?;
            if hosts.find(name).is_some_and(|host| host != master) {
                return Err(no_master(&brings, name));
            }
        }
        if let Some(item) = promoted_fields(&brings)?.iter().find(|item| is_host(item, hosts, master)) {
            let cause = format!("`{}`: the master cannot be promoted", item.path);
            let others: Vec<&str> = vec![HostGroup::Replicas.as_str()];
            return Err(item.problem(cause, format!("name {}", suggest::either(&others))));
        }
    }
    Ok(())
}

fn promoted_fields<'a>(brings: &Field<'a>) -> Result<Vec<Field<'a>>> {
    Ok(brings.section(&KEYS)?.require("host", "\"replicas\"")?.one_or_many())
}

fn is_host(item: &Field<'_>, hosts: &Hosts, host: HostIndex) -> bool {
    item.text().is_ok_and(|name| hosts.find(name) == Some(host))
}

/// As a file writes it.
pub(super) fn attached_table(brings: &AttachedFault) -> Table {
    let mut table = Table::new();
    put(&mut table, "kind", KIND);
    put(&mut table, "after", law_value(&brings.after));
    if let Effect::Promote { host, tell, rewrite_config } = &brings.effect {
        put(&mut table, "host", names(host));
        put(&mut table, "rewrite_config", *rewrite_config);
        if let Some(tell) = tell {
            put(&mut table, "tell", names(tell));
        }
    }
    table
}

fn names(names: &Names) -> Vec<String> {
    names.0.clone()
}
