//! Small wording that every report shares: durations, points in time, lists, and text from outside.
//!
//! Text from files and command lines is shown on terminals, so [`clean`] and [`shorten`] let nothing through that a
//! terminal obeys. Knows neither colours nor the width of a line.

use std::time::Duration;

use crate::event::TrueNs;

/// A duration that was measured, as people write it: `6.812 s`, `41 ms`, `250 ns`. Three decimals at most, rounded.
pub fn duration(ns: u64) -> String {
    let thousandth = match ns {
        0..1_000_000 => 1,
        // What would round to 1000 of a unit is one of the next.
        1_000_000..999_999_500 => 1_000,
        _ => 1_000_000,
    };
    in_its_unit((u128::from(ns) + thousandth / 2) / thousandth * thousandth)
}

/// A duration that somebody chose, exactly, in the same form: `12 s`, `1.0000001 s`, `3 h`.
pub fn exact_duration(duration: Duration) -> String {
    in_its_unit(duration.as_nanos())
}

/// As [`exact_duration`], of nanoseconds with a sign: `+10 s`.
pub fn signed_duration(ns: i64) -> String {
    let sign = if ns < 0 { '-' } else { '+' };
    format!("{sign}{}", exact_duration(Duration::from_nanos(ns.unsigned_abs())))
}

fn in_its_unit(ns: u128) -> String {
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

/// A point in true time, always in seconds, so that two of them compare at a glance: `12.031 s`.
pub fn instant(at: TrueNs) -> String {
    seconds(at.0.into())
}

/// As [`instant`], for the reading of a clock, which may be negative.
pub(crate) fn seconds(ns: i128) -> String {
    let sign = if ns < 0 { "-" } else { "" };
    let thousandths = (ns.unsigned_abs() + 500_000) / 1_000_000;
    format!("{sign}{}.{:03} s", thousandths / 1_000, thousandths % 1_000)
}

/// `c1`, `c1 and c2`, `c1, c2 and c3`; `nobody` if there is none.
pub fn list<S: AsRef<str>>(names: &[S]) -> String {
    if names.is_empty() { "nobody".to_owned() } else { joined(names, "and") }
}

/// Names with commas, and with `conjunction` before the last.
pub fn joined<S: AsRef<str>>(names: &[S], conjunction: &str) -> String {
    match names {
        [] => String::new(),
        [only] => only.as_ref().to_owned(),
        [first @ .., last] => {
            let first: Vec<&str> = first.iter().map(AsRef::as_ref).collect();
            format!("{} {conjunction} {}", first.join(", "), last.as_ref())
        }
    }
}

/// For text that is laid out: without characters that a terminal would obey, each run of white space one space.
pub fn clean(text: &str) -> String {
    let visible: String = text.chars().map(|c| if acts_on_a_terminal(c) { ' ' } else { c }).collect();
    visible.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// For text that a message quotes: short enough for one line, and a mark for each character that a terminal would obey,
/// so that whoever typed it sees that it is there.
pub fn shorten(text: &str) -> String {
    let printable = |letter: char| if acts_on_a_terminal(letter) { '\u{fffd}' } else { letter };
    let mut short: String = text.chars().take(60).map(printable).collect();
    if text.chars().nth(60).is_some() {
        short.push('…');
    }
    short
}

/// For a message of several lines that quotes what is in files: a mark for each character that a terminal would obey,
/// but for the ends of lines.
pub fn marked(text: &str) -> String {
    text.chars().map(|c| if c != '\n' && acts_on_a_terminal(c) { '\u{fffd}' } else { c }).collect()
}

/// Whether a terminal obeys a character instead of showing it: control characters, those that turn the direction of
/// writing, and those without a width, which make two different names look alike.
fn acts_on_a_terminal(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_measured_has_three_decimals_at_most_in_the_unit_that_fits() {
        let cases = [
            (0, "0 s"),
            (5, "5 ns"),
            (1_500, "1.5 µs"),
            (999_999, "999.999 µs"),
            (1_000_000, "1 ms"),
            (41_000_499, "41 ms"),
            (41_000_500, "41.001 ms"),
            (999_999_499, "999.999 ms"),
            (999_999_500, "1 s"),
            (6_812_000_000, "6.812 s"),
            (90_950_000_000, "90.95 s"),
            (600_000_400_000, "10 min"),
            (u64::MAX, "18446744073.71 s"),
        ];
        for (ns, expected) in cases {
            assert_eq!(duration(ns), expected, "{ns} ns");
        }
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
    fn a_story_cannot_send_escape_sequences_to_the_terminal() {
        assert_eq!(clean("a\x1b[31mb\u{9b}c\u{7}"), "a [31mb c");
    }

    #[test]
    fn a_story_cannot_turn_or_hide_what_is_written() {
        assert_eq!(clean("a\u{202e}b\u{2066}c\u{200b}d\u{feff}"), "a b c d");
        assert_eq!(clean("naïve e\u{301} 鍵 →"), "naïve e\u{301} 鍵 →");
    }

    #[test]
    fn what_a_message_quotes_is_short_and_shows_where_something_is_hidden() {
        assert_eq!(shorten("a\x1b[31m\u{202e}b"), "a\u{fffd}[31m\u{fffd}b");
        assert_eq!(shorten(&"é".repeat(60)), "é".repeat(60));
        assert_eq!(shorten(&"é".repeat(61)), "é".repeat(60) + "…");
    }

    #[test]
    fn lists_read_as_sentences() {
        assert_eq!(list::<&str>(&[]), "nobody");
        assert_eq!(list(&["A"]), "A");
        assert_eq!(list(&["A", "B", "C"]), "A, B and C");
        assert_eq!(joined(&["A", "B"], "or"), "A or B");
    }
}
