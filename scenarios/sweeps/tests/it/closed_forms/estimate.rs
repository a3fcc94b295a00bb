//! One estimate of one world, as whoever runs a study gets it: its batches are run by the sweep, counted as its records
//! are, and weighed as its report does it.

use std::num::NonZeroUsize;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::time::Duration;

use doublehold_history::Predicate;
use doublehold_scenarios::LeanEngine;
use doublehold_scenarios::Seed;
use doublehold_statistics::{Confidence, Estimate, Part, Unsupported};
use doublehold_sweeps::results::Cell;
use doublehold_sweeps::study::Study;
use doublehold_sweeps::sweep::{Order, Shard, StudyHeader, SweepEffort, SweepEvent, sweep};

/// What a sweep of a world says.
pub(crate) struct Said {
    /// The rate of P1 per run.
    pub(crate) per_run: Result<Estimate, Unsupported>,
    /// And per grant.
    pub(crate) per_grant: Result<Estimate, Unsupported>,
    /// The sum that the first is made of, also where it is refused.
    pub(crate) sum: f64,
    /// How many runs were made.
    pub(crate) runs: u64,
    /// In how many P1 is violated.
    pub(crate) violated: u64,
    /// In how many runs without a fault it is violated.
    pub(crate) quiet: u64,
    /// In how many runs nobody can say.
    pub(crate) undecided: u64,
}

/// A study of one cell, read.
pub(crate) struct Asked {
    pub(crate) study: Study,
    header: StudyHeader,
}

/// Reads the study of a world.
pub(crate) fn asked(name: &str) -> Asked {
    asked_but(name, ("", ""))
}

/// The same with some text of it replaced.
pub(crate) fn asked_but(name: &str, (was, is): (&str, &str)) -> Asked {
    let path = format!("tests/it/closed_forms/{name}.toml");
    let text = std::fs::read_to_string(&path).expect("a study of ours");
    assert!(text.contains(was), "{name} has no `{was}`");
    let text = if was.is_empty() { text } else { text.replace(was, is) };
    let study = Study::parse(name, &path, &text).unwrap_or_else(|error| panic!("{error}"));
    let header = StudyHeader::new(&LeanEngine, &study, Shard::WHOLE).expect("worlds of ours run");
    Asked { study, header }
}

/// Sweeps it from one seed on, on a thread of its own.
pub(crate) fn estimate(asked: &Asked, seed: Seed, confidence: Confidence) -> Said {
    let mut study = asked.study.clone();
    study.seed = seed;
    let study = Arc::new(study);
    let effort = SweepEffort { jobs: NonZeroUsize::MIN, patience: Duration::from_secs(60) };
    let (mut cell, mut seeds) = (Cell::default(), Vec::new());
    let order = Order::from_study(&study, Shard::WHOLE, |_| false);
    sweep(&Arc::new(LeanEngine), &study, order, &effort, |told| {
        if let SweepEvent::Batch(batch) = told {
            // Strata that are not independent would spread the sum more than its interval says.
            let own = batch.seed..batch.seed + batch.runs;
            let is_taken = |other: &Range<u64>| own.start < other.end && other.start < own.end;
            assert!(!seeds.iter().any(is_taken), "seeds {own:?} of stratum {} are taken", batch.stratum);
            seeds.push(own);
            cell.add(batch.clone());
        }
        ControlFlow::Continue(())
    })
    .expect("worlds of ours run");
    let runs = cell.stratify(&asked.header, Predicate::P1);
    let per_run = runs.estimate(confidence);
    let shares = runs.strata.iter().map(|stratum| match stratum.part {
        Part::Counted(part) => stratum.weight * part.decided_part().estimate().unwrap_or(0.0),
        Part::Impossible => 0.0,
    });
    let counts = || cell.strata.values().map(|totals| totals.count(Predicate::P1));
    Said {
        per_run,
        per_grant: cell.grants().rate(per_run, confidence),
        sum: shares.sum(),
        runs: cell.strata.values().map(|totals| totals.runs).sum(),
        violated: counts().map(|count| count.violated).sum(),
        quiet: cell.strata.get(&0).map_or(0, |totals| totals.count(Predicate::P1).violated),
        undecided: counts().map(|count| count.undecided).sum(),
    }
}
