//! The value at which a verdict turns, from both sides.
//!
//! Delays are drawn, so between the values at which no seed violates and those at which all do there may be some at
//! which a part does. Both ends of that stretch are looked for, each by bisection: the last value that is like the
//! least one tried, and the first that is like the largest. Then values on both sides are tried, since a law may turn
//! back.
//!
//! A probe can be hollow: nothing is violated where nobody is granted the lock, or where no two clients want it at
//! once. So *holds* is said only of runs that show something of the predicate ([`Side::NotSeen`]), and a threshold
//! with an end that shows nothing, and does not say so, is an error. So is one that says so of an end at which
//! something is seen.

use std::collections::BTreeSet;

use doublehold_history::{ClientId, EventKind, Predicate, Verdict, claims};
use doublehold_scenarios::report::Report;
use doublehold_scenarios::scenario::Step;

use crate::claims::{Ends, Threshold};

/// How many values are tried on the way from one end to the other, besides those of the bisection.
const SCANNED: i64 = 8;

/// The verdict that all seeds of a value have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The predicate holds from each, and could have been violated in most.
    Holds,
    /// It is violated from each.
    Violated,
    /// It is violated from none, and at least half of the runs show nothing of it.
    NotSeen,
    /// From some the one, from some the other; or a run was undecided.
    Mixed,
}

impl Side {
    pub(crate) fn from_runs(predicate: Predicate, runs: &[Report]) -> Side {
        let all = |is: fn(&Verdict) -> bool| runs.iter().all(|run| is(run.verdicts.get(predicate)));
        if all(|verdict| matches!(verdict, Verdict::Violated(_))) {
            Side::Violated
        } else if !all(|verdict| matches!(verdict, Verdict::Holds | Verdict::NotSeen(_))) {
            Side::Mixed
        } else if 2 * runs.iter().filter(|run| is_seen(predicate, run)).count() > runs.len() {
            Side::Holds
        } else {
            Side::NotSeen
        }
    }
}

/// True if a run could have violated a predicate: two clients wanted the lock at once, and both got it or one asked
/// only once (P1, P2); something was written under one of two grants (P3, P4); a key was changed (WR); or somebody
/// asked for the lock (LV).
fn is_seen(predicate: Predicate, report: &Report) -> bool {
    let history = &report.history;
    let events = || history.events().iter();
    let has = |is: fn(&EventKind) -> bool| events().any(|event| is(&event.what));
    match predicate {
        Predicate::P1 | Predicate::P2 => {
            let claims = claims(history);
            let holders: BTreeSet<ClientId> = claims.iter().map(|claim| claim.client).collect();
            let is_contended = events().any(|event| match event.what {
                EventKind::AcquireStarted { client, lock, .. } => claims.iter().any(|claim| {
                    let is_held = claim.span.from <= event.at && event.at < claim.span.to;
                    claim.client != client && claim.lock == lock && is_held
                }),
                _ => false,
            });
            is_contended && (holders.len() > 1 || has_try(report))
        }
        Predicate::P3 | Predicate::P4 => {
            let grants = events().filter(|event| matches!(event.what, EventKind::Granted { .. })).count();
            grants > 1 && has(|what| matches!(what, EventKind::WriteApplied { .. }))
        }
        Predicate::WR => has(|what| matches!(what, EventKind::KeyTouched { .. })),
        Predicate::LV => has(|what| matches!(what, EventKind::AcquireStarted { .. })),
    }
}

/// True if a client asks for the lock once. It is refused while the other holds, and does not come back.
fn has_try(report: &Report) -> bool {
    let mut steps = report.scenario.clients.iter().flat_map(|client| &client.program);
    steps.any(|step| matches!(step, Step::Try(..)))
}

/// A place where a verdict turned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flip {
    /// The verdict below it.
    pub below: Side,
    /// The verdict above it.
    pub above: Side,
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

/// Why there is no place where a verdict turned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoFlip {
    /// Both ends are alike, or not all seeds of one agree.
    Ends([Side; 2]),
    /// It turns more than once: at this value, it is this and not what is expected of its side.
    TurnsBack(i64, Side),
    /// An end shows nothing of the predicate, and the threshold does not say so.
    Hollow {
        /// The end.
        value: i64,
    },
    /// The threshold says that an end shows nothing of the predicate, and it shows something.
    SeenAfterAll {
        /// The end.
        value: i64,
    },
}

