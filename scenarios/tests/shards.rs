//! Shards of a study: each batch belongs to one of them, and no two differ by more than a batch.

use doublehold_scenarios::study::{Study, ready};
use doublehold_scenarios::sweep::{BATCH, Batch, HandOut, Order, Shard, Unit};
use proptest::prelude::*;

/// The batches of a shard, and how many runs it says that it has.
fn units(study: &Study, shard: Shard) -> (Vec<Unit>, u64) {
    let mut order = Order::of(study, shard, |_| false);
    let (mut units, runs) = (Vec::new(), order.runs());
    loop {
        match order.hand_out() {
            HandOut::Run(unit) => units.push(unit),
            // A round begins once all before it is told; here nothing has been enough yet.
            HandOut::Wait => {
                let told = |unit: &Unit| Batch { cell: unit.cell.0, runs: unit.runs, ..Batch::default() };
                units.iter().for_each(|unit| order.told(&told(unit)));
            }
            HandOut::Done => return (units, runs),
        }
    }
}

/// That these shards divide a study: fairly by batches, or by cells where they are of whole ones.
fn assert_divided(study: &Study, of: u64) -> Result<(), TestCaseError> {
    let (whole, _) = units(study, Shard::WHOLE);
    let shards = (1..=of).map(|number| units(study, Shard::new(number, of).expect("a shard")));
    let (mut all, mut counts) = (Vec::new(), Vec::new());
    for (units, said) in shards {
        let runs: u64 = units.iter().map(|unit| unit.runs).sum();
        prop_assert!(said >= runs, "{}: a shard of {of} says {said} and has {runs}", study.name);
        // Runs that are shared out among strata are rounded down in each; the number that a whole sweep says is not.
        if study.precision.is_none() && (of > 1 || study.strata.is_none()) {
            prop_assert_eq!(said, runs, "{}: a shard of {}", study.name, of);
        }
        all.extend(units);
        counts.push(runs);
    }
    all.sort_unstable();
    prop_assert_eq!(&all, &whole, "{} in {} shards", study.name, of);
    let apart = counts.iter().max().zip(counts.iter().min()).map_or(0, |(most, least)| most - least);
    let most = if study.precision.is_some() { study.runs_of_a_cell() } else { BATCH };
    prop_assert!(apart <= most, "{} in {of} shards: {apart} runs apart", study.name);
    Ok(())
}

#[test]
fn any_number_of_shards_divides_a_ready_study_to_a_batch() {
    for ready in ready() {
        let study = Study::load(ready.name).expect("it comes with the program");
        // The runs of a stratum are worked out for each cell and each shard, which takes a while.
        let of_all: Vec<u64> = if study.strata.is_some() { vec![1, 3, 8] } else { (1..=64).collect() };
        for of in of_all {
            assert_divided(&study, of).expect("it is divided");
        }
    }
}

/// One cell of many batches, and three of few: strata have a batch that is short, and runs by their weights besides.
#[test]
fn any_number_of_shards_divides_a_divided_study_to_a_batch() {
    for (runs, designs) in [(12_000, &["one"][..]), (1_300, &["one", "two", "three"])] {
        let mut text = format!(
            "question = \"?\"\nweather = \"pauses-only\"\nruns = {runs}\n\
             strata = {{ faults = 2, by_weight = 700 }}\n"
        );
        for design in designs {
            text += &format!("[[designs]]\nname = \"{design}\"\nlock = \"single\"\n");
        }
        let study = Study::parse("divided", "divided.toml", &text).expect("a study");
        for of in 1..=64 {
            assert_divided(&study, of).expect("it is divided");
        }
    }
}

#[test]
fn the_second_of_four_shards_has_a_quarter_of_what_has_a_batch_a_cell() {
    // Batches came at every fourth place, all of which were the first shard's.
    let study = Study::load("clock-drift-frontier").expect("it comes with the program");
    let runs = |number| units(&study, Shard::new(number, 4).expect("a shard")).1;
    assert_eq!([1, 2, 3, 4].map(runs), [study.cells() * study.runs / 4; 4]);
}

#[test]
fn more_shards_than_anybody_has_are_divided_at_once() {
    let study = Study::load("clock-drift-frontier").expect("it comes with the program");
    let of = 100_000_000_000_000;
    for (number, runs) in [(1, 300), (192, 300), (193, 0), (of, 0)] {
        assert_eq!(units(&study, Shard::new(number, of).expect("a shard")).1, runs, "shard {number}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_number_of_shards_divides_any_study_to_a_batch(
        designs in 1..4usize,
        values in 1..5usize,
        runs in 1..7_000u64,
        of in 1..=64u64,
        sort in 0..3u32,
        by_weight in 1..5_000u64,
    ) {
        let mut text = format!("question = \"?\"\nweather = \"pauses-only\"\nruns = {runs}\n");
        text += &match sort {
            0 => String::new(),
            1 => format!("strata = {{ faults = 1, by_weight = {by_weight} }}\n"),
            _ => "precision = { predicate = \"P2\", width = \"1/1000\" }\n".to_owned(),
        };
        for design in 0..designs {
            text += &format!("[[designs]]\nname = \"{design}\"\nlock = \"single\"\n");
        }
        let values: Vec<String> = (1..=values).map(|value| format!("\"{value}s\"")).collect();
        text += &format!("[grid]\n\"lock.ttl\" = [{}]\n", values.join(", "));
        let study = Study::parse("made-up", "made-up.toml", &text).expect("a study");
        assert_divided(&study, if study.strata.is_some() { of.min(3) } else { of })?;
    }
}
