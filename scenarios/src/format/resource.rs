//! What the locks protect: the objects, which lock is whose, and what the resource checks.

use doublehold_history::{FencingCheck, LockId, NoAnswer, NumberSource, ResourceRules};
use doublehold_text::shorten;
use doublehold_text::suggest;
use toml::Table;

use super::hosts::Hosts;
use super::key::Choices;
use super::key::{Key, words_of};
use super::lock::Chosen;
use super::problem::Result;
use super::replicas::{self, QUORUM_KEYS, read_replicas};
use super::section::{Field, Section};
use super::table::{NOTHING, lock_name, put};
use super::writes;
use crate::model::scenario::{ClientSetup, HostIndex, ObjectSetup, ResourceSetup, Role, Scenario, Step};

pub(super) const KEYS: &[&str] = &[
    "object",
    "writes",
    "fencing",
    "numbers",
    "no_answer",
    "forgets",
    "fence_reads",
    "version_check",
    "replicas",
    QUORUM_KEYS[0],
    QUORUM_KEYS[1],
    QUORUM_KEYS[2],
    QUORUM_KEYS[3],
];
const FENCING: Choices<FencingCheck> = &[
    ("off", FencingCheck::Off),
    ("reject-lower", FencingCheck::RejectLower),
    ("reject-lower-or-equal", FencingCheck::RejectLowerOrEqual),
    ("reject-replaced", FencingCheck::RejectReplaced),
    ("compare-marker", FencingCheck::CompareMarker),
    ("client-compares-marker", FencingCheck::ClientComparesMarker),
    ("ask-lock", FencingCheck::AskLock),
];
const NUMBERS: Choices<NumberSource> = &[("lock", NumberSource::Lock), ("resource", NumberSource::Resource)];
const NO_ANSWER: Choices<NoAnswer> = &[("refuse", NoAnswer::Refuse), ("apply", NoAnswer::Apply)];
/// The locks whose keys all hold the same, and say nothing of whose they are.
const WITHOUT_TOKENS: [&str; 3] = ["counter", "setnx", "setnx-expire"];
/// The locks whose token is no text under their name: a field of a hash, or under another key.
const ELSEWHERE: [&str; 4] = ["hash", "hash-replicated", "multi-lock", "list"];
/// As many as a request to the resource has room to number.
const OBJECTS_MAX: usize = 32;

/// What `[resource]` takes.
pub(super) fn vocabulary() -> Vec<Key> {
    let words = Key::words("resource.fencing", &words_of(FENCING));
    let numbers = Key::words("resource.numbers", &words_of(NUMBERS));
    let no_answer = Key::words("resource.no_answer", &words_of(NO_ANSWER));
    [Key::all("resource", KEYS), words, numbers, no_answer].concat()
}

/// Reads `[resource]` and checks that clients can obey its rules.
pub(super) fn read_resource(root: &Section<'_>, hosts: &Hosts, lock: &Chosen<'_>) -> Result<ResourceSetup> {
    let resource = root.section("resource", KEYS)?;
    let rules = rules(&resource, lock)?;
    check_asked(&resource, rules, lock, hosts)?;
    let replicas = read_replicas(&resource, rules, lock)?;
    let in_session = writes::read_writes(&resource, lock)?;
    let host = hosts.hosts_of_role(Role::Resource).first().copied().unwrap_or(HostIndex(0));
    Ok(ResourceSetup { host, objects: objects(&resource, &lock.setup.names)?, in_session, rules, replicas })
}

fn rules(resource: &Section<'_>, lock: &Chosen<'_>) -> Result<ResourceRules> {
    let rules = ResourceRules {
        fencing: resource.choice_or("fencing", FENCING, FencingCheck::Off)?,
        numbers: resource.choice_or("numbers", NUMBERS, NumberSource::Lock)?,
        no_answer: resource.choice_or("no_answer", NO_ANSWER, NoAnswer::Refuse)?,
        forgets: resource.flag_or("forgets", false)?,
        fence_reads: resource.flag_or("fence_reads", false)?,
        version_check: resource.flag_or("version_check", false)?,
    };
    let from_lock = rules.fencing.compares_numbers() && rules.numbers == NumberSource::Lock;
    if from_lock && !lock.facts.fencing {
        let cause =
            "the resource checks fencing numbers and the lock makes none, so that every write is refused";
        let way = lock.way_to(|facts| facts.fencing);
        return Err(resource.problem(cause, format!("{way}, or remove `resource.fencing`")));
    }
    if rules.fencing.compares_tokens() && WITHOUT_TOKENS.contains(&engine(lock)) {
        let word = word_of(FENCING, rules.fencing);
        let name = lock.descriptor.name;
        let cause =
            format!("`resource.fencing` is {word}, and all grants of the `{name}` lock have one token");
        return Err(
            resource.problem(cause, "use a lock whose grants have tokens of their own, such as `single`")
        );
    }
    if rules.numbers == NumberSource::Resource && !rules.fencing.compares_numbers() {
        let cause = "`resource.numbers` does nothing while `resource.fencing` compares no numbers";
        return Err(resource.problem(cause, "set `fencing = \"reject-lower\"` as well"));
    }
    let remembers = rules.fencing.compares_numbers() || rules.fencing.compares_tokens();
    if rules.forgets && (!remembers || rules.fencing == FencingCheck::AskLock) {
        let word = word_of(FENCING, rules.fencing);
        let cause = format!("`resource.forgets` does nothing while `resource.fencing` is {word}");
        return Err(resource.problem(cause, "set `fencing = \"reject-lower\"` as well"));
    }
    if rules.fence_reads && !rules.fencing.refuses() {
        let word = word_of(FENCING, rules.fencing);
        let cause = format!("`resource.fence_reads` does nothing while `resource.fencing` is {word}");
        return Err(resource.problem(cause, "set `fencing = \"reject-lower\"` as well"));
    }
    Ok(rules)
}

