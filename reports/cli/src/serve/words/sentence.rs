//! Faults as sentences, for the record.

use super::word::Word;
use crate::serve::weather::links::Way;

/// What a word does, and to which node, by its place among nodes. Nothing of what is no fault, or strikes only later.
pub(super) fn of(word: &Word) -> Option<(String, Option<usize>)> {
    let exact = doublehold_text::exact_duration;
    let (what, host) = match word {
        Word::Clock { host, by_us } => {
            let by = doublehold_text::signed_duration(by_us.saturating_mul(1_000));
            (format!("{}'s clock is stepped by {by}", host.name), Some(host))
        }
        Word::Drift { host, ppm } => {
            (format!("{}'s clocks run {ppm} ppm fast from now on", host.name), Some(host))
        }
        Word::Pause { host, duration } if duration.is_zero() => {
            (format!("{} goes on", host.name), Some(host))
        }
        Word::Pause { host, duration } => {
            (format!("{} is paused for {}", host.name, exact(*duration)), Some(host))
        }
        Word::Slow { host, by } if by.is_zero() => (format!("{} is no longer slow", host.name), Some(host)),
        Word::Slow { host, by } => {
            (format!("each command of {} takes {} longer from now on", host.name, exact(*by)), Some(host))
        }
        Word::Crash(host) => (format!("{} crashes", host.name), Some(host)),
        Word::Restart(host) => (format!("{} starts again", host.name), Some(host)),
        Word::Promote { host, .. } => (format!("{} is promoted", host.name), Some(host)),
        Word::RefuseWrites { host, refuses: true } => (format!("{} refuses writes", host.name), Some(host)),
        Word::RefuseWrites { host, .. } => (format!("{} takes writes again", host.name), Some(host)),
        Word::Flush(host) => (format!("{} is flushed", host.name), Some(host)),
        Word::Evict { host, volatile_only: true } => {
            (format!("{} evicts all keys that have a lifetime", host.name), Some(host))
        }
        Word::Evict { host, .. } => (format!("{} evicts all keys", host.name), Some(host)),
        Word::Cut(ways) => (format!("the link {} is cut", between(ways)), None),
        Word::Heal(ways) => (format!("the link {} is healed", between(ways)), None),
        Word::HealAll => ("all cuts are healed".to_owned(), None),
        Word::SlowLink { way: Way { from, to }, by } if by.is_zero() => {
            (format!("requests from {from} to {to} come at their speed again"), None)
        }
        Word::SlowLink { way: Way { from, to }, by } => {
            (format!("requests from {from} to {to} come {} later", exact(*by)), None)
        }
        Word::ResetConnections { client, host } => {
            (format!("{client}'s connections to {} are reset", host.name), Some(host))
        }
        _ => return None,
    };
    Some((what, host.and_then(|host| host.node)))
}

fn between(ways: &[Way]) -> String {
    match ways {
        [Way { from, to }] => format!("from {from} to {to}"),
        [Way { from, to }, ..] => format!("between {from} and {to}"),
        [] => String::new(),
    }
}
