//! The same seed, the same run: alone, after others, and on another thread. Another process is asked by
//! `doublehold verify-determinism --engine turmoil`.

use std::thread;

use doublehold_scenarios::{Engine, Prepared, catalog};
use doublehold_turmoil_engine::TurmoilEngine;

const NAMES: [&str; 4] =
    ["clock-jump", "lease-pause/replicated", "crash-restart", "failover-before-replication"];

fn hash(name: &str, seed: u64) -> String {
    let scenario = catalog::load(name, &[]).unwrap_or_else(|error| panic!("{error}"));
    let (report, trace) = TurmoilEngine.prepare(&scenario).expect("it can be run").run_traced(seed);
    assert!(trace.len() > 50, "{name} does something");
    report.trace_hash.to_string()
}

#[test]
fn a_seed_gives_the_same_run_after_others_and_on_another_thread() {
    let first: Vec<String> = NAMES.iter().map(|name| hash(name, 3)).collect();
    let again: Vec<String> = NAMES.iter().rev().map(|name| hash(name, 3)).collect();
    assert!(first.iter().eq(again.iter().rev()));
    #[expect(clippy::disallowed_methods, reason = "the other thread is what is tested")]
    let elsewhere = thread::spawn(|| NAMES.map(|name| hash(name, 3))).join().expect("it does not panic");
    assert_eq!(first, elsewhere);
}

#[test]
fn another_seed_gives_another_run() {
    assert_ne!(hash("clock-jump", 3), hash("clock-jump", 4));
}
