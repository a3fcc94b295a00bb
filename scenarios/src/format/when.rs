//! When a fault strikes or a client starts: `2s`, `c1's grant`, `1s after the 3rd SET executed for c1 on A`.
//!
//! The grammar is `DURATION` or `[DURATION after] EVENT [after EVENT]…`, where an event is
//! `[the] [Nth]` (or `CLIENT's Nth …`) and one of
//!
//! | event | happens when |
//! |---|---|
//! | `CMD executed [for CLIENT] [on NODE]` | a node has executed that command: see below |
//! | `CLIENT's MARK` | the client's program gets there |
//! | `HOST's clock read` | code on the host read one of its clocks |
//! | `CLIENT's timer` | a sleep or timeout of the client's code came due |
//! | `HOST's boot` | the host's process started |
//! | `HOST's message to HOST` | bytes were handed to the network |
//! | `HOST's message from HOST` | bytes arrived |
//!
//! A command is executed for that client, or for anyone connected to the node: not because its master's stream or its
//! own file told it. A mark is `acquire`, `grant`, `refusal`, `read`, `check`, `write`, `extending`, `extend`,
//! `release` or `expiry`.
//!
//! A chain reads backwards in time, and each event is counted from the one before it. Whether an event can happen at
//! all is decided in [`super::reachable`].

use std::time::Duration;

use doublehold_text::suggest;
use doublehold_text::{exact_duration, shorten};

use super::key::Key;
use super::problem::{ItemOrigin, Problem, Result};
use super::reachable::Setting;
use super::section::Field;
use super::tree::Item;
use super::units;
use crate::model::when::{Event, Mark, Nth, When};

const GRAMMAR: &str = "write a time such as \"2s\", or an event such as \"c1's grant\", \"SET executed for c1\" or \
                       \"1s after the 3rd SET executed for c1 on A\"";
const EXECUTED: &str = "executed";
const CLOCK_READ: [&str; 2] = ["clock", "read"];
const TIMER: &str = "timer";
const BOOT: &str = "boot";
const MESSAGE: &str = "message";
const TO: &str = "to";
const FROM: &str = "from";
const FOR: &str = "for";
const ON: &str = "on";
const AFTER: &str = "after";
const THE: &str = "the";
/// More than any counterexample needs, and each costs a comparison per event of the run.
const CHAIN_MAX: usize = 16;
const NTH_MAX: u32 = 1_000_000;

/// The words of the grammar: each event by the word that tells it from the others, and the words around events.
pub(super) fn vocabulary() -> Vec<Key> {
    let around = [EXECUTED, FOR, ON, THE, AFTER, TIMER, BOOT];
    let two_words = [CLOCK_READ, [MESSAGE, TO], [MESSAGE, FROM]].map(|words| words.join(" "));
    let two_words = two_words.each_ref().map(String::as_str);
    Key::words("when", &[&Mark::ALL.map(Mark::as_str)[..], &around, &two_words].concat())
}

/// Reads a text such as `1s after c1's grant`, and refuses a moment that cannot come in this scenario.
pub(super) fn read_when(field: &Field<'_>, setting: &Setting<'_>) -> Result<When> {
    let when = parse(field)?;
    match &when {
        When::At(at) if *at > setting.time_limit => {
            let limit = exact_duration(setting.time_limit);
            let cause = format!("`{}` is {}, and the run ends at {limit}", field.path, exact_duration(*at));
            return Err(field.problem(cause, "name an earlier time, or raise `limits.time`"));
        }
        When::At(_) => {}
        When::On { events, .. } => {
            events.iter().rev().try_for_each(|nth| setting.check_reachable(field, &nth.event))?;
        }
    }
    Ok(when)
}

/// When a client starts, if its table says so.
pub(super) fn start(field: &Field<'_>, setting: &Setting<'_>) -> Result<Option<When>> {
    let client = field.section(super::clients::KEYS)?;
    let Some(start) = client.get("start") else { return Ok(None) };
    let name = client.require("name", "\"c1\"")?.text()?;
    let when = read_when(&start, setting)?;
    if waits_for(&when, name) {
        let cause = format!("`{}`: {name} waits for what it does itself", start.path);
        return Err(start.problem(cause, "name a time, or what another client does"));
    }
    Ok(Some(when))
}

/// Whether something that the client's program does must come first.
fn waits_for(when: &When, name: &str) -> bool {
    let When::On { events, .. } = when else { return false };
    events.iter().any(|nth| match &nth.event {
        Event::Mark { client, .. } => client == name,
        Event::Executed { client, .. } => client.as_deref() == Some(name),
        _ => false,
    })
}

/// Reads a moment whose hosts nobody knows yet: the cause and the way out if it is none.
pub(crate) fn parse_text(text: &str) -> std::result::Result<When, (String, String)> {
    let node = Item::text(text, ItemOrigin::Line(1));
    parse(&Field::from_value("the moment", &node)).map_err(|problem| (problem.cause, problem.hint))
}

fn parse(field: &Field<'_>) -> Result<When> {
    let text = field.text()?;
    let tokens: Vec<&str> = text.split_whitespace().collect();
    // A time may have a space before its unit, here as elsewhere.
    if tokens.len() == 1 || units::duration(text.trim()).is_ok() {
        return read_time(field, text.trim());
    }
    let (after, tokens) = offset(field, &tokens)?;
    let chain: Vec<&[&str]> = tokens.split(|token| *token == AFTER).collect();
    if chain.len() > CHAIN_MAX {
        return Err(
            field.problem(format!("`{}` chains more than {CHAIN_MAX} events", field.path), "name fewer")
        );
    }
    let events = chain.into_iter().rev().map(|event| nth(field, event)).collect::<Result<_>>()?;
    Ok(When::On { events, after })
}

