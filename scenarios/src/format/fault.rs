//! Faults: from `kind = "pause"` to the fault as data. What each kind takes, and what it means, is in
//! [`crate::fault`]; here is what can be wrong about it.

use std::time::Duration;

use doublehold_services::ServiceKind;
use doublehold_sim::{ClockKind, DelayLaw};
use doublehold_text::{file_duration, signed_file_duration, suggest};
use toml::{Table, Value};

use super::key::Choices;
use super::key::{Key, words_of};
use super::problem::Result;
use super::reachable::Setting;
use super::section::{Field, Section};
use super::{network, requests, role_changes, standby, synonyms, units, when};
use crate::model::fault::{Effect, Fault, Names, Nature, Slot};
use crate::model::scenario::Role;
use crate::model::when::When;

/// Far more than anybody writes: a plan lists what weather drew, which may be hundreds. The largest file that is read
/// as a plan has room for about as many.
pub(super) const FAULTS_MAX: usize = 20_000;

/// What every fault takes.
const EVERY: [&str; 4] = ["kind", "at", "each", "optional"];
pub(super) const CLOCKS: Choices<ClockKind> =
    &[("wall", ClockKind::Wall), ("monotonic", ClockKind::Monotonic), ("boot", ClockKind::Boot)];

/// What `[[faults]]` takes: what every kind does, and each kind's own keys.
pub(super) fn vocabulary() -> Vec<Key> {
    let kinds = Effect::prototypes();
    let mut keys = Key::all("faults", &EVERY);
    keys.extend(Key::words("faults.kind", &Effect::kinds().iter().map(|kind| kind.word).collect::<Vec<_>>()));
    for kind in &kinds {
        keys.extend(Key::all(&format!("faults.{}", kind.kind().word), &keys_of(kind)));
    }
    keys.extend(Key::words("faults.clock-freeze.clock", &words_of(CLOCKS)));
    keys
}

/// The keys that mean something to a kind besides those of every kind.
fn keys_of(kind: &Effect) -> Vec<&'static str> {
    let lasting = may_last(kind).then_some("for");
    kind.clone().fields().into_iter().map(|(key, _)| key).chain(lasting).collect()
}

fn may_last(kind: &Effect) -> bool {
    kind.recovery_text(&Names::default()).is_some()
}

/// Reads one `[[faults]]` table.
pub(super) fn read_fault(field: &Field<'_>, setting: &Setting<'_>) -> Result<Fault> {
    let kinds = Effect::prototypes();
    let mut known: Vec<&str> = EVERY.to_vec();
    known.extend(kinds.iter().flat_map(keys_of));
    let fault = field.section(&known)?;
    let choices: Vec<(&str, usize)> = Effect::kinds().iter().map(|kind| kind.word).zip(0..).collect();
    let kind = fault.require("kind", "\"pause\"")?.choice_with(&choices, synonyms::kind_hint)?;
    let mut effect = kinds[kind].clone();
    refuse_misfits(&fault, &effect)?;
    for (key, slot) in effect.fields() {
        fill(key, slot, &fault, setting)?;
    }
    check(&effect, &fault, setting)?;
    let at = when::read_when(&fault.require("at", "\"c1's grant\"")?, setting)?;
    Ok(Fault {
        lasting: read_duration(&fault, &effect)?,
        each: each(&fault, &at)?,
        at,
        optional: fault.flag_or("optional", false)?,
        effect,
    })
}

fn refuse_misfits(fault: &Section<'_>, kind: &Effect) -> Result<()> {
    let own = keys_of(kind);
    let misfit = fault.fields().into_iter().find(|(key, _)| !EVERY.contains(key) && !own.contains(key));
    match misfit {
        None => Ok(()),
        Some((key, field)) => {
            let cause = format!("`{key}` means nothing to a `{}`", kind.kind().word);
            Err(field.problem(cause, format!("it takes {}", suggest::list(&[&EVERY[..], &own].concat()))))
        }
    }
}

/// For how long. Code that is stopped for ever is dead, which is another fault: those need a duration.
fn read_duration(fault: &Section<'_>, effect: &Effect) -> Result<Option<Duration>> {
    match (fault.get("for"), effect.kind().nature) {
        (Some(lasting), Nature::Death) => lasting.duration().map(Some),
        (Some(lasting), _) => lasting.positive_duration().map(Some),
        (None, Nature::Stop) => fault.require("for", "\"12s\"")?.duration().map(Some),
        (None, _) => Ok(None),
    }
}

/// Whether it strikes every time. A time comes once.
fn each(fault: &Section<'_>, at: &When) -> Result<bool> {
    let each = fault.flag_or("each", false)?;
    match (fault.get("each"), at) {
        (Some(field), When::At(_)) if each => {
            let cause = format!("`{}`: a time comes only once", field.path);
            Err(field.problem(cause, "remove it, or let `at` name an event such as \"c1's grant\""))
        }
        _ => Ok(each),
    }
}

/// What only all fields together can be wrong about.
fn check(effect: &Effect, fault: &Section<'_>, setting: &Setting<'_>) -> Result<()> {
    let kind = effect.kind();
    match kind.nature {
        Nature::Link | Nature::Message => {
            let ways = network::directions(fault, setting.hosts)?;
            if matches!(effect, Effect::Duplicate { .. }) {
                requests::check(fault, setting, &ways)
            } else {
                Ok(())
            }
        }
        Nature::Disk | Nature::Data | Nature::Role | Nature::Service => {
            let hosts = fault.require("host", "\"A\"")?;
            if matches!(effect, Effect::Promote { .. })
                && setting.lock.descriptor.service == Some(ServiceKind::Database)
            {
                return standby::check_promotion(effect, fault, &hosts, setting);
            }
            refuse_other_roles(&hosts, kind.word, setting)?;
            role_changes::check(effect, fault, &hosts, setting)
        }
        Nature::Stop | Nature::Death | Nature::Clock | Nature::ClockOnce => Ok(()),
    }
}

