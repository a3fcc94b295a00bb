//! How far each thread is, and which runs do not come back.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use doublehold_sim::Seed;
use doublehold_text::list;

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

/// How far each thread is.
///
/// Threads write here what they are at, and tell of whole blocks only: waking whoever listens for each run takes the
/// time of a core that runs.
pub(super) struct Progress(Vec<Worker>);

/// What a thread is at.
#[derive(Default)]
struct Worker {
    /// How many runs it began.
    begun: AtomicU64,
    under_way: Mutex<Option<Seed>>,
}

impl Progress {
    /// As many threads, of which none has begun.
    pub(super) fn new(jobs: NonZeroUsize) -> Progress {
        Progress((0..jobs.get()).map(|_| Worker::default()).collect())
    }

    /// How many runs were begun.
    pub(super) fn begun_runs(&self) -> u64 {
        self.0.iter().map(|worker| worker.begun.load(Ordering::Relaxed)).sum()
    }

    /// A thread begins a run.
    pub(super) fn begins(&self, worker: usize, seed: Seed) {
        self.0[worker].begun.fetch_add(1, Ordering::Relaxed);
        *self.0[worker].under_way() = Some(seed);
    }

    /// A thread has ended its runs.
    pub(super) fn rests(&self, worker: usize) {
        *self.0[worker].under_way() = None;
    }

    /// Watches for runs that do not come back.
    pub(super) fn watch(&self, patience: Duration) -> Watch {
        Watch { begun: self.begun_runs(), silent: Duration::ZERO, patience }
    }

    /// The seeds of the runs that have not ended.
    fn under_way(&self) -> Vec<Seed> {
        let mut seeds: Vec<Seed> = self.0.iter().filter_map(|worker| *worker.under_way()).collect();
        seeds.sort_unstable();
        seeds
    }
}

impl Worker {
    fn under_way(&self) -> MutexGuard<'_, Option<Seed>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// For how long no run has begun.
pub(super) struct Watch {
    begun: u64,
    silent: Duration,
    patience: Duration,
}

impl Watch {
    /// Asked whenever so much time has passed without news: the runs that do not come back, once that was too long.
    pub(super) fn is_over(&mut self, progress: &Progress, passed: Duration) -> Option<Vec<Seed>> {
        let before = std::mem::replace(&mut self.begun, progress.begun_runs());
        self.silent = if before == self.begun { self.silent + passed } else { Duration::ZERO };
        (self.silent >= self.patience).then(|| progress.under_way())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK: Duration = Duration::from_millis(50);

    /// A search with threads that are slow and begin a run now and then is not stuck, however long it takes.
    #[test]
    fn patience_begins_anew_with_each_run() {
        let progress = Progress::new(NonZeroUsize::new(2).expect("two"));
        let mut watch = progress.watch(Duration::from_secs(3));
        progress.begins(0, Seed(7));
        progress.begins(1, Seed(5));
        assert_eq!(progress.under_way(), [Seed(5), Seed(7)], "in their order, whoever runs them");
        for seed in 8..20 {
            assert_eq!(watch.is_over(&progress, TICK), None, "a run began");
            for _ in 0..2 {
                assert_eq!(watch.is_over(&progress, Duration::from_secs(1)), None, "two seconds of three");
            }
            progress.begins(0, Seed(seed));
        }
        progress.rests(0);
        assert_eq!(watch.is_over(&progress, TICK), None);
        assert_eq!(watch.is_over(&progress, Duration::from_secs(2)), None);
        assert_eq!(
            watch.is_over(&progress, Duration::from_secs(1)),
            Some(vec![Seed(5)]),
            "what rests is not stuck"
        );
    }
}