fn read_time(field: &Field<'_>, time: &str) -> Result<When> {
    let at = units::duration(time).map_err(|refusal| {
        let hint = if refusal.hint == units::UNITS_HINT { GRAMMAR } else { refusal.hint };
        let what =
            if refusal.hint == units::UNITS_HINT { "must be a time or an event, not" } else { refusal.cause };
        field.problem(format!("`{}` {what} `{}`", field.path, shorten(time)), hint)
    })?;
    Ok(When::At(at))
}

fn offset<'a, 'b>(field: &Field<'_>, tokens: &'a [&'b str]) -> Result<(Duration, &'a [&'b str])> {
    let [first, rest @ ..] = tokens else { return Err(field.must_be("a time or an event", GRAMMAR)) };
    let is_time = first.starts_with(|letter: char| letter.is_ascii_digit() || letter == '-' || letter == '.');
    match (is_time && !is_ordinal(first), rest) {
        (false, _) => Ok((Duration::ZERO, tokens)),
        (true, [AFTER, event @ ..]) => {
            let offset = units::duration(first).map_err(|refusal| {
                field
                    .problem(format!("`{}` {} `{}`", field.path, refusal.cause, shorten(first)), refusal.hint)
            })?;
            Ok((offset, event))
        }
        (true, _) => Err(field.must_be("a time alone or `TIME after EVENT`", GRAMMAR)),
    }
}

fn is_ordinal(token: &str) -> bool {
    ordinal(token).is_some()
}

fn ordinal(token: &str) -> Option<u32> {
    let digits = ["st", "nd", "rd", "th"].iter().find_map(|ending| token.strip_suffix(ending))?;
    digits.bytes().all(|digit| digit.is_ascii_digit()).then(|| digits.parse().unwrap_or(u32::MAX))
}

fn nth(field: &Field<'_>, tokens: &[&str]) -> Result<Nth> {
    let tokens = tokens.strip_prefix(&[THE]).unwrap_or(tokens);
    let (nth, tokens) = match tokens {
        [first, rest @ ..] => match ordinal(first) {
            Some(nth) => (nth, rest),
            None => (1, tokens),
        },
        [] => return Err(field.must_be("a time or an event", GRAMMAR)),
    };
    let owned;
    let (nth, tokens) = match tokens {
        // `c1's 3rd check` says the same as `the 3rd c1's check`, and is English.
        [whose, number, rest @ ..] if whose.ends_with("'s") && is_ordinal(number) => {
            owned = [&[*whose], rest].concat();
            (ordinal(number).unwrap_or(nth), &owned[..])
        }
        _ => (nth, tokens),
    };
    if !(1..=NTH_MAX).contains(&nth) {
        let cause = format!("`{}`: events are counted from the 1st to the {NTH_MAX}th", field.path);
        return Err(field.problem(cause, "use another number"));
    }
    Ok(Nth { event: event(field, tokens)?, nth })
}

fn event(field: &Field<'_>, tokens: &[&str]) -> Result<Event> {
    match tokens {
        [command, EXECUTED, rest @ ..] => read_executed(field, command, rest),
        [whose, event @ ..] if whose.ends_with("'s") => happening(field, whose.trim_end_matches("'s"), event),
        _ => Err(not_an_event(field, tokens)),
    }
}

fn read_executed(field: &Field<'_>, command: &str, rest: &[&str]) -> Result<Event> {
    let (mut client, mut node) = (None, None);
    let mut rest = rest;
    while let [word, name, more @ ..] = rest {
        match *word {
            FOR if client.is_none() => client = Some((*name).to_owned()),
            ON if node.is_none() => node = Some((*name).to_owned()),
            _ => break,
        }
        rest = more;
    }
    if !rest.is_empty() {
        let cause = format!(
            "`{}`: `{}` does not fit after `{command} executed`",
            field.path,
            shorten(&rest.join(" "))
        );
        return Err(
            field.problem(cause, "write `CMD executed for CLIENT on NODE`; both ends may be left out")
        );
    }
    Ok(Event::Executed { command: command.to_ascii_uppercase(), client, node })
}

fn happening(field: &Field<'_>, whose: &str, event: &[&str]) -> Result<Event> {
    let host = whose.to_owned();
    match event {
        event if event == CLOCK_READ => Ok(Event::ClockRead { host }),
        [TIMER] => Ok(Event::Timer { client: host }),
        [BOOT] => Ok(Event::Boot { host }),
        [MESSAGE, TO, to] => Ok(Event::Sent { from: host, to: (*to).to_owned() }),
        [MESSAGE, FROM, from] => Ok(Event::Received { by: host, from: (*from).to_owned() }),
        [word] => {
            let Some(mark) = Mark::ALL.into_iter().find(|mark| mark.as_str() == *word) else {
                let known = [&Mark::ALL.map(Mark::as_str)[..], &[TIMER, BOOT]].concat();
                let cause = format!("`{}`: there is no event `{}`", field.path, shorten(word));
                return Err(field.problem(cause, suggest::hint(word, &known)));
            };
            Ok(Event::Mark { client: host, mark })
        }
        _ => Err(not_an_event(field, event)),
    }
}

fn not_an_event(field: &Field<'_>, tokens: &[&str]) -> Problem {
    field.problem(format!("`{}`: `{}` is no event", field.path, shorten(&tokens.join(" "))), GRAMMAR)
}
