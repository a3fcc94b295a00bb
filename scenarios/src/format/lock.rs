//! The lock under test. Every key but three is a switch of a lock, and what it takes is the lock's to say: its
//! descriptor is asked, here and wherever a part of a scenario depends on the lock.

use std::num::NonZeroU32;
use std::time::Duration;

use doublehold_lockimpl::{Descriptor, Facts, Kind, Nodes, Ratio, Switch, Switches, Unfit, Value};
use doublehold_text::shorten;
use doublehold_text::{file_duration, suggest};
use toml::Table;

use super::key::Key;
use super::problem::{Problem, Result};
use super::section::{Field, Section};
use super::table::put;
use crate::locks as by_name;
use crate::model::scenario::{ClientSetup, LockSetup, Step};

/// What a scenario says of its lock whatever lock it is.
const OWN_KEYS: [&str; 3] = ["algorithm", "name", "ttl"];
/// As many as a picture has room for, each with a row for every client and node.
const LOCKS_MAX: usize = 16;

/// What `[lock]` takes if these are the locks there are.
pub(super) fn vocabulary(locks: &[Descriptor]) -> Vec<Key> {
    let names: Vec<&str> = locks.iter().map(|lock| lock.name).collect();
    let mut keys = [Key::all("lock", &keys(locks)), Key::words("lock.algorithm", &names)].concat();
    for switch in locks.iter().flat_map(|lock| lock.switches.iter()) {
        keys.extend(Key::words(&format!("lock.{}", switch.name), &switch.words));
    }
    keys
}

/// Every key, each once.
fn keys(locks: &[Descriptor]) -> Vec<&'static str> {
    let mut known = OWN_KEYS.to_vec();
    for switch in locks.iter().flat_map(|lock| lock.switches.iter()) {
        if !known.contains(&switch.name) {
            known.push(switch.name);
        }
    }
    known
}

/// The lock that a scenario chose, and what is known of it with its switches set.
pub(super) struct Chosen<'a> {
    pub(super) setup: LockSetup,
    pub(super) facts: Facts,
    pub(super) descriptor: &'a Descriptor,
    /// The locks that there are.
    locks: &'a [Descriptor],
    in_plan: bool,
}

impl<'a> Chosen<'a> {
    /// Reads `[lock]`; the number of nodes decides whether a quorum can be met.
    pub(super) fn parse(
        root: &Section<'_>,
        nodes: usize,
        locks: &'a [Descriptor],
        in_plan: bool,
    ) -> Result<Chosen<'a>> {
        let keys = keys(locks);
        let lock = root.require("lock", "{ algorithm = \"redlock\", ttl = \"10s\" }")?.section(&keys)?;
        let algorithm = lock.require("algorithm", "\"redlock\"")?;
        let typed =
            algorithm.naming("the name of a lock", "name one of those that `doublehold locks` lists")?;
        let unknown = || algorithm.must_be("the name of a lock", &by_name::hint(locks, typed));
        let descriptor = by_name::find_lock(locks, typed).ok_or_else(unknown)?;
        refuse_misfits(&lock, descriptor, locks)?;
        let ttl_field = lock.require("ttl", "\"10s\"")?;
        let ttl = ttl_field.positive_duration()?;
        let switches = switches(&lock, descriptor, nodes)?;
        let names = lock.get("name").map_or(Ok(vec!["stock".to_owned()]), |field| lock_names(&field))?;
        let facts = descriptor.facts(&switches);
        let setup = LockSetup { names, ttl, algorithm: descriptor.name.to_owned(), switches };
        let chosen = Chosen { setup, facts, descriptor, locks, in_plan };
        match chosen.unfit(ttl) {
            Some(unfit) => Err(ttl_field.problem(unfit.cause, unfit.hint)),
            None => Ok(chosen),
        }
    }

    /// Another ttl than that of `[lock]`.
    pub(super) fn ttl(&self, field: &Field<'_>) -> Result<Duration> {
        let ttl = field.positive_duration()?;
        match self.unfit(ttl) {
            Some(unfit) => Err(field.problem(format!("`{}`: {}", field.path, unfit.cause), unfit.hint)),
            None => Ok(ttl),
        }
    }

    /// Why the lock cannot have this ttl. Of a plan nothing is asked: its run was made, by a version that may not yet
    /// have refused it.
    fn unfit(&self, ttl: Duration) -> Option<Unfit> {
        if self.in_plan { None } else { self.descriptor.unfit(&self.setup.switches, ttl) }
    }

    /// The locks that run on such nodes, for a sentence.
    pub(super) fn running_on(&self, wanted: impl Fn(Nodes) -> bool) -> String {
        let fits = |lock: &Descriptor| wanted(lock.nodes) && lock.service == self.descriptor.service;
        by_name::either(self.locks, fits).unwrap_or_else(|| "another".to_owned())
    }

    /// The way out where a lock that runs on Redis is given another service. An own one may say that it runs on that.
    pub(super) fn way_to_a_service(&self) -> String {
        if self.is_own() {
            return "let the lock run on it: `Existing::on_service` says so".to_owned();
        }
        let others = by_name::either(self.locks, |lock: &Descriptor| lock.service.is_some());
        format!("use {}", others.unwrap_or_else(|| "another lock".to_owned()))
    }

    /// True for a lock that did not come with the program.
    fn is_own(&self) -> bool {
        !doublehold_lockimpl::descriptors().iter().any(|ours| ours.name == self.descriptor.name)
    }

    /// What to do where a lock that runs on one node is given several. An own one may say that it runs on more.
    pub(super) fn way_to_several_nodes(&self) -> String {
        if self.is_own() {
            let says = "`Existing::on_nodes`, or `Nodes::Independent` in its descriptor, says so";
            return format!("name one node, or let the lock run on several: {says}");
        }
        let others = self.running_on(|nodes| nodes != Nodes::One);
        format!("name one node, name a `master` that the others replicate, or use the {others} lock")
    }

    /// The way to a lock with what `wanted` looks for: a switch of this one, or another.
    pub(super) fn way_to(&self, wanted: impl Fn(&Facts) -> bool) -> String {
        let is_near = |lock: &Descriptor| lock.service == self.descriptor.service;
        if let Some(switch) = self.descriptor.flag_for(&self.setup.switches, &wanted) {
            return format!("set `lock.{switch} = true`");
        }
        let nothing = Switches::new();
        if let Some(others) =
            by_name::either(self.locks, |lock| is_near(lock) && wanted(&lock.facts(&nothing)))
        {
            return format!("use {others}");
        }
        let near = || self.locks.iter().filter(|lock| is_near(lock));
        let Some(flag) = near().find_map(|lock| lock.flag_for(&nothing, &wanted)) else {
            return "use another lock".to_owned();
        };
        let with_flag = |lock: &Descriptor| is_near(lock) && lock.flag_for(&nothing, &wanted) == Some(flag);
        let others = by_name::either(self.locks, with_flag).unwrap_or_default();
        format!("use {others} with `lock.{flag} = true`")
    }

    /// Refuses a step that this lock has no call for.
    pub(super) fn check_steps(&self, field: &Field<'_>, client: &ClientSetup) -> Result<()> {
        if self.facts.extends || !client.program.iter().any(|step| matches!(step, Step::Extend(_))) {
            return Ok(());
        }
        let cause =
            format!("`{}.program`: the `{}` lock cannot be extended", field.path, self.descriptor.name);
        Err(field.problem(cause, format!("remove `extend`, or {}", self.way_to(|facts| facts.extends))))
    }
}

