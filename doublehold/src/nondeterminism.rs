//! Detection of anything that reaches into runs from outside the simulation: real time, other threads, real randomness,
//! and state that code keeps from one run to the next. If something does, the results of a search mean nothing.
//!
//! Three signs are looked for, in the runs that a search makes anyway, in a dozen that are made again at its end, and
//! for a lock of one's own in a little world beside them:
//!
//! - **The same seed gives another run.** The first run, the last, and those at powers of two between them are made
//!   again, and their digests compared. The first uses of a static differ the most, and a search of any length makes
//!   only a few runs twice.
//! - **A run waits.** A world computes, and never waits for anything. If the thread that runs it gives up its processor
//!   of its own accord (`ru_nvcsw` of getrusage), it has slept, joined a thread, waited for a lock that another thread
//!   holds, or blocked on a file or a socket. Elapsed time says nothing of that on a machine under load; a processor
//!   that is taken away is counted apart (`ru_nivcsw`). A search's own threads meet in the allocator and in the kernel,
//!   so one wait is not yet a sign: such a run is made again alone, and waits each time if its code does.
//! - **Real time makes a difference** (`slow`): a lease that is compared with `Instant::elapsed` never ends in a run,
//!   in which hardly any real time passes, and ends where some is made to pass.
//!
//! Runs that are made again have the patience of the search itself: a lock may come back once and never again.
//!
//! Not seen: a real clock that is read and changes nothing in any of these runs; a loop that spins until another thread
//! is done. Waits are seen where the system counts them by thread (Linux, Android, FreeBSD, OpenBSD).
//!
//! Decision: "A lock that reaches out of the simulation does not pass" (docs/decisions/locks.md).

mod slow;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_long;
use std::ops::RangeInclusive;
use std::panic::resume_unwind;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use doublehold_lockimpl::Registry;
use doublehold_scenarios::pool::Stuck;
use doublehold_scenarios::report::{Summary, TraceHash};
use doublehold_scenarios::{Prepared, Report, Scenario, Seed, SimEnv, TakesLocks};
use doublehold_search::panic_hook;

/// The number of repeats of a run that waited. By chance runs wait in clusters: with eight checks in one process on two
/// processors, 18 of some 360 that were looked at waited again when they were made again at once, two of them three
/// times in a row and one five times, which accused an innocent lock when there were five repeats.
const REPEATS: u32 = 20;
/// A repeat is that much later after the last than that one was, or all would fall into one moment in which threads
/// meet: of 274 runs five waited again, and the longest row was four. 0.2 s in all, and only for code that waits.
const BETWEEN: Duration = Duration::from_millis(1);
/// The most runs that waited and are looked at again, the first ones: code that waits does it in most of them.
const WAITING_MAX: usize = 8;

/// A sign that something reached into a run from outside the simulation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Nondeterminism {
    /// The same seed gave two runs.
    #[error(
        "the lock's code is not deterministic: the run from seed {0} was another the second time; it reads a real clock \
         or real randomness, or keeps state between runs, such as a static: take both from its client, and keep state \
         in the lock"
    )]
    OtherRun(Seed),
    /// A run waits for what is not simulated.
    #[error(
        "the lock's code waits in real time: the run from seed {0} gave up its processor each of the {REPEATS} times it \
         was made again; it sleeps as `std::thread::sleep` does, waits for a thread, or blocks on a file or a socket: \
         sleep, spawn and connect through its client"
    )]
    Waits(Seed),
    /// A lock compares real time with its lease.
    #[error(
        "the lock's code reads a real clock: with real time that outlives the lease, a run was another than without; in \
         all other runs hardly any real time passes, so that its lease never ends and nothing found or not found means \
         anything: take the time from its client"
    )]
    RealTime,
}

impl Nondeterminism {
    /// A word for programs, and the seed of the run that showed it, if one run did.
    pub(crate) fn word_and_seed(&self) -> (&'static str, Option<Seed>) {
        match self {
            Nondeterminism::OtherRun(seed) => ("other-run", Some(*seed)),
            Nondeterminism::Waits(seed) => ("waits", Some(*seed)),
            Nondeterminism::RealTime => ("real-time", None),
        }
    }

    /// The sign that these words mean.
    pub fn from_word(word: &str, seed: Option<Seed>) -> Option<Nondeterminism> {
        match (word, seed) {
            ("other-run", Some(seed)) => Some(Nondeterminism::OtherRun(seed)),
            ("waits", Some(seed)) => Some(Nondeterminism::Waits(seed)),
            ("real-time", None) => Some(Nondeterminism::RealTime),
            _ => None,
        }
    }

