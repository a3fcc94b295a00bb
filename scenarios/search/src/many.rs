//! Many runs of one scenario, on several threads: how often each predicate came to what, the first seed of each
//! violation, and what faults struck where.
//!
//! Seeds are run in blocks, and blocks are counted in the order of their seeds. So the result is the same on any number
//! of threads, also where a caller stops as soon as it has seen enough: what is counted is always all seeds up to some
//! block. Memory does not grow with runs: a block that waits for an earlier one is kept as counts.
//!
//! Does not shrink: that is another search.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ops::{ControlFlow, RangeInclusive};
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use doublehold_history::{Predicate, Verdict};
use doublehold_scenarios::Prepared;
use doublehold_scenarios::pool::{Progress, Stuck, caught, cores};
use doublehold_scenarios::report::Summary;
use doublehold_sim::Seed;

use crate::coverage::Coverage;

/// How many seeds a thread takes at a time: few enough that a search which stops early makes few runs for nothing, and
/// many enough that handing them out costs nothing beside them.
const BLOCK: u64 = 32;
/// How often the caller is asked whether to go on while no block ends.
const TICK: Duration = Duration::from_millis(50);

/// What is to be run.
#[derive(Clone, Debug)]
pub struct Many {
    /// From which seeds.
    pub seeds: RangeInclusive<Seed>,
    /// On how many threads.
    pub jobs: NonZeroUsize,
    /// How long no run may end, in real time, until it is said that code does not come back.
    pub patience: Duration,
}

impl Many {
    /// These seeds, on as many threads as the machine has cores.
    pub fn of(seeds: RangeInclusive<Seed>, patience: Duration) -> Many {
        Many { seeds, jobs: cores(), patience }
    }
}

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
    /// Which faults struck, and where.
    pub coverage: Coverage,
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

/// Runs the seeds in order, until there are no more or `until` says so. It is asked with what all seeds up to some
/// block came to, again and again while nothing new is known, and what it was asked with last is the result.
///
/// # Errors
///
/// If no run ends for as long as is allowed. What does not come back cannot be ended either: its thread is left behind.
pub fn run_many<P: Prepared + 'static>(
    prepared: &Arc<P>,
    many: &Many,
    until: impl FnMut(&Tally) -> ControlFlow<()>,
) -> Result<Tally, Stuck> {
    run_in_blocks(prepared, many, BLOCK, until)
}

