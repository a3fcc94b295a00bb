//! All that a page says of one sweep, computed once: the rates of each cell, and which designs are told apart.
//!
//! Designs stand in the order of the study everywhere: an order by rates would be a ranking, which no test supports.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use doublehold_history::Predicate;
use doublehold_statistics::{Interval, Scale, letters};
use doublehold_sweeps::records::Example;
use doublehold_sweeps::results::{DifferingPairs, Pairs, Results};
use doublehold_text::every;

use super::document::Line;
use super::measure::Measure;
use super::rates::{Figures, SURE};

/// The order of columns: what a reader asks first, and then the others.
pub(crate) const COLUMNS: [Predicate; 6] = every!(Predicate: P1, P2, P4, LV, P3, WR);
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
    /// The unit in which rates are told.
    pub(crate) measure: Measure,
    /// The designs that are told apart at the points that have tables.
    apart: DifferingPairs,
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
        let apart = results.tell_apart(limit_points(&points), &COLUMNS, SURE);
        let measure = Measure::choose(&results.header);
        PageModel { results, examples, part, cells, points, measure, apart }
    }

    /// True if random faults strike in any design, at any point of the grid.
    pub(crate) fn has_weather(&self) -> bool {
        let header = &self.results.header;
        let is_varied = header.axes.iter().any(|axis| axis.key.starts_with("weather"));
        is_varied || header.designs.iter().any(|design| !design.weather.is_empty())
    }

    /// The pairs of designs that are told apart at a point: first the one that is violated less often.
    pub(crate) fn pairs(&self, point: u64, predicate: Predicate) -> &[(usize, usize)] {
        self.apart.pairs(point, predicate)
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

    /// True if any run of a cell decided.
    pub(crate) fn is_known(cell: &Figures, predicate: Predicate) -> bool {
        cell.rate(predicate).decided > 0
    }

    /// True if a cell's lock has no deadline that its holder could look at: then every overlap of claims is one of
    /// valid leases.
    pub(crate) fn has_no_deadline(&self, cell: &Figures) -> bool {
        self.results.header.designs.get(cell.design).is_some_and(|design| design.has_no_deadline)
    }

    /// True if a cell has a rate of a rule, and that is no other rule's: without a deadline P2 is P1.
    pub(crate) fn has_rate(&self, cell: &Figures, predicate: Predicate) -> bool {
        let has_rule = predicate != Predicate::P2 || !self.has_no_deadline(cell);
        has_rule && self.measure.rate(cell, predicate).is_ok()
    }

    /// The letters of a point's cells for a predicate, in their order: two that share one are not told apart. None
    /// where nothing is compared, or where nothing is known.
    ///
    /// By P2 a lock without a deadline has none: it cannot be told from one that has a deadline and looks at it by a
    /// rule that asks for deadlines.
    pub(crate) fn letters(&self, point: u64, predicate: Predicate) -> Vec<Option<String>> {
        let cells: Vec<&Figures> = self.at(point).collect();
        let compared: Vec<&Figures> =
            cells.iter().copied().filter(|cell| self.is_compared(point, cell, predicate)).collect();
        let place = |design: usize| compared.iter().position(|cell| cell.design == design);
        let pairs = self.apart.pairs(point, predicate).iter();
        let pairs: Vec<(usize, usize)> =
            pairs.filter_map(|(one, other)| place(*one).zip(place(*other))).collect();
        let letters = letters(compared.len(), &pairs);
        let of_cell = |cell: &&Figures| place(cell.design).map(|place| letters[place].clone());
        if compared.len() < 2 { vec![None; cells.len()] } else { cells.iter().map(of_cell).collect() }
    }

    fn is_compared(&self, point: u64, cell: &Figures, predicate: Predicate) -> bool {
        let is_shown = self.points_shown().contains(&point);
        let has_rule = predicate != Predicate::P2 || !self.has_no_deadline(cell);
        is_shown && has_rule && PageModel::is_known(cell, predicate)
    }

    /// In what the rates of a predicate are told at a point: one unit for all designs.
    pub(crate) fn scale(&self, point: u64, predicate: Predicate) -> Scale {
        Scale::Share.common_scale(self.at(point).filter_map(|cell| cell.rate(predicate).size()))
    }

    /// A cell's rate and its interval in the page's unit, in words.
    pub(crate) fn words(&self, cell: &Figures, predicate: Predicate) -> (String, String) {
        let point = cell.cell / self.results.header.designs.len().max(1) as u64;
        self.measure.words(&self.measure.rate(cell, predicate), self.scale(point, predicate))
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

    /// Compares a design with another at a point that has tables: less if it is violated less often. `None` if there is
    /// nothing to compare.
    pub(crate) fn compare(
        &self,
        point: u64,
        (one, other): (&Figures, &Figures),
        predicate: Predicate,
    ) -> Option<Ordering> {
        let is_known = [one, other].iter().all(|cell| self.is_compared(point, cell, predicate));
        let designs = (one.design, other.design);
        let is_compared =
            self.results.is_divided() || self.results.pairs.get(point, designs, predicate).is_some();
        (is_known && is_compared).then(|| self.apart.compare(point, designs, predicate))
    }
}

fn limit_points(points: &[u64]) -> &[u64] {
    if points.len() <= POINTS_SHOWN { points } else { &points[..1] }
}
