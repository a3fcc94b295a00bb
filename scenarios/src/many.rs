//! Many runs of one scenario, on all cores: how often each predicate came to what, and the first seed of each
//! violation.
//!
//! Every seed is run whatever the others show, so that the result is the same on any number of threads.
//!
//! Does not shrink, and draws no faults: what can happen is what the scenario says.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::ops::RangeInclusive;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use doublehold_history::words::list;
use doublehold_history::{Predicate, Verdict};
use doublehold_sim::Seed;

use crate::report::Summary;
use crate::run::Prepared;

/// What many runs came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many runs there were.
    pub runs: u64,
    /// How often each predicate came to what.
    pub predicates: BTreeMap<Predicate, Count>,
    /// The first seed from which the lock's code panicked, and how many did.
    pub panicked: Option<(Seed, u64)>,
    /// How many calls were granted, in all runs together.
    pub grants: u64,
    /// The first seed from which none was, and why the last call of that run was not.
    pub refused: Option<(Seed, String)>,
}

/// How often one predicate came to what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// In how many runs it holds.
    pub holds: u64,
    /// In how many it is violated.
    pub violated: u64,
    /// In how many nobody can say.
    pub inconclusive: u64,
    /// The first seed from which it is violated.
    pub first: Option<Seed>,
    /// The first seed from which nobody can say, and why.
    pub unsaid: Option<(Seed, String)>,
}

/// Runs that did not come back: the code under test does something endlessly and never waits, so that nothing else
/// can happen.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no run has ended for {patience:?}, and {} not come back: the lock loops without ever awaiting anything, or \
     waits for another thread",
    words(.seeds)
)]
pub struct Stuck {
    /// The seeds of those runs.
    pub seeds: Vec<Seed>,
    /// For how long nothing ended.
    pub patience: Duration,
}

fn words(seeds: &[Seed]) -> String {
    let numbers: Vec<String> = seeds.iter().map(Seed::to_string).collect();
    match numbers.as_slice() {
        [one] => format!("the run from seed {one} has"),
        several => format!("the runs from seeds {} have", list(several)),
    }
}

/// Runs every seed of a range, on as many threads as the machine has cores.
///
/// # Errors
///
/// If no run ends for as long as `patience`. What does not come back cannot be ended either: its thread is left behind.
#[expect(clippy::disallowed_methods, reason = "threads run worlds, and none runs in one")]
pub fn run_many<P: Prepared + 'static>(
    prepared: &Arc<P>,
    seeds: RangeInclusive<Seed>,
    patience: Duration,
) -> Result<Tally, Stuck> {
    let seeds = Arc::new(Mutex::new((seeds.start().0..=seeds.end().0).map(Seed)));
    let (tell, told) = mpsc::channel();
    let worker = |_| {
        let (prepared, seeds, tell) = (prepared.clone(), seeds.clone(), tell.clone());
        let next = move || seeds.lock().unwrap_or_else(PoisonError::into_inner).next();
        thread::spawn(move || {
            while let Some(seed) = next() {
                // Nobody listens any more when a run got stuck elsewhere.
                if tell.send(News::Began(seed)).is_err()
                    || tell.send(News::Ended(prepared.judge(seed))).is_err()
                {
                    return;
                }
            }
        })
    };
    let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let workers: Vec<_> = (0..cores).map(worker).collect();
    drop(tell);
    let (mut tally, mut under_way) = (Tally::default(), BTreeSet::new());
    loop {
        match told.recv_timeout(patience) {
            Ok(News::Began(seed)) => {
                under_way.insert(seed);
            }
            Ok(News::Ended(summary)) => {
                under_way.remove(&summary.seed);
                tally.add(&summary);
            }
            Err(mpsc::RecvTimeoutError::Timeout) => {
                return Err(Stuck { seeds: under_way.into_iter().collect(), patience });
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
        }
    }
    // What panics here is not the lock, whose panics are caught.
    for worker in workers {
        worker.join().unwrap_or_else(|panic| resume_unwind(panic));
    }
    Ok(tally)
}

/// What a thread tells of its runs.
enum News {
    Began(Seed),
    Ended(Summary),
}

impl Tally {
    fn add(&mut self, run: &Summary) {
        self.runs += 1;
        for (predicate, verdict) in run.verdicts.iter() {
            let count = self.predicates.entry(predicate).or_default();
            match verdict {
                Verdict::Holds => count.holds += 1,
                Verdict::Inconclusive(why) => {
                    count.inconclusive += 1;
                    if count.unsaid.as_ref().is_none_or(|(first, _)| run.seed < *first) {
                        count.unsaid = Some((run.seed, why.clone()));
                    }
                }
                Verdict::Violated(_) => {
                    count.violated += 1;
                    count.first = Some(count.first.map_or(run.seed, |first| first.min(run.seed)));
                }
            }
        }
        if run.panicked.is_some() {
            let (first, panics) = self.panicked.unwrap_or((run.seed, 0));
            self.panicked = Some((first.min(run.seed), panics + 1));
        }
        self.grants += run.grants.count;
        if let Some(why) = &run.grants.refusal
            && self.refused.as_ref().is_none_or(|(first, _)| run.seed < *first)
        {
            self.refused = Some((run.seed, why.clone()));
        }
    }

    /// How often a predicate came to what.
    pub fn of(&self, predicate: Predicate) -> Count {
        self.predicates.get(&predicate).cloned().unwrap_or_default()
    }

    /// The first seed from which anything was violated, or the code panicked.
    pub fn first(&self) -> Option<Seed> {
        let violated = self.predicates.values().filter_map(|count| count.first);
        violated.chain(self.panicked.map(|(first, _)| first)).min()
    }
}
