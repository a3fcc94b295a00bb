//! Clients: what each does, for how long it asks, and what it does when it learns that its lock is lost.

use std::time::Duration;

use doublehold_sim::DelayLaw;

use super::hosts::Hosts;
use super::key::Choices;
use super::key::{Key, words_of};
use super::lock::Chosen;
use super::problem::Result;
use super::program::{self, Things};
use super::section::{Field, Section};
use crate::model::scenario::{ClientSetup, OnLostLock};

pub(super) const KEYS: &[&str] =
    &["name", "process", "program", "ttl", "rounds", "retry", "give_up_after", "on_lost_lock", "start"];
const ON_LOST_LOCK: Choices<OnLostLock> = &[("stop", OnLostLock::Stop), ("go-on", OnLostLock::GoOn)];
/// What a client's patience is at most where nothing is said.
const PATIENCE: Duration = Duration::from_secs(600);

/// As many grants as are judged and drawn in a second. With the default `limits.events` a run ends long before.
const ROUNDS_MAX: u64 = 100_000;

/// What `[[clients]]` takes.
pub(super) fn vocabulary() -> Vec<Key> {
    [
        Key::all("clients", KEYS),
        program::vocabulary(),
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
pub(super) fn read_client(
    field: &Field<'_>,
    hosts: &Hosts,
    lock: &Chosen<'_>,
    things: &Things<'_>,
    time_limit: Duration,
) -> Result<ClientSetup> {
    let client = field.section(KEYS)?;
    // A run whose lock is never granted ends by giving up, and not at its limit, where it would show nothing.
    let patience = PATIENCE.min(time_limit / 2);
    let retry = DelayLaw::Uniform { min: Duration::ZERO, max: Duration::from_millis(200) };
    Ok(ClientSetup {
        host: hosts.client(&client.require("name", "\"c1\"")?)?,
        // Read when all clients are known: see `when::start`.
        start: None,
        program: program::read_program(
            &client.require("program", "[\"acquire\", \"work 1s\", \"release\"]")?,
            things,
        )?,
        ttl: client.get("ttl").map(|ttl| lock.ttl(&ttl)).transpose()?,
        rounds: client.get("rounds").map_or(Ok(1), |rounds| rounds.number(1, ROUNDS_MAX))? as u32,
        retry: client.law_or("retry", retry)?,
        give_up_after: client.duration_or("give_up_after", patience)?,
        on_lost_lock: client.choice_or("on_lost_lock", ON_LOST_LOCK, OnLostLock::Stop)?,
    })
}