/// The kind of a lock: of a library, the one that it is a setting of.
fn engine<'a>(lock: &Chosen<'a>) -> &'a str {
    lock.descriptor.profile.map_or(lock.descriptor.name, |(_, engine)| engine)
}

/// Refuses to ask a lock that no single node can speak for, or whose key does not say whose it is.
fn check_asked(resource: &Section<'_>, rules: ResourceRules, lock: &Chosen<'_>, hosts: &Hosts) -> Result<()> {
    if rules.fencing != FencingCheck::AskLock {
        return match rules.no_answer {
            NoAnswer::Refuse => Ok(()),
            NoAnswer::Apply => {
                let cause = "`resource.no_answer` does nothing while the resource does not ask the lock";
                Err(resource.problem(cause, "set `fencing = \"ask-lock\"` as well"))
            }
        };
    }
    let name = lock.descriptor.name;
    if let Some(service) = lock.descriptor.service {
        let cause =
            format!("the resource asks Redis for a key, and the `{name}` lock is on {}", service.as_str());
        return Err(
            resource.problem(cause, "use a lock on one node, or let `resource.fencing` compare numbers")
        );
    }
    if ELSEWHERE.contains(&engine(lock)) {
        let cause = format!("the resource asks for the key of the lock, which for `{name}` is no token");
        return Err(resource.problem(cause, "use a lock whose key is its token, such as `single`"));
    }
    match hosts.hosts_of_role(Role::Node).len() {
        0 | 1 => Ok(()),
        nodes => {
            let cause = format!(
                "the resource asks one node whose the lock is, and there are {nodes}: none of them knows it alone"
            );
            Err(resource.problem(cause, "name one node, or let `resource.fencing` compare something else"))
        }
    }
}

/// Refuses a program that reads or writes what it can only be refused, since it has shown nothing before.
pub(super) fn check_steps(field: &Field<'_>, client: &ClientSetup, resource: &ResourceSetup) -> Result<()> {
    let rules = resource.rules;
    let marker = rules.fencing.compares_marker();
    if !marker && rules.numbers == NumberSource::Lock {
        return Ok(());
    }
    let is_guarded = |step: &Step| match step {
        Step::Write(_) => true,
        Step::Read(_) => rules.fence_reads,
        _ => false,
    };
    let lock_of = |step: &Step| match step {
        Step::Write(object) | Step::Read(object) => resource.objects.get(object.0 as usize).map(|it| it.lock),
        Step::Prepare(lock) => Some(*lock),
        _ => None,
    };
    let mut prepared = Vec::new();
    for step in &client.program {
        if matches!(step, Step::Prepare(_)) {
            prepared.extend(lock_of(step));
        }
        if is_guarded(step) && !lock_of(step).is_some_and(|lock| prepared.contains(&lock)) {
            let what =
                if marker { "a marker, and it has left none" } else { "a number, and it has asked for none" };
            let word = if matches!(step, Step::Write(_)) { "write" } else { "read" };
            let cause = format!("`{}.program`: the `{word}` needs {what}", field.path);
            return Err(field.problem(cause, "put `prepare` before it"));
        }
    }
    Ok(())
}

/// The word of a choice.
fn word_of<T: PartialEq>(choices: Choices<T>, chosen: T) -> &'static str {
    choices.iter().find(|(_, choice)| *choice == chosen).map_or(NOTHING, |(word, _)| word)
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
    let ResourceSetup { host: _, objects, in_session: _, rules, replicas } = &scenario.resource;
    let mut table = Table::new();
    match &objects[..] {
        [object] if scenario.lock.names.len() == 1 => put(&mut table, "object", object.name.as_str()),
        objects => {
            let lock = |object: &ObjectSetup| lock_name(object.lock, scenario).unwrap_or(NOTHING).into();
            let objects = objects.iter().map(|object| (object.name.clone(), lock(object)));
            put(&mut table, "object", objects.collect::<Table>());
        }
    }
    writes::put_writes(&mut table, scenario);
    put(&mut table, "fencing", word_of(FENCING, rules.fencing));
    if rules.numbers != NumberSource::Lock {
        put(&mut table, "numbers", word_of(NUMBERS, rules.numbers));
    }
    if rules.no_answer != NoAnswer::Refuse {
        put(&mut table, "no_answer", word_of(NO_ANSWER, rules.no_answer));
    }
    if rules.forgets {
        put(&mut table, "forgets", true);
    }
    replicas::write(&mut table, *replicas);
    put(&mut table, "fence_reads", rules.fence_reads);
    put(&mut table, "version_check", rules.version_check);
    table
}
