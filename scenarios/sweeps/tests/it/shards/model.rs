//! A study in plain loops: every batch that there is, in order, with its place, its runs, its first seed and its shard,
//! and when a cell has had enough. Made-up counts stand for runs. `records` beside it compares files with it.

use std::collections::BTreeMap;

use doublehold_history::Predicate;
use doublehold_scenarios::{Engine, LeanEngine, Searchable, Seed};
use doublehold_sim::Stream;
use doublehold_sweeps::study::{CellId, Study};
use doublehold_sweeps::sweep::{Batch, Counted, PredicateCount, Shard, Sums};

const BATCH: u64 = 500;
const ROW: u64 = 4;

/// A study, drawn at random.
pub(crate) struct Model {
    pub(crate) study: Study,
    pub(crate) designs: u64,
    /// The number of values on each axis.
    pub(crate) values: Vec<u64>,
    pub(crate) strata: u64,
    /// The number of runs of each stratum of each cell.
    pub(crate) of: BTreeMap<(u64, u64), u64>,
    /// The weight of each stratum of each cell, and what lies beyond.
    pub(crate) weights: BTreeMap<(u64, u64), (f64, f64)>,
    pub(crate) precision: Option<(Predicate, f64)>,
    /// What the made-up counts depend on, besides their batch.
    salt: u64,
}

/// A batch as the model has it.
#[derive(Clone, Debug)]
pub(crate) struct Planned {
    pub(crate) place: u64,
    /// The batch with its counts.
    pub(crate) batch: Batch,
}

