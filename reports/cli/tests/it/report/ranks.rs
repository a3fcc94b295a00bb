//! The designs that are told apart, worked out again by code that has nothing in common with the program's.
//! Also a count of pages that tell designs apart although all are the same.

use std::collections::BTreeMap;

use doublehold_history::Predicate;
use doublehold_sim::{Seed, Stream};
use doublehold_statistics::Confidence;
use doublehold_sweeps::results::Results;
use doublehold_sweeps::sweep::{Batch, StudyHeader, Sums};
use serde_json::Value;

use crate::kit::Folder;
use crate::report::drawn::{Letter, counted};
use crate::report::made::{batch, header};

const NAMES: [&str; 11] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"];

/// A batch of runs, each of which is told for each predicate.
fn told(cell: u64, runs: &BTreeMap<Predicate, Vec<Letter>>) -> Batch {
    let many = runs.values().next().map_or(0, Vec::len) as u64;
    let predicates = runs.iter().map(|(predicate, of)| (*predicate, counted(of))).collect();
    // Not the waits of that many runs: there are thousands of such batches.
    let grants = Sums { sum: many * 6, squares: many * 36 };
    let operated_ms = Sums { sum: many * 9_000, squares: many * 81_000_000 };
    Batch { runs: many, predicates, grants, operated_ms, ..batch(cell, 0, |_| (0, 0)) }
}

/// True with this chance.
fn happens(stream: &mut Stream, chance: f64) -> bool {
    ((stream.next_u64() >> 11) as f64) < chance * (1_u64 << 53) as f64
}

/// The exact two-sided p-value of so many seeds on one side and so many on the other, by adding up Pascal's triangle.
fn p_value(some: usize, others: usize) -> f64 {
    let mut row = vec![1.0_f64];
    for _ in 0..some + others {
        let padded: Vec<f64> = [&[0.0][..], &row, &[0.0]].concat();
        row = padded.windows(2).map(|pair| (pair[0] + pair[1]) / 2.0).collect();
    }
    (2.0 * row[..=some.min(others)].iter().sum::<f64>()).min(1.0)
}

/// The strongest that can be said for the first design being lower, whatever undecided runs come to, and in how many
/// seeds the two may differ.
fn lower(one: &[Letter], other: &[Letter]) -> (f64, usize) {
    let (mut only_one, mut only_other) = (0, 0);
    for pair in one.iter().zip(other) {
        match pair {
            ('.', 'v') => only_other += 1,
            // At worst the first is violated wherever it is undecided, and the second never.
            ('v' | '?', '.' | '?') => only_one += 1,
            _ => {}
        }
    }
    let strict = if only_one < only_other { p_value(only_one, only_other) } else { 1.0 };
    let may_differ = one.iter().zip(other).filter(|(one, other)| one != other || **one == '?').count();
    (strict, may_differ)
}

/// The designs that are told apart at a point, the lower one first.
pub(crate) type Apart = Vec<(Predicate, usize, usize)>;

/// The runs of each design at a point.
type Point = Vec<BTreeMap<Predicate, Vec<Letter>>>;

/// The designs that are told apart at each point: Holm's procedure over all of them, step by step.
pub(crate) fn apart_by_pairs(points: &BTreeMap<u64, Point>) -> BTreeMap<u64, Apart> {
    let mut left = Vec::new();
    for (point, all) in points {
        for predicate in Predicate::ALL {
            for (one, other) in
                (0..all.len()).flat_map(|one| (one + 1..all.len()).map(move |other| (one, other)))
            {
                let (first, second) = (&all[one][&predicate], &all[other][&predicate]);
                let ((down, may_differ), (up, _)) = (lower(first, second), lower(second, first));
                let best = if down <= up { (down, one, other) } else { (up, other, one) };
                if may_differ >= 6 {
                    left.push((best.0, *point, (predicate, best.1, best.2)));
                }
            }
        }
    }
    let mut found: BTreeMap<u64, Apart> = points.keys().map(|point| (*point, Apart::new())).collect();
    while let Some(place) = (0..left.len()).min_by(|one, other| left[*one].0.total_cmp(&left[*other].0)) {
        if left[place].0 * left.len() as f64 > 0.05 {
            break;
        }
        let (_, point, pair) = left.remove(place);
        found.entry(point).or_default().push(pair);
    }
    found
}

/// Wilson's interval as textbooks have it.
pub(crate) fn wilson(hits: f64, of: f64) -> (f64, f64) {
    let z = 1.959_963_984_540_054;
    let share = hits / of;
    let middle = (share + z * z / (2.0 * of)) / (1.0 + z * z / of);
    let side = z / (1.0 + z * z / of) * (share * (1.0 - share) / of + z * z / (4.0 * of * of)).sqrt();
    (middle - side, middle + side)
}

pub(crate) fn near(value: &Value, expected: f64) -> bool {
    value.as_f64().is_some_and(|it| (it - expected).abs() <= 1e-7 * expected.abs().max(1e-3))
}

