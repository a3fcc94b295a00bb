//! When a fault strikes or a client starts: `2s`, `c1's grant`, `1s after the 3rd SET executed for c1 on A`.
//!
//! The grammar is `DURATION` or `[DURATION after] EVENT [after EVENT]…`, where an event is
//! `[the] [Nth]` (or `CLIENT's Nth …`) and one of
//!
//! | event | happens when |
//! |---|---|
//! | `CMD executed [for CLIENT] [on NODE]` | a node has executed that command for that client, or for anyone connected to it: not what its master's stream or its own file told it |
//! | `CLIENT's acquire`, `grant`, `refusal`, `read`, `check`, `write`, `extend`, `release`, `expiry` | the client's program gets there |
//! | `HOST's clock read` | code on the host read one of its clocks |
//! | `HOST's boot` | the host's process started |
//! | `HOST's message to HOST` | bytes were handed to the network |
//! | `HOST's message from HOST` | bytes arrived |
//!
//! A chain reads backwards in time, and each event is counted from the one before it. Whether an event can happen at
//! all is decided in [`super::possible`].

use std::time::Duration;

use doublehold_sim::{Occurrence, Pattern, SimTime, Trigger};

use super::possible::Setting;
use super::problem::{Problem, Result};
use super::section::{Field, shorten};
use super::vocabulary::Key;
use super::words;
use super::{suggest, units};
use crate::scenario::{HostIndex, Role};

const GRAMMAR: &str = "write a time such as \"2s\", or an event such as \"c1's grant\", \"SET executed for c1\" or \
                       \"1s after the 3rd SET executed for c1 on A\"";
/// The words a client's program notes as it goes.
pub(super) const MOMENTS: [&str; 9] =
    ["acquire", "grant", "refusal", "read", "check", "write", "extend", "release", "expiry"];
const EXECUTED: &str = "executed";
const CLOCK_READ: [&str; 2] = ["clock", "read"];
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

/// A moment of a run, for the kernel and for readers.
#[derive(Debug)]
pub(super) struct When {
    pub(super) trigger: Trigger,
    /// "at c1's check"
    pub(super) words: String,
}

/// An event, hosts by index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum EventWords {
    Executed { command: String, client: Option<HostIndex>, node: Option<HostIndex> },
    Moment { client: HostIndex, moment: &'static str },
    ClockRead { host: HostIndex },
    Boot { host: HostIndex },
    Sent { from: HostIndex, to: HostIndex },
    Received { by: HostIndex, from: HostIndex },
}

/// The words of the grammar: each event by the word that tells it from the others, and the words around events.
pub(super) fn vocabulary() -> Vec<Key> {
    let around = [EXECUTED, FOR, ON, THE, AFTER, BOOT];
    let two_words = [CLOCK_READ, [MESSAGE, TO], [MESSAGE, FROM]].map(|words| words.join(" "));
    let two_words = two_words.each_ref().map(String::as_str);
    Key::words("when", &[&MOMENTS[..], &around, &two_words].concat())
}

/// Reads a text such as `1s after c1's grant`.
pub(super) fn read(field: &Field<'_>, setting: &Setting<'_>) -> Result<When> {
    let text = field.text()?;
    let tokens: Vec<&str> = text.split_whitespace().collect();
    // A time may have a space before its unit, here as elsewhere.
    if tokens.len() == 1 || units::duration(text.trim()).is_ok() {
        return at_time(field, text.trim(), setting.time_limit);
    }
    let (offset, tokens) = offset(field, &tokens)?;
    let chain: Vec<&[&str]> = tokens.split(|token| *token == AFTER).collect();
    if chain.len() > CHAIN_MAX {
        return Err(
            field.problem(format!("`{}` chains more than {CHAIN_MAX} events", field.path), "name fewer")
        );
    }
    let mut happenings =
        chain.into_iter().map(|event| occurrence(field, event, setting)).collect::<Result<Vec<_>>>()?;
    let words = in_words(offset, &happenings, setting);
    happenings.reverse();
    let occurrences =
        happenings.into_iter().map(|(nth, event)| Occurrence { pattern: event.pattern(), nth }).collect();
    Ok(When { trigger: Trigger::On { occurrences, offset }, words })
}

