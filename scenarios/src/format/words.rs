//! Durations, hosts and happenings in words, for reports.

use std::time::Duration;

use super::units::SIZES;

/// A duration as a reader says it: `12 s`, `150 ms`, `3 h`.
pub(crate) fn duration(duration: Duration) -> String {
    let ns = duration.as_nanos();
    // Whole hours, days and minutes only: 90 s is easier to compare with a lease of 30 s than 1.5 min is.
    let whole = [("d", 86_400_000_000_000), ("h", 3_600_000_000_000)];
    for (unit, scale) in whole {
        if ns >= scale && ns.is_multiple_of(scale) {
            return format!("{} {unit}", ns / scale);
        }
    }
    if ns >= 600_000_000_000 && ns.is_multiple_of(60_000_000_000) {
        return format!("{} min", ns / 60_000_000_000);
    }
    let scales = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000)];
    let (unit, scale) = scales.into_iter().find(|(_, scale)| ns >= *scale).unwrap_or(("ns", 1));
    if ns == 0 {
        return "0 s".to_owned();
    }
    let digits = format!("{}.{:09}", ns / scale, (ns % scale) * 1_000_000_000 / scale);
    format!("{} {unit}", digits.trim_end_matches('0').trim_end_matches('.'))
}

/// A size as a reader says it: `1 GiB`.
pub(crate) fn bytes(bytes: u64) -> String {
    let (unit, scale) = SIZES.into_iter().find(|(_, scale)| bytes.is_multiple_of(*scale)).unwrap_or(("B", 1));
    format!("{} {unit}", bytes / scale)
}

/// A duration in nanoseconds with its sign: `+10 s`.
pub fn signed_ns(ns: i64) -> String {
    let sign = if ns < 0 { '-' } else { '+' };
    format!("{sign}{}", duration(Duration::from_nanos(ns.unsigned_abs())))
}

/// `1st`, `2nd`, `3rd`, `11th`.
pub(crate) fn ordinal(n: u32) -> String {
    let ending = match (n % 10, n % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{n}{ending}")
}