/// Disks, data, roles and how long a command takes are Redis nodes' affairs.
fn refuse_other_roles(field: &Field<'_>, word: &str, setting: &Setting<'_>) -> Result<()> {
    let hosts = setting.hosts.get_many(field)?;
    if let (Some(service), Some(host)) = (setting.lock.descriptor.service, hosts.first()) {
        let (name, service) = (setting.hosts.name(*host), service.as_str());
        let cause = format!(
            "`{}`: {name} is {service}, whose group is taken as correct: no `{word}` strikes inside it",
            field.path
        );
        return Err(field.problem(cause, "stop, cut off or crash the host, or let its clients be struck"));
    }
    match hosts.into_iter().find(|&host| setting.hosts.role(host) != Role::Node) {
        None => Ok(()),
        Some(host) => {
            let cause = format!("`{}`: `{}` runs no Redis", field.path, setting.hosts.name(host));
            Err(field.problem(cause, format!("a `{word}` strikes nodes")))
        }
    }
}

/// Fills a field from a file.
fn fill(key: &str, slot: Slot<'_>, fault: &Section<'_>, setting: &Setting<'_>) -> Result<()> {
    let require = |example: &str| fault.require(key, example);
    match slot {
        Slot::Hosts(hosts) => {
            *hosts = setting.hosts.names_of(&require(&example(key, setting))?)?;
        }
        Slot::Tell(nodes) => {
            *nodes =
                fault.get(key).map(|field| role_changes::read_told_nodes(&field, setting)).transpose()?;
        }
        Slot::Master(node) => *node = role_changes::master(key, fault, setting)?,
        Slot::Flag(flag) => *flag = fault.flag_or(key, *flag)?,
        Slot::Step(by_ns) => *by_ns = step(&require("\"+10s\"")?)?,
        Slot::Rate(by) => *by = require("\"1/100\"")?.rate()?,
        Slot::Clock(clock) => *clock = require("\"wall\"")?.choice(CLOCKS)?,
        Slot::Delay(example, by) => *by = require(example)?.positive_duration()?,
        Slot::Resync(after) => *after = fault.get(key).map(|field| field.duration()).transpose()?,
        Slot::Law(by) => *by = bounded_law(&require("\"1s..3s\"")?)?,
        Slot::Probability(chance) => *chance = require("\"1/10\"")?.probability()?,
    }
    Ok(())
}

/// A law that has a longest time, which is some time.
pub(super) fn bounded_law(field: &Field<'_>) -> Result<DelayLaw> {
    let law = field.law()?;
    match law.longest() {
        None => {
            let cause = format!("`{}`: a log-normal law has no longest time", field.path);
            Err(field.problem(cause, "use a range such as \"1s..3s\", or a list of quantiles"))
        }
        Some(Duration::ZERO) => {
            let cause = format!("`{}` is no time at all", field.path);
            Err(field.problem(cause, "use some time, such as \"1s..3s\""))
        }
        Some(_) => Ok(law),
    }
}

/// Hosts that there are: a client does something to, or hears nothing of, the last node.
fn example(key: &str, setting: &Setting<'_>) -> String {
    let role = if key == "to" { Role::Node } else { Role::Client };
    let hosts = setting.hosts.hosts_of_role(role);
    hosts.last().map_or("\"A\"".to_owned(), |host| format!("\"{}\"", setting.hosts.name(*host)))
}

fn step(field: &Field<'_>) -> Result<i64> {
    match field.signed_duration_ns()? {
        0 => Err(field
            .problem(format!("`{}` is zero", field.path), "step the clock by something such as \"+10s\"")),
        by_ns => Ok(by_ns),
    }
}

/// The fault as a table of a file, with every key that its kind takes.
pub(crate) fn write(fault: &Fault) -> Table {
    let Fault { effect, at, lasting, each, optional } = fault;
    let mut table = Table::new();
    let mut put = |key: &str, value: Value| table.insert(key.to_owned(), value);
    put("kind", effect.kind().word.into());
    put("at", at.to_string().into());
    // Where it means nothing it is written only to be refused.
    if *each || matches!(at, When::On { .. }) {
        put("each", (*each).into());
    }
    put("optional", (*optional).into());
    if let Some(lasting) = lasting {
        put("for", file_duration(*lasting).into());
    }
    for (key, slot) in effect.clone().fields() {
        let value = match slot {
            Slot::Hosts(hosts) => names(hosts),
            Slot::Tell(None) | Slot::Resync(None) => continue,
            Slot::Resync(Some(after)) => file_duration(*after).into(),
            Slot::Tell(Some(nodes)) => names(nodes),
            Slot::Master(node) => node.as_str().into(),
            Slot::Flag(flag) => (*flag).into(),
            Slot::Step(by_ns) => signed_file_duration(*by_ns).into(),
            Slot::Rate(by) => by.to_string().into(),
            Slot::Clock(clock) => clock.name().into(),
            Slot::Delay(_, by) => file_duration(*by).into(),
            Slot::Law(by) => units::law_value(by),
            Slot::Probability(chance) => chance.to_string().into(),
        };
        put(key, value);
    }
    table
}

/// One name as a text, none or several as a list.
fn names(names: &Names) -> Value {
    match &names.0[..] {
        [name] => name.as_str().into(),
        names => names.iter().map(String::as_str).collect::<Vec<_>>().into(),
    }
}
