//! What every scenario of the catalogue shows from its first seed: `tests/golden/catalogue.txt`, which is read in
//! review.
//!
//! A scenario that is dropped into the catalogue's folder is missing in that file, and this fails until
//! `UPDATE_GOLDEN=1 cargo test -p doublehold-render --test it catalogue` has added it. Look at the difference.

use std::thread;

use doublehold_diagnosis::{Explained, explain};
use doublehold_history::Predicate;
use doublehold_render::picture::account;
use doublehold_scenarios::{Engine, Prepared, SimEngine, catalog};

#[test]
fn every_scenario_shows_what_was_reviewed() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/catalogue.txt");
    let entries = catalog::entries().expect("the catalogue is well formed");
    // Some hundred runs each: on two threads it takes half as long.
    let shown: String = thread::scope(|scope| {
        let halves = entries.chunks(entries.len().div_ceil(2));
        let halves =
            halves.map(|half| scope.spawn(move || half.iter().map(|it| of(&it.name)).collect::<String>()));
        let halves: Vec<_> = halves.collect();
        halves.into_iter().map(|half| half.join().expect("a scenario that runs")).collect()
    });
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(path, &shown).expect("the golden file can be written");
    }
    let reviewed = std::fs::read_to_string(path).unwrap_or_default();
    let news: Vec<&str> =
        shown.lines().filter(|line| !reviewed.lines().any(|known| known == *line)).collect();
    assert!(
        reviewed == shown,
        "catalogue.txt differs (UPDATE_GOLDEN=1 accepts); new or other lines:\n{}",
        news.join("\n")
    );
}

fn of(name: &str) -> String {
    let prepared = SimEngine.prepare(&catalog::load(name, &[]).expect("listed")).expect("it can be run");
    shown(&explain(&prepared, prepared.run(1)))
}

/// Two lines: what came out, and why.
fn shown(run: &Explained) -> String {
    let report = &run.report;
    let verdicts =
        Predicate::ALL.map(|predicate| format!("{predicate} {}", report.verdicts.get(predicate).as_str()));
    let account = account(run).map(|it| format!("\n    {}: {}", it.label(), it.words));
    let why = account.unwrap_or_default();
    format!("{}: {}{why}\n", report.scenario.name, verdicts.join(", "))
}
