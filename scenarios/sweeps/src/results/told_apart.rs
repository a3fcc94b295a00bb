//! The designs that are told apart at each point.
//!
//! All comparisons of a page are one family: of pages on which all designs are the same, one in twenty at most tells
//! any apart. If runs are not divided, designs are compared on the same seeds, by an exact test. If they are, or if
//! there are too many points for pairs, each difference of two rates has an interval, so wide that all of them hold at
//! once; that tells fewer apart. Undecided runs count against either side: two designs are told apart only if they
//! would be whatever these runs had come to.
//!
//! Decision: "Designs share a letter unless a test tells them apart" (docs/decisions/sweeps.md).

use std::cmp::Ordering;
use std::collections::BTreeMap;

use doublehold_history::Predicate;
use doublehold_statistics::{Between, Comparison, Confidence, holm, simultaneous};

use super::{Pairs, Results};

/// The pairs of designs that are told apart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DifferingPairs {
    /// By point and predicate: first the design that is violated less often.
    lower: BTreeMap<(u64, Predicate), Vec<(usize, usize)>>,
}

impl DifferingPairs {
    /// Compares two designs: the one that is violated less often is less. Equal if they are not told apart.
    pub fn compare(&self, point: u64, (one, other): (usize, usize), predicate: Predicate) -> Ordering {
        let pairs = self.pairs(point, predicate);
        if pairs.contains(&(one, other)) {
            Ordering::Less
        } else if pairs.contains(&(other, one)) {
            Ordering::Greater
        } else {
            Ordering::Equal
        }
    }

    /// The pairs that are told apart at a point: first the design that is violated less often.
    pub fn pairs(&self, point: u64, predicate: Predicate) -> &[(usize, usize)] {
        self.lower.get(&(point, predicate)).map_or(&[], Vec::as_slice)
    }

    /// The number of comparisons that told designs apart.
    pub fn count(&self) -> usize {
        self.lower.values().map(Vec::len).sum()
    }
}

impl Results {
    /// Compares the designs at these points of the grid. By pairs if all of them have pairs.
    pub fn tell_apart(
        &self,
        points: &[u64],
        predicates: &[Predicate],
        confidence: Confidence,
    ) -> DifferingPairs {
        let lower = if self.is_divided() || points.len() > Pairs::POINTS {
            self.compare_by_intervals(points, predicates, confidence)
        } else {
            self.compare_by_pairs(points, predicates, confidence)
        };
        DifferingPairs { lower }
    }

    fn compare_by_pairs(&self, points: &[u64], predicates: &[Predicate], confidence: Confidence) -> Lower {
        let (mut which, mut tests) = (Vec::new(), Vec::new());
        for (point, (one, other), predicate, pairs) in self.pairs.iter() {
            if points.contains(&point) && predicates.contains(&predicate) {
                let (order, p_value) = pairs.evidence();
                tests.push(Comparison { p_value, discordant: pairs.discordant() });
                let pair = if order == Ordering::Less { (one, other) } else { (other, one) };
                which.push(((point, predicate), pair));
            }
        }
        let mut lower = Lower::new();
        let apart = which.into_iter().zip(holm(&tests, confidence));
        for ((key, pair), _) in apart.filter(|(_, is_apart)| *is_apart) {
            lower.entry(key).or_default().push(pair);
        }
        lower
    }

    fn compare_by_intervals(
        &self,
        points: &[u64],
        predicates: &[Predicate],
        confidence: Confidence,
    ) -> Lower {
        let designs = self.header.designs.len();
        let pairs = designs * designs.saturating_sub(1) / 2;
        let deviations = simultaneous(points.len() * predicates.len() * pairs, confidence);
        let mut lower = Lower::new();
        for point in points {
            for predicate in predicates {
                let between = |design: usize| -> Option<(usize, Between)> {
                    let cell = self.cells.get(&(point * designs as u64 + design as u64))?;
                    Some((design, cell.stratify(&self.header, *predicate).rate_range(deviations)?))
                };
                let all: Vec<(usize, Between)> = (0..designs).filter_map(between).collect();
                let pairs = all.iter().flat_map(|(one, lower)| {
                    let above = all.iter().filter(|(_, higher)| lower.is_below(higher));
                    above.map(move |(other, _)| (*one, *other))
                });
                let pairs: Vec<(usize, usize)> = pairs.collect();
                if !pairs.is_empty() {
                    lower.insert((*point, *predicate), pairs);
                }
            }
        }
        lower
    }
}

/// The pairs of designs that are told apart: first the one that is violated less often.
type Lower = BTreeMap<(u64, Predicate), Vec<(usize, usize)>>;