/// The names of the locks that there are.
fn lock_names(field: &Field<'_>) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for item in field.one_or_many() {
        item.naming("the name of a lock", "name a lock, or a list of locks")?;
        let name = item.name()?;
        if names.contains(&name) {
            return Err(item.problem(format!("there are two locks `{}`", shorten(&name)), "name each once"));
        }
        names.push(name);
    }
    if names.is_empty() || names.len() > LOCKS_MAX {
        let cause = format!("`{}` names {} locks", field.path, names.len());
        return Err(field.problem(cause, format!("name 1 to {LOCKS_MAX}")));
    }
    Ok(names)
}

/// A switch of another algorithm would be ignored, and a scenario that relies on it would say nothing.
fn refuse_misfits(lock: &Section<'_>, chosen: &Descriptor, locks: &[Descriptor]) -> Result<()> {
    for (key, field) in lock.fields() {
        if OWN_KEYS.contains(&key) || chosen.switch(key).is_some() {
            continue;
        }
        if let Some(refused) = refuse_fixed(&field, key, chosen, locks) {
            return Err(refused);
        }
        let has_it = |lock: &Descriptor| lock.switch(key).is_some();
        let near = by_name::either(locks, |lock| has_it(lock) && lock.service == chosen.service);
        let owners = near.or_else(|| by_name::either(locks, has_it)).unwrap_or_default();
        let cause = format!("`{}` means nothing to the `{}` lock", field.path, chosen.name);
        let hint = format!("remove it, or change `lock.algorithm` to {owners}; {}", by_name::takes(chosen));
        return Err(field.problem(cause, hint));
    }
    Ok(())
}

/// The refusal of a switch that a library has one way only.
fn refuse_fixed(field: &Field<'_>, key: &str, chosen: &Descriptor, locks: &[Descriptor]) -> Option<Problem> {
    let (_, engine) = chosen.profile?;
    by_name::find_lock(locks, engine)?.switch(key)?;
    let open: Vec<&str> = chosen.switches.iter().map(|switch| switch.name).collect();
    let open = if open.is_empty() { "nothing".to_owned() } else { suggest::list(&open) };
    let cause = format!("`{}`: `{}` is the library as it is, and fixes `{key}`", field.path, chosen.name);
    let hint = format!(
        "remove it, or use `{engine}`, which has it open; `{}` leaves open {open}, and `doublehold locks {}` shows \
         how it is set",
        chosen.name, chosen.name
    );
    Some(field.problem(cause, hint))
}

