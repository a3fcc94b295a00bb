//! What drawn records come to, from their runs: rates per run, grant and hour, means, ranks.

use std::collections::BTreeMap;

use doublehold_history::Predicate;
use doublehold_statistics::{
    Between, Confidence, Estimate, Exposure, Interval, MeanPerRun, Part as Known, PartlyDecided, Reason,
    Scale, Stratified, Stratum, Unsupported, simultaneous,
};

use crate::report::drawn::{Drawn, Letter, Part, Run};
use crate::report::ranks::{Apart, apart_by_pairs, wilson};

/// The order of columns.
pub(crate) const COLUMNS: [Predicate; 6] =
    [Predicate::P1, Predicate::P2, Predicate::P4, Predicate::LV, Predicate::P3, Predicate::WR];
pub(crate) const ASKED: [Predicate; 4] = [Predicate::P1, Predicate::P2, Predicate::P4, Predicate::LV];
pub(crate) const NAMES: [&str; 4] = ["a", "b", "c", "d"];

/// What a run has of something.
pub(crate) type Counted = fn(&Run) -> u64;

/// A rate per run, or why there is none.
pub(crate) type Rate = Result<Estimate, Unsupported>;

/// Drawn records, and what is known of them from elsewhere.
pub(crate) struct Case {
    pub(crate) drawn: Drawn,
    /// A design of which an example shows that it needs no fault.
    pub(crate) refuted: Option<usize>,
}

pub(crate) fn many(part: &Part, predicate: Predicate, wanted: Letter) -> u64 {
    part.runs.iter().filter(|run| run.letter(predicate) == wanted).count() as u64
}

impl Case {
    pub(crate) fn parts(&self, cell: u64) -> Vec<(u64, &Part)> {
        self.drawn.parts.get(&cell).into_iter().flatten().map(|(stratum, part)| (*stratum, part)).collect()
    }

    pub(crate) fn design(&self, cell: u64) -> usize {
        (cell % self.drawn.designs as u64) as usize
    }

    /// The points that have runs.
    pub(crate) fn points(&self) -> Vec<u64> {
        let mut points: Vec<u64> =
            self.drawn.parts.keys().map(|cell| cell / self.drawn.designs as u64).collect();
        points.dedup();
        points
    }

    /// Those that have tables: of more than six the first alone.
    pub(crate) fn shown(&self) -> Vec<u64> {
        let points = self.points();
        if points.len() > 6 { points[..1].to_vec() } else { points }
    }

    pub(crate) fn letters(&self, cell: u64, predicate: Predicate) -> Vec<Letter> {
        self.parts(cell).iter().flat_map(|(_, part)| &part.runs).map(|run| run.letter(predicate)).collect()
    }

    pub(crate) fn is_divided(&self) -> bool {
        self.drawn.header.strata.len() > 1
    }

    /// What is known of each stratum, and what is not.
    pub(crate) fn stratified(&self, cell: u64, predicate: Predicate) -> Stratified {
        let parts = self.parts(cell);
        let stratum = |(number, part): &(u64, &Part)| {
            let counts = (many(part, predicate, 'v'), many(part, predicate, '?'), part.runs.len() as u64);
            let counted = Known::Counted(PartlyDecided::new(counts.0, counts.1, counts.2));
            Stratum {
                weight: part.weight,
                part: if self.is_granted(cell, *number, predicate) { Known::Impossible } else { counted },
            }
        };
        let beyond = parts.first().filter(|(number, _)| *number == 0).map_or(0.0, |(_, part)| part.beyond);
        let run: f64 = parts.iter().map(|(_, part)| part.weight).sum();
        let is_whole = parts.len() == self.drawn.header.strata.len();
        Stratified {
            strata: parts.iter().map(stratum).collect(),
            unexplored: if is_whole { beyond } else { (1.0 - run).max(beyond) },
        }
    }

    /// The rate per run of a predicate.
    pub(crate) fn rate(&self, cell: u64, predicate: Predicate) -> Rate {
        if self.is_divided() {
            return self.stratified(cell, predicate).estimate(Confidence::P95);
        }
        let letters = self.letters(cell, predicate);
        let many = |wanted: Letter| letters.iter().filter(|it| **it == wanted).count() as f64;
        let (violated, undecided, of) = (many('v'), many('?'), letters.len() as f64);
        if of == undecided {
            return Err(Unsupported { reason: Reason::NothingDecided, at_most: None });
        }
        let runs = PartlyDecided::new(violated as u64, undecided as u64, of as u64);
        let interval = Interval {
            low: if violated > 0.0 { wilson(violated, of).0 } else { 0.0 },
            high: wilson(violated + undecided, of).1,
        };
        if violated == 0.0 {
            let reason = Reason::NoneSeen { runs: (of - undecided) as u64, undecided: undecided as u64 };
            return Err(Unsupported { reason, at_most: runs.upper_bound(Confidence::P95) });
        }
        if undecided * 10.0 > violated.min(of - violated - undecided) {
            let range = runs.range().expect("there are runs");
            return Err(Unsupported {
                reason: Reason::Undecided { range, interval },
                at_most: Some(interval.high),
            });
        }
        Ok(Estimate { value: violated / (of - undecided), interval, plain_runs: of - undecided })
    }

