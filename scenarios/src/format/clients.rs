//! Clients and their programs: `program = ["acquire", "read", "work 2s", "check", "write", "release"]`.

use std::time::Duration;

use doublehold_history::words::shorten;
use doublehold_sim::DelayLaw;

use super::hosts::Hosts;
use super::lock::Chosen;
use super::problem::Result;
use super::section::{Choices, Field, Section};
use super::suggest;
use super::vocabulary::{Key, words_of};
use crate::scenario::{ClientSetup, OnLostLock, Step};

pub(super) const KEYS: &[&str] =
    &["name", "program", "ttl", "rounds", "retry", "give_up_after", "on_lost_lock", "start"];
const ON_LOST_LOCK: Choices<OnLostLock> = &[("stop", OnLostLock::Stop), ("go-on", OnLostLock::GoOn)];
/// What a client's patience is at most where nothing is said.
const PATIENCE: Duration = Duration::from_secs(600);

const STEPS_MAX: usize = 100;
/// As many grants as are judged and drawn in a second. With the default `limits.events` a run ends long before.
const ROUNDS_MAX: u64 = 100_000;
const WORDS: [&str; 8] = ["acquire", "try", "read", "work", "check", "write", "extend", "release"];

/// What `[[clients]]` takes.
pub(super) fn vocabulary() -> Vec<Key> {
    [
        Key::all("clients", KEYS),
        Key::words("clients.program", &WORDS),
        Key::words("clients.on_lost_lock", &words_of(ON_LOST_LOCK)),
    ]
    .concat()
}

/// The tables of all clients.
pub(super) fn tables<'a>(root: &Section<'a>) -> Result<Vec<Field<'a>>> {
    let clients = root.list("clients", super::hosts::HOSTS_MAX)?;
    if clients.is_empty() {
        return Err(root
            .problem("the scenario has no clients", "add a `[[clients]]` table with a name and a program"));
    }
    Ok(clients)
}

/// Reads one `[[clients]]` table of a run that ends after `time_limit`.
pub(super) fn read(
    field: &Field<'_>,
    hosts: &Hosts,
    lock: &Chosen<'_>,
    time_limit: Duration,
) -> Result<ClientSetup> {
    let client = field.section(KEYS)?;
    // A run whose lock is never granted ends by giving up, and not at its limit, where it would show nothing.
    let patience = PATIENCE.min(time_limit / 2);
    let retry = DelayLaw::Uniform { min: Duration::ZERO, max: Duration::from_millis(200) };
    Ok(ClientSetup {
        host: hosts.get(&client.require("name", "\"c1\"")?)?,
        // Read when all clients are known: see `when::start`.
        start: None,
        program: program(&client.require("program", "[\"acquire\", \"work 1s\", \"release\"]")?)?,
        ttl: client.get("ttl").map(|ttl| lock.ttl(&ttl)).transpose()?,
        rounds: client.get("rounds").map_or(Ok(1), |rounds| rounds.number(1, ROUNDS_MAX))? as u32,
        retry: client.law_or("retry", retry)?,
        give_up_after: client.duration_or("give_up_after", patience)?,
        on_lost_lock: client.choice_or("on_lost_lock", ON_LOST_LOCK, OnLostLock::Stop)?,
    })
}

fn program(field: &Field<'_>) -> Result<Vec<Step>> {
    let items = field.items("a list of steps")?;
    if items.is_empty() || items.len() > STEPS_MAX {
        return Err(field.problem(
            format!("`{}` has {} steps", field.path, items.len()),
            format!("use 1 to {STEPS_MAX}"),
        ));
    }
    let mut holds = false;
    let mut steps = Vec::new();
    for item in items {
        let step = step(&item)?;
        holds = holds_after(&step, holds, &item)?;
        steps.push(step);
    }
    Ok(steps)
}

fn step(item: &Field<'_>) -> Result<Step> {
    let text = item.text()?.trim();
    let (word, law) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let step = match word {
        "work" if law.is_empty() => {
            return Err(item.problem(
                format!("`{}` does not say how long to work", item.path),
                "write `work 2s` or `work 1s..3s`",
            ));
        }
        "work" => {
            return super::units::law(law).map(Step::Work).map_err(|refusal| {
                let law = shorten(law);
                item.problem(
                    format!("`{}`: the time to work {} `{law}`", item.path, refusal.cause),
                    refusal.hint,
                )
            });
        }
        "acquire" => Step::Acquire,
        "try" => Step::Try,
        "read" => Step::Read,
        "check" => Step::Check,
        "write" => Step::Write,
        "extend" => Step::Extend,
        "release" => Step::Release,
        _ => return Err(item.must_be("a step of a program", &suggest::hint(word, &WORDS))),
    };
    if !law.is_empty() {
        return Err(item.must_be(&format!("`{word}` alone"), "only `work` takes a time"));
    }
    Ok(step)
}

/// Whether the client may hold the lock after this step. Refuses steps that could never do anything.
fn holds_after(step: &Step, holds: bool, item: &Field<'_>) -> Result<bool> {
    match step {
        Step::Acquire | Step::Try if holds => {
            let cause = format!("`{}` asks for a lock the client already holds", item.path);
            Err(item.problem(cause, "release it first: no lock here admits its holder again"))
        }
        Step::Acquire | Step::Try => Ok(true),
        Step::Work(_) => Ok(holds),
        Step::Release if holds => Ok(false),
        Step::Read | Step::Check | Step::Write | Step::Extend if holds => Ok(true),
        Step::Read | Step::Check | Step::Write | Step::Extend | Step::Release => {
            let cause = format!("`{}` comes before the client has acquired the lock", item.path);
            Err(item.problem(cause, "put `acquire` or `try` before it"))
        }
    }
}
