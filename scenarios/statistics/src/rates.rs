//! Rates for readers: as many digits as are known, and no more.
//!
//! The last digit that is shown is the first of half the interval's width: `1.23 % (1.20 to 1.26 %)`. There are at
//! least two where that half is less than the rate, so that rounding does not hide which is higher: `6.0 % (4.1 to
//! 8.7 %)`. Small rates have a power of ten, the same one for all three numbers: `3.4 × 10⁻⁹ (2.9 to 4.0 × 10⁻⁹)`.

use doublehold_text::group_digits;
use doublehold_text::superscript;

use super::{Estimate, Interval, Reason, Unsupported};

/// What a number is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// A share of runs or grants, in per cent from 0.01 % on.
    Share,
    /// A number of events, such as those in an hour.
    Number,
    /// Either, with a power of ten whatever its size: for what stands beside others that need one.
    Powers,
}

impl Scale {
    /// The scale of numbers that stand in one column: powers of ten for all if any of them needs one.
    pub fn common_scale(self, mut sizes: impl Iterator<Item = f64>) -> Scale {
        let smallest = if self == Scale::Share { SMALLEST_SHARE } else { SMALLEST_NUMBER };
        if sizes.any(|size| size > 0.0 && size < smallest) { Scale::Powers } else { self }
    }
}

/// The smallest share and the smallest number that are written without a power of ten.
const SMALLEST_SHARE: f64 = 1e-4;
const SMALLEST_NUMBER: f64 = 1e-3;

/// A rate, or the difference of two, with its interval: `1.2 % (0.9 to 1.6 %)`.
///
/// ```
/// use doublehold_statistics::{Interval, Scale, rate_words};
///
/// let rate = rate_words(0.0123, Interval { low: 0.009, high: 0.0161 }, Scale::Share);
/// assert_eq!(rate, "1.2 % (0.9 to 1.6 %)");
/// let rate = rate_words(3.41e-9, Interval { low: 2.93e-9, high: 4.02e-9 }, Scale::Number);
/// assert_eq!(rate, "3.4 × 10⁻⁹ (2.9 to 4.0 × 10⁻⁹)");
/// ```
pub fn rate_words(value: f64, interval: Interval, scale: Scale) -> String {
    let (value, interval) = rate_parts(value, interval, scale);
    format!("{value} ({interval})")
}

/// The same in two: `1.2 %` and `0.9 to 1.6 %`.
pub fn rate_parts(value: f64, interval: Interval, scale: Scale) -> (String, String) {
    // An estimate near zero between wide ends has the unit of the ends.
    let unit = Unit::choose(value.abs().max(interval.width() / 10.0), scale);
    let half = interval.width() / 2.0;
    let last = magnitude(half * unit.factor);
    let second = magnitude(value * unit.factor) - 1;
    let known = if half < value.abs() { last.min(second) } else { last };
    let number = |value: f64| {
        let value = value * unit.factor;
        // A small end may have two digits more, so that it is not shown as zero.
        let first = if value == 0.0 { known } else { magnitude(value) };
        decimal(value, first.clamp(known - 2, known))
    };
    let [value, low, high] = [value, interval.low, interval.high].map(number);
    (format!("{value}{}", unit.words), format!("{low} to {high}{}", unit.words))
}

/// A rate of which only the ends are known, with the interval around both: `8 to 11 % (6 to 14 %)`.
///
/// ```
/// use doublehold_statistics::{Confidence, PartlyDecided, Scale, range_words};
///
/// let counted = PartlyDecided::new(80, 30, 1_000);
/// let (range, interval) = counted.range().zip(counted.exact(Confidence::P95)).expect("there were runs");
/// assert_eq!(range_words(range, interval, Scale::Share), "8 to 11 % (6 to 13 %)");
/// let counted = PartlyDecided::new(4, 1, 400);
/// let (range, interval) = counted.range().zip(counted.exact(Confidence::P95)).expect("there were runs");
/// assert_eq!(range_words(range, interval, Scale::Share), "1.0 to 1.2 % (0.3 to 2.9 %)");
/// ```
pub fn range_words(range: Interval, interval: Interval, scale: Scale) -> String {
    let (range, interval) = range_parts(range, interval, scale);
    format!("{range} ({interval})")
}

