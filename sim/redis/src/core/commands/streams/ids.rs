//! Ids of entries among a command's arguments, read as Redis reads them.

use crate::core::context::c_string;
use crate::core::values::EntryId;
use crate::resp::{Args, integer, reply};

/// The longest text that Redis takes for an id.
const MAX_BYTES: usize = 127;

const INVALID: &[u8] = b"ERR Invalid stream ID specified as stream command argument";

/// The id of an entry to come, as far as it is given.
#[derive(Clone, Copy)]
pub(super) enum NewId {
    /// `*`: the node chooses.
    Any,
    /// `ms-*`: the node chooses the number.
    In(u64),
    Exactly(EntryId),
}

/// An id, or the error for what is none. One without a number gets this one.
pub(super) fn id_or_reply(text: &[u8], sequence: u64, out: &mut Vec<u8>) -> Option<EntryId> {
    let id = read(text, |_| None).map(|(ms, given)| EntryId { ms, sequence: given.unwrap_or(sequence) });
    if id.is_none() {
        reply::error(out, INVALID);
    }
    id
}

/// All arguments from `first` on as ids, or the error.
pub(super) fn ids_or_reply(args: &Args<'_>, first: usize, out: &mut Vec<u8>) -> Option<Vec<EntryId>> {
    args.iter().skip(first).map(|text| id_or_reply(text, 0, out)).collect()
}

/// The id of a new entry, or the error.
pub(super) fn new_id_or_reply(text: &[u8], out: &mut Vec<u8>) -> Option<NewId> {
    if text == b"*" {
        return Some(NewId::Any);
    }
    let mut is_open = false;
    let read = read(text, |number| {
        is_open = number == b"*";
        is_open.then_some(0)
    });
    let Some((ms, sequence)) = read else {
        reply::error(out, INVALID);
        return None;
    };
    match is_open {
        true => Some(NewId::In(ms)),
        false => Some(NewId::Exactly(EntryId { ms, sequence: sequence.unwrap_or(0) })),
    }
}

/// The first id of a range, or the error: `-` is the lowest there is, and behind a `(` stands one that is not within.
pub(super) fn start_or_reply(text: &[u8], out: &mut Vec<u8>) -> Option<EntryId> {
    match text {
        [b'(', id, rest @ ..] => {
            let next = id_or_reply(&[&[*id], rest].concat(), 0, out)?.next();
            if next.is_none() {
                reply::error(out, b"ERR invalid start ID for the interval");
            }
            next
        }
        text => edge(text).or_else(|| id_or_reply(text, 0, out)),
    }
}

/// The last id of a range, likewise.
pub(super) fn end_or_reply(text: &[u8], out: &mut Vec<u8>) -> Option<EntryId> {
    match text {
        [b'(', id, rest @ ..] => {
            let previous = id_or_reply(&[&[*id], rest].concat(), u64::MAX, out)?.previous();
            if previous.is_none() {
                reply::error(out, b"ERR invalid end ID for the interval");
            }
            previous
        }
        text => edge(text).or_else(|| id_or_reply(text, u64::MAX, out)),
    }
}

/// `-` and `+`: the lowest and the highest id.
fn edge(text: &[u8]) -> Option<EntryId> {
    match c_string(text) {
        b"-" => Some(EntryId::ZERO),
        b"+" => Some(EntryId::MAX),
        _ => None,
    }
}

/// The time of an id, and its number if it has one; `other` reads a number that is none.
fn read(text: &[u8], other: impl FnOnce(&[u8]) -> Option<u64>) -> Option<(u64, Option<u64>)> {
    if text.len() > MAX_BYTES {
        return None;
    }
    let text = c_string(text);
    let Some(dash) = text.iter().position(|byte| *byte == b'-') else {
        return Some((unsigned(text)?, None));
    };
    let (ms, number) = (unsigned(&text[..dash])?, &text[dash + 1..]);
    let number = other(number).or_else(|| unsigned(number))?;
    Some((ms, Some(number)))
}

/// A number without a sign. What is not written as Redis writes numbers is read as C's `strtoull` reads it: spaces and
/// a sign may come before it, and with a minus it counts from the upper end.
fn unsigned(text: &[u8]) -> Option<u64> {
    if let Some(number) = integer::parse(text) {
        return u64::try_from(number).ok();
    }
    let text = text.iter().position(|byte| !is_space(*byte)).map_or(text, |start| &text[start..]);
    let (is_negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    if !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number: u64 = std::str::from_utf8(digits).ok()?.parse().ok()?;
    Some(if is_negative { number.wrapping_neg() } else { number })
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}