/// The same in blocks of so many seeds.
#[expect(clippy::disallowed_methods, reason = "threads run worlds, and none runs in one")]
fn run_in_blocks<P: Prepared + 'static>(
    prepared: &Arc<P>,
    many: &Many,
    size: u64,
    mut until: impl FnMut(&Tally) -> ControlFlow<()>,
) -> Result<Tally, Stuck> {
    let blocks = Arc::new(Blocks::of(many, size));
    let (tell, told) = mpsc::channel::<Ended>();
    let begins = |worker: &usize| {
        let (worker, prepared, blocks, tell) = (*worker, prepared.clone(), blocks.clone(), tell.clone());
        thread::Builder::new().spawn(move || work(worker, &*prepared, &blocks, &tell)).is_ok()
    };
    // Fewer are slower and come to the same. If the system gives none, blocks are run here, one between two questions.
    let begun = (0..many.jobs.get()).filter(begins).count();
    let here = (begun == 0).then(|| tell.clone());
    drop(tell);
    let mut merged = Merged::default();
    let mut quiet = blocks.progress.watch(many.patience);
    // Asked after each single block, so that where it stops does not depend on which threads were fast.
    while until(&merged.tally).is_continue() {
        if merged.take_next() {
            continue;
        }
        if here.as_ref().is_some_and(|tell| !work_on(0, &**prepared, &blocks, tell)) {
            break;
        }
        match told.recv_timeout(TICK) {
            Ok(Ok((block, tally))) => {
                merged.early.insert(block, *tally);
            }
            Ok(Err(panic)) => {
                blocks.over.store(true, Ordering::Relaxed);
                resume_unwind(panic);
            }
            Err(mpsc::RecvTimeoutError::Timeout) => {
                if let Some(seeds) = quiet.is_over(&blocks.progress, TICK) {
                    return Err(Stuck { seeds, patience: many.patience });
                }
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
        }
    }
    // What is under way is not waited for: it may be what does not come back.
    blocks.over.store(true, Ordering::Relaxed);
    Ok(merged.tally)
}

/// The blocks of seeds, each handed out once, and how far each thread is.
struct Blocks {
    first: u64,
    last: u64,
    size: u64,
    next: AtomicU64,
    /// Nobody wants more.
    over: AtomicBool,
    progress: Progress,
}

/// What a thread tells: the number of a block, and what it came to.
type Ended = thread::Result<(u64, Box<Tally>)>;

impl Blocks {
    fn of(many: &Many, size: u64) -> Blocks {
        Blocks {
            first: many.seeds.start().0,
            last: many.seeds.end().0,
            size,
            next: AtomicU64::new(0),
            over: AtomicBool::new(false),
            progress: Progress::of(many.jobs),
        }
    }

    fn next(&self) -> Option<(u64, RangeInclusive<u64>)> {
        let block = self.next.fetch_add(1, Ordering::Relaxed);
        let first = block.checked_mul(self.size).and_then(|seeds| self.first.checked_add(seeds))?;
        (first <= self.last).then(|| (block, first..=first.saturating_add(self.size - 1).min(self.last)))
    }
}

/// Runs blocks until there are no more, or nobody listens.
fn work<P: Prepared>(number: usize, prepared: &P, blocks: &Blocks, tell: &mpsc::Sender<Ended>) {
    // Here it is not the lock that panics: those panics are caught where it runs.
    if let Err(panic) = caught(|| while work_on(number, prepared, blocks, tell) {}) {
        let _ = tell.send(Err(panic));
    }
}

/// Runs the next block; whether there may be another.
fn work_on<P: Prepared>(number: usize, prepared: &P, blocks: &Blocks, tell: &mpsc::Sender<Ended>) -> bool {
    let Some((block, seeds)) = blocks.next() else { return false };
    let mut tally = Tally::default();
    for seed in seeds.map(Seed) {
        if blocks.over.load(Ordering::Relaxed) {
            return false;
        }
        blocks.progress.begins(number, seed);
        tally.add(&prepared.judge(seed));
    }
    blocks.progress.rests(number);
    tell.send(Ok((block, Box::new(tally)))).is_ok()
}

/// All blocks up to one, and those that came before their turn.
#[derive(Default)]
struct Merged {
    tally: Tally,
    next: u64,
    early: BTreeMap<u64, Tally>,
}

impl Merged {
    /// Counts the next block, if it is there.
    fn take_next(&mut self) -> bool {
        let Some(tally) = self.early.remove(&self.next) else { return false };
        self.tally.merge(tally);
        self.next += 1;
        true
    }
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
                    count.unsaid.get_or_insert_with(|| (run.seed, why.clone()));
                }
                Verdict::Violated(_) => {
                    count.violated += 1;
                    count.first.get_or_insert(run.seed);
                }
            }
        }
        if run.panicked.is_some() {
            self.panicked.get_or_insert((run.seed, 0)).1 += 1;
        }
        self.grants += run.grants.count;
        if let (Some(why), None) = (&run.grants.refusal, &self.refused) {
            self.refused = Some((run.seed, why.clone()));
        }
        run.faults.iter().for_each(|hit| self.coverage.add(hit));
    }

    /// Adds what later seeds came to.
    fn merge(&mut self, later: Tally) {
        let Tally { runs, predicates, panicked, grants, refused, coverage } = later;
        self.runs += runs;
        for (predicate, theirs) in predicates {
            let ours = self.predicates.entry(predicate).or_default();
            ours.holds += theirs.holds;
            ours.violated += theirs.violated;
            ours.inconclusive += theirs.inconclusive;
            ours.first = ours.first.or(theirs.first);
            ours.unsaid = ours.unsaid.take().or(theirs.unsaid);
        }
        self.panicked = match (self.panicked, panicked) {
            (Some((first, ours)), Some((_, theirs))) => Some((first, ours + theirs)),
            (ours, theirs) => ours.or(theirs),
        };
        self.grants += grants;
        self.refused = self.refused.take().or(refused);
        self.coverage.merge(&coverage);
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
