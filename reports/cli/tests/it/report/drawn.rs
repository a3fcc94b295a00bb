//! Random records of which every run is known: designs at points in strata, with rates, waits and doubts of their own.

use std::collections::BTreeMap;

use doublehold_history::Predicate;
use doublehold_sim::{Seed, Stream};
use doublehold_sweeps::sweep::{Batch, Durations, PartialHeader, PredicateCount, StudyHeader, Sums};

use crate::report::made::{durations, header};

/// What a run came to: violated (`v`), held (`.`), or in doubt (`?`).
pub(crate) type Letter = char;

/// A run, as it is counted.
pub(crate) struct Run {
    /// As in [`Predicate::ALL`].
    letters: [Letter; 6],
    pub(crate) grants: u64,
    pub(crate) operated_ms: u64,
    pub(crate) obtained_ms: Vec<u64>,
    pub(crate) missed: u64,
    pub(crate) recovered_ms: Vec<u64>,
    /// Writes that were applied and refused, and grants that were given up.
    pub(crate) work: [u64; 3],
    /// Of each lost lock, how long after the next grant its holder heard of it.
    pub(crate) told_ms: Vec<Option<i64>>,
    pub(crate) overlaps_ms: BTreeMap<Predicate, Vec<u64>>,
    pub(crate) is_panicked: bool,
}

impl Run {
    pub(crate) fn letter(&self, predicate: Predicate) -> Letter {
        self.letters[predicate as usize]
    }

    /// The times between the next grant and the news of lost locks, before it or after it.
    pub(crate) fn told(&self, is_side: fn(i64) -> bool) -> Vec<u64> {
        self.told_ms.iter().flatten().filter(|ms| is_side(**ms)).map(|ms| ms.unsigned_abs()).collect()
    }
}

/// The runs of one stratum of one cell.
pub(crate) struct Part {
    pub(crate) weight: f64,
    pub(crate) beyond: f64,
    pub(crate) runs: Vec<Run>,
}

/// Records and the runs that are in them.
pub(crate) struct Drawn {
    pub(crate) header: StudyHeader,
    pub(crate) batches: Vec<Batch>,
    /// By cell and stratum; those of which a batch is there.
    pub(crate) parts: BTreeMap<u64, BTreeMap<u64, Part>>,
    pub(crate) designs: usize,
    pub(crate) points: u64,
}

/// The runs with this letter, as bits, four to a hexadecimal digit.
pub(crate) fn digits(runs: &[Letter], wanted: Letter) -> String {
    let of_four = |four: &[Letter]| {
        let bits: u32 = (0..4).filter(|bit| four.get(*bit) == Some(&wanted)).map(|bit| 8 >> bit).sum();
        char::from_digit(bits, 16).expect("four binary digits")
    };
    runs.chunks(4).map(of_four).collect()
}

/// What a batch says of a predicate.
pub(crate) fn counted(of: &[Letter]) -> PredicateCount {
    let are = |wanted: Letter| of.iter().filter(|run| **run == wanted).count() as u64;
    PredicateCount {
        violated: are('v'),
        undecided: are('?'),
        incidents: Sums { sum: are('v'), squares: are('v') },
        violations: digits(of, 'v'),
        doubts: digits(of, '?'),
        ..PredicateCount::default()
    }
}

