//! Counts, shares and sizes in words.
//!
//! Rates with intervals are worded by whoever computes them; these are the numbers beside them.

/// `1 run`, `2,000 runs`.
pub fn several(count: u64, what: &str) -> String {
    format!("{} {what}{}", group_digits(count), if count == 1 { "" } else { "s" })
}

/// `1,234,567`.
pub fn group_digits(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Units of size, the largest first, so that a size reads in the largest that divides it.
pub const SIZES: [(&str, u64); 7] = [
    ("GiB", 1 << 30),
    ("GB", 1_000_000_000),
    ("MiB", 1 << 20),
    ("MB", 1_000_000),
    ("KiB", 1 << 10),
    ("kB", 1_000),
    ("B", 1),
];

/// A size as a reader says it: `1 GiB`.
pub fn bytes(bytes: u64) -> String {
    let (unit, scale) = SIZES.into_iter().find(|(_, scale)| bytes.is_multiple_of(*scale)).unwrap_or(("B", 1));
    format!("{} {unit}", bytes / scale)
}

/// `1st`, `2nd`, `3rd`, `11th`.
pub fn ordinal(n: u32) -> String {
    let ending = match (n % 10, n % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{n}{ending}")
}

/// What is smaller is written with a power of ten.
const SMALLEST_PER_CENT: f64 = 1e-4;

/// A share of all: `12.3 %`, `0.6 %`, `4.3 × 10⁻⁶`.
pub fn share(value: f64) -> String {
    if is_small(value) { power(value) } else { format!("{} %", digits(value * 100.0)) }
}

/// True if a share, and so all beside it, is written with a power of ten.
pub fn is_small(value: f64) -> bool {
    value != 0.0 && value.abs() < SMALLEST_PER_CENT
}

/// A number with three digits that count: `1,230`, `12.3`, `0.0043`; `4.3 × 10⁻⁶` where zeros would hide it.
pub fn digits(value: f64) -> String {
    round_digits(value, 3)
}

/// With two digits, where there is little room.
pub fn end(value: f64) -> String {
    round_digits(value, 2)
}

fn round_digits(value: f64, count: usize) -> String {
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
    let whole = group_digits(whole.parse().unwrap_or(0));
    let rest = rest.trim_end_matches('0');
    let sign = if value < 0.0 { "−" } else { "" };
    if rest.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{rest}") }
}

/// `4.3 × 10⁻⁶`.
pub fn power(value: f64) -> String {
    let text = format!("{value:.1e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let raised = superscript(exponent.parse().unwrap_or(0));
    format!("{} × 10{raised}", mantissa.replace('-', "−"))
}

/// `⁻⁶`.
pub fn superscript(exponent: i32) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    exponent.to_string().chars().map(|c| c.to_digit(10).map_or('⁻', |digit| DIGITS[digit as usize])).collect()
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
}