/// Counts the pages that tell any designs apart although all are the same, and those that would without a correction.
fn pages_that_tell(header: &StudyHeader, pages: u64, made: impl Fn(u64) -> Vec<Batch>) -> (u32, u32) {
    let (mut corrected, mut uncorrected) = (0, 0);
    let folder = Folder::new();
    for page in 0..pages {
        folder.records(header, &made(page));
        let results =
            Results::read_file(&folder.at().join("runs.jsonl")).expect("they are as a sweep writes them");
        corrected += u32::from(results.tell_apart(&[0], &Predicate::ALL, Confidence::P95).count() > 0);
        let designs = 0..header.designs.len();
        let differ = |one: usize, other: usize, predicate| {
            let pairs = results.pairs.get(0, (one, other), predicate);
            pairs.is_some_and(|it| {
                let (some, others) = (it.decided.only_first as f64, it.decided.only_second as f64);
                (some - others).abs() > 1.96 * (some + others).sqrt()
            })
        };
        let any = designs.clone().any(|one| {
            designs
                .clone()
                .any(|other| one < other && Predicate::ALL.iter().any(|it| differ(one, other, *it)))
        });
        uncorrected += u32::from(any);
    }
    (corrected, uncorrected)
}

/// Eleven designs that are the same, and meet half of what goes wrong on the same seeds; with frequent, rare and very
/// rare predicates.
#[test]
fn of_pages_on_which_all_designs_are_the_same_one_in_twenty_at_most_tells_any_apart() {
    const RATES: [(Predicate, f64); 3] =
        [(Predicate::P1, 0.15), (Predicate::P2, 0.04), (Predicate::P4, 0.008)];
    let made = |page: u64| {
        let mut stream = Stream::new(Seed(page), "equal designs");
        let mut all = vec![BTreeMap::new(); NAMES.len()];
        for (predicate, rate) in RATES {
            let shared: Vec<bool> = (0..200).map(|_| happens(&mut stream, rate)).collect();
            for of_design in &mut all {
                let run = |shared: &bool| {
                    if *shared || happens(&mut stream, rate) { 'v' } else { '.' }
                };
                of_design.insert(predicate, shared.iter().map(run).collect());
            }
        }
        (0..).zip(&all).map(|(cell, runs)| told(cell, runs)).collect()
    };
    let (corrected, uncorrected) = pages_that_tell(&header(&NAMES, &[], 200), 2_000, made);
    assert!(corrected <= 100, "{corrected} of 2,000 pages tell something apart");
    assert!(uncorrected > 1_800, "without a correction {uncorrected} of 2,000 do");
}

/// The same of runs that are divided: one kind of run with a tenth of violations, and one that is rare, with a third.
#[test]
fn of_divided_pages_on_which_all_designs_are_the_same_one_in_twenty_at_most_tells_any_apart() {
    let faults = |count: u32| BTreeMap::from([("pause".to_owned(), count)]);
    let strata = vec![BTreeMap::new(), faults(1), faults(2)];
    let header = StudyHeader { strata, quiet_holds: true, ..header(&NAMES, &[], 500) };
    let made = |page: u64| {
        let mut stream = Stream::new(Seed(page), "equal designs");
        let mut batches = Vec::new();
        for cell in 0..NAMES.len() as u64 {
            for (stratum, weight, share) in [(0, 0.99, 0.0), (1, 9e-3, 0.1), (2, 9e-4, 0.3)] {
                let mut of_predicate = |predicate| {
                    let run = |_| if happens(&mut stream, share) { 'v' } else { '.' };
                    (predicate, (0..100).map(run).collect())
                };
                let runs = [Predicate::P1, Predicate::P2].map(&mut of_predicate).into();
                let beyond = (stratum == 0).then_some(1e-6);
                batches.push(Batch { stratum, weight: Some(weight), beyond, ..told(cell, &runs) });
            }
        }
        batches
    };
    let (corrected, _) = pages_that_tell(&header, 2_000, made);
    assert!(corrected <= 100, "{corrected} of 2,000 pages tell something apart");
}

/// 30 and 52 of 500 in the stratum that carries the rate: apart on their own, at 2.4 standard errors. Of six predicates
/// or of eight points the bar is higher, at 2.6 and 2.7.
#[test]
fn divided_designs_are_told_apart_by_all_that_is_compared_on_a_page() {
    let pause = BTreeMap::from([("pause".to_owned(), 1)]);
    let axes: [(&str, &[&str]); 1] = [("lock.ttl", &["1s", "2s", "3s", "4s", "5s", "6s", "7s", "8s"])];
    let strata = vec![BTreeMap::new(), pause];
    let header = StudyHeader { strata, quiet_holds: true, ..header(&["a", "b"], &axes, 500) };
    let of_stratum = |cell: u64, stratum: u64| {
        let violated = if stratum == 0 { 0 } else { [30, 52][cell as usize % 2] };
        let runs = (0..500).map(|run| if run < violated { 'v' } else { '.' }).collect();
        let weight = Some([0.9, 0.1][stratum as usize]);
        Batch { stratum, weight, ..told(cell, &BTreeMap::from([(Predicate::P2, runs)])) }
    };
    let batches: Vec<Batch> = (0..16).flat_map(|cell| [of_stratum(cell, 0), of_stratum(cell, 1)]).collect();
    let folder = Folder::new();
    folder.records(&header, &batches);
    let results =
        Results::read_file(&folder.at().join("runs.jsonl")).expect("they are as a sweep writes them");
    let points: Vec<u64> = (0..8).collect();
    let count = |points: &[u64], of: &[Predicate]| results.tell_apart(points, of, Confidence::P95).count();
    assert_eq!(count(&[0], &[Predicate::P2]), 1);
    assert_eq!(count(&[0], &Predicate::ALL), 0);
    assert_eq!(count(&points, &[Predicate::P2]), 0);
}
