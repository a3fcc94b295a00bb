//! Records of any study, of any shards in any order, with made-up counts: what was written is read, and shards merge
//! into the file that one sweep writes.

use std::path::PathBuf;

use doublehold::records::{Journal, Records, file_name, merge};
use doublehold_scenarios::study::Study;
use doublehold_scenarios::sweep::{Batch, HandOut, Order, Shard, StudyHeader};
use proptest::prelude::*;

fn study(designs: usize, values: &[usize], runs: u64, (strata, by_weight): (u32, u64)) -> Study {
    let mut text = format!("question = \"?\"\nweather = \"pauses-only\"\nruns = {runs}\n");
    if strata > 0 {
        text += &format!("[strata]\nfaults = {strata}\nby_weight = {by_weight}\n");
    }
    for design in 0..designs {
        text += &format!("[[designs]]\nname = \"{design}\"\nlock = \"single\"\n");
    }
    let keys = ["\"lock.ttl\"", "\"clients.retry\""];
    for (axis, (key, count)) in keys.iter().zip(values).enumerate() {
        let values: Vec<String> = (1..=*count).map(|value| format!("\"{value}s\"")).collect();
        let head = if axis == 0 { "[grid]\n" } else { "" };
        text += &format!("{head}{key} = [{}]\n", values.join(", "));
    }
    Study::parse("made-up", "made-up.toml", &text).expect("a study")
}

/// Writes what a shard would, with counts that depend on nothing but the batch.
fn write(folder: &std::path::Path, study: &Study, header: &StudyHeader, shard: Shard) -> PathBuf {
    let path = folder.join(file_name(shard));
    let header = StudyHeader { shard: [shard.number(), shard.of()], ..header.clone() };
    let mut order = Order::of(study, shard, |_, _| false);
    let (mut journal, begun) = Journal::open(&path, &header, &mut order).expect("a new file");
    assert_eq!(begun.runs, 0);
    while let HandOut::Run(unit) = order.hand_out() {
        let weight = study.strata.as_ref().map(|_| 0.1 + unit.cell.0 as f64 / 7.0);
        let (cell, stratum, batch) = (unit.cell.0, unit.stratum, unit.batch);
        let batch = Batch { cell, stratum, batch, runs: unit.runs, weight, ..Batch::default() };
        journal.add(&batch).expect("it is ours");
        order.told(&batch);
    }
    path
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn shards_merge_into_the_whole(
        designs in 1..4usize,
        values in proptest::collection::vec(1..4usize, 0..=2),
        runs in 1..6_000u64,
        strata in 0..3u32,
        by_weight in 1..6_000u64,
        of in 2..9u64,
        turn in 0..9usize,
    ) {
        let study = study(designs, &values, runs, (strata, by_weight));
        let header = StudyHeader::of(&study, Shard::WHOLE).expect("it can be run");
        let folder = tempfile::tempdir().expect("a temporary directory");
        let whole = write(folder.path(), &study, &header, Shard::WHOLE);
        let mut shards: Vec<PathBuf> = (1..=of)
            .map(|number| write(folder.path(), &study, &header, Shard::new(number, of).expect("a shard")))
            .collect();
        shards.rotate_left(turn % of as usize);
        let mut merged = Vec::new();
        merge(&shards, &mut merged).expect("these are all shards");
        let text = std::fs::read(&whole).expect("it was written");
        prop_assert_eq!(&merged, &text);

        let mut records = Records::open(&whole).expect("it can be read").expect("it has a header");
        let mut runs_read = 0;
        while let Some(batch) = records.next_batch().expect("batches") {
            runs_read += batch.runs;
        }
        // What is shared out is rounded down in each stratum.
        let most = Order::of(&study, Shard::WHOLE, |_, _| false).runs();
        let rounded = if strata > 0 { study.cells() * study.parts() } else { 0 };
        prop_assert!((most - rounded..=most).contains(&runs_read), "{} of {}", runs_read, most);
        prop_assert_eq!(most, study.cells() * (study.parts() * runs + if strata > 0 { by_weight } else { 0 }));
    }
}
