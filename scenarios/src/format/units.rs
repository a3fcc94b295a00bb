//! Texts with units: durations, delay laws, rates. Exact integer arithmetic, so that a file means the same everywhere.
//!
//! A day has 24 hours and a year 365 days here: they are lengths, not dates.

use std::time::Duration;

use doublehold_sim::{DelayLaw, RatePpb};
use doublehold_text::{SIZES, file_duration, signed_file_duration};

/// The longest duration a scenario may name. Ten years of true time are far beyond any lease, and far from overflow.
pub(crate) const LONGEST: Duration = Duration::from_secs(10 * 365 * 24 * 3600);
const LONGEST_HINT: &str =
    "use at most \"10y\", which is \"87600h\": no lease is longer, and sums stay in range";
/// The furthest a clock may be wrong. Wall clocks hold ±292 years around 1970, and runs begin in the present.
const FURTHEST_NS: u128 = 100 * 365 * 24 * 3600 * 1_000_000_000;
const FURTHEST_HINT: &str =
    "use at most \"100y\", which is \"876000h\": wall clocks hold no more than 292 years around 1970";

pub(crate) const UNITS_HINT: &str = "the units are `ns`, `us`, `ms`, `s`, `m`, `h`, `d` and `y`";
pub(crate) const BYTES_HINT: &str = "the units are `B`, `kB`, `MB`, `GB`, `KiB`, `MiB` and `GiB`";
pub(crate) const LAW_HINT: &str =
    "write \"2ms\", \"1ms..5ms\", { median = \"2ms\", sigma = \"1/2\" } or a list of quantiles";
pub(crate) const RATE_HINT: &str = "write \"1/100\" for 1 % fast, \"-1/100\" for 1 % slow, or \"200ppm\"";

const UNITS: [(&str, u128); 9] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60 * 1_000_000_000),
    ("h", 3_600 * 1_000_000_000),
    ("d", 24 * 3_600 * 1_000_000_000),
    ("y", 365 * 24 * 3_600 * 1_000_000_000),
];

/// Why a text is not what it should be: what to say between the key's name and the text, and the way out.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) cause: &'static str,
    pub(crate) hint: &'static str,
}

const NOT_A_DURATION: Refusal =
    Refusal { cause: "must be a duration such as \"2.5s\", not", hint: UNITS_HINT };

/// Reads a duration: a decimal number and a unit.
pub(crate) fn duration(text: &str) -> Result<Duration, Refusal> {
    let text = text.trim();
    if text.starts_with('-') && nanoseconds(&text[1..]).is_ok() {
        return Err(Refusal { cause: "must not be negative:", hint: "use a duration from \"0s\" up" });
    }
    let ns = nanoseconds(text)?;
    match u64::try_from(ns).map(Duration::from_nanos) {
        Ok(duration) if duration <= LONGEST => Ok(duration),
        _ => Err(Refusal { cause: "is longer than ten years:", hint: LONGEST_HINT }),
    }
}

/// Reads a duration that may have a sign, in nanoseconds.
pub(crate) fn signed_duration_ns(text: &str) -> Result<i64, Refusal> {
    let text = text.trim();
    let (negative, size) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let ns = nanoseconds(size)?;
    match i64::try_from(ns) {
        Ok(ns) if ns as u128 <= FURTHEST_NS => Ok(if negative { -ns } else { ns }),
        _ => Err(Refusal { cause: "is further than 100 years:", hint: FURTHEST_HINT }),
    }
}

/// Reads a fixed delay or a uniform one, `1ms..5ms`.
pub(crate) fn law(text: &str) -> Result<DelayLaw, Refusal> {
    let Some((min, max)) = text.split_once("..") else {
        return duration(text).map(DelayLaw::Fixed).map_err(|refusal| Refusal {
            hint: if refusal == NOT_A_DURATION { LAW_HINT } else { refusal.hint },
            ..refusal
        });
    };
    let (min, max) = (duration(min)?, duration(max)?);
    if min > max {
        return Err(Refusal { cause: "must name the shorter one first:", hint: "write it as \"1ms..5ms\"" });
    }
    Ok(DelayLaw::Uniform { min, max })
}

/// Reads a rate error: a ratio with a sign, or parts per million.
pub(crate) fn rate(text: &str) -> Option<RatePpb> {
    let text = text.trim();
    let (numerator, denominator) = match text.strip_suffix("ppm") {
        Some(ppm) => (ppm.trim().parse::<i64>().ok()?, 1_000_000),
        None => ratio(text)?,
    };
    let ppb = i128::from(numerator) * 1_000_000_000 / i128::from(denominator);
    let within = i128::from(RatePpb::SLOWEST.0)..=i128::from(RatePpb::FASTEST.0);
    within.contains(&ppb).then(|| i64::try_from(ppb).ok().map(RatePpb)).flatten()
}

