//! A run of several locks as runs of one lock each, so that every rule looks at what a sentence is about: what was done
//! with the other locks, and with other objects, is left out.

use std::collections::BTreeMap;

use doublehold_history::{CallId, EventKind, Header, History, LockId, ObjectId, TrueNs};
use doublehold_scenarios::report::{KeyEnd, Report};
use regex_lite::{Captures, Regex};

use crate::sentences::seen::Seen;

/// The run as if this were the only lock and, where one is named, the only object.
pub(crate) fn of_one(report: &Report, lock: LockId, object: Option<ObjectId>) -> Report {
    let about: BTreeMap<CallId, LockId> =
        report.history.events().iter().filter_map(|it| about(&it.what)).collect();
    let mut scenario = (*report.scenario).clone();
    scenario.lock.names = vec![scenario.lock.names[lock.0 as usize].clone()];
    let header = Header { locks: scenario.lock.names.clone(), ..report.history.header().clone() };
    let mut history = History::new(header);
    for event in report.history.events() {
        let other_lock = event.what.call().is_some_and(|call| about.get(&call) != Some(&lock));
        let other_object = object.is_some() && written(&event.what).is_some_and(|it| Some(it) != object);
        if !other_lock && !other_object {
            history.push(event.at, event.what.clone());
        }
    }
    let keys = report.keys.iter().filter(|key| key.lock == lock).cloned().collect();
    Report { scenario: scenario.into(), history, keys, ..report.clone() }
}

fn about(what: &EventKind) -> Option<(CallId, LockId)> {
    match *what {
        EventKind::AcquireStarted { call, lock, .. } => Some((call, lock)),
        _ => None,
    }
}

fn written(what: &EventKind) -> Option<ObjectId> {
    match *what {
        EventKind::WriteSent { object, .. }
        | EventKind::WriteApplied { object, .. }
        | EventKind::WriteRefused { object, .. }
        | EventKind::WriteLost { object, .. } => Some(object),
        _ => None,
    }
}

/// A sentence of a run of several locks or of several objects: which of them it names, and how it would be with these
/// alone.
pub(crate) struct Plain {
    pub(crate) lock: Option<LockId>,
    pub(crate) object: Option<ObjectId>,
    pub(crate) words: String,
}

/// Where sentences name an object or a lock, and what they say where there is only one.
const NAMES: &[(&str, &str)] = &[
    (r#"(version \d+|write) of "(?<object>[^"]+)""#, "$1"),
    (r#"^"(?<lock>[^"]+)": "#, ""),
    (r#"(lease|key|release|deadline) of "(?<lock>[^"]+)""#, "$1"),
    (r#"(is refused|both (?:validly )?hold) "(?<lock>[^"]+)":"#, "$1:"),
    (r#"(was granted|no longer held) "(?<lock>[^"]+)""#, "$1 the lock"),
    (r#"gives up asking for "(?<lock>[^"]+)""#, "gives up"),
    (r#"(is granted "(?<lock>[^"]+)")"#, "$1"),
];

/// What a sentence says with everything that tells one lock from another taken out.
pub(crate) fn plain(report: &Report, words: &str) -> Plain {
    let mut plain = Plain { lock: None, object: None, words: words.to_owned() };
    let header = report.history.header();
    if header.locks.len() == 1 && header.objects.len() < 2 {
        return plain;
    }
    for (pattern, instead) in NAMES {
        let pattern = Regex::new(pattern).expect("a pattern");
        let Some(found) = pattern.captures(&plain.words) else { continue };
        plain.lock = place(&found, "lock", &header.locks).map(LockId).or(plain.lock);
        plain.object = place(&found, "object", &header.objects).map(ObjectId).or(plain.object);
        plain.words = pattern.replace(&plain.words, *instead).into_owned();
    }
    let guards = |object: ObjectId| report.scenario.resource.objects[object.0 as usize].lock;
    plain.lock = plain.lock.or(plain.object.map(guards));
    plain
}

fn place(found: &Captures<'_>, what: &str, names: &[String]) -> Option<u32> {
    let name = found.name(what)?.as_str();
    names.iter().zip(0..).find(|(known, _)| *known == name).map(|(_, place)| place)
}

const WAITED: &str =
    r#"^"(?<held>[^"]+)": (?<who>\w+)'s key expired on .+ while (?<again>\w+) waited for "(?<wanted>[^"]+)""#;

/// Whether a holder was waiting for another lock when its key expired; `None` if the sentence does not say so.
pub(crate) fn waited_for_another(seen: &Seen<'_>, words: &str) -> Option<bool> {
    let it = Regex::new(WAITED).expect("a pattern").captures(words)?;
    let who = seen.client(&it["who"]);
    let lock = |name: &str| {
        seen.report.scenario.lock.names.iter().position(|known| known == name).map(|at| LockId(at as u32))
    };
    let (held, wanted) = (lock(&it["held"]), lock(&it["wanted"]));
    let mut ends = seen.keys(&it["who"]).filter(|key| Some(key.lock) == held).filter_map(|key| key.until);
    let waits = |(end, how): (TrueNs, KeyEnd)| {
        let of_wanted = |(at, what): (TrueNs, &EventKind)| match what {
            EventKind::AcquireStarted { client, lock, .. }
                if Some(*client) == who && Some(*lock) == wanted =>
            {
                Some((at, true))
            }
            EventKind::Granted { client, lock, .. } if Some(*client) == who && Some(*lock) == wanted => {
                Some((at, false))
            }
            EventKind::GaveUp { client, .. } if Some(*client) == who => Some((at, false)),
            _ => None,
        };
        let last = seen.all().filter_map(of_wanted).take_while(|(at, _)| *at <= end).last();
        how == KeyEnd::Expired && last.is_some_and(|(_, asks)| asks)
    };
    Some(it["who"] == it["again"] && it["held"] != it["wanted"] && ends.any(waits))
}

/// The same without the other lock.
pub(crate) fn without_the_wait(words: &str) -> String {
    let wait = Regex::new(r#" waited for "[^"]+""#).expect("a pattern");
    wait.replace(words, " was still at work").into_owned()
}
