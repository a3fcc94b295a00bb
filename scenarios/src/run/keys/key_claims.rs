//! What a key's value claims, and what a command did to a claim that is still there.
//!
//! A string is one claim, each field of a hash is one, each member of a set or a sorted set is one (an element of a
//! list is none: a list says who waits), and a key that is a claim whatever it holds is one: but not while it is a
//! number that was counted down to nothing.
//!
//! Assumes that a number is a count. A lease in milliseconds that is moved on looks like one that is counted up.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use doublehold_history::LockId;
use doublehold_sim_redis::core::{KeyChange, Stored, StoredValue};

use super::attribution::{LockMark, Mark};

/// What a command did to a claim that was there and still is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::run) enum Step {
    /// Nothing: something else of the key was changed.
    None,
    /// It changed something about the claim, such as when it ends.
    Kept,
    /// It set the claim, whatever was there.
    Set,
    /// It may have set the claim to what it was: of a hash it is not known which fields were named.
    SetAlike,
    /// It counted up by so much.
    Up(i64),
    /// It counted down by so much.
    Down(i64),
}

/// The claims of a key, each with its detail.
pub(in crate::run) type Claims<'a> = BTreeMap<LockMark, &'a [u8]>;

/// Commands that set a whole string, whatever was there.
const SETTING: &[&str] = &["SET", "GETSET", "SETEX", "PSETEX", "MSET"];
/// Commands that set fields of a hash, whatever was there.
const SETTING_FIELDS: &[&str] = &["HSET", "HMSET"];

/// The claims a key's value is, each with its detail: a field's value, or what a key holds that is a claim as a whole.
pub(in crate::run) fn claims<'a>(
    lock: LockId,
    key: &[u8],
    stored: Option<Stored<'a>>,
    whole: bool,
) -> Claims<'a> {
    let value = |bytes: &[u8]| (lock, Mark::Value(bytes.to_vec()));
    match stored.map(|stored| stored.value) {
        None => BTreeMap::new(),
        Some(held) if whole => {
            let detail = if let StoredValue::String(bytes) = held { bytes } else { &[] };
            BTreeMap::from([((lock, Mark::Key(key.to_vec())), detail)])
        }
        Some(StoredValue::String(bytes)) => BTreeMap::from([(value(bytes), [].as_slice())]),
        Some(StoredValue::Hash(fields)) => {
            fields.iter().map(|(name, detail)| (value(name), detail)).collect()
        }
        Some(StoredValue::Set(members)) => members.iter().map(|name| (value(&name), [].as_slice())).collect(),
        Some(StoredValue::SortedSet(scores)) => {
            scores.iter().map(|(name, _)| (value(name), [].as_slice())).collect()
        }
        Some(StoredValue::List(_) | StoredValue::Stream(_)) => BTreeMap::new(),
    }
}

/// What a change did to a claim whose detail was `had` and is `has`.
pub(in crate::run) fn step(mark: &LockMark, had: &[u8], has: &[u8], change: &KeyChange<'_>) -> Step {
    let counted = count(had).zip(count(has)).map_or(0, |(had, has)| has.saturating_sub(had));
    match &mark.1 {
        Mark::Value(_) if has_members(change.after) => {
            let sets = SETTING_FIELDS.contains(&change.command);
            match counted {
                0 if moves_expiry(change) => Step::Kept,
                0 if had == has && sets && change.before == change.after => Step::SetAlike,
                0 if had == has => Step::None,
                1.. => Step::Up(counted),
                _ if sets => Step::Set,
                0 => Step::Kept,
                _ => Step::Down(counted.saturating_neg()),
            }
        }
        _ if SETTING.contains(&change.command) => Step::Set,
        Mark::Value(_) => Step::Kept,
        Mark::Key(_) => match counted {
            1.. => Step::Up(counted),
            ..0 => Step::Down(counted.saturating_neg()),
            0 if moves_expiry(change) => Step::Kept,
            0 => Step::None,
        },
    }
}

/// The number that a detail is; nothing else counts.
pub(in crate::run) fn count(detail: &[u8]) -> Option<i64> {
    std::str::from_utf8(detail).ok()?.parse().ok()
}

/// Whether a key is a number that says that nobody has it.
pub(in crate::run) fn is_nothing(stored: Option<Stored<'_>>) -> bool {
    stored.and_then(|it| it.as_string()).and_then(count).is_some_and(|count| count <= 0)
}

/// Whether a command set the key to what it holds now.
pub(in crate::run) fn sets(change: &KeyChange<'_>) -> bool {
    SETTING.contains(&change.command) || matches!(change.command, "SETNX" | "MSETNX")
}

pub(in crate::run) fn is_hash(stored: Option<Stored<'_>>) -> bool {
    stored.is_some_and(|stored| matches!(stored.value, StoredValue::Hash(_)))
}

/// Whether the key holds claims that come and go one by one.
fn has_members(stored: Option<Stored<'_>>) -> bool {
    let is_of_many =
        |stored: Stored<'_>| !matches!(stored.value, StoredValue::String(_) | StoredValue::List(_));
    stored.is_some_and(is_of_many)
}

/// Whether the key ends at another time than before.
pub(in crate::run) fn moves_expiry(change: &KeyChange<'_>) -> bool {
    change.before.map(|it| it.expires_at_ms) != change.after.map(|it| it.expires_at_ms)
}
