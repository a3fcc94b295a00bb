//! A client's program: `["acquire", "read", "work 2s", "check", "write", "release"]`, and where there are several locks
//! or objects, `["acquire stock", "acquire orders", "read order", …]`.

use std::collections::BTreeMap;

use doublehold_history::{LockId, ObjectId};
use doublehold_text::shorten;
use doublehold_text::suggest;

use super::key::Key;
use super::lock::Chosen;
use super::problem::Result;
use super::section::Field;
use super::table::{NOTHING, lock_name};
use super::units::{self, law_value};
use crate::model::scenario::{ClientSetup, DelayLaw, ObjectSetup, Scenario, Step};

const STEPS_MAX: usize = 100;
const WORDS: [&str; 9] = ["acquire", "try", "prepare", "read", "work", "check", "write", "extend", "release"];

/// The words of programs.
pub(super) fn vocabulary() -> Vec<Key> {
    Key::words("clients.program", &WORDS)
}

/// What steps are about.
pub(super) struct Things<'a> {
    pub(super) chosen: &'a Chosen<'a>,
    pub(super) locks: &'a [String],
    pub(super) objects: &'a [ObjectSetup],
}

/// How often a client holds each lock.
type Holds = BTreeMap<LockId, usize>;

/// Reads a program.
pub(super) fn read_program(field: &Field<'_>, things: &Things<'_>) -> Result<Vec<Step>> {
    let items = field.items("a list of steps")?;
    if items.is_empty() || items.len() > STEPS_MAX {
        return Err(field.problem(
            format!("`{}` has {} steps", field.path, items.len()),
            format!("use 1 to {STEPS_MAX}"),
        ));
    }
    let mut held = Holds::new();
    let mut steps = Vec::new();
    for item in items {
        let step = things.step(&item)?;
        things.follow(&step, &mut held, &item)?;
        steps.push(step);
    }
    Ok(steps)
}

impl Scenario {
    /// A client's program as files have it: `acquire`, `work 5s`.
    pub fn program_text(&self, client: &ClientSetup) -> Vec<String> {
        client.program.iter().map(|step| step_text(step, self)).collect()
    }
}

/// A step as a file says it: its lock or object is named where there are several.
pub(crate) fn step_text(step: &Step, scenario: &Scenario) -> String {
    let (locks, objects) = (&scenario.lock.names, &scenario.resource.objects);
    let named = |word: &str, name: Option<&str>, count: usize| match name {
        Some(_) if count == 1 => word.to_owned(),
        name => format!("{word} {}", name.unwrap_or(NOTHING)),
    };
    let lock = |word, lock: &LockId| named(word, lock_name(*lock, scenario), locks.len());
    let object = |word, object: &ObjectId| {
        named(word, objects.get(object.0 as usize).map(|object| object.name.as_str()), objects.len())
    };
    match step {
        Step::Acquire(it) => lock("acquire", it),
        Step::Try(it, limit) => {
            let limit = limit
                .map(|limit| format!(" {}", law_value(&DelayLaw::Fixed(limit)).as_str().unwrap_or_default()))
                .unwrap_or_default();
            lock("try", it) + &limit
        }
        Step::Read(it) => object("read", it),
        Step::Work(law) => format!("work {}", law_value(law).as_str().unwrap_or_default()),
        Step::Check(it) => lock("check", it),
        Step::Prepare(it) => lock("prepare", it),
        Step::Write(it) => object("write", it),
        Step::Extend(it) => lock("extend", it),
        Step::Release(it) => lock("release", it),
    }
}

