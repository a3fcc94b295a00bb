//! Where the keys of a command are among its words, as its documentation says.

use super::{Find, Keys, find_doc};
use crate::core::command::CommandSpec;

/// The keys of a command, as far as they are where they should be.
pub(crate) fn keys_of<'a>(spec: &CommandSpec, words: &[&'a [u8]]) -> Vec<&'a [u8]> {
    let places = find_doc(spec.full_name).map_or::<&[Keys], _>(&[], |(_, doc)| doc.keys);
    let places = places.iter().filter(|keys| keys.flags != "not_key");
    places.filter_map(|keys| keys_among(words, keys)).flatten().collect()
}

/// `None`: they would have to be where nothing is.
pub(crate) fn keys_among<'a>(words: &[&'a [u8]], keys: &Keys) -> Option<Vec<&'a [u8]>> {
    match keys.find {
        Find::One => Some(vec![*words.get(keys.begin)?]),
        Find::AllButLast => Some(words.get(keys.begin..words.len() - 1)?.to_vec()),
        Find::ToTheEnd { step } => Some(words.get(keys.begin..)?.iter().copied().step_by(step).collect()),
        Find::Counted => {
            let count = usize::try_from(c_atoi(words.get(keys.begin)?)).ok()?;
            let first = keys.begin + 1;
            Some(words.get(first..first.checked_add(count)?)?.to_vec())
        }
        Find::HalfBehind(word) => {
            let place = words.iter().position(|other| other.eq_ignore_ascii_case(word.as_bytes()))?;
            let rest = words.get(place + 1..)?;
            Some(rest[..rest.len() / 2].to_vec())
        }
        Find::Unknown { behind } => {
            Some(behind.and_then(|word| stored_at(words, word)).into_iter().collect())
        }
    }
}

/// What the last such word among SORT's options stands before. Options have arguments, which may be called so.
fn stored_at<'a>(words: &[&'a [u8]], word: &str) -> Option<&'a [u8]> {
    let (mut index, mut found) = (2, None);
    while let Some(option) = words.get(index) {
        index += match option.to_ascii_uppercase().as_slice() {
            b"LIMIT" => 3,
            b"GET" | b"BY" => 2,
            option => {
                found = words.get(index + 1).filter(|_| option == word.as_bytes()).or(found);
                1
            }
        };
    }
    found.copied()
}

/// C's `atoi`: as far as it is a number, cut to 32 bits.
fn c_atoi(text: &[u8]) -> i32 {
    let text = text.trim_ascii_start();
    let (is_negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    let digits = digits.iter().take_while(|byte| byte.is_ascii_digit());
    let number = digits.fold(0i64, |number, &digit| {
        let digit = i64::from(digit - b'0');
        // Towards the end that it has, as `strtol` does.
        let digit = if is_negative { -digit } else { digit };
        number.saturating_mul(10).saturating_add(digit)
    });
    number as i32
}