/// The same in two: `8 to 11 %` and `6 to 14 %`.
pub fn range_parts(range: Interval, interval: Interval, scale: Scale) -> (String, String) {
    let unit = Unit::choose(range.high.abs().max(interval.width() / 10.0), scale);
    // The digits that are known follow from how far the interval reaches beyond the ends.
    let beyond = (interval.width() - range.width()) / 2.0;
    let known = magnitude(beyond * unit.factor);
    let numbers = |known: i32| {
        [range.low, range.high, interval.low, interval.high].map(|value| {
            let value = value * unit.factor;
            let first = if value == 0.0 { known } else { magnitude(value) };
            decimal(value, first.clamp(known - 2, known))
        })
    };
    // A digit or two more where both ends would else be the same number, which says that nothing is open.
    let is_open = |[from, to, ..]: &[String; 4]| from != to;
    let digits = [known, known - 1, known - 2].map(numbers);
    let [from, to, low, high] = digits.iter().find(|it| is_open(it)).unwrap_or(&digits[0]);
    (format!("{from} to {to}{}", unit.words), format!("{low} to {high}{}", unit.words))
}

/// An estimate, or the bound or the range that stands for it: `at most 2 × 10⁻⁹`. It is `unknown` if nothing was run.
pub fn estimate_words(estimate: &Result<Estimate, Unsupported>, scale: Scale) -> String {
    match estimate {
        Ok(rate) => rate_words(rate.value, rate.interval, scale),
        Err(Unsupported { reason: Reason::Undecided { range, interval }, .. }) => {
            range_words(*range, *interval, scale)
        }
        Err(Unsupported { at_most: Some(bound), .. }) => bound_words(*bound, scale),
        Err(Unsupported { at_most: None, .. }) => "unknown".to_owned(),
    }
}

/// `at most 0.06 %`: two digits, rounded up, since what is rounded down is no bound.
pub fn bound_words(bound: f64, scale: Scale) -> String {
    let unit = Unit::choose(bound, scale);
    let bound = bound * unit.factor;
    let last = magnitude(bound) - 1;
    let place = 10_f64.powi(last);
    // A hair less, so that 0.06 does not become 0.061 for the last bit of a product.
    let up = decimal((bound / place * (1.0 - 1e-12)).ceil() * place, last);
    let up = if up.contains('.') { up.trim_end_matches('0').trim_end_matches('.') } else { &up };
    format!("at most {up}{}", unit.words)
}

/// What a number is multiplied with, and what then follows it.
struct Unit {
    factor: f64,
    words: String,
}

impl Unit {
    fn choose(size: f64, scale: Scale) -> Unit {
        match scale {
            Scale::Share if size >= SMALLEST_SHARE || size == 0.0 => {
                Unit { factor: 100.0, words: " %".to_owned() }
            }
            Scale::Number if size >= SMALLEST_NUMBER || size == 0.0 => {
                Unit { factor: 1.0, words: String::new() }
            }
            _ => {
                let exponent = magnitude(size);
                if exponent == 0 {
                    return Unit { factor: 1.0, words: String::new() };
                }
                Unit { factor: 10_f64.powi(-exponent), words: format!(" × 10{}", superscript(exponent)) }
            }
        }
    }
}

/// The exponent of a number's first digit, once it is rounded to four; of zero, that of one. From its decimal form,
/// which is the same on every machine, as a logarithm need not be.
fn magnitude(number: f64) -> i32 {
    let decimal = format!("{number:.3e}");
    decimal.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0)
}

/// With its last digit at this power of ten. Digits before the point that are not known are zeros, and thousands are
/// apart.
fn decimal(number: f64, last: i32) -> String {
    let place = 10_f64.powi(last.max(0));
    let digits = format!(
        "{:.*}",
        (-last).max(0) as usize,
        if last > 0 { (number.abs() / place).round() * place } else { number.abs() }
    );
    let (whole, part) = digits.split_once('.').unwrap_or((&digits, ""));
    let whole = whole.parse().map_or_else(|_| whole.to_owned(), group_digits);
    let digits = if part.is_empty() { whole } else { format!("{whole}.{part}") };
    let is_zero = digits.bytes().all(|digit| matches!(digit, b'0' | b'.'));
    if number < 0.0 && !is_zero { format!("−{digits}") } else { digits }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_has_powers_of_ten_if_any_number_in_it_is_small_and_none_at_all_is_not() {
        for (scale, smallest) in [(Scale::Share, SMALLEST_SHARE), (Scale::Number, SMALLEST_NUMBER)] {
            let beside = |sizes: &[f64]| scale.common_scale(sizes.iter().copied());
            assert_eq!([beside(&[]), beside(&[0.0, 0.5]), beside(&[smallest])], [scale; 3]);
            assert_eq!(beside(&[0.5, smallest * 0.999]), Scale::Powers);
        }
    }
}
