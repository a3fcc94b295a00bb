//! The range that is told against the range that there is, wherever its ends are: in reach, at an end of what is tried,
//! and beyond it.

use doublehold_sim::{Seed, Stream};

use super::*;

/// What a range is told too short by at most: what bisection leaves open.
fn finest(end: u64) -> u64 {
    1_000_000.max(end / 999)
}

#[test]
fn both_ends_are_told_to_a_thousandth_and_what_is_beyond_them_loses_the_violation() {
    let mut stream = Stream::new(Seed(1), "ranges");
    let mut size = |zeros: u64| {
        let scale = 10_u64.pow(stream.below(zeros) as u32);
        scale + stream.below(9 * scale)
    };
    let mut kinds = [0; 4];
    for _ in 0..4_000 {
        // From nanoseconds to minutes, and runs that last for as long, shorter than a value too.
        let (value, below, above, least, most) = (size(12), size(12), size(13), size(8), size(13));
        let (low, high) = (value.saturating_sub(below), value + above);
        let mut tried = Vec::new();
        let told = range(value, least, most, |size| {
            tried.push(size);
            (low..=high).contains(&size)
        });
        let what = format!("{value} of {low} to {high} from {least} in {most}: {told:?}");
        let least = least.min(value);
        let far = (8 * value).max(60_000_000_000).min(most).max(value);
        assert!(tried.iter().all(|size| (least..=far).contains(size)), "{what}, tried {tried:?}");
        assert!(tried.len() < 80, "{what}: {} runs", tried.len());

        assert_eq!((told.loses_below, told.loses_above), (low > least, high < far), "{what}");
        if told.loses_below {
            assert!(low <= told.from && told.from <= value && told.from - low <= finest(told.from), "{what}");
        } else {
            assert_eq!(told.from, least, "{what}");
        }
        if told.loses_above {
            assert!(value <= told.to && told.to <= high && high - told.to <= finest(high), "{what}");
        } else {
            assert_eq!(told.to, far, "{what}");
        }
        kinds[usize::from(told.loses_below) * 2 + usize::from(told.loses_above)] += 1;
    }
    assert!(kinds.iter().all(|count| *count > 200), "{kinds:?}");
}
