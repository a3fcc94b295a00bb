//! The numbers that INCRBYFLOAT and HINCRBYFLOAT calculate with: C's `long double` on x86, the x87's 80 bits with a
//! mantissa of 64.
//!
//! Read as glibc's `strtold` reads them, added as the processor adds them, printed as `%.17Lf` prints them, each
//! rounded once to the nearest and to even. Not modelled: NaN, which no command stores, and the sign of zero, which
//! none prints.

mod natural;

use natural::Natural;

/// Bits of a mantissa.
const BITS: u32 = 64;
/// Exponents of a mantissa that is a whole number: that of the smallest denormal, and of the greatest number.
const MIN_EXPONENT: i32 = -16_445;
const MAX_EXPONENT: i32 = 16_320;
/// A text of so many bytes is no number to Redis.
const LONGEST_TEXT: usize = 5 * 1024;
/// Powers of ten beyond which nothing is left but infinity or zero.
const FAR: i64 = 5_100;
/// Digits behind the point that are printed, and ten to the power of them.
const DECIMALS: usize = 17;
const SCALE: u128 = 100_000_000_000_000_000;

/// A number that is not NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LongDouble {
    Finite(Finite),
    Infinite { negative: bool },
}

/// `mantissa * 2^exponent`. The mantissa's highest bit is set, unless the number is zero or denormal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Finite {
    negative: bool,
    mantissa: u64,
    exponent: i32,
}

impl LongDouble {
    pub(crate) const ZERO: LongDouble =
        LongDouble::Finite(Finite { negative: false, mantissa: 0, exponent: MIN_EXPONENT });

    /// The number that the whole text is, in decimal, hexadecimal or as `inf`. `None`: it is none to Redis, is NaN, or
    /// is too large or too small.
    pub(crate) fn parse(text: &[u8]) -> Option<LongDouble> {
        if text.len() >= LONGEST_TEXT {
            return None;
        }
        let (negative, rest) = match text.split_first()? {
            (b'-', rest) => (true, rest),
            (b'+', rest) => (false, rest),
            _ => (false, text),
        };
        if rest.eq_ignore_ascii_case(b"inf") || rest.eq_ignore_ascii_case(b"infinity") {
            return Some(LongDouble::Infinite { negative });
        }
        let has_prefix = rest.get(..2).is_some_and(|prefix| prefix.eq_ignore_ascii_case(b"0x"));
        let read =
            if has_prefix { Digits::read(&rest[2..], 16, b'p')? } else { Digits::read(rest, 10, b'e')? };
        let number = if has_prefix { hexadecimal(negative, &read) } else { decimal(negative, &read) };
        match number {
            LongDouble::Infinite { .. } => None,
            LongDouble::Finite(number) if number.mantissa == 0 && !read.is_zero() => None,
            number => Some(number),
        }
    }

    pub(crate) fn is_finite(self) -> bool {
        matches!(self, LongDouble::Finite(_))
    }

    /// The sum of two numbers, if that is a number.
    pub(crate) fn plus(self, other: LongDouble) -> Option<Finite> {
        let (LongDouble::Finite(a), LongDouble::Finite(b)) = (self, other) else { return None };
        let (high, low) = if (a.exponent, a.mantissa) >= (b.exponent, b.mantissa) { (a, b) } else { (b, a) };
        let distance = high.exponent.abs_diff(low.exponent);
        // As far up as 128 bits allow with a carry; what is lost of the other one then lies far below the rounding.
        let up = distance.min(62);
        let down = distance - up;
        let (upper, lower) = (u128::from(high.mantissa) << up, u128::from(low.mantissa));
        let kept = lower.checked_shr(down).unwrap_or(0);
        let lost = kept.checked_shl(down).unwrap_or(0) != lower;
        let exponent = high.exponent - up.cast_signed();
        let sum = match high.negative == low.negative {
            true => round_nearest(high.negative, upper + kept, lost, exponent),
            false if kept > upper => round_nearest(low.negative, kept - upper, lost, exponent),
            false => round_nearest(high.negative, upper - kept - u128::from(lost), lost, exponent),
        };
        match sum {
            LongDouble::Finite(sum) => Some(sum),
            LongDouble::Infinite { .. } => None,
        }
    }
}

