//! Durations in words, in four forms: as measured, exact, as files write them, and with three digits beside rates.

use std::time::Duration;

use crate::numbers::digits;

/// A duration that was measured, as people write it: `6.812 s`, `41 ms`, `250 ns`. Three decimals at most, rounded.
pub fn duration(ns: u64) -> String {
    let thousandth = match ns {
        0..1_000_000 => 1,
        // What would round to 1000 of a unit is one of the next.
        1_000_000..999_999_500 => 1_000,
        _ => 1_000_000,
    };
    format_in_unit((u128::from(ns) + thousandth / 2) / thousandth * thousandth)
}

/// A duration that somebody chose, exactly, in the same form: `12 s`, `1.0000001 s`, `3 h`.
pub fn exact_duration(duration: Duration) -> String {
    format_in_unit(duration.as_nanos())
}

/// As [`exact_duration`], of nanoseconds with a sign: `+10 s`.
pub fn signed_duration(ns: i64) -> String {
    let sign = if ns < 0 { '-' } else { '+' };
    format!("{sign}{}", exact_duration(Duration::from_nanos(ns.unsigned_abs())))
}

fn format_in_unit(ns: u128) -> String {
    if ns == 0 {
        return "0 s".to_owned();
    }
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
    let scales = [("s", 1_000_000_000), ("ms", 1_000_000), ("µs", 1_000)];
    let (unit, scale) = scales.into_iter().find(|(_, scale)| ns >= *scale).unwrap_or(("ns", 1));
    let digits = format!("{}.{:09}", ns / scale, (ns % scale) * 1_000_000_000 / scale);
    format!("{} {unit}", digits.trim_end_matches('0').trim_end_matches('.'))
}

/// A point in time, always in seconds, so that two of them compare at a glance: `12.031 s`. Readings of a clock may be
/// negative.
pub fn seconds(ns: i128) -> String {
    let sign = if ns < 0 { "-" } else { "" };
    let thousandths = (ns.unsigned_abs() + 500_000) / 1_000_000;
    format!("{sign}{}.{:03} s", thousandths / 1_000, thousandths % 1_000)
}

/// A duration as files write it, in the largest unit that tells it exactly without a long fraction: `1.5s`.
pub fn file_duration(duration: Duration) -> String {
    match duration.as_nanos() {
        0 => "0s".to_owned(),
        ns => {
            let scales = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000)];
            let short = |scale: &u128| (ns * 1_000).is_multiple_of(*scale) && ns >= *scale;
            let (unit, scale) = scales.into_iter().find(|(_, scale)| short(scale)).unwrap_or(("ns", 1));
            let thousandths = ns * 1_000 / scale % 1_000;
            let digits = format!("{}.{thousandths:03}", ns / scale);
            format!("{}{unit}", digits.trim_end_matches('0').trim_end_matches('.'))
        }
    }
}

/// A duration with a sign as files write it: `+1.5s`.
pub fn signed_file_duration(ns: i64) -> String {
    let sign = if ns < 0 { '-' } else { '+' };
    format!("{sign}{}", file_duration(Duration::from_nanos(ns.unsigned_abs())))
}

/// A length of time: `1.52 s`, `31.7 ms`, `12 min`.
pub fn rough(value: f64) -> String {
    rough_beside(value, value)
}

/// The same in the unit of the largest of a column or an axis: `0.0317 s` beside `1.52 s`.
pub fn rough_beside(value: f64, largest: f64) -> String {
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
    fn what_was_measured_has_three_decimals_at_most_in_the_unit_that_fits() {
        // What else writes durations reads the same table: the page of a run does, in a browser.
        for line in include_str!("durations.txt").lines() {
            let (ns, expected) = line.split_once('\t').expect("two columns");
            assert_eq!(duration(ns.parse().expect("nanoseconds")), expected, "{ns} ns");
        }
        assert_eq!(duration(u64::MAX), "18446744073.71 s");
    }

    #[test]
    fn what_somebody_chose_is_said_exactly() {
        let cases = [
            (1_000_000_100, "1.0000001 s"),
            (90_000_000_000, "90 s"),
            (600_000_000_000, "10 min"),
            (7_200_000_000_000, "2 h"),
            (172_800_000_000_000, "2 d"),
        ];
        for (ns, expected) in cases {
            assert_eq!(exact_duration(Duration::from_nanos(ns)), expected, "{ns} ns");
        }
        assert_eq!(
            (signed_duration(-41_000_500), signed_duration(1)),
            ("-41.0005 ms".into(), "+1 ns".into())
        );
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
            assert_eq!(rough(value), expected);
        }
    }
}
