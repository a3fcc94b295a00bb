//! How numbers are written on a page: rates, counts, durations. Pure.
//!
//! Rates with intervals are worded by `statistics`; these are the numbers beside them, with three digits.

use crate::findings::grouped;
use crate::statistics::superscript;

/// What is smaller is written with a power of ten.
const SMALLEST_PER_CENT: f64 = 1e-4;

/// A share of all: `12.3 %`, `0.6 %`, `4.3 × 10⁻⁶`.
pub(crate) fn share(value: f64) -> String {
    if is_small(value) { power(value) } else { format!("{} %", digits(value * 100.0)) }
}

/// True if a share, and so all beside it, is written with a power of ten.
pub(crate) fn is_small(value: f64) -> bool {
    value != 0.0 && value.abs() < SMALLEST_PER_CENT
}

/// A number with three digits that count: `1,230`, `12.3`, `0.0043`; `4.3 × 10⁻⁶` where zeros would hide it.
pub(crate) fn digits(value: f64) -> String {
    rounded(value, 3)
}

/// With two digits, where there is little room.
pub(crate) fn end(value: f64) -> String {
    rounded(value, 2)
}

fn rounded(value: f64, count: usize) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    // Rounded before anything is decided by its size: 99.96 is 100.
    let size: f64 = format!("{:.*e}", count - 1, value.abs()).parse().unwrap_or(value.abs());
    if !(1e-3..1e15).contains(&size) {
        return power(value);
    }
    let decimals = (count as i32 - 1 - size.log10().floor() as i32).max(0) as usize;
    let text = format!("{size:.decimals$}");
    let (whole, rest) = text.split_once('.').unwrap_or((&text, ""));
    let whole = grouped(whole.parse().unwrap_or(0));
    let rest = rest.trim_end_matches('0');
    let sign = if value < 0.0 { "−" } else { "" };
    if rest.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{rest}") }
}

/// `4.3 × 10⁻⁶`.
pub(crate) fn power(value: f64) -> String {
    let text = format!("{value:.1e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let raised = superscript(exponent.parse().unwrap_or(0));
    format!("{} × 10{raised}", mantissa.replace('-', "−"))
}

/// A length of time: `1.52 s`, `31.7 ms`, `12 min`.
pub(crate) fn seconds(value: f64) -> String {
    seconds_beside(value, value)
}

/// The same in the unit of the largest of a column or an axis: `0.0317 s` beside `1.52 s`.
pub(crate) fn seconds_beside(value: f64, largest: f64) -> String {
    let (length, unit) = match largest.abs() {
        0.0 => (1.0, "s"),
        size if size < 1e-6 => (1e-9, "ns"),
        size if size < 1e-3 => (1e-6, "µs"),
        size if size < 1.0 => (1e-3, "ms"),
        size if size < 600.0 => (1.0, "s"),
        size if size < 7_200.0 => (60.0, "min"),
        size if size < 172_800.0 => (3_600.0, "h"),
        _ => (86_400.0, "d"),
    };
    format!("{} {unit}", digits(value / length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_per_cent_or_a_power_of_ten() {
        let cases = [
            (0.0, "0 %"),
            (1.0, "100 %"),
            (0.1234, "12.3 %"),
            (0.006, "0.6 %"),
            (0.000_123, "0.0123 %"),
            (4.34e-6, "4.3 × 10⁻⁶"),
            (1e-12, "1.0 × 10⁻¹²"),
        ];
        for (value, expected) in cases {
            assert_eq!(share(value), expected);
        }
    }

    #[test]
    fn three_digits_count_and_thousands_are_apart() {
        let cases = [
            (0.0, "0"),
            (15_411.0, "15,400"),
            (99.96, "100"),
            (0.004_321, "0.00432"),
            (12.0, "12"),
            (-1.5, "−1.5"),
        ];
        for (value, expected) in cases {
            assert_eq!(digits(value), expected, "{value}");
        }
        assert_eq!((end(15_411.0).as_str(), end(0.6).as_str()), ("15,000", "0.6"));
    }

    #[test]
    fn a_length_of_time_has_the_unit_that_fits() {
        let cases = [
            (0.0, "0 s"),
            (0.000_000_25, "250 ns"),
            (0.0317, "31.7 ms"),
            (1.523, "1.52 s"),
            (720.0, "12 min"),
            (10_800.0, "3 h"),
        ];
        for (value, expected) in cases {
            assert_eq!(seconds(value), expected);
        }
    }
}