/// Looks for the flip.
pub(crate) fn find<E>(
    threshold: &Threshold,
    mut at: impl FnMut(i64) -> Result<Side, E>,
) -> Result<Result<Flip, NoFlip>, E> {
    let (low, high) = (threshold.low, threshold.high);
    let mut known = std::collections::BTreeMap::new();
    let mut ask = |value: i64| match known.get(&value) {
        Some(side) => Ok(*side),
        None => at(value).inspect(|side| {
            known.insert(value, *side);
        }),
    };
    let (below, above) = (ask(low)?, ask(high)?);
    let is_stated = |side| threshold.not_seen.as_ref().is_some_and(|stated| stated.side == side);
    for (value, side, end) in [(low, below, Ends::Below), (high, above, Ends::Above)] {
        match (side, is_stated(end)) {
            (Side::NotSeen, false) => return Ok(Err(NoFlip::Hollow { value })),
            (Side::Holds | Side::Violated, true) => return Ok(Err(NoFlip::SeenAfterAll { value })),
            // Of a mixed end the seeds disagree, which is told below.
            (Side::NotSeen, true) | (Side::Holds | Side::Violated, false) | (Side::Mixed, _) => {}
        }
    }
    let alike = below == above;
    if below == Side::Mixed || above == Side::Mixed {
        return Ok(Err(NoFlip::Ends([below, above])));
    }
    let (last, first) = if alike {
        (low, high)
    } else {
        let (last, _) = bisect((low, high), threshold.step, |value| Ok(ask(value)? == below))?;
        let (_, first) = bisect((last, high), threshold.step, |value| Ok(ask(value)? != above))?;
        (last, first)
    };
    for value in scanned(threshold) {
        let side = ask(value)?;
        let is_out_of_place = match () {
            () if alike => side != below,
            () if value <= last => side != below,
            () if value >= first => side != above,
            () => false,
        };
        if is_out_of_place {
            return Ok(Err(NoFlip::TurnsBack(value, side)));
        }
    }
    Ok(if alike { Err(NoFlip::Ends([below, above])) } else { Ok(Flip { below, above, last, first }) })
}

/// Values at equal distances between the ends.
fn scanned(threshold: &Threshold) -> impl Iterator<Item = i64> {
    let (low, high, step) = (threshold.low, threshold.high, threshold.step);
    let steps = (high - low) / step;
    (1..=SCANNED).map(move |place| low + steps * place / (SCANNED + 1) * step).filter(move |it| *it > low)
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
                let flip = Flip { below: Side::Holds, above: Side::Violated, last: from - 1, first: until };
                assert_eq!(found, flip);
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
        assert_eq!(alike, Err(NoFlip::Ends([Side::Holds, Side::Holds])));
        let mixed = find::<()>(&threshold(1), |value| Ok(side(value, 0..500))).unwrap();
        assert_eq!(mixed, Err(NoFlip::Ends([Side::Mixed, Side::Violated])));
    }

    /// Violated only between two values: ends that are alike say nothing of what is between.
    #[test]
    fn a_verdict_that_turns_back_is_told() {
        let between = |value: i64| if (300..600).contains(&value) { Side::Violated } else { Side::Holds };
        let found = find::<()>(&threshold(1), |value| Ok(between(value))).unwrap();
        assert_eq!(found, Err(NoFlip::TurnsBack(333, Side::Violated)));
        let late = |value: i64| match value {
            ..=100 => Side::Holds,
            101..500 => Side::Violated,
            500..900 => Side::Holds,
            _ => Side::Violated,
        };
        let found = find::<()>(&threshold(1), |value| Ok(late(value))).unwrap();
        assert!(matches!(found, Err(NoFlip::TurnsBack(..))), "{found:?}");
    }

    #[test]
    fn an_end_that_shows_nothing_is_refused_unless_the_threshold_says_so() {
        let refused_from = |value: i64| if value < 500 { Side::Violated } else { Side::NotSeen };
        let found = |threshold: &Threshold| find::<()>(threshold, |value| Ok(refused_from(value))).unwrap();
        assert_eq!(found(&threshold(1)), Err(NoFlip::Hollow { value: 1000 }));
        let stated = |side| {
            let mut stated = threshold(1);
            stated.not_seen = Some(crate::claims::NotSeen { side, why: "c1 is refused".to_owned() });
            stated
        };
        let flip = Flip { below: Side::Violated, above: Side::NotSeen, last: 499, first: 500 };
        assert_eq!(found(&stated(Ends::Above)), Ok(flip));
        assert_eq!(found(&stated(Ends::Below)), Err(NoFlip::SeenAfterAll { value: 0 }));
        let mixed_from = |value: i64| if value < 500 { Side::Violated } else { Side::Mixed };
        let mixed = find::<()>(&stated(Ends::Above), |value| Ok(mixed_from(value))).unwrap();
        assert_eq!(mixed, Err(NoFlip::Ends([Side::Violated, Side::Mixed])));
    }

    #[test]
    fn a_prediction_beside_the_flip_is_not_at_it() {
        let flip = Flip { below: Side::Holds, above: Side::Violated, last: 690, first: 699 };
        assert!(!flip.is_at(&threshold(1)));
        assert!(Flip { first: 700, ..flip }.is_at(&threshold(1)));
        assert!(!Flip { last: 701, first: 702, ..flip }.is_at(&threshold(1)));
        let mut tolerant = threshold(1);
        tolerant.tolerance = 1.0;
        assert!(flip.is_at(&tolerant) && Flip { last: 701, first: 702, ..flip }.is_at(&tolerant));
    }
}
