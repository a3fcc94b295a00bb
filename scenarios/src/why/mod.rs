//! Why a run came out as it did: how likely it was to, as it went along, and what would have changed it.
//!
//! **As it went along.** From points of the run many futures are made: the same past, everything random drawn anew
//! after it, and none of the faults that had not struck by then. The share of futures that still come out the same is
//! what had been decided by that point. Where it jumps, what happened in between is the cause.
//!
//! **What would have changed it.** The whole run is made again without one fault, without one client, or with one
//! switch of the lock, one kind of persistence or of fencing changed: at its own seed, and from many others.
//!
//! Both are questions to runs, not to a model: an answer is a count of runs. A cause that two things share (either
//! would have done) is no single change's; then nothing listed removes it, and that is said.

mod changes;
mod happenings;

use std::num::NonZeroUsize;
use std::thread;

use doublehold_history::TrueNs;

use crate::Seed;
use crate::fault::Fault;
use crate::report::Report;
use crate::run::{Engine, PrepareError, Prepared, PreparedSim};
use crate::scenario::Scenario;
use crate::shrink::Target;

pub use changes::Change;

/// How many futures each point has.
pub const FUTURES: u64 = 100;
/// From how many other seeds each change is tried.
pub const OTHERS: u64 = 40;

/// What was found out about one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Why {
    /// What the run does.
    pub target: Target,
    /// From the beginning to the end of the run.
    pub points: Vec<Point>,
    /// From how many of [`OTHERS`] other seeds the whole scenario does the same.
    pub others: u64,
    /// What was changed, and what came of it.
    pub changes: Vec<Changed>,
}

/// A point of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// True time.
    pub at: TrueNs,
    /// What happened since the point before.
    pub happened: Vec<String>,
    /// How many of [`FUTURES`] futures came out the same.
    pub same: u64,
}

/// A change, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// What was changed.
    pub what: String,
    /// Whether anybody is still granted the lock in that run. If not, the change prevents everything.
    pub is_granted: bool,
    /// Whether the run from its own seed still does it.
    pub still_at_seed: bool,
    /// From how many of [`OTHERS`] other seeds it does.
    pub others: u64,
}

/// Why there is nothing to tell.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WhyError {
    /// The run violates nothing.
    #[error("the run of `{name}` from seed {seed} violates nothing that was asked about")]
    NothingViolated {
        /// The scenario.
        name: String,
        /// The seed.
        seed: Seed,
    },
    /// The scenario cannot be run.
    #[error(transparent)]
    Prepare(#[from] PrepareError),
}

/// Asks why the run of a scenario from a seed does what it does: `target`, or the gravest thing it violates.
///
/// # Errors
///
/// If the run does not do it, or cannot be made.
///
/// ```
/// use doublehold_scenarios::{SimEngine, Seed, catalog, why::why};
///
/// let why = why(&SimEngine, &catalog::load("clock-jump", &[])?, Seed(1), None, std::num::NonZeroUsize::MIN)?;
/// let jump = why.jumps().next().expect("something decided it");
/// assert!(why.points[jump].happened.iter().any(|what| what.contains("wall clock stepped by +10 s")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn why<E>(
    engine: &E,
    scenario: &Scenario,
    seed: Seed,
    target: Option<Target>,
    jobs: NonZeroUsize,
) -> Result<Why, WhyError>
where
    E: Engine<Prepared = PreparedSim> + Sync,
{
    let report = engine.prepare(scenario)?.run(seed);
    let prepared = engine.prepare(&report.scenario)?;
    let run = prepared.judge(seed);
    let shown = target.map_or_else(|| Target::of(&run), |target| target.is_in(&run).then_some(target));
    let nothing = || WhyError::NothingViolated { name: scenario.name.clone(), seed };
    let target = shown.ok_or_else(nothing)?;
    let moments = happenings::moments(&report);
    let same = in_parallel(&moments, jobs, |moment| {
        let struck = faults_by(&report, moment);
        let past = prepared.with_faults(struck).expect("the faults are the scenario's");
        seeds(FUTURES).filter(|future| target.is_in(&past.judge_future(seed, moment.from(), *future))).count()
            as u64
    });
    let points = moments.into_iter().zip(same);
    let points =
        points.map(|(moment, same)| Point { at: moment.at, happened: moment.happened, same }).collect();
    let changes = changes::all(&report.scenario, &engine.locks());
    let changed = in_parallel(&changes, jobs, |change| tried(engine, change, seed, target));
    let others = seeds(OTHERS).filter(|seed| target.is_in(&prepared.judge(*seed))).count() as u64;
    Ok(Why { target, points, others, changes: changed.into_iter().flatten().collect() })
}

impl Why {
    /// The points before which something was decided: between them and the point before, the shares differ by more than
    /// chance would have it (their 99 % intervals do not meet).
    pub fn jumps(&self) -> impl Iterator<Item = usize> {
        (1..self.points.len()).filter(|&point| {
            let [(low, high), (next_low, next_high)] =
                [point - 1, point].map(|it| interval(self.points[it].same));
            high < next_low || next_high < low
        })
    }
}

/// Wilson's interval for a share of [`FUTURES`], at 99 %.
fn interval(same: u64) -> (f64, f64) {
    const Z: f64 = 2.576;
    let (n, share) = (FUTURES as f64, same as f64 / FUTURES as f64);
    let middle = share + Z * Z / (2.0 * n);
    let spread = Z * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + Z * Z / n;
    ((middle - spread) / scale, (middle + spread) / scale)
}

/// Seeds far from those that people begin with, whose past they would repeat.
fn seeds(count: u64) -> impl Iterator<Item = Seed> {
    (1..=count).map(|number| Seed(1_000_000 + number))
}

/// The faults that had struck by a moment.
fn faults_by(report: &Report, moment: &happenings::Moment) -> Vec<Fault> {
    let had_struck = |fault: &&Fault| {
        let times = report.faults.iter().filter(|it| it.fault == **fault).filter_map(|it| it.from);
        times
            .min()
            .is_some_and(|from| if moment.faults_included { from <= moment.at } else { from < moment.at })
    };
    report.scenario.faults.iter().filter(had_struck).cloned().collect()
}

/// Runs a change; `None` if it makes no sense here.
fn tried<E>(engine: &E, change: &Change, seed: Seed, target: Target) -> Option<Changed>
where
    E: Engine<Prepared = PreparedSim>,
{
    let scenario = change.scenario.checked_with(engine.locks()).ok()?;
    let prepared = engine.prepare(&scenario).ok()?;
    let run = prepared.judge(seed);
    Some(Changed {
        what: change.what.clone(),
        is_granted: run.grants.count > 0,
        still_at_seed: target.is_in(&run),
        others: seeds(OTHERS).filter(|seed| target.is_in(&prepared.judge(*seed))).count() as u64,
    })
}

/// Each item's result, in the items' order.
fn in_parallel<T: Sync, R: Send>(items: &[T], jobs: NonZeroUsize, make: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let jobs = jobs.get().min(items.len().max(1));
    let make = &make;
    let mut results: Vec<(usize, R)> = thread::scope(|scope| {
        let worker = |first: usize| {
            scope.spawn(move || {
                let mine = items.iter().enumerate().skip(first).step_by(jobs);
                mine.map(|(place, item)| (place, make(item))).collect::<Vec<_>>()
            })
        };
        let workers: Vec<_> = (0..jobs).map(worker).collect();
        let joined = workers.into_iter().map(thread::ScopedJoinHandle::join);
        joined.flat_map(|results| results.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    });
    results.sort_by_key(|(place, _)| *place);
    results.into_iter().map(|(_, result)| result).collect()
}
