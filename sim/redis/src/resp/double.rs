//! Floating-point numbers as Redis 7.0 reads and writes them: as C's `strtod` and `%.17g` do.

/// Reads a number as strictly as Redis reads an argument: nothing before it, nothing after it, no NaN, and not so large
/// or so small that a double cannot hold it.
pub fn parse(text: &[u8]) -> Option<f64> {
    if text.first().is_none_or(|byte| is_space(*byte)) {
        return None;
    }
    let (value, is_zero_spelled) = read(text)?;
    let overflowed = value.is_infinite() && !text.to_ascii_lowercase().windows(3).any(|part| part == b"inf");
    let underflowed = value == 0.0 && !is_zero_spelled;
    (!value.is_nan() && !overflowed && !underflowed).then_some(value)
}

/// Reads a bound of a range as Redis does: spaces may come before it, nothing at all is 0, and what is too large is
/// infinite.
pub fn parse_bound(text: &[u8]) -> Option<f64> {
    let text = text.split(|&byte| byte == 0).next().unwrap_or_default();
    if text.is_empty() {
        return Some(0.0);
    }
    let start = text.iter().position(|byte| !is_space(*byte))?;
    read(&text[start..]).map(|(value, _)| value).filter(|value| !value.is_nan())
}

/// A number and whether all its digits are 0.
fn read(text: &[u8]) -> Option<(f64, bool)> {
    let unsigned = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"+")).unwrap_or(text);
    if let [b'0', b'x' | b'X', digits @ ..] = unsigned {
        let (value, is_zero) = read_hex(digits)?;
        return Some((if text[0] == b'-' { -value } else { value }, is_zero));
    }
    let value = std::str::from_utf8(text).ok()?.parse().ok()?;
    let mantissa = unsigned.split(|byte| matches!(byte, b'e' | b'E')).next().unwrap_or_default();
    Some((value, mantissa.iter().all(|byte| matches!(byte, b'0' | b'.'))))
}

/// What follows `0x`: hexadecimal digits, perhaps with a point among them, perhaps with a power of two.
fn read_hex(text: &[u8]) -> Option<(f64, bool)> {
    let mut parts = text.splitn(2, |byte| matches!(byte, b'p' | b'P'));
    let mantissa = parts.next()?;
    let power: i64 = match parts.next() {
        None => 0,
        Some(power) => std::str::from_utf8(power).ok()?.parse().ok()?,
    };
    let (mut value, mut after_point, mut digits) = (0.0_f64, None, 0);
    for &byte in mantissa {
        match (byte, (byte as char).to_digit(16)) {
            (b'.', _) if after_point.is_none() => after_point = Some(0),
            (_, Some(digit)) => {
                value = value * 16.0 + f64::from(digit);
                digits += 1;
                after_point = after_point.map(|places| places + 1);
            }
            _ => return None,
        }
    }
    let power = power.saturating_sub(4 * after_point.unwrap_or(0)).clamp(-3000, 3000);
    (digits > 0).then(|| (value * 2f64.powi(power as i32), value == 0.0))
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// A number as Redis 7.0 writes it: with 17 significant digits at most.
pub fn text(value: f64) -> Vec<u8> {
    if value.is_infinite() {
        return if value > 0.0 { b"inf".to_vec() } else { b"-inf".to_vec() };
    }
    let scientific = format!("{value:.16e}");
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return scientific.into_bytes() };
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let without_zeros = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    let text = match exponent {
        -4..=16 => without_zeros(&format!("{value:.*}", (16 - exponent) as usize)),
        _ => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{}e{sign}{:02}", without_zeros(mantissa), exponent.abs())
        }
    };
    text.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_printf_writes_them() {
        for (value, expected) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (0.1, "0.10000000000000001"),
            (-2.5, "-2.5"),
            (1e16, "10000000000000000"),
            (1e17, "1e+17"),
            (123456789012345680.0, "1.2345678901234568e+17"),
            (0.0001, "0.0001"),
            (0.00001, "1.0000000000000001e-05"),
            (5e-324, "4.9406564584124654e-324"),
            (f64::MAX, "1.7976931348623157e+308"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(String::from_utf8(text(value)).unwrap(), expected);
        }
    }

    #[test]
    fn arguments_are_read_as_redis_reads_them() {
        for (text, expected) in [
            ("1", Some(1.0)),
            ("+5", Some(5.0)),
            ("-1.5e3", Some(-1500.0)),
            (".5", Some(0.5)),
            ("5.", Some(5.0)),
            ("0x10", Some(16.0)),
            ("-0x1.8p1", Some(-3.0)),
            ("inf", Some(f64::INFINITY)),
            ("-Infinity", Some(f64::NEG_INFINITY)),
            ("0e999", Some(0.0)),
            ("1e400", None),
            ("1e-400", None),
            ("nan", None),
            ("", None),
            (" 1", None),
            ("1 ", None),
            ("0x", None),
            ("e5", None),
            ("one", None),
        ] {
            assert_eq!(parse(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn bounds_are_read_as_c_reads_them() {
        let cases =
            [("", Some(0.0)), (" 7", Some(7.0)), ("1e400", Some(f64::INFINITY)), (" ", None), ("7 ", None)];
        for (text, expected) in cases {
            assert_eq!(parse_bound(text.as_bytes()), expected, "{text:?}");
        }
    }
}