impl Finite {
    /// The number as Redis stores it: 17 decimals, without the zeros at their end.
    pub(crate) fn text(self) -> String {
        let (whole, decimals) = match u32::try_from(self.exponent) {
            Ok(exponent) => (Natural::from(u128::from(self.mantissa)).shifted_up(exponent).to_string(), 0),
            Err(_) => {
                let scaled = u128::from(self.mantissa) * SCALE;
                let scaled = halves_to_even(scaled, self.exponent.unsigned_abs(), false);
                ((scaled / SCALE).to_string(), scaled % SCALE)
            }
        };
        let decimals = format!("{decimals:0DECIMALS$}");
        let decimals = decimals.trim_end_matches('0');
        let sign = if self.negative && !(whole == "0" && decimals.is_empty()) { "-" } else { "" };
        let point = if decimals.is_empty() { "" } else { "." };
        format!("{sign}{whole}{point}{decimals}")
    }
}

/// Digits of a number before they are one.
struct Digits {
    base: u32,
    /// Without the point, and without zeros in front.
    digits: Vec<u8>,
    /// Of the base, of the last digit.
    exponent: i64,
    /// Of what stands behind the `e` or the `p`.
    written_exponent: i64,
}

impl Digits {
    fn read(text: &[u8], base: u32, exponent_mark: u8) -> Option<Digits> {
        let (mut digits, mut exponent, mut point, mut any) = (Vec::new(), 0, false, false);
        let mut at = 0;
        while let Some(&byte) = text.get(at) {
            match char::from(byte).to_digit(base) {
                Some(digit) => {
                    any = true;
                    exponent -= i64::from(point);
                    if digit != 0 || !digits.is_empty() {
                        digits.push(digit as u8);
                    }
                }
                None if byte == b'.' && !point => point = true,
                None => break,
            }
            at += 1;
        }
        let rest = text.get(at..).filter(|_| any)?;
        let written_exponent = match rest.split_first() {
            None => 0,
            Some((mark, written)) if mark.eq_ignore_ascii_case(&exponent_mark) => read_exponent(written)?,
            Some(_) => return None,
        };
        Some(Digits { base, digits, exponent, written_exponent })
    }

    fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    fn value(&self) -> Natural {
        let mut value = Natural::from(0);
        self.digits.iter().for_each(|&digit| value.multiply_and_add(self.base, u32::from(digit)));
        value
    }
}

