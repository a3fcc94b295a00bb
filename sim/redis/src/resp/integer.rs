//! Integers as Redis reads and writes them.

/// Reads a decimal `i64` as strictly as Redis: no spaces, no `+`, no leading zeros, no `-0`.
pub fn parse(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    match digits {
        [b'0'] if !negative => return Some(0),
        [b'1'..=b'9', ..] if digits.len() <= 19 => {}
        _ => return None,
    }
    let mut magnitude: u64 = 0;
    for &digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        // 19 digits stay below 10^19 < 2^64.
        magnitude = magnitude * 10 + u64::from(digit - b'0');
    }
    if negative { 0i64.checked_sub_unsigned(magnitude) } else { i64::try_from(magnitude).ok() }
}

/// Appends `value` in decimal.
pub fn write(out: &mut Vec<u8>, value: i64) {
    match value {
        0..=9 => out.push(b'0' + value as u8),
        10..=99 => out.extend_from_slice(&[b'0' + value as u8 / 10, b'0' + value as u8 % 10]),
        _ => out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_the_canonical_spelling() {
        for value in [0, 9, 10, -1, -9, -10, 20, 1000, i64::MAX, i64::MIN] {
            let mut out = b"$".to_vec();
            write(&mut out, value);
            assert_eq!(out, format!("${value}").as_bytes());
        }
    }

    #[test]
    fn only_the_canonical_spelling_of_an_integer_is_one() {
        for text in ["0", "1", "-1", "9223372036854775807", "-9223372036854775808", "10"] {
            assert_eq!(parse(text.as_bytes()), text.parse().ok(), "{text}");
        }
        for text in
            ["", "-", "-0", "01", "+1", " 1", "1 ", "1.0", "x", "9223372036854775808", "-9223372036854775809"]
        {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
        assert_eq!(parse(b"99999999999999999999999"), None);
    }
}
