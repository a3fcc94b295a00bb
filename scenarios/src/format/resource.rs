//! What the locks protect: the objects, which lock is whose, and what the resource checks.

use doublehold_history::{FencingCheck, LockId, ResourceRules};
use doublehold_services::ServiceKind;
use doublehold_text::shorten;
use doublehold_text::suggest;
use toml::Table;

use super::hosts::Hosts;
use super::key::Choices;
use super::key::{Key, words_of};
use super::lock::Chosen;
use super::problem::Result;
use super::section::{Field, Section};
use super::table::{NOTHING, lock_name, put};
use crate::model::scenario::{HostIndex, ObjectSetup, ResourceSetup, Role, Scenario};

const KEYS: &[&str] = &["object", "writes", "fencing", "fence_reads", "version_check"];
const FENCING: Choices<FencingCheck> = &[
    ("off", FencingCheck::Off),
    ("reject-lower", FencingCheck::RejectLower),
    ("reject-lower-or-equal", FencingCheck::RejectLowerOrEqual),
];
const WRITES: Choices<bool> = &[("in-session", true), ("elsewhere", false)];
/// As many as a request to the resource has room to number.
const OBJECTS_MAX: usize = 32;

/// What `[resource]` takes.
pub(super) fn vocabulary() -> Vec<Key> {
    [
        Key::all("resource", KEYS),
        Key::words("resource.fencing", &words_of(FENCING)),
        Key::words("resource.writes", &words_of(WRITES)),
    ]
    .concat()
}

/// Reads `[resource]` and checks that clients can obey its rules.
pub(super) fn read_resource(root: &Section<'_>, hosts: &Hosts, lock: &Chosen<'_>) -> Result<ResourceSetup> {
    let resource = root.section("resource", KEYS)?;
    let rules = ResourceRules {
        fencing: resource.choice_or("fencing", FENCING, FencingCheck::Off)?,
        fence_reads: resource.flag_or("fence_reads", false)?,
        version_check: resource.flag_or("version_check", false)?,
    };
    if rules.fencing != FencingCheck::Off && !lock.facts.fencing {
        let cause =
            "the resource checks fencing numbers and the lock makes none, so that every write is refused";
        let way = lock.way_to(|facts| facts.fencing);
        return Err(resource.problem(cause, format!("{way}, or remove `resource.fencing`")));
    }
    if rules.fence_reads && rules.fencing == FencingCheck::Off {
        let cause = "`resource.fence_reads` does nothing while `resource.fencing` is off";
        return Err(resource.problem(cause, "set `fencing = \"reject-lower\"` as well"));
    }
    let in_session = in_session(&resource, lock)?;
    let host = hosts.hosts_of_role(Role::Resource).first().copied().unwrap_or(HostIndex(0));
    Ok(ResourceSetup { host, objects: objects(&resource, &lock.setup.names)?, in_session, rules })
}

/// Whether clients write through the session that holds the lock: as long as nobody says otherwise, where there is one.
fn in_session(resource: &Section<'_>, lock: &Chosen<'_>) -> Result<bool> {
    let has_session = lock.descriptor.service == Some(ServiceKind::Database);
    let Some(field) = resource.get("writes") else { return Ok(has_session) };
    let in_session = field.choice(WRITES)?;
    if in_session && !has_session {
        let cause =
            format!("`{}`: the `{}` lock has no session to write in", field.path, lock.descriptor.name);
        return Err(field.problem(cause, "write `writes = \"elsewhere\"`, or use the `database` lock"));
    }
    Ok(in_session)
}

/// The objects, in alphabetical order, as a table has no other.
fn objects(resource: &Section<'_>, locks: &[String]) -> Result<Vec<ObjectSetup>> {
    let Some(field) = resource.get("object") else {
        let object = |(name, lock): (&String, u32)| ObjectSetup { name: name.clone(), lock: LockId(lock) };
        let mut objects: Vec<ObjectSetup> = locks.iter().zip(0..).map(object).collect();
        objects.sort_by(|one, other| one.name.cmp(&other.name));
        return Ok(objects);
    };
    if field.text().is_ok() {
        return match locks {
            [_] => Ok(vec![ObjectSetup { name: field.name()?, lock: LockId(0) }]),
            _ => Err(field.problem(
                format!("`{}` names one object, and there are {} locks", field.path, locks.len()),
                format!("name the lock of each object: `object = {{ item = \"{}\" }}`", locks[0]),
            )),
        };
    }
    let table = field.section(&[])?.fields();
    if table.is_empty() || table.len() > OBJECTS_MAX {
        let cause = format!("`{}` names {} objects", field.path, table.len());
        return Err(field.problem(cause, format!("name 1 to {OBJECTS_MAX}")));
    }
    let mut objects: Vec<ObjectSetup> = Vec::new();
    for (name, lock) in table {
        let object = object(name, &lock, locks)?;
        // A table has each key once, and keys are other texts where names differ by the blanks around them.
        if objects.iter().any(|other| other.name == object.name) {
            let cause = format!("there are two objects `{}`", shorten(&object.name));
            return Err(lock.problem(cause, "name each once"));
        }
        objects.push(object);
    }
    objects.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(objects)
}

/// An object and the lock that protects it.
fn object(name: &str, field: &Field<'_>, locks: &[String]) -> Result<ObjectSetup> {
    let name = field.name_from(name)?;
    let lock = field.naming("the name of a lock", "name the lock that protects the object")?.trim();
    match locks.iter().zip(0..).find(|(known, _)| *known == lock) {
        Some((_, place)) => Ok(ObjectSetup { name, lock: LockId(place) }),
        None => {
            let names: Vec<&str> = locks.iter().map(String::as_str).collect();
            let cause = format!("`{}`: there is no lock `{}`", field.path, shorten(lock));
            Err(field.problem(cause, suggest::hint(lock, &names)))
        }
    }
}

/// The resource as a table of a file.
pub(super) fn write(scenario: &Scenario) -> Table {
    let ResourceSetup { host: _, objects, in_session, rules } = &scenario.resource;
    let fencing = match rules.fencing {
        FencingCheck::Off => "off",
        FencingCheck::RejectLower => "reject-lower",
        FencingCheck::RejectLowerOrEqual => "reject-lower-or-equal",
    };
    let mut table = Table::new();
    match &objects[..] {
        [object] if scenario.lock.names.len() == 1 => put(&mut table, "object", object.name.as_str()),
        objects => {
            let lock = |object: &ObjectSetup| lock_name(object.lock, scenario).unwrap_or(NOTHING).into();
            let objects = objects.iter().map(|object| (object.name.clone(), lock(object)));
            put(&mut table, "object", objects.collect::<Table>());
        }
    }
    if scenario.service.as_ref().is_some_and(|service| service.kind() == ServiceKind::Database) {
        put(&mut table, "writes", if *in_session { "in-session" } else { "elsewhere" });
    }
    put(&mut table, "fencing", fencing);
    put(&mut table, "fence_reads", rules.fence_reads);
    put(&mut table, "version_check", rules.version_check);
    table
}
