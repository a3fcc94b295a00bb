//! The rate of violations of a predicate, in words: an exact bound if there was none, and otherwise a rate with its
//! interval. Runs that were never decided count both ways.

use doublehold_search::many::Count;
use doublehold_statistics::{Confidence, PartlyDecided, Scale, bound_words, range_words, rate_words};

/// The sign for a rate that cannot be told.
pub(super) const NO_RATE: &str = "-";
/// A share says nothing where the search stopped at the first violation, so there is none for fewer.
const VIOLATED_MIN: u64 = 10;

/// A predicate's runs, as statistics counts them.
pub(crate) fn partly_decided(count: &Count) -> PartlyDecided {
    let Count { holds, violated, inconclusive, .. } = count;
    PartlyDecided::new(*violated, *inconclusive, holds + violated + inconclusive)
}

/// The rate of violations in words; [`NO_RATE`] if no run was decided, or too few were violated.
pub(super) fn rate(count: &Count) -> String {
    let is_never_decided = count.holds + count.violated == 0;
    if is_never_decided || (1..VIOLATED_MIN).contains(&count.violated) {
        return NO_RATE.to_owned();
    }
    words(count).unwrap_or_else(|| NO_RATE.to_owned())
}

fn words(count: &Count) -> Option<String> {
    let runs = partly_decided(count);
    if count.violated == 0 {
        return Some(bound_words(runs.upper_bound(Confidence::P95)?, Scale::Share));
    }
    let (range, interval) = (runs.range()?, runs.exact(Confidence::P95)?);
    Some(match runs.undecided_runs() {
        0 => rate_words(range.low, interval, Scale::Share),
        _ => range_words(range, interval, Scale::Share),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(violated: u64, inconclusive: u64, runs: u64) -> String {
        rate(&Count { holds: runs - violated - inconclusive, violated, inconclusive, ..Count::default() })
    }

    /// A bound of 1.49 % (0 of 200) is not "at most 1 %", and one of 2.47 % (0 of 120) is not "at most 2 %".
    #[test]
    fn bounds_are_rounded_up_and_rates_have_their_interval() {
        assert_eq!(shown(0, 0, 200), "at most 1.5 %");
        assert_eq!(shown(0, 0, 120), "at most 2.5 %");
        assert_eq!(shown(0, 0, 1_000_000), "at most 3 × 10⁻⁶");
        assert_eq!(shown(220, 0, 5_000), "4.4 % (3.8 to 5.0 %)");
        assert_eq!((shown(0, 0, 0), shown(9, 0, 1_000)), (NO_RATE.to_owned(), NO_RATE.to_owned()));
    }

    #[test]
    fn undecided_runs_count_both_ways() {
        assert_eq!(shown(0, 276, 300), "at most 95 %");
        assert_eq!(shown(80, 30, 1_000), "8 to 11 % (6 to 13 %)");
        assert_eq!(shown(0, 300, 300), NO_RATE);
    }
}
