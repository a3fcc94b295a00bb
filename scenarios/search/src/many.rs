//! Many runs of one scenario, on several threads: how often each predicate came to what, the first seed of each
//! violation, and what faults struck where.
//!
//! Seeds are run in blocks, and blocks are counted in the order of their seeds. So the result is the same on any number
//! of threads, also where a caller stops as soon as it has seen enough: what is counted is always all seeds up to some
//! block. Memory does not grow with runs: a block that waits for an earlier one is kept as counts.
//!
//! Does not shrink: that is another search.
//!
//! Decision: "A search stops after a whole block of seeds" (docs/decisions/search.md).

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ops::{ControlFlow, RangeInclusive};
use std::sync::Arc;
use std::time::Duration;

use doublehold_history::{Predicate, Verdict};
use doublehold_scenarios::Prepared;
use doublehold_scenarios::pool::{Crew, Foreman, Hand, Stuck, cores, run_in_order};
use doublehold_scenarios::report::Summary;
use doublehold_sim::Seed;

use crate::coverage::Coverage;

/// How many seeds a thread takes at a time: few enough that a search which stops early makes few runs for nothing, and
/// many enough that handing them out costs nothing beside them.
const BLOCK: u64 = 32;
/// How many blocks a thread may be ahead of the first that is not counted yet.
const AHEAD: usize = 8;

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
    pub fn new(seeds: RangeInclusive<Seed>, patience: Duration) -> Many {
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
    /// In how many runs it holds, or nothing happened that it is about.
    pub holds: u64,
    /// In how many of these nothing happened that it is about, and what did not in the first.
    pub not_seen: Option<(u64, String)>,
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
fn run_in_blocks<P: Prepared + 'static>(
    prepared: &Arc<P>,
    many: &Many,
    size: u64,
    until: impl FnMut(&Tally) -> ControlFlow<()>,
) -> Result<Tally, Stuck> {
    let (first, last) = (many.seeds.start().0, many.seeds.end().0);
    let mut blocks = Blocks { next: Some(first), last, size, tally: Tally::default(), until };
    let prepared = prepared.clone();
    let work = move |hand: &Hand<'_>, seeds: RangeInclusive<u64>| {
        let mut tally = Tally::default();
        for seed in seeds.map(Seed).take_while(|_| !hand.is_over()) {
            hand.begins(seed);
            tally.add(&prepared.judge(seed));
        }
        tally
    };
    run_in_order(Crew { jobs: many.jobs, ahead: AHEAD }, many.patience, &mut blocks, work)?;
    Ok(blocks.tally)
}

/// The blocks of seeds, each handed out once, and what those so far came to.
struct Blocks<U> {
    next: Option<u64>,
    last: u64,
    size: u64,
    tally: Tally,
    until: U,
}

impl<U: FnMut(&Tally) -> ControlFlow<()>> Foreman for Blocks<U> {
    type Piece = RangeInclusive<u64>;
    type Done = Tally;

    fn next(&mut self) -> Option<RangeInclusive<u64>> {
        let first = self.next.filter(|first| *first <= self.last)?;
        self.next = first.checked_add(self.size);
        Some(first..=first.saturating_add(self.size - 1).min(self.last))
    }

    fn receive(&mut self, later: Tally) -> ControlFlow<()> {
        self.tally.merge(later);
        ControlFlow::Continue(())
    }

    // Asked after each single block, so that where it stops does not depend on which threads were fast.
    fn goes_on(&mut self, _: u64) -> ControlFlow<()> {
        (self.until)(&self.tally)
    }
}

impl Tally {
    /// Counts a run. Runs are to come in the order of their seeds.
    pub fn add(&mut self, run: &Summary) {
        self.runs += 1;
        for (predicate, verdict) in run.verdicts.iter() {
            let count = self.predicates.entry(predicate).or_default();
            match verdict {
                Verdict::Holds => count.holds += 1,
                Verdict::NotSeen(why) => {
                    count.holds += 1;
                    count.not_seen.get_or_insert_with(|| (0, (*why).to_owned())).0 += 1;
                }
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
    pub fn merge(&mut self, later: Tally) {
        let Tally { runs, predicates, panicked, grants, refused, coverage } = later;
        self.runs += runs;
        for (predicate, theirs) in predicates {
            let ours = self.predicates.entry(predicate).or_default();
            ours.holds += theirs.holds;
            ours.not_seen = match (ours.not_seen.take(), theirs.not_seen) {
                (Some((ours, why)), Some((theirs, _))) => Some((ours + theirs, why)),
                (ours, theirs) => ours.or(theirs),
            };
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

    /// Why no run that was decided showed anything of a predicate, if so: the thing that never happened.
    pub fn never_seen(&self, predicate: Predicate) -> Option<&str> {
        let count = self.predicates.get(&predicate)?;
        let (runs, why) = count.not_seen.as_ref()?;
        (count.violated == 0 && *runs == count.holds).then_some(why)
    }

    /// Count of a predicate: how often it came to what.
    pub fn count(&self, predicate: Predicate) -> Count {
        self.predicates.get(&predicate).cloned().unwrap_or_default()
    }

    /// The first seed from which anything was violated, or the code panicked.
    pub fn first(&self) -> Option<Seed> {
        let violated = self.predicates.values().filter_map(|count| count.first);
        violated.chain(self.panicked.map(|(first, _)| first)).min()
    }
}
