//! Numbers among a command's arguments, with the errors that Redis has for what is none.

use crate::core::errors;
use crate::resp::{double, integer, reply};

/// The error for a count that is negative.
pub(crate) const NOT_POSITIVE: &[u8] = b"ERR value is out of range, must be positive";

/// The number in `text` if it is at least `least`, or this error.
pub(crate) fn bounded_or_reply(text: &[u8], least: i64, error: &[u8], out: &mut Vec<u8>) -> Option<usize> {
    let value =
        integer::parse(text).filter(|value| *value >= least).and_then(|value| usize::try_from(value).ok());
    if value.is_none() {
        reply::error(out, error);
    }
    value
}

/// A count of 0 or more, or the error for it.
pub(crate) fn count_or_reply(text: &[u8], out: &mut Vec<u8>) -> Option<usize> {
    bounded_or_reply(text, 0, NOT_POSITIVE, out)
}

/// An integer whose sign can be turned, or the error for it.
pub(crate) fn signed_count_or_reply(text: &[u8], out: &mut Vec<u8>) -> Option<i64> {
    match integer::parse(text) {
        None => reply::error(out, errors::NOT_INTEGER),
        Some(i64::MIN) => {
            let (least, most) = (-i64::MAX, i64::MAX);
            let text = format!("ERR value is out of range, value must between {least} and {most}");
            reply::error(out, text.as_bytes());
        }
        Some(value) => return Some(value),
    }
    None
}

/// A number with or without a fraction, or this error.
pub(crate) fn double_or_reply(text: &[u8], error: &[u8], out: &mut Vec<u8>) -> Option<f64> {
    let value = double::parse(text);
    if value.is_none() {
        reply::error(out, error);
    }
    value
}

/// The places from `start` to `stop` in a row of so many, negative ones counted from its end. Empty where there are
/// none.
pub(crate) fn places(start: i64, stop: i64, len: usize) -> std::ops::Range<usize> {
    let absolute = |place: i64| if place < 0 { place.saturating_add_unsigned(len as u64) } else { place };
    let first = usize::try_from(absolute(start)).unwrap_or(0);
    let Ok(last) = usize::try_from(absolute(stop)) else { return 0..0 };
    if first > last || first >= len { 0..0 } else { first..last.saturating_add(1).min(len) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_within_the_row() {
        for (start, stop, expected) in [
            (0, -1, 0..3),
            (1, 1, 1..2),
            (-2, 100, 1..3),
            (-100, 0, 0..1),
            (2, 1, 0..0),
            (3, 5, 0..0),
            (0, -4, 0..0),
            (i64::MIN, i64::MAX, 0..3),
        ] {
            assert_eq!(places(start, stop, 3), expected, "{start} {stop}");
        }
        assert_eq!(places(0, -1, 0), 0..0);
    }
}
