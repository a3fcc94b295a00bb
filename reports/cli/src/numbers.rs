//! Hints on the meaning of numbers as people type them (`1e6`, `10k`, `-1`) where a whole number in digits is wanted.
//!
//! For hints only: a number that is read in one way only can be compared with what a report says.

use std::num::ParseIntError;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use doublehold_text::shorten;

use crate::error::CliError;

/// A better refusal of an option's number than clap's, if there is one; `typed` is the whole command.
pub(crate) fn better_refusal(refusal: &clap::Error, typed: &[String]) -> Option<CliError> {
    let context = |kind| match refusal.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    match refusal.kind() {
        // `--seed -1` and `--for -5s`, in which clap sees a second option, `-1` and `-5`.
        ErrorKind::UnknownArgument => {
            let value = context(ContextKind::InvalidArg).filter(|value| is_negative(value))?;
            let place = typed.iter().position(|word| word.starts_with(value))?;
            let option = typed[..place].last().filter(|word| word.starts_with("--"))?;
            Some(below_zero(option, &typed[place]))
        }
        ErrorKind::ValueValidation => {
            let source = std::error::Error::source(refusal)?;
            source.downcast_ref::<ParseIntError>()?;
            let option = context(ContextKind::InvalidArg)?.split(' ').next()?;
            let value = context(ContextKind::InvalidValue)?;
            if is_negative(value) {
                return Some(below_zero(option, value));
            }
            let digits = to_digits(value)?;
            Some(CliError::Usage {
                problem: format!("`{option} {}`: numbers are written in digits", shorten(value)),
                hint: format!("did you mean `{option} {digits}`?"),
            })
        }
        _ => None,
    }
}

fn below_zero(option: &str, value: &str) -> CliError {
    CliError::Usage {
        problem: format!("`{option} {}` is below zero", shorten(value)),
        hint: format!("use a value from zero up: `{option} {}`", shorten(value.trim_start_matches('-'))),
    }
}

/// `-1`, `-5s`.
fn is_negative(text: &str) -> bool {
    text.strip_prefix('-').is_some_and(|rest| rest.starts_with(|letter: char| letter.is_ascii_digit()))
}

/// A number as it is to be written, if this one is written otherwise: with an exponent, a unit, or marks between its
/// digits. `1.000` is left alone: it is a thousand to some, and one to others.
pub(crate) fn to_digits(typed: &str) -> Option<u64> {
    let plain: String = typed.chars().filter(|letter| !matches!(letter, '_' | ',' | '\'' | ' ')).collect();
    let lower = plain.to_ascii_lowercase();
    let (figures, power) = match lower.strip_suffix(['k', 'm']) {
        Some(figures) => (figures, if lower.ends_with('k') { 3 } else { 6 }),
        None => match lower.split_once('e') {
            Some((figures, power)) => (figures, power.trim_start_matches('+').parse().ok()?),
            None => (lower.as_str(), 0),
        },
    };
    let (whole, fraction) = figures.split_once('.').unwrap_or((figures, ""));
    let is_other = plain != typed || power != 0 || lower.contains(['e', 'k', 'm']);
    let missing = usize::checked_sub(power, fraction.len())?;
    let digits = format!("{whole}{fraction}{}", "0".repeat(missing.min(20)));
    if !is_other || whole.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::to_digits;

    #[test]
    fn a_number_that_is_written_otherwise_is_told_in_digits() {
        let meant = [
            ("1e6", 1_000_000),
            ("1.5E3", 1_500),
            ("2e+2", 200),
            ("7e0", 7),
            ("1_000_000", 1_000_000),
            ("1,000", 1_000),
            ("10k", 10_000),
            ("2M", 2_000_000),
            ("1.5k", 1_500),
        ];
        for (typed, digits) in meant {
            assert_eq!(to_digits(typed), Some(digits), "{typed}");
        }
    }

    #[test]
    fn what_may_mean_two_things_or_nothing_is_left_alone() {
        for typed in ["1000", "1.000", "1.5", "1e99", "1.2345e2", "many", "k", "e", "", "-1", "0x10", "1e-3"]
        {
            assert_eq!(to_digits(typed), None, "{typed}");
        }
    }
}
