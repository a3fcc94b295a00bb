//! All that a page says of one sweep, computed once: the rates of each cell, the order of designs, which are told
//! apart.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use doublehold_history::Predicate;
use doublehold_statistics::{Interval, Scale};
use doublehold_sweeps::records::Example;
use doublehold_sweeps::results::{Pairs, Ranking, Results};
use doublehold_text::every;

use super::document::Line;
use super::rates::{Figures, SURE};

/// By what designs are ranked.
pub(crate) const RANKED: [Predicate; 3] = [Predicate::P2, Predicate::P1, Predicate::P4];
/// The order of columns: what is ranked by, and then the others.
pub(crate) const COLUMNS: [Predicate; 6] = every!(Predicate: P2, P1, P4, P3, WR, LV);
/// Up to so many points of the grid, each has its tables: pairs are counted at no more.
const POINTS_SHOWN: usize = Pairs::POINTS;

/// One sweep's numbers.
pub(crate) struct PageModel<'a> {
    pub(crate) results: &'a Results,
    pub(crate) examples: &'a [Example],
    /// Which part of the page it is, from 0.
    pub(crate) part: usize,
    /// Every cell that has runs, and those without of points that are shown.
    pub(crate) cells: BTreeMap<u64, Figures>,
    /// The points of the grid that have runs, in order.
    pub(crate) points: Vec<u64>,
    /// The designs that are told apart at the points that have tables.
    apart: Ranking,
}

/// How two designs differ at one point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Difference {
    /// The one's rate less the other's, on the same seeds; none where undecided runs leave it open.
    pub(crate) value: Option<f64>,
    pub(crate) interval: Interval,
    /// The number of seeds that both ran from.
    pub(crate) pairs: u64,
    /// In how many of them one is undecided, or both.
    pub(crate) undecided: u64,
}

impl<'a> PageModel<'a> {
    pub(crate) fn new(part: usize, results: &'a Results, examples: &'a [Example]) -> PageModel<'a> {
        let designs = results.header.designs.len().max(1) as u64;
        let mut points: Vec<u64> = results.cells.keys().map(|cell| cell / designs).collect();
        points.dedup();
        if points.is_empty() {
            points.push(0);
        }
        let mut cells: BTreeMap<u64, Figures> =
            results.cells.keys().map(|cell| (*cell, Figures::from_results(results, *cell))).collect();
        for point in points.iter().take(POINTS_SHOWN) {
            for cell in point * designs..(point + 1) * designs {
                cells.entry(cell).or_insert_with(|| Figures::from_results(results, cell));
            }
        }
        let apart = results.rank_designs(limit_points(&points), &COLUMNS, SURE);
        PageModel { results, examples, part, cells, points, apart }
    }

    /// The points that have tables: all, or the first of many.
    pub(crate) fn points_shown(&self) -> &[u64] {
        limit_points(&self.points)
    }

    pub(crate) fn name(&self, design: usize) -> &'a str {
        self.results.header.designs.get(design).map_or("?", |design| &design.name)
    }

    /// The cells of a point, in the order of their designs.
    pub(crate) fn at(&self, point: u64) -> impl Iterator<Item = &Figures> {
        let designs = self.results.header.designs.len() as u64;
        self.cells.range(point * designs..(point + 1) * designs).map(|(_, figures)| figures)
    }

    /// The cells of a point by their ranks, and within a rank in the order of the study.
    pub(crate) fn cells_by_rank(&self, point: u64) -> Vec<&Figures> {
        let mut cells: Vec<&Figures> = self.at(point).collect();
        cells.sort_by_key(|cell| RANKED.map(|it| self.rank(cell, it).unwrap_or(usize::MAX)));
        cells
    }

    /// The rank of a cell's design at its point; none where nothing is known of it, or where nothing is compared.
    pub(crate) fn rank(&self, cell: &Figures, predicate: Predicate) -> Option<usize> {
        let designs = self.results.header.designs.len().max(1) as u64;
        self.apart.rank(cell.cell / designs, cell.design, predicate)
    }

    /// In what the rates of a predicate are told at a point: one unit for all designs.
    pub(crate) fn scale(&self, point: u64, predicate: Predicate) -> Scale {
        Scale::Share.common_scale(self.at(point).filter_map(|cell| cell.rate(predicate).size()))
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
        let pairs = self.results.pairs.get(point, designs, predicate)?;
        let interval = pairs.interval(SURE)?;
        let (lower, higher) = (pairs.as_if_lower().difference()?, pairs.as_if_higher().difference()?);
        // As with rates: a number is for where the undecided can change only a tenth of it.
        let value = pairs.decided.difference().filter(|it| higher - lower <= it.abs() / 10.0);
        let undecided = pairs.pairs() - pairs.decided.pairs();
        Some(Difference { value, interval, pairs: pairs.pairs(), undecided })
    }

    /// Compares a design with another at a point that has tables; `None` if there is nothing to compare.
    pub(crate) fn compare(
        &self,
        point: u64,
        (one, other): (&Figures, &Figures),
        predicate: Predicate,
    ) -> Option<Ordering> {
        let is_known = self.rank(one, predicate).is_some() && self.rank(other, predicate).is_some();
        let designs = (one.design, other.design);
        let is_compared =
            self.results.is_divided() || self.results.pairs.get(point, designs, predicate).is_some();
        (is_known && is_compared).then(|| self.apart.compare(point, designs, predicate))
    }
}

fn limit_points(points: &[u64]) -> &[u64] {
    if points.len() <= POINTS_SHOWN { points } else { &points[..1] }
}