impl Drawn {
    /// Records of a study of so many strata.
    pub(crate) fn of(seed: u64, strata: u64) -> Drawn {
        let mut stream = Stream::new(Seed(seed), "records");
        let designs = 1 + stream.below(4) as usize;
        let values =
            [&["1s"][..], &["1s", "2s"], &["1s", "2s", "3s"], &["1s", "2s", "3s", "4s", "5s", "6s", "7s"]];
        // More points than have tables, in one of five.
        let values = values[[0, 1, 3, 2, 2][seed as usize % 5]];
        let runs = if values.len() > 3 { 40 } else { [60, 180, 530][stream.below(3) as usize] };
        let faults =
            |count: u64| BTreeMap::from_iter((count > 0).then(|| ("pause".to_owned(), count as u32)));
        let partial = (stream.below(4) == 0).then(|| PartialHeader { shards: vec![1], of: 2 });
        let is_partial = partial.is_some();
        let header = StudyHeader {
            strata: (0..strata).map(faults).collect(),
            quiet_holds: strata > 1 && stream.below(3) > 0,
            partial,
            ..header(&["a", "b", "c", "d"][..designs], &[("lock.ttl", values)], runs)
        };
        let mut drawn = Drawn {
            header,
            batches: Vec::new(),
            parts: BTreeMap::new(),
            designs,
            points: values.len() as u64,
        };
        for point in 0..drawn.points {
            let shared: Vec<u64> = (0..runs).map(|_| stream.next_u64()).collect();
            for cell in point * designs as u64..(point + 1) * designs as u64 {
                drawn.draw(&mut stream, cell, &shared, is_partial);
            }
        }
        drawn
    }

    /// The runs of a cell; of a part of the records not all strata.
    fn draw(&mut self, stream: &mut Stream, cell: u64, shared: &[u64], is_partial: bool) {
        let strata = self.header.strata.len() as u64;
        let [weights, beyond] = weights(stream, strata);
        for (stratum, weight) in (0..strata).zip(weights) {
            let rates: BTreeMap<Predicate, (u64, u64)> =
                Predicate::ALL.map(|it| (it, rates(stream, stratum))).into();
            let lengths = (1 + stream.below(5), 1 + stream.below(900));
            // Strata differ in their runs, and those of one stratum are on the same seeds.
            let count =
                if strata > 1 { 2 + stream.below(shared.len() as u64 - 1) as usize } else { shared.len() };
            let runs = shared[..count].iter().map(|shared| run(stream, (&rates, lengths), *shared)).collect();
            let part = Part { weight, beyond: beyond[0], runs };
            if is_partial && stream.below(6) == 0 {
                continue;
            }
            for (number, runs) in (0..).zip(part.runs.chunks(500)) {
                self.batches.push(batch(runs, |batch| Batch {
                    cell,
                    stratum,
                    batch: number,
                    weight: (strata > 1).then_some(weight),
                    beyond: (strata > 1 && stratum == 0).then_some(part.beyond),
                    planned: (strata > 1).then_some(part.runs.len() as u64),
                    ..batch
                }));
            }
            self.parts.entry(cell).or_default().insert(stratum, part);
        }
    }
}

/// How likely each stratum is, and what lies beyond: of a fleet's faults, or of many.
fn weights(stream: &mut Stream, strata: u64) -> [Vec<f64>; 2] {
    if strata == 1 {
        return [vec![1.0], vec![0.0]];
    }
    let small: f64 = [1e-3, 0.04, 0.3][stream.below(3) as usize];
    let beyond = [0.0, small.powi(strata as i32)][stream.below(2) as usize];
    let mut weights: Vec<f64> = (1..strata).map(|stratum| small.powi(stratum as i32)).collect();
    weights.insert(0, 1.0 - beyond - weights.iter().sum::<f64>());
    [weights, vec![beyond]]
}

/// Of a thousand runs, so many are violated and so many in doubt. Without a fault little goes wrong.
fn rates(stream: &mut Stream, stratum: u64) -> (u64, u64) {
    let violated = [0, 0, 12, 110, 260][stream.below(5) as usize];
    let undecided = [0, 0, 0, 3, 40, 0, 0, 0, 3, 1_000][stream.below(10) as usize];
    let is_quiet = stratum == 0 && stream.below(4) > 0;
    (if is_quiet { 0 } else { violated }, undecided)
}

type Rates<'a> = (&'a BTreeMap<Predicate, (u64, u64)>, (u64, u64));

