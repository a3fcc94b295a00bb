//! Numbers as C's `strtod` reads them from the beginning of a text.

/// The number at the beginning of the text, and how many bytes it has; `None` if there is none.
pub(super) fn read(text: &[u8]) -> Option<(f64, usize)> {
    let sign = usize::from(matches!(text.first(), Some(b'+' | b'-')));
    let (number, length) = parse_unsigned(&text[sign..])?;
    let number = if text[0] == b'-' { -number } else { number };
    Some((number, sign + length))
}

fn parse_unsigned(text: &[u8]) -> Option<(f64, usize)> {
    let begins = |word: &[u8]| text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    if begins(b"infinity") {
        return Some((f64::INFINITY, 8));
    }
    if begins(b"inf") {
        return Some((f64::INFINITY, 3));
    }
    if begins(b"nan") {
        return Some((f64::NAN, 3 + parenthesis(&text[3..])));
    }
    if begins(b"0x")
        && let Some((number, length)) = hexadecimal(&text[2..])
    {
        return Some((number, 2 + length));
    }
    let digits = mantissa(text, 10)?;
    let length = digits + exponent(&text[digits..], b'e');
    let number = std::str::from_utf8(&text[..length]).ok()?.parse().ok()?;
    Some((number, length))
}

/// The length of what may stand behind `nan`.
fn parenthesis(text: &[u8]) -> usize {
    if text.first() != Some(&b'(') {
        return 0;
    }
    let inside = text[1..].iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    if text.get(1 + inside) == Some(&b')') { inside + 2 } else { 0 }
}

/// The length of digits with at most one point among them.
fn mantissa(text: &[u8], base: u32) -> Option<usize> {
    let (mut length, mut digits, mut point) = (0, 0, false);
    for &byte in text {
        if char::from(byte).is_digit(base) {
            digits += 1;
        } else if byte == b'.' && !point {
            point = true;
        } else {
            break;
        }
        length += 1;
    }
    (digits > 0).then_some(length)
}

/// The length of an exponent, if it has digits.
fn exponent(text: &[u8], mark: u8) -> usize {
    if !text.first().is_some_and(|first| first.eq_ignore_ascii_case(&mark)) {
        return 0;
    }
    let sign = usize::from(matches!(text.get(1), Some(b'+' | b'-')));
    match text[1 + sign..].iter().take_while(|byte| byte.is_ascii_digit()).count() {
        0 => 0,
        digits => 1 + sign + digits,
    }
}

fn hexadecimal(text: &[u8]) -> Option<(f64, usize)> {
    let length = mantissa(text, 16)?;
    let behind = exponent(&text[length..], b'p');
    // 60 bits, of which the last one says whether anything but zeros follows: more than a double's 53.
    let (mut bits, mut power, mut point) = (0_u64, 0_i64, false);
    for &byte in &text[..length] {
        let Some(digit) = char::from(byte).to_digit(16) else {
            point = true;
            continue;
        };
        if bits >> 60 == 0 {
            bits = bits << 4 | u64::from(digit);
            power -= 4 * i64::from(point);
        } else {
            bits |= u64::from(digit != 0);
            power += 4 * i64::from(!point);
        }
    }
    if behind > 0 {
        let written = std::str::from_utf8(&text[length + 1..length + behind]).unwrap_or_default();
        let far = if written.starts_with('-') { -100_000 } else { 100_000 };
        power += written.parse::<i64>().map_or(far, |power| power.clamp(-100_000, 100_000));
    }
    Some((scale_bits(bits, power), length + behind))
}

/// `bits * 2^power`, rounded once.
fn scale_bits(bits: u64, power: i64) -> f64 {
    if bits == 0 {
        return 0.0;
    }
    let size = i64::from(u64::BITS - bits.leading_zeros()) + power;
    // A double has 53 bits, and fewer near zero.
    let kept = (size + 1074).clamp(0, 53);
    let drop = size - power - kept;
    let (whole, power) = match u32::try_from(drop) {
        Ok(drop @ 1..) => {
            let whole = bits.checked_shr(drop).unwrap_or(0);
            let rest = bits ^ whole.checked_shl(drop).unwrap_or(0);
            let half = 1_u64.checked_shl(drop - 1).unwrap_or(u64::MAX);
            let up = rest > half || (rest == half && whole & 1 == 1);
            (whole + u64::from(up), power + i64::from(drop))
        }
        _ => (bits, power),
    };
    // Exact: a power of two beyond what a double holds takes two steps.
    let power = power.clamp(-2_200, 2_200) as i32;
    whole as f64 * 2_f64.powi(power / 2) * 2_f64.powi(power - power / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_far_as_they_go() {
        let cases = [
            ("12]", 12.0, 2),
            ("-0.5e1x", -5.0, 6),
            ("1e+", 1.0, 1),
            ("0x", 0.0, 1),
            ("0x1.8p1", 3.0, 7),
            ("0x1p", 1.0, 3),
            ("1.", 1.0, 2),
            ("infinit", f64::INFINITY, 3),
            ("0x1p-1074", 5e-324, 9),
            ("0x1p-1075", 0.0, 9),
            ("0x1.8p-1074", 1e-323, 11),
            ("0x1.fffffffffffff8p1023", f64::INFINITY, 23),
            ("0x1.fffffffffffff7ffffffp1023", f64::MAX, 29),
        ];
        for (text, number, length) in cases {
            assert_eq!(read(text.as_bytes()), Some((number, length)), "{text}");
        }
        assert_eq!(read(b"nan(a_1)").map(|(number, length)| (number.is_nan(), length)), Some((true, 8)));
        assert_eq!(read(b"-nan(a").map(|(_, length)| length), Some(4));
        for text in ["", "-", ".", "e1", "x"] {
            assert_eq!(read(text.as_bytes()), None, "{text}");
        }
    }
}