impl Things<'_> {
    fn step(&self, item: &Field<'_>) -> Result<Step> {
        let text = item.text()?.trim();
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let (lock, object) = (|| self.lock(word, rest.trim(), item), || self.object(word, rest.trim(), item));
        // The words of the list and no others, so that one that is missing there cannot be read either.
        let unknown = || item.must_be("a step of a program", &suggest::hint(word, &WORDS));
        if !WORDS.contains(&word) {
            return Err(unknown());
        }
        Ok(match word {
            "work" => work(rest, item)?,
            "acquire" => Step::Acquire(lock()?),
            "try" => self.attempt(rest.trim(), item)?,
            "read" => Step::Read(object()?),
            "check" => Step::Check(lock()?),
            "prepare" => Step::Prepare(lock()?),
            "write" => Step::Write(object()?),
            "extend" => Step::Extend(lock()?),
            "release" => Step::Release(lock()?),
            _ => return Err(unknown()),
        })
    }

    /// `try`, with or without a lock's name, and after it a limit. What is a lock's name is no limit.
    fn attempt(&self, rest: &str, item: &Field<'_>) -> Result<Step> {
        let (name, last) = rest.rsplit_once(char::is_whitespace).unwrap_or(("", rest));
        let is_limit = last.starts_with(|first: char| first.is_ascii_digit());
        if !is_limit || self.locks.iter().any(|lock| lock == rest) {
            return self.lock("try", rest, item).map(|lock| Step::Try(lock, None));
        }
        let lock = self.lock("try", name.trim(), item)?;
        match units::law(last) {
            Ok(DelayLaw::Fixed(limit)) if !limit.is_zero() => Ok(Step::Try(lock, Some(limit))),
            _ => Err(item.problem(
                format!("`{}`: `{}` says no time to try for", item.path, shorten(last)),
                "write `try` to ask once, or `try 3s`",
            )),
        }
    }

    fn lock(&self, word: &str, name: &str, item: &Field<'_>) -> Result<LockId> {
        let names: Vec<&str> = self.locks.iter().map(String::as_str).collect();
        find_thing("lock", word, name, &names, item).map(LockId)
    }

    fn object(&self, word: &str, name: &str, item: &Field<'_>) -> Result<ObjectId> {
        let names: Vec<&str> = self.objects.iter().map(|object| object.name.as_str()).collect();
        find_thing("object", word, name, &names, item).map(ObjectId)
    }

    /// What the client may hold after this step. Refuses steps that could never do anything.
    fn follow(&self, step: &Step, held: &mut Holds, item: &Field<'_>) -> Result<()> {
        let needed = match step {
            Step::Acquire(lock) | Step::Try(lock, _) => {
                let holds = held.entry(*lock).or_default();
                *holds += 1;
                if *holds == 1 || self.chosen.facts.readmits {
                    return Ok(());
                }
                let name = self.chosen.descriptor.name;
                let cause = format!(
                    "`{}` asks for a lock the client already holds, and `{name}` does not admit its holder again",
                    item.path
                );
                let way = self.chosen.way_to(|facts| facts.readmits);
                return Err(item.problem(cause, format!("release it first, or {way}")));
            }
            Step::Work(_) => return Ok(()),
            Step::Check(lock) | Step::Prepare(lock) | Step::Extend(lock) | Step::Release(lock) => *lock,
            Step::Read(object) | Step::Write(object) => self.objects[object.0 as usize].lock,
        };
        let Some(holds) = held.get_mut(&needed).filter(|holds| **holds > 0) else {
            let (which, name) = match self.locks {
                [_] => (String::new(), String::new()),
                locks => {
                    let name = &locks[needed.0 as usize];
                    (format!(" `{}`", shorten(name)), format!(" {name}"))
                }
            };
            let cause = format!("`{}` comes before the client has acquired the lock{which}", item.path);
            return Err(item.problem(cause, format!("put `acquire{name}` or `try{name}` before it")));
        };
        if matches!(step, Step::Release(_)) {
            *holds -= 1;
        }
        Ok(())
    }
}

fn work(law: &str, item: &Field<'_>) -> Result<Step> {
    if law.is_empty() {
        return Err(item.problem(
            format!("`{}` does not say how long to work", item.path),
            "write `work 2s` or `work 1s..3s`",
        ));
    }
    units::law(law).map(Step::Work).map_err(|refusal| {
        let hint =
            units::with_unit(law).map_or(refusal.hint.to_owned(), |it| format!("did you mean `work {it}`?"));
        let law = shorten(law);
        item.problem(format!("`{}`: the time to work {} `{law}`", item.path, refusal.cause), hint)
    })
}

/// The place of the thing that a step names, or of the only one there is.
fn find_thing(thing: &str, word: &str, name: &str, names: &[&str], item: &Field<'_>) -> Result<u32> {
    if name.is_empty() {
        return match names {
            [_] => Ok(0),
            _ => {
                let ways: Vec<String> = names.iter().map(|name| format!("{word} {name}")).collect();
                let ways: Vec<&str> = ways.iter().map(String::as_str).collect();
                let cause = format!("`{}` does not say which {thing}", item.path);
                Err(item.problem(cause, format!("write {}", suggest::either(&ways))))
            }
        };
    }
    match (0..).zip(names).find(|(_, known)| **known == name) {
        Some((place, _)) => Ok(place),
        None => {
            let cause = format!("`{}`: there is no {thing} `{}`", item.path, shorten(name));
            Err(item.problem(cause, suggest::hint(name, names)))
        }
    }
}
