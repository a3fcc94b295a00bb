//! The search itself: threads that run batches, and one place where what they found is put together in order.
//!
//! The result is the same on any number of threads, since batches are numbered and added in the order of their numbers.
//! A batch that is begun is finished, so what was found when the search is stopped is a prefix of the whole.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;

use doublehold_scenarios::Stepped;
use doublehold_scenarios::pool::caught;

use super::Exploration;
use super::batches::{Batch, Batches};
use super::found::{Explored, Tried};
use super::place::Place;

impl<P: Stepped> Exploration<P> {
    /// Tries what `found` has not tried yet, on so many threads, until all is tried or `stop` says so. `each` hears of
    /// each placement, in order.
    #[must_use]
    pub fn run(
        &self,
        mut found: Explored,
        jobs: NonZeroUsize,
        stop: impl Fn() -> bool + Sync,
        mut each: impl FnMut(&[Place], &Tried),
    ) -> Explored {
        let mut batches = Batches::new(self);
        if let Some(last) = found.batches.checked_sub(1) {
            // What comes before is listed again and not run.
            batches.nth(usize::try_from(last).unwrap_or(usize::MAX));
        }
        let batches = Mutex::new(batches);
        let next = || batches.lock().unwrap_or_else(PoisonError::into_inner).next();
        let is_over = AtomicBool::new(false);
        type Done = thread::Result<(Batch, Vec<Tried>)>;
        let work = |tell: mpsc::Sender<Done>| {
            let worked = caught(|| {
                while !is_over.load(Ordering::Relaxed)
                    && !stop()
                    && let Some(batch) = next()
                {
                    let tried = self.try_batch(&batch);
                    if tell.send(Ok((batch, tried))).is_err() {
                        return;
                    }
                }
            });
            if let Err(panic) = worked {
                // One is enough: the others end with the batch they are at.
                is_over.store(true, Ordering::Relaxed);
                let _ = tell.send(Err(panic));
            }
        };
        let work = &work;
        thread::scope(|scope| {
            let (tell, told) = mpsc::channel();
            let begun = (0..jobs.get()).filter(|_| {
                let tell = tell.clone();
                thread::Builder::new().spawn_scoped(scope, move || work(tell)).is_ok()
            });
            // If the system gives no threads, all is tried here, and told of when it is over.
            if begun.count() == 0 {
                work(tell.clone());
            }
            drop(tell);
            let mut early: BTreeMap<u64, (Batch, Vec<Tried>)> = BTreeMap::new();
            for done in told {
                let (batch, tried) = done.unwrap_or_else(|panic| resume_unwind(panic));
                early.insert(batch.number, (batch, tried));
                while let Some((batch, tried)) = early.remove(&found.batches) {
                    for (last, tried) in batch.last.into_iter().zip(tried) {
                        let places = [&batch.prefix[..], &[last]].concat();
                        each(&places, &tried);
                        found.add(&places, &tried, self.faults, &self.kinds);
                    }
                    found.batches += 1;
                }
            }
        });
        found.complete = next().is_none();
        found
    }

    fn try_batch(&self, batch: &Batch) -> Vec<Tried> {
        let tried = |last| {
            let places = [&batch.prefix[..], std::slice::from_ref(last)].concat();
            Tried::of(&self.with(&places).judge(self.seed))
        };
        batch.last.iter().map(tried).collect()
    }
}