/// Every switch of the lock that means something: as typed, or at its default.
fn switches(lock: &Section<'_>, descriptor: &Descriptor, nodes: usize) -> Result<Switches> {
    let mut switches = Switches::new();
    for switch in descriptor.switches.iter() {
        let field = lock.get(switch.name);
        // What it needs was asked for before it, and may be off by default or because the file says so.
        if let Some(needs) = switch.needs.filter(|_| switch.is_idle(&switches)) {
            match field {
                None => continue,
                Some(field) => return Err(missing_requirement(&field, needs, descriptor)),
            }
        }
        let value = field.map(|field| value(&field, switch, nodes)).transpose()?;
        if let Some(value) = value.or_else(|| descriptor.default_of(switch, &switches)) {
            switches.set(switch.name, value);
        }
    }
    Ok(switches)
}

fn missing_requirement(field: &Field<'_>, needs: &str, descriptor: &Descriptor) -> Problem {
    let example = match descriptor.switch(needs).and_then(|switch| switch.kind) {
        Some(Kind::Number { least, .. }) => format!("{needs} = {}", least.max(1)),
        Some(Kind::Interval) => format!("{needs} = \"1/3\""),
        _ if descriptor.switch(needs).is_some_and(|switch| switch.words.contains(&"none")) => {
            let words = descriptor.switch(needs).map(|switch| &switch.words[..]).unwrap_or_default();
            format!("{needs} = \"{}\"", words.iter().find(|word| **word != "none").unwrap_or(&""))
        }
        _ => needs.to_owned(),
    };
    let cause = format!("`{}` does nothing without `{needs}`", field.path);
    field.problem(cause, format!("add `{example}`"))
}

fn value(field: &Field<'_>, switch: &Switch, nodes: usize) -> Result<Value> {
    let words: Vec<(&str, &str)> = switch.words.iter().map(|word| (*word, *word)).collect();
    let is_text = field.text().is_ok();
    if field.text().is_ok_and(|text| switch.words.contains(&text)) {
        return field.choice(&words).map(Value::from);
    }
    Ok(match switch.kind {
        None => field.choice(&words)?.into(),
        Some(Kind::Number { .. }) if is_text && !words.is_empty() => field.choice(&words)?.into(),
        Some(Kind::Number { least, most }) => field.number(least, most.resolve(nodes))?.into(),
        Some(Kind::Flag) => field.flag()?.into(),
        Some(Kind::Duration) => field.duration()?.into(),
        Some(Kind::PositiveDuration) => field.positive_duration()?.into(),
        Some(Kind::Interval) if field.text().is_ok_and(|text| text.contains('/')) => {
            share(field, switch)?.into()
        }
        Some(Kind::Interval) => field.positive_duration()?.into(),
        Some(Kind::Ratio) => ratio(field, switch)?.into(),
    })
}

fn ratio(field: &Field<'_>, switch: &Switch) -> Result<Ratio> {
    let refused = || field.must_be("a ratio below 1 such as \"1/100\"", &format!("it is {}", switch.meaning));
    let (numerator, denominator) = field.text()?.split_once('/').ok_or_else(refused)?;
    let numerator: u32 = numerator.trim().parse().map_err(|_| refused())?;
    let denominator: NonZeroU32 = denominator.trim().parse().map_err(|_| refused())?;
    if numerator >= denominator.get() {
        return Err(refused());
    }
    Ok(Ratio { numerator, denominator })
}

/// A ratio that is not zero.
fn share(field: &Field<'_>, switch: &Switch) -> Result<Ratio> {
    match ratio(field, switch)? {
        Ratio { numerator: 0, .. } => Err(field.must_be("above zero", &format!("it is {}", switch.meaning))),
        share => Ok(share),
    }
}

/// The lock as a table of a file, with every switch that means something.
pub(super) fn write(lock: &LockSetup) -> Table {
    let LockSetup { names, ttl, algorithm, switches } = lock;
    let mut table = Table::new();
    put(&mut table, "algorithm", algorithm.as_str());
    match &names[..] {
        [name] => put(&mut table, "name", name.as_str()),
        names => put(&mut table, "name", names.to_vec()),
    }
    put(&mut table, "ttl", file_duration(*ttl));
    for (switch, value) in switches.iter() {
        match value {
            Value::Flag(flag) => put(&mut table, switch, *flag),
            Value::Number(number) => put(&mut table, switch, i64::try_from(*number).unwrap_or(i64::MAX)),
            Value::Duration(duration) => put(&mut table, switch, file_duration(*duration)),
            Value::Ratio(_) | Value::Word(_) => put(&mut table, switch, value.to_string()),
        }
    }
    table
}
