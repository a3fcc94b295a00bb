//! The designs that are told apart at each point, and their ranks.
//!
//! All comparisons of a page are one family: of pages on which all designs are the same, one in twenty at most tells
//! any apart. If runs are not divided, designs are compared on the same seeds, by an exact test. If they are, or if
//! there are too many points for pairs, each difference of two rates has an interval, so wide that all of them hold at
//! once; that tells fewer apart. Undecided runs count against either side: two designs are told apart only if they
//! would be whatever these runs had come to.
//!
//! A rank is 1 if no design is told apart as violated less often, and else one more than the highest rank of those that
//! are. So designs of one rank are not told apart. Designs of two ranks need not be told apart either: a design has
//! rank 2 if it is told apart from a single one of rank 1.
//!
//! Decision: "Designs share a rank unless a test tells them apart" (docs/decisions/sweeps.md).

use std::cmp::Ordering;
use std::collections::BTreeMap;

use doublehold_history::Predicate;
use doublehold_statistics::{Between, Comparison, Confidence, holm, simultaneous};

use super::{Pairs, Results};

/// The designs that are told apart, and their ranks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranking {
    /// The pairs that are told apart, by point and predicate: first the design that is violated less often.
    lower: BTreeMap<(u64, Predicate), Vec<(usize, usize)>>,
    /// The ranks of designs, by their numbers; none where nothing is known of one.
    ranks: BTreeMap<(u64, Predicate), Vec<Option<usize>>>,
}

impl Ranking {
    /// Compares two designs: the one that is violated less often is less. Equal if they are not told apart.
    pub fn compare(&self, point: u64, (one, other): (usize, usize), predicate: Predicate) -> Ordering {
        let pairs = self.lower.get(&(point, predicate)).map_or(&[][..], Vec::as_slice);
        if pairs.contains(&(one, other)) {
            Ordering::Less
        } else if pairs.contains(&(other, one)) {
            Ordering::Greater
        } else {
            Ordering::Equal
        }
    }

    /// A design's rank, from 1; none where nothing is known of it.
    pub fn rank(&self, point: u64, design: usize, predicate: Predicate) -> Option<usize> {
        *self.ranks.get(&(point, predicate))?.get(design)?
    }

    /// The number of comparisons that told designs apart.
    pub fn count(&self) -> usize {
        self.lower.values().map(Vec::len).sum()
    }
}

impl Results {
    /// Compares the designs at these points of the grid. By pairs if all of them have pairs.
    pub fn rank_designs(&self, points: &[u64], predicates: &[Predicate], confidence: Confidence) -> Ranking {
        let lower = if self.is_divided() || points.len() > Pairs::POINTS {
            self.compare_by_intervals(points, predicates, confidence)
        } else {
            self.compare_by_pairs(points, predicates, confidence)
        };
        let mut ranking = Ranking { lower, ranks: BTreeMap::new() };
        for point in points {
            for predicate in predicates {
                let pairs = ranking.lower.get(&(*point, *predicate)).map_or(&[][..], Vec::as_slice);
                let is_known = |design: usize| self.is_known(*point, design, *predicate);
                let ranks = ranks(self.header.designs.len(), pairs).into_iter().enumerate();
                let ranks = ranks.map(|(design, rank)| is_known(design).then_some(rank)).collect();
                ranking.ranks.insert((*point, *predicate), ranks);
            }
        }
        ranking
    }

    /// True if any run of a design decided.
    fn is_known(&self, point: u64, design: usize, predicate: Predicate) -> bool {
        let cell = self.cells.get(&(point * self.header.designs.len() as u64 + design as u64));
        let strata = cell.into_iter().flat_map(|cell| cell.strata.values());
        strata.into_iter().any(|row| row.runs > row.count(predicate).undecided)
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

/// The ranks that follow from pairs of which the first is lower.
fn ranks(designs: usize, lower: &[(usize, usize)]) -> Vec<usize> {
    let mut ranks = vec![1; designs];
    // Ranks only grow, and with no circle are done after as many rounds as there are designs. Pairs with different
    // seeds could make one, whose designs then stay where that ends.
    for _ in 0..designs {
        let mut is_done = true;
        for (one, other) in lower {
            if ranks[*other] <= ranks[*one] && ranks[*one] < designs {
                (ranks[*other], is_done) = (ranks[*one] + 1, false);
            }
        }
        if is_done {
            break;
        }
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::ranks;

    #[test]
    fn a_rank_is_one_more_than_the_highest_below() {
        assert_eq!(ranks(4, &[]), [1, 1, 1, 1]);
        assert_eq!(ranks(4, &[(2, 0), (2, 1), (0, 1)]), [2, 3, 1, 1]);
        // The second is told apart from the first and not from the third, which is between them.
        assert_eq!(ranks(3, &[(0, 1)]), [1, 2, 1]);
        assert_eq!(ranks(5, &[(3, 4), (2, 3), (1, 2), (0, 1)]), [1, 2, 3, 4, 5]);
        assert_eq!(ranks(2, &[(0, 1), (1, 0)]), [1, 2], "a circle ends");
    }
}
