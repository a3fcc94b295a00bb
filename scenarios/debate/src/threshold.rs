//! The value at which a verdict turns, from both sides.
//!
//! Delays are drawn, so between the values at which no seed violates and those at which all do there may be some at
//! which a part does. Both ends of that stretch are looked for, each by bisection: the last value that is like the
//! least one tried, and the first that is like the largest. Assumes that a verdict turns once; a law that turns back
//! shows as ends that are alike, and is no flip.

use doublehold_history::Predicate;
use doublehold_scenarios::report::Summary;

use crate::claims::Threshold;

/// The verdict that all seeds of a value have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The predicate holds from each.
    Holds,
    /// It is violated from each.
    Violated,
    /// From some the one, from some the other; or a run was undecided.
    Mixed,
}

impl Side {
    pub(crate) fn from_runs(predicate: Predicate, runs: &[Summary]) -> Side {
        let all = |verdict: &str| runs.iter().all(|run| run.verdicts.get(predicate).as_str() == verdict);
        if all("holds") {
            Side::Holds
        } else if all("violated") {
            Side::Violated
        } else {
            Side::Mixed
        }
    }
}

/// A place where a verdict turned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flip {
    /// The verdict below it.
    pub below: Side,
    /// The largest value found at which it is what it is below.
    pub last: i64,
    /// The least value found at which it is what it is above.
    pub first: i64,
}

impl Flip {
    /// True if the predicted value is where it turned, give or take a step and what is tolerated.
    pub fn is_at(&self, threshold: &Threshold) -> bool {
        let slack = threshold.tolerance;
        (self.last as f64 - slack..=self.first as f64 + slack).contains(&threshold.predicted)
    }
}

/// Looks for the flip; `Err` has what both ends are where these are no two sides.
pub(crate) fn find<E>(
    threshold: &Threshold,
    mut at: impl FnMut(i64) -> Result<Side, E>,
) -> Result<Result<Flip, [Side; 2]>, E> {
    let (low, high) = (threshold.low, threshold.high);
    let (below, above) = (at(low)?, at(high)?);
    if below == above || below == Side::Mixed || above == Side::Mixed {
        return Ok(Err([below, above]));
    }
    let mut known = std::collections::BTreeMap::from([(low, below), (high, above)]);
    let mut ask = |value: i64| match known.get(&value) {
        Some(side) => Ok(*side),
        None => at(value).inspect(|side| {
            known.insert(value, *side);
        }),
    };
    let (last, _) = bisect((low, high), threshold.step, |value| Ok(ask(value)? == below))?;
    let (_, first) = bisect((last, high), threshold.step, |value| Ok(ask(value)? != above))?;
    Ok(Ok(Flip { below, last, first }))
}

/// The last value of which something is true, and the first of which it is not, a step apart. It is true of the lower
/// end, and not of the upper one.
fn bisect<E>(
    (mut yes, mut no): (i64, i64),
    step: i64,
    mut is: impl FnMut(i64) -> Result<bool, E>,
) -> Result<(i64, i64), E> {
    while no - yes > step {
        let middle = yes + (no - yes) / (2 * step) * step;
        // Less than two steps apart, and no step between: one step above the lower end.
        let middle = if middle == yes { yes + step } else { middle };
        if is(middle)? {
            yes = middle;
        } else {
            no = middle;
        }
    }
    Ok((yes, no))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn threshold(step: i64) -> Threshold {
        toml::from_str(&format!(
            "scenario = 'x'\nvary = 'k'\nvalue = '{{}}ms'\nlow = 0\nhigh = 1000\nstep = {step}\n\
             predicate = 'P2'\nformula = 'f'\npredicted = 700\n"
        ))
        .unwrap()
    }

    /// Holds below, violated above, and in between both.
    fn side(value: i64, mixed: std::ops::Range<i64>) -> Side {
        match value {
            value if value < mixed.start => Side::Holds,
            value if value < mixed.end => Side::Mixed,
            _ => Side::Violated,
        }
    }

    #[test]
    fn both_ends_of_the_mixed_stretch_are_found_for_every_place_of_it() {
        for from in 1..=1000 {
            for length in [0, 1, 7, 300] {
                let until = (from + length).min(1000);
                let found = find::<()>(&threshold(1), |value| Ok(side(value, from..until))).unwrap().unwrap();
                assert_eq!(found, Flip { below: Side::Holds, last: from - 1, first: until });
            }
        }
    }

    #[test]
    fn a_coarse_step_ends_within_it() {
        for step in [2, 3, 10, 999, 5_000] {
            let found = find::<()>(&threshold(step), |value| Ok(side(value, 500..500))).unwrap().unwrap();
            assert!(
                found.last < 500 && found.first >= 500 && found.first - found.last <= 2 * step,
                "{found:?}"
            );
        }
    }

    #[test]
    fn ends_that_are_alike_or_mixed_are_no_flip() {
        let alike = find::<()>(&threshold(1), |_| Ok(Side::Holds)).unwrap();
        assert_eq!(alike, Err([Side::Holds, Side::Holds]));
        let mixed = find::<()>(&threshold(1), |value| Ok(side(value, 0..500))).unwrap();
        assert_eq!(mixed, Err([Side::Mixed, Side::Violated]));
    }

    #[test]
    fn a_prediction_beside_the_flip_is_not_at_it() {
        let flip = Flip { below: Side::Holds, last: 690, first: 699 };
        assert!(!flip.is_at(&threshold(1)));
        assert!(Flip { first: 700, ..flip }.is_at(&threshold(1)));
        assert!(!Flip { last: 701, first: 702, ..flip }.is_at(&threshold(1)));
        let mut tolerant = threshold(1);
        tolerant.tolerance = 1.0;
        assert!(flip.is_at(&tolerant) && Flip { last: 701, first: 702, ..flip }.is_at(&tolerant));
    }
}