    /// The mean of something over the runs, by weight; none where it is known of too few.
    pub(crate) fn mean(&self, cell: u64, of: Counted) -> Option<f64> {
        let known: Vec<(f64, f64)> = self
            .parts(cell)
            .iter()
            .filter(|(_, part)| part.runs.len() > 1)
            .map(|(_, part)| {
                (part.weight, part.runs.iter().map(of).sum::<u64>() as f64 / part.runs.len() as f64)
            })
            .collect();
        let weight: f64 = known.iter().map(|it| it.0).sum();
        (weight >= 0.99).then(|| known.iter().map(|(weight, mean)| weight * mean).sum::<f64>() / weight)
    }

    /// A rate per million grants, or per thousand hours.
    pub(crate) fn per_unit(&self, cell: u64, predicate: Predicate, (of, unit): (Counted, f64)) -> Rate {
        let mean = |part: &Part| MeanPerRun {
            runs: part.runs.len() as u64,
            sum: part.runs.iter().map(|run| u128::from(of(run))).sum(),
            sum_of_squares: part.runs.iter().map(|run| u128::from(of(run)).pow(2)).sum(),
        };
        let strata = self.parts(cell).iter().map(|(_, part)| (part.weight, mean(part))).collect();
        Exposure { strata, unit }.rate(self.rate(cell, predicate), Confidence::P95)
    }

    /// The designs that are told apart at each point, the lower one first.
    pub(crate) fn apart(&self) -> BTreeMap<u64, Apart> {
        let (shown, designs) = (self.shown(), self.drawn.designs as u64);
        if !self.is_divided() {
            let of = |point: &u64| -> Vec<BTreeMap<Predicate, Vec<Letter>>> {
                let design = |cell| Predicate::ALL.map(|it| (it, self.letters(cell, it))).into();
                (point * designs..(point + 1) * designs).map(design).collect()
            };
            return apart_by_pairs(&shown.iter().map(|point| (*point, of(point))).collect());
        }
        self.apart_by_intervals(&shown, &Predicate::ALL)
    }

    /// The same by the difference of each two rates, with intervals so wide that all of them hold at once.
    pub(crate) fn apart_by_intervals(
        &self,
        points: &[u64],
        predicates: &[Predicate],
    ) -> BTreeMap<u64, Apart> {
        let designs = self.drawn.designs as u64;
        let pairs = (designs * (designs - 1) / 2) as usize;
        let deviations = simultaneous(points.len() * predicates.len() * pairs, Confidence::P95);
        let mut apart = BTreeMap::new();
        for point in points {
            let mut here = Apart::new();
            for predicate in predicates {
                let of =
                    |design| self.stratified(point * designs + design, *predicate).rate_range(deviations);
                let all: Vec<Option<Between>> = (0..designs).map(of).collect();
                for (one, other) in
                    (0..all.len()).flat_map(|one| (0..all.len()).map(move |other| (one, other)))
                {
                    let is_below = all[one].zip(all[other]).is_some_and(|(one, other)| {
                        let error = (one.interval.high - one.range.high).powi(2)
                            + (other.range.low - other.interval.low).powi(2);
                        other.range.low - one.range.high > error.sqrt()
                    });
                    here.extend((one != other && is_below).then_some((*predicate, one, other)));
                }
            }
            apart.insert(*point, here);
        }
        apart
    }

    /// True if any run of a cell decided.
    pub(crate) fn is_known(&self, cell: u64, predicate: Predicate) -> bool {
        self.letters(cell, predicate).iter().any(|it| *it != '?')
    }

    /// Powers of ten for all entries of a column if one of them needs it.
    pub(crate) fn scale(&self, rates: &[Rate], many: f64, (scale, smallest): (Scale, f64)) -> Scale {
        let size = |rate: &Rate| match rate {
            Ok(it) => it.value * many,
            Err(it) => it.at_most.unwrap_or(0.0) * many,
        };
        let is_small = |size: f64| size > 0.0 && size < smallest;
        if rates.iter().any(|it| is_small(size(it))) { Scale::Powers } else { scale }
    }

    /// The cells of a point.
    pub(crate) fn cells_at(&self, point: u64) -> Vec<u64> {
        let designs = self.drawn.designs as u64;
        (point * designs..(point + 1) * designs).collect()
    }

    /// True if a stratum is taken to hold, and nothing is known that speaks against it. An example is one of P2.
    pub(crate) fn is_granted(&self, cell: u64, stratum: u64, predicate: Predicate) -> bool {
        let is_loud = |part: &Part| many(part, predicate, 'v') > 0;
        let is_refuted = predicate == Predicate::P2 && self.refuted == Some(self.design(cell))
            || self.parts(cell).iter().any(|(it, part)| *it == stratum && is_loud(part));
        stratum == 0 && self.drawn.header.quiet_holds && !is_refuted
    }
}