/// Reads the standard deviation of a logarithm, in thousandths. Beyond 2, six deviations are more than a hundred
/// thousand medians, which is no network.
pub(crate) fn sigma_milli(text: &str) -> Option<u32> {
    let (numerator, denominator) = ratio(text.trim())?;
    let milli = u32::try_from(i128::from(numerator) * 1000 / i128::from(denominator)).ok()?;
    (milli <= 2000).then_some(milli)
}

fn ratio(text: &str) -> Option<(i64, i64)> {
    let (numerator, denominator) = text.split_once('/')?;
    let (numerator, denominator) = (numerator.trim().parse().ok()?, denominator.trim().parse().ok()?);
    (denominator > 0).then_some((numerator, denominator))
}

/// Reads a size: a whole number and a unit.
pub(crate) fn bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let end = text.find(|letter: char| !letter.is_ascii_digit())?;
    let (_, scale) = SIZES.iter().find(|(unit, _)| *unit == text[end..].trim())?;
    text[..end].parse::<u64>().ok()?.checked_mul(*scale)
}

/// A text with a unit, or a ratio, in one spelling: two that mean the same have the same. `None` if it is neither.
pub fn normalize_spelling(text: &str) -> Option<String> {
    if let Some((min, max)) = text.split_once("..") {
        return Some(format!("{}..{}", normalize_spelling(min)?, normalize_spelling(max)?));
    }
    let ratio = || match text.trim().strip_suffix("ppm") {
        Some(ppm) => Some((ppm.trim().parse().ok()?, 1_000_000)),
        None => ratio(text.trim()),
    };
    if let Ok(ns) = signed_duration_ns(text) {
        return Some(signed_file_duration(ns));
    }
    if let Some((numerator, denominator)) = ratio() {
        let divisor = divisor(numerator.unsigned_abs(), denominator.unsigned_abs());
        return Some(format!(
            "{}{}/{}",
            if numerator < 0 { "-" } else { "" },
            numerator.unsigned_abs() / divisor,
            denominator.unsigned_abs() / divisor
        ));
    }
    bytes(text).map(|bytes| format!("{bytes}B"))
}

/// The greatest common divisor; not of two zeros.
fn divisor(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { divisor(other, one % other) }
}

/// The same with a unit, if that is all that is missing: `5` and `1..3` mean seconds more often than anything else.
pub(crate) fn with_unit(text: &str) -> Option<String> {
    let parts = text.split("..").map(|part| {
        let number = part.trim();
        if number.parse::<f64>().is_ok() { format!("{number}s") } else { number.to_owned() }
    });
    let whole = parts.collect::<Vec<_>>().join("..");
    let size = whole.trim_start_matches(['+', '-']);
    (whole != text.trim() && law(size).is_ok()).then_some(whole)
}

fn nanoseconds(text: &str) -> Result<u128, Refusal> {
    let end = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(text.len());
    let (number, unit) = (&text[..end], text[end..].trim());
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let scale = UNITS.iter().find(|(name, _)| *name == unit).map(|(_, scale)| *scale);
    let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    let Some(scale) = scale.filter(|_| is_number(whole) && is_number(fraction)) else {
        return Err(NOT_A_DURATION);
    };
    // Twenty digits of years still fit 128 bits; more could only be a mistake.
    if whole.len() > 18 || fraction.len() > 18 {
        return Err(Refusal { cause: "has too many digits:", hint: "use at most 18" });
    }
    let digits = |digits: &str| digits.parse::<u128>().unwrap_or(0);
    let part = digits(fraction) * scale;
    let tenths = 10_u128.pow(fraction.len() as u32);
    if part % tenths != 0 {
        return Err(Refusal { cause: "is finer than a nanosecond:", hint: "use whole nanoseconds" });
    }
    Ok(digits(whole) * scale + part / tenths)
}

/// A standard deviation of a logarithm as files write it: `1/2`.
pub(crate) fn sigma_text(milli: u32) -> String {
    let divisor = [500, 250, 200, 125, 100, 50, 40, 25, 20, 10, 8, 5, 4, 2, 1]
        .into_iter()
        .find(|divisor| milli.is_multiple_of(*divisor))
        .unwrap_or(1);
    format!("{}/{}", milli / divisor, 1_000 / divisor)
}

/// A delay law as files write it.
pub(crate) fn law_value(law: &DelayLaw) -> toml::Value {
    match law {
        DelayLaw::Fixed(delay) => file_duration(*delay).into(),
        DelayLaw::Uniform { min, max } => format!("{}..{}", file_duration(*min), file_duration(*max)).into(),
        DelayLaw::LogNormal { median, sigma_milli } => toml::Table::from_iter([
            ("median".to_owned(), file_duration(*median).into()),
            ("sigma".to_owned(), sigma_text(*sigma_milli).into()),
        ])
        .into(),
        DelayLaw::Quantiles(delays) => {
            delays.iter().map(|delay| file_duration(*delay)).collect::<Vec<_>>().into()
        }
    }
}