fn at_time(field: &Field<'_>, time: &str, limit: Duration) -> Result<When> {
    let at = units::duration(time).map_err(|refusal| {
        let hint = if refusal.hint == units::UNITS_HINT { GRAMMAR } else { refusal.hint };
        let what =
            if refusal.hint == units::UNITS_HINT { "must be a time or an event, not" } else { refusal.cause };
        field.problem(format!("`{}` {what} `{}`", field.path, shorten(time)), hint)
    })?;
    if at > limit {
        let cause = format!(
            "`{}` is {}, and the run ends at {}",
            field.path,
            words::duration(at),
            words::duration(limit)
        );
        return Err(field.problem(cause, "name an earlier time, or raise `limits.time`"));
    }
    Ok(When { trigger: Trigger::At(SimTime::ZERO.after(at)), words: format!("at {}", words::duration(at)) })
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

fn occurrence(field: &Field<'_>, tokens: &[&str], setting: &Setting<'_>) -> Result<(u32, EventWords)> {
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
    let event = event(field, tokens, setting)?;
    setting.check_possible(field, &event)?;
    Ok((nth, event))
}

fn event(field: &Field<'_>, tokens: &[&str], setting: &Setting<'_>) -> Result<EventWords> {
    match tokens {
        [command, EXECUTED, rest @ ..] => executed(field, command, rest, setting),
        [whose, event @ ..] if whose.ends_with("'s") => {
            happening(field, whose.trim_end_matches("'s"), event, setting)
        }
        _ => Err(not_an_event(field, tokens)),
    }
}

fn executed(field: &Field<'_>, command: &str, rest: &[&str], setting: &Setting<'_>) -> Result<EventWords> {
    let (mut client, mut node) = (None, None);
    let mut rest = rest;
    while let [word, name, more @ ..] = rest {
        let host = setting.hosts.find(name).ok_or_else(|| setting.hosts.unknown(name, field));
        match *word {
            FOR if client.is_none() => client = Some(setting.expect_role(field, host?, Role::Client, FOR)?),
            ON if node.is_none() => node = Some(setting.expect_role(field, host?, Role::Node, ON)?),
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
    Ok(EventWords::Executed { command: command.to_ascii_uppercase(), client, node })
}

fn happening(field: &Field<'_>, whose: &str, event: &[&str], setting: &Setting<'_>) -> Result<EventWords> {
    let find = |name: &str| setting.hosts.find(name).ok_or_else(|| setting.hosts.unknown(name, field));
    let host = find(whose)?;
    match event {
        event if event == CLOCK_READ => Ok(EventWords::ClockRead { host }),
        [BOOT] => Ok(EventWords::Boot { host }),
        [MESSAGE, TO, to] => Ok(EventWords::Sent { from: host, to: find(to)? }),
        [MESSAGE, FROM, from] => Ok(EventWords::Received { by: host, from: find(from)? }),
        [word] => {
            let Some(moment) = MOMENTS.into_iter().find(|moment| moment == word) else {
                let known = [&MOMENTS[..], &[BOOT]].concat();
                let cause = format!("`{}`: there is no event `{}`", field.path, shorten(word));
                return Err(field.problem(cause, suggest::hint(word, &known)));
            };
            Ok(EventWords::Moment { client: host, moment })
        }
        _ => Err(not_an_event(field, event)),
    }
}

fn not_an_event(field: &Field<'_>, tokens: &[&str]) -> Problem {
    field.problem(format!("`{}`: `{}` is no event", field.path, shorten(&tokens.join(" "))), GRAMMAR)
}

impl EventWords {
    fn pattern(&self) -> Pattern {
        match self {
            EventWords::Executed { command, client, node } => Pattern::Mark {
                host: node.map(HostIndex::in_world),
                label: command.clone(),
                about: client.map(HostIndex::in_world),
            },
            EventWords::Moment { client, moment } => {
                Pattern::Mark { host: Some(client.in_world()), label: (*moment).to_owned(), about: None }
            }
            EventWords::ClockRead { host } => Pattern::ClockRead { host: host.in_world() },
            EventWords::Boot { host } => Pattern::Booted { host: host.in_world() },
            EventWords::Sent { from, to } => Pattern::Sent { host: from.in_world(), to: Some(to.in_world()) },
            EventWords::Received { by, from } => {
                Pattern::Delivered { host: by.in_world(), from: Some(from.in_world()) }
            }
        }
    }

    /// The event as reports name it.
    pub(super) fn in_words(&self, setting: &Setting<'_>) -> String {
        let name = |host: HostIndex| setting.hosts.name(host);
        match self {
            EventWords::Executed { command, client, node } => {
                let for_client = client.map_or(String::new(), |client| format!(" for {}", name(client)));
                let on_node = node.map_or(String::new(), |node| format!(" on {}", name(node)));
                format!("{command} executed{for_client}{on_node}")
            }
            EventWords::Moment { client, moment } => format!("{}'s {moment}", name(*client)),
            EventWords::ClockRead { host } => format!("{}'s clock read", name(*host)),
            EventWords::Boot { host } => format!("{}'s boot", name(*host)),
            EventWords::Sent { from, to } => format!("{}'s message to {}", name(*from), name(*to)),
            EventWords::Received { by, from } => format!("{}'s message from {}", name(*by), name(*from)),
        }
    }
}

fn in_words(offset: Duration, chain: &[(u32, EventWords)], setting: &Setting<'_>) -> String {
    let event = |(nth, event): &(u32, EventWords)| match (nth, event) {
        (1, EventWords::Executed { .. }) => format!("the 1st {}", event.in_words(setting)),
        (1, _) => event.in_words(setting),
        (nth, EventWords::Executed { .. }) => {
            format!("the {} {}", words::ordinal(*nth), event.in_words(setting))
        }
        (nth, _) => event.in_words(setting).replacen("'s ", &format!("'s {} ", words::ordinal(*nth)), 1),
    };
    let chain: Vec<String> = chain.iter().map(event).collect();
    let chain = chain.join(" after ");
    if offset.is_zero() {
        format!("at {chain}")
    } else {
        format!("{} after {chain}", words::duration(offset))
    }
}