/// A run; half of what happens to a seed happens to all designs.
fn run(stream: &mut Stream, (rates, (waits, longest)): Rates<'_>, shared: u64) -> Run {
    let mut letters = ['.'; 6];
    for (place, (predicate, (violated, undecided))) in rates.iter().enumerate() {
        let common = (shared >> (10 * place)) % 1_000;
        let own = stream.below(1_000);
        let letter = match if own.is_multiple_of(2) { common } else { own } {
            at if at < *violated => 'v',
            at if at < violated + undecided => '?',
            _ => '.',
        };
        letters[*predicate as usize] = letter;
    }
    let lengths = |stream: &mut Stream, most: u64| -> Vec<u64> {
        (0..stream.below(most)).map(|_| 1 + stream.below(3) * stream.below(longest)).collect()
    };
    let obtained_ms = lengths(stream, waits);
    let overlaps = |predicate| {
        let is_violated = letters[predicate as usize] == 'v';
        is_violated.then(|| (predicate, vec![1 + (shared >> 33) % 900]))
    };
    let mut news = Stream::new(Seed(shared ^ obtained_ms.iter().sum::<u64>()), "news");
    let told = |stream: &mut Stream| {
        let ms = 1 + i64::try_from(stream.below(9_000)).expect("it fits");
        match stream.below(4) {
            0 => None,
            1 => Some(-ms),
            _ => Some(ms),
        }
    };
    Run {
        grants: obtained_ms.len() as u64 + stream.below(3),
        operated_ms: 900 + stream.below(30) * waits,
        obtained_ms,
        missed: stream.below(12) / 10,
        recovered_ms: if stream.below(20) == 0 { lengths(stream, 3) } else { Vec::new() },
        work: [news.below(9), news.below(3), news.below(2)],
        told_ms: (0..news.below(3)).map(|_| told(&mut news)).collect(),
        overlaps_ms: [Predicate::P1, Predicate::P2].into_iter().filter_map(overlaps).collect(),
        is_panicked: stream.below(99) == 0,
        letters,
    }
}

/// The batch of these runs.
fn batch(runs: &[Run], placed: impl Fn(Batch) -> Batch) -> Batch {
    let sums = |of: fn(&Run) -> u64| {
        let mut sums = Sums::default();
        runs.iter().for_each(|run| sums.add(of(run)));
        sums
    };
    let lengths = |of: &dyn Fn(&Run) -> Vec<u64>| -> Durations { durations(runs.iter().flat_map(of)) };
    let letters =
        |predicate: Predicate| -> Vec<Letter> { runs.iter().map(|run| run.letter(predicate)).collect() };
    let overlaps = |predicate: Predicate| {
        let all = lengths(&|run| run.overlaps_ms.get(&predicate).cloned().unwrap_or_default());
        (all.count > 0).then_some((predicate, all))
    };
    placed(Batch {
        runs: runs.len() as u64,
        predicates: Predicate::ALL.map(|it| (it, counted(&letters(it)))).into(),
        grants: sums(|run| run.grants),
        operated_ms: sums(|run| run.operated_ms),
        obtained: lengths(&|run| run.obtained_ms.clone()),
        missed: runs.iter().map(|run| run.missed).sum(),
        recovered: lengths(&|run| run.recovered_ms.clone()),
        applied: sums(|run| run.work[0]),
        refused: sums(|run| run.work[1]),
        given_up: sums(|run| run.work[2]),
        told_before: lengths(&|run| run.told(|ms| ms < 0)),
        told_after: lengths(&|run| run.told(|ms| ms > 0)),
        never_told: runs.iter().flat_map(|run| &run.told_ms).filter(|told| told.is_none()).count() as u64,
        overlaps: Predicate::ALL.into_iter().filter_map(overlaps).collect(),
        panicked: runs.iter().filter(|run| run.is_panicked).count() as u64,
        ..Batch::default()
    })
}