    /// The same of runs whose seeds go by other numbers.
    #[cfg(feature = "proptest")]
    pub(crate) fn with_seeds(self, seed: impl FnOnce(Seed) -> Seed) -> Nondeterminism {
        match self {
            Nondeterminism::OtherRun(number) => Nondeterminism::OtherRun(seed(number)),
            Nondeterminism::Waits(number) => Nondeterminism::Waits(seed(number)),
            Nondeterminism::RealTime => Nondeterminism::RealTime,
        }
    }
}

/// Looks for a lock that compares real time with its lease. A search that takes longer than `patience` is left alone,
/// and finds nothing.
pub(crate) fn real_time<E: TakesLocks>(
    locks: &Registry<SimEnv>,
    scenario: &Scenario,
    patience: Duration,
) -> Option<Nondeterminism> {
    let (locks, scenario, here) = (locks.clone(), scenario.clone(), panic_hook::current_check());
    let tells = run_with_patience(patience, move |_| {
        here.clone().hush(|| slow::tells_real_time::<E>(&locks, &scenario))
    });
    matches!(tells, Ok(true)).then_some(Nondeterminism::RealTime)
}

/// Does something on a thread of its own, which tells from which seed it begins a run. Where there are no threads to be
/// had it is done here, however long it takes.
///
/// # Errors
///
/// If for so long it was neither over nor began another run. Its thread is left behind then.
pub(crate) fn run_with_patience<T: Send + 'static>(
    patience: Duration,
    work: impl Fn(&dyn Fn(Seed)) -> T + Send + Sync + 'static,
) -> Result<T, Stuck> {
    let (tell, told) = mpsc::channel();
    let work = Arc::new(work);
    let there = work.clone();
    let worker = thread::Builder::new().spawn(move || {
        // Nobody listens any more where it took too long.
        let over = there(&|seed| tell.send(Err(seed)).unwrap_or_default());
        tell.send(Ok(over)).unwrap_or_default();
    });
    let Ok(worker) = worker else { return Ok(work(&|_| ())) };
    let mut seeds = Vec::new();
    loop {
        match told.recv_timeout(patience) {
            Ok(Ok(over)) => return Ok(over),
            Ok(Err(begun)) => seeds = vec![begun],
            Err(RecvTimeoutError::Timeout) => return Err(Stuck { seeds, patience }),
            // It panicked, and that is not the lock, whose panics are caught.
            Err(RecvTimeoutError::Disconnected) => resume_unwind(worker.join().expect_err("a panic")),
        }
    }
}

/// Runs as its scenario does, and notes what tells of the outside.
pub struct Watched<P> {
    prepared: P,
    first: Seed,
    noted: Mutex<Noted>,
}

#[derive(Clone, Default)]
struct Noted {
    digests: BTreeMap<Seed, TraceHash>,
    waited: BTreeSet<Seed>,
}

impl<P> Watched<P> {
    /// A search that begins at this seed.
    pub fn new(prepared: P, first: Seed) -> Watched<P> {
        Watched { prepared, first, noted: Mutex::default() }
    }

    /// The prepared scenario that is watched.
    pub fn inner(&self) -> &P {
        &self.prepared
    }

    fn lock_notes(&self) -> MutexGuard<'_, Noted> {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<P: Prepared> Watched<P> {
    /// Looks for a sign in these first runs, all of which were made. The order of their threads does not matter.
    fn find_sign(&self, runs: u64, begins: &dyn Fn(Seed)) -> Option<Nondeterminism> {
        let last = Seed(self.first.0.saturating_add(runs.checked_sub(1)?));
        let noted = self.lock_notes().clone();
        let again = |seed: Seed| {
            begins(seed);
            self.prepared.judge(seed)
        };
        other_run(&noted, self.first..=last, again).or_else(|| {
            let waits = |seed: &&Seed| {
                (0..REPEATS).all(|repeat| {
                    thread::sleep(BETWEEN * repeat);
                    waits(|| again(**seed)).1
                })
            };
            noted.waited.range(..=last).find(waits).map(|seed| Nondeterminism::Waits(*seed))
        })
    }

    fn note(&self, run: &Summary, waited: bool) {
        let is_compared =
            run.seed.0.checked_sub(self.first.0).is_some_and(|it| it == 0 || it.is_power_of_two());
        if !waited && !is_compared {
            return;
        }
        let mut noted = self.lock_notes();
        if is_compared {
            noted.digests.insert(run.seed, run.trace_hash);
        }
        if waited {
            noted.waited.insert(run.seed);
            if noted.waited.len() > WAITING_MAX {
                noted.waited.pop_last();
            }
        }
    }
}

impl<P: Prepared + 'static> Watched<P> {
    /// Looks for a sign in these runs, all of which were made.
    ///
    /// # Errors
    ///
    /// If one that is made again does not come back for so long.
    pub fn detect(self: &Arc<Self>, runs: u64, patience: Duration) -> Result<Option<Nondeterminism>, Stuck> {
        let watched = self.clone();
        run_with_patience(patience, move |begins| watched.find_sign(runs, begins))
    }
}

