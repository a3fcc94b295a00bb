//! What records add up to, by other code: of each stratum the sums of its batches, and run by run how two designs
//! compare.

use std::collections::BTreeMap;

use doublehold_history::Predicate;
use doublehold_statistics::{Paired, PartlyPaired};
use doublehold_sweeps::results::{Pairs, Results};
use doublehold_sweeps::sweep::{Batch, Durations, PredicateCount, Sums};

use crate::records::model::{Model, Planned};

fn sums(all: &[&Batch], of: impl Fn(&Batch) -> Sums) -> Sums {
    let sum = |part: fn(Sums) -> u64| -> u64 { all.iter().map(|batch| part(of(batch))).sum() };
    Sums { sum: sum(|it| it.sum), squares: sum(|it| it.squares) }
}

fn durations<'a>(all: impl Iterator<Item = &'a Durations> + Clone) -> Durations {
    let mut buckets = BTreeMap::new();
    for (bucket, count) in all.clone().flat_map(|it| &it.buckets) {
        *buckets.entry(*bucket).or_default() += count;
    }
    Durations {
        count: all.clone().map(|it| it.count).sum(),
        sum_us: all.clone().map(|it| it.sum_us).sum(),
        max_ns: all.map(|it| it.max_ns).max().unwrap_or(0),
        buckets,
    }
}

/// What each run of a batch came to: violated, held, or in doubt.
fn letters(batch: &Batch, predicate: Predicate) -> Vec<char> {
    let count = &batch.predicates[&predicate];
    let is = |digits: &str, run: usize| {
        let digit = digits.chars().nth(run / 4).map_or(0, |it| it.to_digit(16).expect("a digit"));
        (digit >> (3 - run % 4)) & 1 == 1
    };
    let letter = |run| match (is(&count.violations, run), is(&count.doubts, run)) {
        (true, _) => 'v',
        (_, true) => '?',
        _ => '.',
    };
    (0..batch.runs as usize).map(letter).collect()
}

/// A number as it is after it was written and read, which may change its last digit.
fn as_read(number: f64) -> f64 {
    let text = serde_json::to_string(&number).expect("a number");
    serde_json::from_str(&text).expect("a number")
}

fn struck(all: &[&Batch]) -> BTreeMap<String, u64> {
    let mut struck = BTreeMap::new();
    for (kind, count) in all.iter().flat_map(|batch| &batch.faults) {
        *struck.entry(kind.clone()).or_default() += count;
    }
    struck
}

fn sum(all: &[&Batch]) -> Batch {
    let of = |predicate: Predicate| {
        let seeds = all.iter().flat_map(|batch| {
            let runs = (batch.seed..).zip(letters(batch, predicate));
            runs.filter(|(_, run)| *run == 'v').map(|(seed, _)| seed)
        });
        let count = |part: fn(&Batch, Predicate) -> u64| all.iter().map(|batch| part(batch, predicate)).sum();
        PredicateCount {
            violated: count(|batch, it| batch.predicates[&it].violated),
            undecided: count(|batch, it| batch.predicates[&it].undecided),
            incidents: sums(all, |batch| batch.predicates[&predicate].incidents),
            seeds: seeds.take(16).collect(),
            ..PredicateCount::default()
        }
    };
    let overlaps = |predicate: Predicate| {
        let lengths = durations(all.iter().filter_map(|batch| batch.overlaps.get(&predicate)));
        (lengths.count > 0).then_some((predicate, lengths))
    };
    Batch {
        cell: all[0].cell,
        stratum: all[0].stratum,
        batch: 0,
        seed: 0,
        weight: all[0].weight.map(as_read),
        beyond: all[0].beyond.map(as_read),
        planned: all[0].planned,
        runs: all.iter().map(|batch| batch.runs).sum(),
        predicates: Predicate::ALL.into_iter().map(|it| (it, of(it))).collect(),
        grants: sums(all, |batch| batch.grants),
        operated_ms: sums(all, |batch| batch.operated_ms),
        obtained: durations(all.iter().map(|batch| &batch.obtained)),
        missed: all.iter().map(|batch| batch.missed).sum(),
        recovered: durations(all.iter().map(|batch| &batch.recovered)),
        applied: sums(all, |batch| batch.applied),
        refused: sums(all, |batch| batch.refused),
        given_up: sums(all, |batch| batch.given_up),
        told_before: durations(all.iter().map(|batch| &batch.told_before)),
        told_after: durations(all.iter().map(|batch| &batch.told_after)),
        never_told: all.iter().map(|batch| batch.never_told).sum(),
        overlaps: Predicate::ALL.into_iter().filter_map(overlaps).collect(),
        faults: struck(all),
        panicked: all.iter().map(|batch| batch.panicked).sum(),
    }
}

