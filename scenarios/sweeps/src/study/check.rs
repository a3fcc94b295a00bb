//! Which cells are looked at before the first run: all, if they are few, and else those in which a mistake shows.
//!
//! What is wrong with a value is wrong wherever it stands, so each is tried once. What is wrong only together is most
//! often two values that do not fit, so pairs are tried too. What takes three shows in many cells or in few: a spread
//! over the whole grid finds the first sort, and the second is found when the sweep comes to it.
//!
//! Nothing is drawn: the same study is looked at in the same cells everywhere.

use doublehold_scenarios::error::ScenarioError;

use super::Study;
use crate::grid::Grid;

/// Up to so many cells are all looked at: some tenths of a second.
const FEW: u64 = 2_000;
/// How many pairs of values are tried at most, over all designs.
const PAIRS: u64 = 10_000;
/// How many cells of the whole grid are tried.
const SPREAD: u64 = 2_000;

/// A design and, for each axis, which of its values, by their numbers.
type Point = (usize, Vec<usize>);

/// Looks whether cells are scenarios.
pub(super) fn check(study: &Study) -> Result<(), ScenarioError> {
    let lengths: Vec<usize> = study.axes.iter().map(|axis| axis.values.len()).collect();
    let is = |(design, values): Point| study.at(design, &values).map(|_| ());
    if study.grid().cells() <= FEW {
        return cells(study.designs.len(), &lengths, FEW).try_for_each(is);
    }
    single_value_points(study.designs.len(), &lengths).try_for_each(is)?;
    pairs(study.designs.len(), &lengths, PAIRS).try_for_each(is)?;
    cells(study.designs.len(), &lengths, SPREAD).try_for_each(is)
}

/// Each value with the first ones of all other axes.
fn single_value_points(designs: usize, lengths: &[usize]) -> impl Iterator<Item = Point> {
    let values = lengths.iter().enumerate().flat_map(|(axis, length)| (0..*length).map(move |it| (axis, it)));
    values.flat_map(move |(axis, value)| {
        let mut values = vec![0; lengths.len()];
        values[axis] = value;
        (0..designs).map(move |design| (design, values.clone()))
    })
}

/// Pairs of values of two axes, with the first ones of all others: all pairs, or `most` of them. A first value is in no
/// pair, since the other was tried with it.
fn pairs(designs: usize, lengths: &[usize], most: u64) -> impl Iterator<Item = Point> {
    let others: Vec<u128> = lengths.iter().map(|length| *length as u128 - 1).collect();
    let axes: Vec<(usize, usize)> =
        (0..lengths.len()).flat_map(|one| (one + 1..lengths.len()).map(move |other| (one, other))).collect();
    let count = |(one, other): &(usize, usize)| others[*one] * others[*other] * designs as u128;
    let all = axes.iter().map(count).sum();
    let counts: Vec<u128> = axes.iter().map(count).collect();
    let axes_count = lengths.len();
    spread_evenly(all, most).filter_map(move |mut number| {
        let which = counts.iter().position(|count| {
            let is_here = number < *count;
            number -= if is_here { 0 } else { *count };
            is_here
        })?;
        let (one, other) = axes[which];
        let mut values = vec![0; axes_count];
        values[one] = 1 + (number / designs as u128 / others[other]) as usize;
        values[other] = 1 + (number / designs as u128 % others[other]) as usize;
        Some(((number % designs as u128) as usize, values))
    })
}

/// All cells, or `most` of them.
fn cells(designs: usize, lengths: &[usize], most: u64) -> impl Iterator<Item = Point> {
    let grid = Grid::new(designs, lengths.iter().copied());
    spread_evenly(grid.size(), most).map(move |number| grid.place_of(number))
}

/// The numbers below `all` in order, or `most` of them, spread evenly.
///
/// Steps of the golden ratio leave no large gap, however many they are. As the step shares no divisor with `all`, no
/// number comes twice, and every axis goes through all of its values. Even steps could meet the same few each time.
fn spread_evenly(all: u128, most: u64) -> impl Iterator<Item = u128> {
    // Two Fibonacci numbers: as near to the golden ratio as fits beside the largest grid.
    let golden = all * 4_181 / 6_765;
    let step = match all <= u128::from(most) {
        true => 1,
        false => (1..=golden).rev().find(|step| divisor(*step, all) == 1).unwrap_or(1),
    };
    (0..all.min(most.into())).map(move |number| number * step % all)
}

/// The greatest common divisor.
fn divisor(one: u128, other: u128) -> u128 {
    if other == 0 { one } else { divisor(other, one % other) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Point, cells, pairs, single_value_points};

    #[test]
    fn few_are_all_looked_at_and_each_once() {
        let all: BTreeSet<_> = cells(2, &[3, 4], 24).collect();
        assert_eq!((all.len(), cells(2, &[3, 4], 24).count()), (24, 24));
        assert_eq!(cells(2, &[], 24).count(), 2);
        // 3 + 4 values, and 2 * 3 pairs without a first value, of 2 designs.
        assert_eq!(single_value_points(2, &[3, 4]).count(), 14);
        let two: BTreeSet<_> = pairs(2, &[3, 4], 24).collect();
        assert_eq!((two.len(), pairs(2, &[3, 4], 24).count()), (12, 12));
        assert!(two.iter().all(|(_, values)| (1..3).contains(&values[0]) && (1..4).contains(&values[1])));
    }

    #[test]
    fn each_value_is_tried_alone_with_each_design() {
        let tried: Vec<Point> = single_value_points(2, &[1, 3]).collect();
        let values = [vec![0, 0], vec![0, 0], vec![0, 1], vec![0, 2]];
        let expected: Vec<Point> = values.into_iter().flat_map(|it| [(0, it.clone()), (1, it)]).collect();
        assert_eq!(tried, expected);
    }

    #[test]
    fn pairs_are_of_all_axes() {
        let axes = |it: &[usize]| {
            it.iter().enumerate().filter(|(_, value)| **value > 0).map(|(axis, _)| axis).collect()
        };
        let of: BTreeSet<Vec<usize>> = pairs(1, &[2, 3, 1, 2], 99).map(|(_, values)| axes(&values)).collect();
        assert_eq!(
            of.into_iter().collect::<Vec<_>>(),
            [[0, 1], [0, 3], [1, 3]],
            "an axis of one value has no pairs"
        );
        assert_eq!(pairs(1, &[2, 3, 1, 2], 99).count(), 2 + 1 + 2);
    }

    #[test]
    fn some_of_many_are_spread_over_every_axis() {
        // Ten to the eighth, which even steps would meet with the same last values each time.
        let lengths = [100, 100, 100, 100];
        let some: BTreeSet<_> = cells(7, &lengths, 2_000).collect();
        assert_eq!(some.len(), 2_000);
        for axis in 0..4 {
            let seen: BTreeSet<usize> = some.iter().map(|(_, values)| values[axis]).collect();
            assert_eq!(seen.len(), 100, "axis {axis}");
        }
        assert_eq!(some.iter().map(|(design, _)| *design).collect::<BTreeSet<_>>().len(), 7);
        let some: BTreeSet<_> = pairs(3, &lengths, 2_000).collect();
        assert_eq!(some.len(), 2_000);
        let largest = cells(60, &[10_000; 8], 2_000).collect::<BTreeSet<_>>();
        assert_eq!(largest.len(), 2_000, "the largest grid that a study can have");
    }
}