/// A seed whose run is another when it is made again.
fn other_run(
    noted: &Noted,
    seeds: RangeInclusive<Seed>,
    again: impl Fn(Seed) -> Summary,
) -> Option<Nondeterminism> {
    let again = |seed| again(seed).trace_hash;
    let last = *seeds.end();
    let of_last = noted.digests.get(&last).copied().unwrap_or_else(|| again(last));
    let mut compared: Vec<(Seed, TraceHash)> =
        noted.digests.range(seeds).map(|(seed, digest)| (*seed, *digest)).collect();
    compared.push((last, of_last));
    compared
        .into_iter()
        .find(|(seed, digest)| again(*seed) != *digest)
        .map(|(seed, _)| Nondeterminism::OtherRun(seed))
}

impl<P: Prepared> Prepared for Watched<P> {
    type Record = P::Record;

    fn judge(&self, seed: impl Into<Seed>) -> Summary {
        let (run, waited) = waits(|| self.prepared.judge(seed));
        self.note(&run, waited);
        run
    }

    fn run(&self, seed: impl Into<Seed>) -> Report {
        self.prepared.run(seed)
    }

    fn run_traced(&self, seed: impl Into<Seed>) -> (Report, Vec<P::Record>) {
        self.prepared.run_traced(seed)
    }
}

/// Does something, and says whether the thread waited meanwhile.
fn waits<T>(work: impl FnOnce() -> T) -> (T, bool) {
    let before = waits_so_far();
    let done = work();
    let waited = before.zip(waits_so_far()).is_some_and(|(before, after)| after > before);
    (done, waited)
}

/// The number of times that this thread has given up its processor of its own accord, if the system counts them.
#[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd", target_os = "openbsd"))]
fn waits_so_far() -> Option<c_long> {
    use nix::sys::resource::{UsageWho, getrusage};
    getrusage(UsageWho::RUSAGE_THREAD).ok().map(|usage| usage.voluntary_context_switches())
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "freebsd", target_os = "openbsd")))]
fn waits_so_far() -> Option<c_long> {
    None
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use doublehold_lockimpl::Descriptor;
    use doublehold_scenarios::build::World;
    use doublehold_scenarios::{Engine, LeanEngine, OwnLocks, PreparedSim, SimEngine, builtin_locks};
    use doublehold_search::many::{Many, run_many};

    use super::*;

    const RUNS: u64 = 40;

    fn detect_in(prepared: PreparedSim) -> Option<Nondeterminism> {
        let watched = Arc::new(Watched::new(prepared, Seed(1)));
        let many = Many::new(Seed(1)..=Seed(RUNS), Duration::from_secs(60));
        run_many(&watched, &many, |_| ControlFlow::Continue(())).expect("all come back");
        watched.detect(RUNS, Duration::from_secs(60)).expect("all come back again")
    }

    #[test]
    fn nothing_reaches_into_runs_of_the_locks_that_come_with_the_program() {
        // As many beside each other as a test runner has threads: a seed in doubt is run again after some real time,
        // which is most of what this test takes. With a thread a lock they met in the allocator until one was accused.
        let locks = Mutex::new(doublehold_lockimpl::descriptors().into_iter());
        let next = || locks.lock().expect("no check panics while it takes one").next();
        std::thread::scope(|scope| {
            for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
                scope.spawn(|| std::iter::from_fn(next).for_each(|lock| nothing_reaches_into_runs_of(&lock)));
            }
        });
    }

    fn nothing_reaches_into_runs_of(lock: &Descriptor) {
        let scenario =
            World::usual(lock).weather("cloud").scenario(lock.name, doublehold_lockimpl::descriptors());
        let scenario = scenario.unwrap_or_else(|error| panic!("{}: {error}", lock.name));
        for prepared in [LeanEngine.prepare(&scenario), SimEngine.prepare(&scenario)] {
            assert_eq!(detect_in(prepared.expect("it can be run")), None, "{}", lock.name);
        }
        let told = real_time::<OwnLocks>(&builtin_locks(), &scenario, Duration::from_secs(60));
        assert_eq!(told, None, "{}", lock.name);
    }

    #[test]
    fn sleeping_is_waiting_and_computing_is_not() {
        let sleep = || std::thread::sleep(Duration::from_micros(100));
        let has_counts = waits_so_far().is_some();
        assert_eq!(
            has_counts,
            cfg!(any(
                target_os = "linux",
                target_os = "android",
                target_os = "freebsd",
                target_os = "openbsd"
            ))
        );
        assert!((0..REPEATS).all(|_| waits(sleep).1 == has_counts));
        assert!(!(0..REPEATS).all(|_| waits(|| (0..1_000_u64).map(std::hint::black_box).sum::<u64>()).1));
    }
}