impl Model {
    pub(crate) fn random(seed: u64) -> Model {
        let mut stream = Stream::new(Seed(seed), "studies");
        let mut draw = |most: u64| 1 + stream.below(most);
        let (designs, values) = (draw(3), [draw(3), draw(2)][..draw(3) as usize - 1].to_vec());
        let (sort, first) = (draw(3), draw(1_000) - 1);
        let few = [draw(40), draw(1_100), draw(5_000)][draw(3) as usize - 1];
        let runs = if sort == 2 { 1_900 + draw(4_000) } else { few };
        let (faults, by_weight, is_quiet) = (draw(2), draw(4) / 4 * draw(6_000), draw(2) == 1);
        let (width, at) = (draw(60), draw(6) as usize - 1);
        let mut text = format!("question = \"?\"\nruns = {runs}\nseed = \"{first}\"\n");
        let precision = (sort == 2).then(|| (Predicate::ALL[at], width as f64 / 1_000.0));
        if let Some((predicate, _)) = precision {
            text += &format!("precision = {{ predicate = \"{predicate}\", width = \"{width}/1000\" }}\n");
        }
        if sort == 3 {
            let quiet = if is_quiet { "holds" } else { "unknown" };
            text += &format!("strata = {{ faults = {faults}, quiet = \"{quiet}\"");
            text +=
                &if by_weight > 0 { format!(", by_weight = {by_weight} }}\n") } else { " }\n".to_owned() };
        }
        // One node has no replica: what promotes it cannot come.
        text += "[weather]\nfor = \"20s\"\n";
        for (kind, host, every) in [("pause", "clients", "1h"), ("promote", "replicas", "1h")] {
            text +=
                &format!("[[weather.faults]]\nkind = \"{kind}\"\nhost = \"{host}\"\nevery = \"{every}\"\n");
            text += if kind == "pause" { "for = \"1s\"\n" } else { "" };
        }
        for design in 0..designs {
            text += &format!("[[designs]]\nname = \"{design}\"\nlock = \"single\"\n");
        }
        let axes = [("weather.pause.every", ["20s", "1m", "1h"]), ("lock.ttl", ["1s", "2s", "3s"])];
        text += if values.is_empty() { "" } else { "[grid]\n" };
        for ((key, all), count) in axes.iter().zip(&values) {
            text += &format!("\"{key}\" = {:?}\n", &all[..*count as usize]);
        }
        let study =
            Study::parse("made-up", "made-up.toml", &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let strata = if sort < 3 { 1 } else { [3, 6][faults as usize - 1] };
        let mut model = Model {
            study,
            designs,
            values,
            strata,
            of: BTreeMap::new(),
            weights: BTreeMap::new(),
            precision,
            salt: stream.next_u64(),
        };
        (0..model.cells()).for_each(|cell| model.divide(cell, runs, by_weight, is_quiet));
        model
    }

    /// Divides the runs of a cell among its strata.
    fn divide(&mut self, cell: u64, runs: u64, by_weight: u64, is_quiet: bool) {
        let Some(strata) = self.study.strata.clone() else {
            self.of.insert((cell, 0), runs);
            self.weights.insert((cell, 0), (1.0, 0.0));
            return;
        };
        let prepared =
            LeanEngine.prepare(&self.study.scenario(CellId(cell)).expect("a cell")).expect("it runs");
        let all = strata.all();
        let weights: Vec<f64> = all.iter().map(|it| strata.weight(prepared.climate(), it)).collect();
        let shared: f64 = weights[usize::from(is_quiet)..].iter().sum();
        for (stratum, weight) in (0..).zip(&weights) {
            let more = if stratum == 0 && is_quiet { 0.0 } else { by_weight as f64 * weight / shared };
            let of = if *weight == 0.0 { 0 } else { runs + more.floor() as u64 };
            self.of.insert((cell, stratum), of);
            self.weights.insert((cell, stratum), (*weight, strata.beyond(prepared.climate())));
        }
    }

    pub(crate) fn cells(&self) -> u64 {
        self.designs * self.values.iter().product::<u64>()
    }

    /// The most runs that a cell gets.
    pub(crate) fn most(&self) -> u64 {
        let shared = self.study.strata.as_ref().map_or(0, |strata| strata.by_weight);
        self.strata * self.study.runs + shared
    }

    /// Every batch, round by round, in each round cell by cell, and of those that are left their strata.
    pub(crate) fn units(&self) -> Vec<Planned> {
        let (mut units, mut place) = (Vec::new(), 0);
        let mut counted: BTreeMap<u64, Counted> = BTreeMap::new();
        let longest = self.of.values().max().copied().unwrap_or(0);
        for round in 0..longest.div_ceil(BATCH * ROW).max(1) {
            let over: Vec<u64> =
                counted.iter().filter(|(_, it)| self.is_enough(**it)).map(|(cell, _)| *cell).collect();
            for cell in 0..self.cells() {
                for stratum in 0..self.strata {
                    for number in round * ROW..(round + 1) * ROW {
                        let of = self.of[&(cell, stratum)];
                        if !over.contains(&cell) && (number * BATCH < of || number == 0) {
                            let batch =
                                self.made_up((cell, stratum, number), (of - number * BATCH).min(BATCH));
                            if let Some((predicate, _)) = self.precision {
                                add(counted.entry(cell).or_default(), &batch, predicate);
                            }
                            units.push(Planned { place, batch });
                        }
                        place += 1;
                    }
                }
            }
        }
        units
    }

    /// The number of each batch's shard, from 1: where cells may have enough, shards are of whole cells.
    pub(crate) fn shards_of(&self, units: &[Planned], shards: u64) -> Vec<u64> {
        // No more of the shards than these can have a run.
        let mut shares = vec![0; shards.min(units.len() as u64 + 1) as usize];
        let of = |unit: &Planned| match self.precision {
            Some(_) => unit.batch.cell % shards + 1,
            None => fewest(&mut shares, unit.batch.runs),
        };
        units.iter().map(of).collect()
    }

    /// True if the interval of a rate is as narrow as asked: by Wilson, from none of the undecided to all of them.
    pub(crate) fn is_enough(&self, counted: Counted) -> bool {
        is_enough(self.precision.map(|(_, width)| width), counted)
    }

    /// The batch at a place, with counts that depend on nothing else.
    fn made_up(&self, (cell, stratum, number): (u64, u64, u64), runs: u64) -> Batch {
        let of = self.of[&(cell, stratum)];
        let (weight, beyond) = self.weights[&(cell, stratum)];
        let is_divided = self.study.strata.is_some();
        let label = format!("{cell} {stratum} {number}");
        let mut stream = Stream::new(Seed(self.salt), &label);
        let mut batch = Batch {
            cell,
            stratum,
            batch: number,
            weight: is_divided.then_some(weight),
            beyond: (is_divided && stratum == 0).then_some(beyond),
            planned: is_divided.then_some(of),
            seed: self.study.seed.0 + stratum * 1_000_000_000 + number * BATCH,
            runs,
            missed: stream.below(9),
            panicked: stream.below(runs + 1),
            ..Batch::default()
        };
        for predicate in Predicate::ALL {
            // Of rates and doubts that differ from cell to cell, and from predicate to predicate.
            let mut of_cell = Stream::new(Seed(self.salt), &format!("{predicate} {cell}"));
            let (rate, doubt, offset) =
                (of_cell.below(300), of_cell.below(60).saturating_sub(30), stream.below(1_000));
            let run = |run: u64| match (run * 371 + offset) % 1_000 {
                at if at < rate => 'v',
                at if at < rate + doubt => '?',
                _ => '.',
            };
            let came_to: Vec<char> = (0..runs).map(run).collect();
            batch.predicates.insert(predicate, count(&came_to));
        }
        let offset = stream.below(7);
        for run in 0..runs {
            let grants = (run + offset) % 7;
            batch.grants.add(grants);
            batch.operated_ms.add(grants * 1_300 + run);
            if grants > 2 && run < 90 {
                batch.obtained.add(1_000_000 * (1 + run * 37 % 3_000));
            }
        }
        (0..stream.below(4)).for_each(|_| batch.recovered.add(1_000_000 * (1 + stream.below(30_000))));
        (0..runs).for_each(|run| {
            batch.applied.add((run + offset) % 6);
            batch.refused.add((run + offset) % 3);
            batch.given_up.add((run + offset) % 2);
        });
        (0..stream.below(4)).for_each(|_| batch.told_before.add(1_000_000 * (1 + stream.below(30_000))));
        (0..stream.below(4)).for_each(|_| batch.told_after.add(1_000_000 * (1 + stream.below(30_000))));
        batch.never_told = stream.below(4);
        for predicate in [Predicate::P1, Predicate::P2] {
            for _ in 0..batch.predicates[&predicate].violated.min(50) {
                batch.overlaps.entry(predicate).or_default().add(1_000_000 * (1 + stream.below(5_000)));
            }
        }
        batch
    }
}

/// True if an interval is at most so wide; never where nothing was asked or counted.
pub(crate) fn is_enough(width: Option<f64>, Counted { violated, undecided, runs }: Counted) -> bool {
    let (violated, undecided, of) = (violated as f64, undecided as f64, runs as f64);
    let end = |hits: f64, sign: f64| {
        let (z, share) = (1.959_963_984_540_054, hits / of);
        let side = (z * z * share * (1.0 - share) / of + z.powi(4) / (4.0 * of * of)).sqrt();
        (share + z * z / (2.0 * of) + sign * side) / (1.0 + z * z / of)
    };
    width.is_some_and(|width| of > 0.0 && end(violated + undecided, 1.0) - end(violated, -1.0) <= width)
}

/// What one predicate came to, of runs as letters: violated, held, in doubt.
pub(crate) fn count(runs: &[char]) -> PredicateCount {
    let digits = |wanted: char| -> String {
        let value =
            |four: &[char]| (0..4).fold(0, |value, at| 2 * value + u32::from(four.get(at) == Some(&wanted)));
        let all: String =
            runs.chunks(4).map(|it| char::from_digit(value(it), 16).expect("four bits")).collect();
        all.trim_end_matches('0').to_owned()
    };
    let many = |wanted: char| runs.iter().filter(|run| **run == wanted).count() as u64;
    let violated = many('v');
    PredicateCount {
        violated,
        undecided: many('?'),
        incidents: Sums { sum: violated, squares: violated },
        violations: digits('v'),
        doubts: digits('?'),
        ..PredicateCount::default()
    }
}

fn add(counted: &mut Counted, batch: &Batch, predicate: Predicate) {
    counted.violated += batch.predicates[&predicate].violated;
    counted.undecided += batch.predicates[&predicate].undecided;
    counted.runs += batch.runs;
}

/// The first of the shards that have the fewest runs.
fn fewest(shares: &mut [u64], runs: u64) -> u64 {
    let least = shares.iter().min().copied().unwrap_or(0);
    let shard = shares.iter().position(|it| *it == least).unwrap_or(0);
    shares[shard] += runs;
    shard as u64 + 1
}

/// The shards that are looked at: all, or of many the first, some at the end of those with runs, and the last.
pub(crate) fn some_shards(of: u64, shards: &[u64]) -> Vec<Shard> {
    let last = shards.iter().max().copied().unwrap_or(1);
    let numbers = if of < 10 { (1..=of).collect() } else { vec![1, 2, last, last + 1, of] };
    numbers.into_iter().filter_map(|number| Shard::new(number, of)).collect()
}
