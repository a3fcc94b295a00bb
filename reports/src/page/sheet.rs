//! All that a page says of one sweep, computed once: the rates of each cell, the order of designs, which are told
//! apart.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use doublehold_history::Predicate;

use super::document::Line;
use super::rates::{Figures, Rate, SURE};
use crate::records::Example;
use crate::results::{Pairs, Results};
use crate::statistics::Interval;

/// By what designs are ranked.
pub(crate) const RANKED: [Predicate; 3] = [Predicate::P2, Predicate::P1, Predicate::P4];
/// The order of columns: what is ranked by, and then the others.
pub(crate) const COLUMNS: [Predicate; 6] =
    [Predicate::P2, Predicate::P1, Predicate::P4, Predicate::P3, Predicate::WR, Predicate::LV];
/// Up to so many points of the grid, each has its tables: pairs are counted at no more.
const POINTS_SHOWN: usize = Pairs::POINTS;

/// One sweep's numbers.
pub(crate) struct Sheet<'a> {
    pub(crate) results: &'a Results,
    pub(crate) examples: &'a [Example],
    /// Which part of the page it is, from 0.
    pub(crate) part: usize,
    /// Every cell that has runs, and those without of points that are shown.
    pub(crate) cells: BTreeMap<u64, Figures>,
    /// The points of the grid that have runs, in order.
    pub(crate) points: Vec<u64>,
}

/// How two designs differ at one point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Difference {
    /// The one's rate less the other's, where both ran from the same seeds.
    pub(crate) value: f64,
    pub(crate) interval: Interval,
    /// In how many seeds both decided.
    pub(crate) pairs: u64,
}

/// Whether one design is told apart from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Apart {
    /// Its rate is higher.
    Higher,
    /// Its rate is lower.
    Lower,
    /// Both may be the same.
    No,
    /// There is nothing to compare.
    Unknown,
}

impl<'a> Sheet<'a> {
    pub(crate) fn of(part: usize, results: &'a Results, examples: &'a [Example]) -> Sheet<'a> {
        let designs = results.header.designs.len().max(1) as u64;
        let mut points: Vec<u64> = results.cells.keys().map(|cell| cell / designs).collect();
        points.dedup();
        if points.is_empty() {
            points.push(0);
        }
        let mut cells: BTreeMap<u64, Figures> =
            results.cells.keys().map(|cell| (*cell, Figures::of(results, *cell))).collect();
        for point in points.iter().take(POINTS_SHOWN) {
            for cell in point * designs..(point + 1) * designs {
                cells.entry(cell).or_insert_with(|| Figures::of(results, cell));
            }
        }
        Sheet { results, examples, part, cells, points }
    }

    /// The points that have tables: all, or the first of many.
    pub(crate) fn shown(&self) -> &[u64] {
        if self.points.len() <= POINTS_SHOWN { &self.points } else { &self.points[..1] }
    }

    pub(crate) fn name(&self, design: usize) -> &'a str {
        self.results.header.designs.get(design).map_or("?", |design| &design.name)
    }

    /// The cells of a point, in the order of their designs.
    pub(crate) fn at(&self, point: u64) -> impl Iterator<Item = &Figures> {
        let designs = self.results.header.designs.len() as u64;
        self.cells.range(point * designs..(point + 1) * designs).map(|(_, figures)| figures)
    }

    /// The cells of a point, the best design first.
    pub(crate) fn ranked(&self, point: u64) -> Vec<&Figures> {
        let mut cells: Vec<&Figures> = self.at(point).collect();
        cells.sort_by(|one, other| {
            let by = RANKED.iter().map(|it| lower_first(&one.rate(*it), &other.rate(*it)));
            by.fold(Ordering::Equal, Ordering::then).then(one.design.cmp(&other.design))
        });
        cells
    }

    /// The values of a point, as `key = value`.
    pub(crate) fn values(&self, point: u64) -> Vec<String> {
        let designs = self.results.header.designs.len() as u64;
        let (_, place) = self.results.place(point * designs);
        let axes = self.results.header.axes.iter().zip(place);
        axes.map(|(axis, value)| format!("{} = {}", axis.key, axis.values[value])).collect()
    }

    /// The same, for a page.
    pub(crate) fn values_in_code(&self, point: u64) -> Line {
        let values = self.values(point);
        Line::default().codes(&values.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Where the page shows an example of a cell, if it does.
    pub(crate) fn example(&self, cell: u64, predicate: Predicate) -> Option<String> {
        let is = |it: &Example| it.cell == cell && it.predicate == predicate;
        self.examples.iter().position(is).map(|place| self.anchor(place))
    }

    /// What links call an example.
    pub(crate) fn anchor(&self, example: usize) -> String {
        format!("example-{}-{}", self.part + 1, example + 1)
    }

    /// How a design differs from another at a point; none where runs are divided, or have no seed in common.
    pub(crate) fn difference(
        &self,
        point: u64,
        designs: (usize, usize),
        predicate: Predicate,
    ) -> Option<Difference> {
        let paired = self.results.pairs.get(point, designs, predicate)?;
        let (value, interval) = paired.difference().zip(paired.interval(SURE))?;
        Some(Difference { value, interval, pairs: paired.pairs() })
    }

    /// Whether a design is told apart from another: by the interval of their paired difference; where runs are
    /// divided, by whether their intervals have nothing in common, which tells fewer apart.
    pub(crate) fn apart(
        &self,
        point: u64,
        (one, other): (&Figures, &Figures),
        predicate: Predicate,
    ) -> Apart {
        if self.results.is_divided() {
            let (one, other) = (one.rate(predicate), other.rate(predicate));
            return match (one.high(), other.high()) {
                (Some(_), Some(high)) if one.low() > high => Apart::Higher,
                (Some(high), Some(_)) if high < other.low() => Apart::Lower,
                (Some(_), Some(_)) => Apart::No,
                _ => Apart::Unknown,
            };
        }
        match self.difference(point, (one.design, other.design), predicate) {
            None => Apart::Unknown,
            Some(it) if it.interval.low > 0.0 => Apart::Higher,
            Some(it) if it.interval.high < 0.0 => Apart::Lower,
            Some(_) => Apart::No,
        }
    }
}

/// The lower rate first; where both are zero, the one that is known better; what is not known last.
pub(crate) fn lower_first(one: &Rate, other: &Rate) -> Ordering {
    let key = |rate: &Rate| match (rate.value(), rate.high()) {
        (Some(value), Some(high)) => (value, if value == 0.0 { high } else { 0.0 }),
        _ => (f64::INFINITY, 0.0),
    };
    let ((value, bound), (other, other_bound)) = (key(one), key(other));
    value.total_cmp(&other).then(bound.total_cmp(&other_bound))
}
