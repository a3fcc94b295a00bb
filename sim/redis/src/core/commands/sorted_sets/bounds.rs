//! What lies between two ranks, two scores or two names.

use std::cmp::Ordering;
use std::ops::Range;

use crate::core::commands::integer_or_reply;
use crate::core::commands::numbers::places;
use crate::core::values::SortedSet;
use crate::resp::{double, reply};

/// Two ends of a range.
#[derive(Clone, Debug)]
pub(super) enum Bounds<'a> {
    /// Negative ones are counted from the end.
    Ranks(i64, i64),
    Scores(ScoreBound, ScoreBound),
    Names(NameBound<'a>, NameBound<'a>),
}

/// How the ends of a range are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    Rank,
    Score,
    Name,
}

/// A score at which a range ends, or which it just does not reach.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScoreBound {
    score: f64,
    is_excluded: bool,
}

/// The same for a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameBound<'a> {
    /// Before all names.
    First,
    Including(&'a [u8]),
    Excluding(&'a [u8]),
    /// Behind all names.
    Last,
}

impl<'a> Bounds<'a> {
    /// Reads the lower and the upper end, or replies with the error.
    pub(super) fn read_or_reply(
        by: By,
        min: &'a [u8],
        max: &'a [u8],
        out: &mut Vec<u8>,
    ) -> Option<Bounds<'a>> {
        let bounds = match by {
            By::Rank => return Some(Bounds::Ranks(integer_or_reply(min, out)?, integer_or_reply(max, out)?)),
            By::Score => {
                ScoreBound::read(min).zip(ScoreBound::read(max)).map(|(min, max)| Bounds::Scores(min, max))
            }
            By::Name => {
                NameBound::read(min).zip(NameBound::read(max)).map(|(min, max)| Bounds::Names(min, max))
            }
        };
        if bounds.is_none() {
            let text: &[u8] = match by {
                By::Name => b"ERR min or max not valid string range item",
                _ => b"ERR min or max is not a float",
            };
            reply::error(out, text);
        }
        bounds
    }

    /// The ranks of the members between the ends. Ranks are counted from the highest if `from_top`, and the search for
    /// names begins there: that tells only where scores differ, which ranges of names are not made for.
    pub(super) fn ranks(&self, set: &SortedSet, from_top: bool) -> Range<usize> {
        match self {
            Bounds::Ranks(start, stop) => {
                let range = places(*start, *stop, set.len());
                if from_top { set.len() - range.end..set.len() - range.start } else { range }
            }
            Bounds::Scores(min, max) => {
                let start = set.count_while(|score| min.is_above(score));
                let end = set.count_while(|score| !max.is_below(score));
                start..end.max(start)
            }
            Bounds::Names(min, max) => name_range(set, *min, *max, from_top),
        }
    }
}

/// As Redis looks in a listpack.
fn name_range(set: &SortedSet, min: NameBound<'_>, max: NameBound<'_>, from_top: bool) -> Range<usize> {
    let is_within = |name: &[u8]| min.allows_from(name) && max.allows_to(name);
    let ends = set.iter().next().zip(set.iter().next_back());
    let may_have_some =
        ends.is_some_and(|((first, _), (last, _))| min.allows_from(last) && max.allows_to(first));
    if !may_have_some || min.is_behind(max) {
        return 0..0;
    }
    let names = || set.iter().map(|(name, _)| name);
    let start = match from_top {
        false => names().position(|name| min.allows_from(name)),
        true => names().rposition(|name| max.allows_to(name)),
    };
    let Some(start) = start.filter(|start| names().nth(*start).is_some_and(is_within)) else { return 0..0 };
    if from_top {
        let more = names().rev().skip(set.len() - start).take_while(|name| min.allows_from(name)).count();
        start - more..start + 1
    } else {
        let more = names().skip(start + 1).take_while(|name| max.allows_to(name)).count();
        start..start + 1 + more
    }
}

impl ScoreBound {
    fn read(text: &[u8]) -> Option<ScoreBound> {
        let (is_excluded, text) = match text {
            [b'(', rest @ ..] => (true, rest),
            text => (false, text),
        };
        Some(ScoreBound { score: double::parse_bound(text)?, is_excluded })
    }

    /// As a lower end, it leaves this score out.
    fn is_above(&self, score: f64) -> bool {
        if self.is_excluded { score <= self.score } else { score < self.score }
    }

    /// As an upper end, it leaves this score out.
    fn is_below(&self, score: f64) -> bool {
        if self.is_excluded { score >= self.score } else { score > self.score }
    }
}

impl<'a> NameBound<'a> {
    fn read(text: &'a [u8]) -> Option<NameBound<'a>> {
        match text {
            // What C sees as the end of the text may be a NUL.
            [b'-'] | [b'-', 0, ..] => Some(NameBound::First),
            [b'+'] | [b'+', 0, ..] => Some(NameBound::Last),
            [b'[', name @ ..] => Some(NameBound::Including(name)),
            [b'(', name @ ..] => Some(NameBound::Excluding(name)),
            _ => None,
        }
    }

    fn allows_from(self, name: &[u8]) -> bool {
        match self {
            NameBound::First => true,
            NameBound::Last => false,
            NameBound::Including(bound) => name >= bound,
            NameBound::Excluding(bound) => name > bound,
        }
    }

    fn allows_to(self, name: &[u8]) -> bool {
        match self {
            NameBound::First => false,
            NameBound::Last => true,
            NameBound::Including(bound) => name <= bound,
            NameBound::Excluding(bound) => name < bound,
        }
    }

    /// As a lower end, it leaves nothing before this upper end.
    fn is_behind(self, max: NameBound<'_>) -> bool {
        let is_excluding = |bound| matches!(bound, NameBound::Excluding(_));
        match self.position(max) {
            Ordering::Less => false,
            Ordering::Equal => is_excluding(self) || is_excluding(max),
            Ordering::Greater => true,
        }
    }

    fn position(self, other: NameBound<'_>) -> Ordering {
        use NameBound::{Excluding, First, Including, Last};
        match (self, other) {
            (First, First) | (Last, Last) => Ordering::Equal,
            (First, _) | (_, Last) => Ordering::Less,
            (Last, _) | (_, First) => Ordering::Greater,
            (Including(name) | Excluding(name), Including(other) | Excluding(other)) => name.cmp(other),
        }
    }
}
