//! What the values of a parameter are: durations, shares or other numbers, which have places on an axis, or words.

use crate::plots::{Quantity, Values};

/// All values of an axis, as typed.
pub(crate) fn values(typed: &[String]) -> Values {
    let all = |read: fn(&str) -> Option<f64>, quantity| {
        let numbers: Option<Vec<f64>> = typed.iter().map(|it| read(it.trim())).collect();
        numbers.map(|numbers| Values::Numbers(numbers, quantity))
    };
    all(duration, Quantity::Seconds)
        .or_else(|| all(ratio, Quantity::Share))
        .or_else(|| all(number, Quantity::Number))
        .unwrap_or_else(|| Values::Words(typed.to_vec()))
}

/// Seconds, from `150ms` or `-2s`.
pub(crate) fn duration(text: &str) -> Option<f64> {
    const UNITS: [(&str, f64); 7] =
        [("ns", 1e-9), ("us", 1e-6), ("µs", 1e-6), ("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("h", 3_600.0)];
    let end = text.find(|letter: char| letter.is_alphabetic())?;
    let (_, unit) = UNITS.into_iter().find(|(name, _)| *name == &text[end..])?;
    Some(number(&text[..end])? * unit)
}

/// `1/200`.
pub(crate) fn ratio(text: &str) -> Option<f64> {
    let (one, of) = text.split_once('/')?;
    let (one, of) = (number(one)?, number(of)?);
    (of > 0.0).then(|| one / of)
}

fn number(text: &str) -> Option<f64> {
    let plain = text.chars().all(|letter| letter.is_ascii_digit() || "+-._".contains(letter));
    text.replace('_', "").parse().ok().filter(|it: &f64| plain && it.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(typed: &[&str]) -> Values {
        values(&typed.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn durations_shares_and_numbers_have_places() {
        assert_eq!(of(&["500ms", "2s", "-1m"]), Values::Numbers(vec![0.5, 2.0, -60.0], Quantity::Seconds));
        assert_eq!(of(&["1/200", "0/1"]), Values::Numbers(vec![0.005, 0.0], Quantity::Share));
        assert_eq!(of(&["3", "1_000"]), Values::Numbers(vec![3.0, 1_000.0], Quantity::Number));
    }

    #[test]
    fn all_else_is_words() {
        for typed in
            [["true", "false"], ["1s", "1s..3s"], ["1s", "3"], ["{ median = \"1s\" }", "2s"], ["inf", "nan"]]
        {
            assert!(matches!(of(&typed), Values::Words(_)), "{typed:?}");
        }
    }
}