/// The exponent that the text is. One that no number has is as good as any other beyond.
fn read_exponent(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text.split_first()? {
        (b'-', digits) => (true, digits),
        (b'+', digits) => (false, digits),
        _ => (false, text),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let add = |sum: i64, digit: &u8| (sum * 10 + i64::from(digit - b'0')).min(1_000_000);
    let size = digits.iter().fold(0, add);
    Some(if negative { -size } else { size })
}

fn decimal(negative: bool, read: &Digits) -> LongDouble {
    let exponent = read.exponent + read.written_exponent;
    let size = read.digits.len() as i64 + exponent;
    if read.is_zero() || size < -FAR {
        return LongDouble::ZERO;
    }
    if size > FAR {
        return LongDouble::Infinite { negative };
    }
    let mut value = read.value();
    let ten_to = |power: i64| {
        let mut product = Natural::from(1);
        (0..power).for_each(|_| product.multiply_and_add(10, 0));
        product
    };
    if exponent >= 0 {
        (0..exponent).for_each(|_| value.multiply_and_add(10, 0));
        let (top, dropped, exponent) = value.top();
        return round_nearest(negative, top, dropped, exponent);
    }
    let divisor = ten_to(-exponent);
    let (quotient, has_rest, exponent) = value.divided_by(divisor);
    round_nearest(negative, quotient, has_rest, exponent)
}

fn hexadecimal(negative: bool, read: &Digits) -> LongDouble {
    if read.is_zero() {
        return LongDouble::ZERO;
    }
    let (top, dropped, exponent) = read.value().top();
    let exponent = i64::from(exponent) + 4 * read.exponent + read.written_exponent;
    // Far beyond both ends; what is rounded need not know how far.
    let exponent = exponent.clamp(-100_000, 100_000) as i32;
    round_nearest(negative, top, dropped, exponent)
}

/// The number nearest to `mantissa * 2^exponent`, or to a little more if `more`.
fn round_nearest(negative: bool, mantissa: u128, more: bool, exponent: i32) -> LongDouble {
    let bits = u128::BITS - mantissa.leading_zeros();
    let too_long = bits.cast_signed() - BITS.cast_signed();
    // A positive number of bits to drop, or one of zeros that are missing.
    let drop = too_long.max(MIN_EXPONENT - exponent);
    let (mut mantissa, mut exponent) = match u32::try_from(drop) {
        Ok(drop) => (halves_to_even(mantissa, drop, more), exponent + drop.cast_signed()),
        Err(_) => (mantissa << drop.unsigned_abs(), exponent + drop),
    };
    if mantissa >> BITS != 0 {
        mantissa >>= 1;
        exponent += 1;
    }
    match u64::try_from(mantissa) {
        Ok(0) => LongDouble::ZERO,
        Ok(mantissa) if exponent <= MAX_EXPONENT => {
            LongDouble::Finite(Finite { negative, mantissa, exponent })
        }
        _ => LongDouble::Infinite { negative },
    }
}

/// `number / 2^bits`, or a little more if `more`, rounded to the nearest whole number and to an even one between two.
fn halves_to_even(number: u128, bits: u32, more: bool) -> u128 {
    if bits == 0 {
        return number;
    }
    let whole = number.checked_shr(bits).unwrap_or(0);
    let rest = number ^ whole.checked_shl(bits).unwrap_or(0);
    let Some(half) = 1_u128.checked_shl(bits - 1) else { return whole };
    let up = rest > half || (rest == half && (more || whole & 1 == 1));
    whole + u128::from(up)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(a: &str, b: &str) -> Option<String> {
        LongDouble::parse(a.as_bytes())?.plus(LongDouble::parse(b.as_bytes())?).map(Finite::text)
    }

    /// Recorded from Redis 7.0.15 on an x86-64.
    const SUMS: &[(&str, &str, &str)] = &[
        ("10.50", "0.1", "10.6"),
        ("5.0e3", "2.0e2", "5200"),
        ("0.1", "0.2", "0.3"),
        ("-0", "0", "0"),
        ("1", "-1", "0"),
        ("0x1.8p3", "-0x.8", "11.5"),
        ("9223372036854775807", "0.5", "9223372036854775807.5"),
        ("18446744073709551615", "0.5", "18446744073709551616"),
        ("18446744073709551616", "1", "18446744073709551616"),
        ("18446744073709551616", "1.5", "18446744073709551618"),
        ("36893488147419103232", "2.00000001", "36893488147419103236"),
        ("1e-18", "4e-18", "0"),
        ("5e-18", "1e-19", "0.00000000000000001"),
        ("3.6e-4951", "0", "0"),
        ("-1e300", "1e300", "0"),
        ("1e20", "-1e-20", "100000000000000000000"),
        ("1e20", "-9", "99999999999999999992"),
        ("1.7", "-1.65", "0.05"),
        ("1e25", "0", "10000000000000000000000000"),
        ("12345.6789e-2", "-1e-17", "123.45678899999999999"),
        ("5000", "85.024369", "5085.02436900000000009"),
    ];

    #[test]
    fn sums_are_those_of_a_real_redis() {
        for (a, b, expected) in SUMS {
            assert_eq!(sum(a, b).as_deref(), Some(*expected), "{a} + {b}");
        }
    }

    #[test]
    fn the_ends_of_the_range_are_where_those_of_the_processor_are() {
        let is_number = |text: &str| LongDouble::parse(text.as_bytes()).is_some();
        // The smallest denormal is 2^-16445, or 3.645e-4951; half of it, which is between two, becomes zero.
        assert!(is_number("3.65e-4951") && is_number("1.83e-4951") && is_number("0x1p-16445"));
        assert!(!is_number("1.82e-4951") && !is_number("0x1p-16446") && !is_number("1e-99999999999"));
        assert!(is_number("1.1897314953572317650e4932") && is_number("0x1.fffffffffffffffep16383"));
        assert!(!is_number("1.1897314953572317651e4932") && !is_number("0x1.ffffffffffffffffp16383"));
        assert_eq!(sum("1.1897314953572317650e4932", "1e4932"), None, "the sum is infinite");
    }

    #[test]
    fn what_is_no_number_to_redis_is_none() {
        for text in
            ["", "+", ".", "e5", "1e", "1e+", " 1", "1 ", "1\0", "0x", "0x1p", "nan", "infin", "--1", "1_0"]
        {
            assert!(LongDouble::parse(text.as_bytes()).is_none(), "{text:?}");
        }
        assert!(LongDouble::parse("1".repeat(LONGEST_TEXT).as_bytes()).is_none(), "Redis' buffer is shorter");
        for text in ["1.", ".5", "0e99999999999", "+InFiNiTy", "0X.8P-3"] {
            assert!(LongDouble::parse(text.as_bytes()).is_some(), "{text:?}");
        }
    }
}