/// Two designs on the same seeds, run by run; none where they have no batch in common.
fn paired(one: &[&Batch], other: &[&Batch], predicate: Predicate) -> Option<PartlyPaired> {
    let mut counts: BTreeMap<(char, char), u64> = BTreeMap::new();
    let mut is_any = false;
    for (first, second) in one.iter().flat_map(|one| other.iter().map(move |other| (one, other))) {
        if first.batch == second.batch {
            is_any = true;
            let runs = letters(first, predicate).into_iter().zip(letters(second, predicate));
            runs.for_each(|pair| *counts.entry(pair).or_default() += 1);
        }
    }
    let of = |one: char, other: char| counts.get(&(one, other)).copied().unwrap_or(0);
    is_any.then(|| PartlyPaired {
        decided: Paired {
            both: of('v', 'v'),
            only_first: of('v', '.'),
            only_second: of('.', 'v'),
            neither: of('.', '.'),
        },
        violated_undecided: of('v', '?'),
        held_undecided: of('.', '?'),
        undecided_violated: of('?', 'v'),
        undecided_held: of('?', '.'),
        both_undecided: of('?', '?'),
    })
}

/// That results are what these batches of a study add up to.
pub(crate) fn assert_sums(model: &Model, batches: &[&Planned], results: Results) {
    let mut cells: BTreeMap<u64, BTreeMap<u64, Vec<&Batch>>> = BTreeMap::new();
    for Planned { batch, .. } in batches {
        cells.entry(batch.cell).or_default().entry(batch.stratum).or_default().push(batch);
    }
    let text = &model.study.text;
    assert!(results.cells.keys().eq(cells.keys()), "{text}");
    let mut planned = model.most() * (model.cells() - cells.len() as u64);
    for (cell, strata) in &cells {
        let found = &results.cells[cell].strata;
        assert!(found.keys().eq(strata.keys()), "{text}");
        for (stratum, all) in strata {
            assert_eq!(found[stratum], sum(all), "stratum {stratum} of cell {cell} of {text}");
        }
        let is_known = model.study.strata.is_some() && strata.len() as u64 == model.strata;
        planned +=
            if is_known { (0..model.strata).map(|it| model.of[&(*cell, it)]).sum() } else { model.most() };
        let point = cell / model.designs;
        let place = match model.values[..] {
            [] => vec![],
            [_] => vec![point as usize],
            [_, second, ..] => vec![(point / second) as usize, (point % second) as usize],
        };
        assert_eq!(results.place(*cell), ((cell % model.designs) as usize, place), "cell {cell} of {text}");
    }
    assert_eq!(results.planned_runs(), planned, "{text}");
    assert_eq!(results.runs(), batches.iter().map(|it| it.batch.runs).sum::<u64>());
    assert_eq!(results.is_divided(), model.strata > 1);
    assert_pairs(model, &cells, &results);
    assert_refuted(model, results);
}

fn assert_pairs(model: &Model, cells: &BTreeMap<u64, BTreeMap<u64, Vec<&Batch>>>, results: &Results) {
    let mut points: Vec<u64> = cells.keys().map(|cell| cell / model.designs).collect();
    points.dedup();
    let all = |point: u64, design: u64| -> &[&Batch] {
        cells
            .get(&(point * model.designs + design))
            .map_or(&[], |strata| strata.get(&0).map_or(&[], Vec::as_slice))
    };
    for (place, point) in points.iter().enumerate() {
        for (one, other) in (0..model.designs).flat_map(|one| (0..model.designs).map(move |it| (one, it))) {
            for predicate in Predicate::ALL.into_iter().filter(|_| one != other) {
                let found = results.pairs.get(*point, (one as usize, other as usize), predicate);
                let expected = paired(all(*point, one), all(*point, other), predicate);
                let is_counted = model.strata == 1 && place < Pairs::POINTS;
                assert_eq!(
                    found,
                    expected.filter(|_| is_counted),
                    "{one} and {other} at {point} of {}",
                    model.study.text
                );
            }
        }
    }
}

/// What is known of one design from elsewhere is known at all points, and of no other.
fn assert_refuted(model: &Model, mut results: Results) {
    let design = model.designs - 1;
    results.refute_quiet(design as usize, Predicate::P2);
    for (cell, found) in &results.cells {
        let is_refuted = cell % model.designs == design;
        assert_eq!(found.refuted.contains(&Predicate::P2), is_refuted, "cell {cell} of {}", model.study.text);
    }
}
