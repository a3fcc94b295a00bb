//! The search itself: threads that run batches, and one place where what they found is put together in order.
//!
//! The result is the same on any number of threads, since batches are numbered and added in the order of their numbers.
//! A batch that is begun is finished, so what was found when the search is stopped is a prefix of the whole.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use doublehold_scenarios::Stepped;
use doublehold_scenarios::pool::{Crew, Foreman, run_scoped};

use super::Exploration;
use super::batches::{Batch, Batches};
use super::findings::{Explored, TriedPlacement};
use super::place::Place;

/// How many batches a thread may be ahead of the first that is not added yet: what is handed out is finished, also
/// where the search is stopped.
const AHEAD: usize = 2;

impl<P: Stepped> Exploration<P> {
    /// Tries what `found` has not tried yet, on so many threads, until all is tried or `stop` says so. `each` hears of
    /// each placement, in order.
    #[must_use]
    pub fn run(
        &self,
        found: Explored,
        jobs: NonZeroUsize,
        stop: impl Fn() -> bool,
        each: impl FnMut(&[Place], &TriedPlacement),
    ) -> Explored {
        let mut batches = Batches::new(self);
        if let Some(last) = found.batches.checked_sub(1) {
            // What comes before is listed again and not run.
            batches.nth(usize::try_from(last).unwrap_or(usize::MAX));
        }
        let mut trials = Trials { exploration: self, batches, found, stop, each };
        run_scoped(Crew { jobs, ahead: AHEAD }, &mut trials, |_, batch: Batch| {
            let tried = self.try_batch(&batch);
            (batch, tried)
        });
        let Trials { mut batches, mut found, .. } = trials;
        found.complete = batches.next().is_none();
        found
    }

    fn try_batch(&self, batch: &Batch) -> Vec<TriedPlacement> {
        let tried = |last| {
            let places = [&batch.prefix[..], std::slice::from_ref(last)].concat();
            TriedPlacement::from_summary(&self.prepare_placement(&places).judge(self.seed))
        };
        batch.last.iter().map(tried).collect()
    }
}

/// The batches of a search, and what was found in those so far.
struct Trials<'a, P, S, E> {
    exploration: &'a Exploration<P>,
    batches: Batches<'a, P>,
    found: Explored,
    stop: S,
    each: E,
}

impl<P: Stepped, S: Fn() -> bool, E: FnMut(&[Place], &TriedPlacement)> Foreman for Trials<'_, P, S, E> {
    type Piece = Batch;
    type Done = (Batch, Vec<TriedPlacement>);

    fn next(&mut self) -> Option<Batch> {
        if (self.stop)() { None } else { self.batches.next() }
    }

    fn receive(&mut self, (batch, tried): (Batch, Vec<TriedPlacement>)) -> ControlFlow<()> {
        for (last, tried) in batch.last.into_iter().zip(tried) {
            let places = [&batch.prefix[..], &[last]].concat();
            (self.each)(&places, &tried);
            self.found.add(&places, &tried, self.exploration.faults, &self.exploration.kinds);
        }
        self.found.batches += 1;
        ControlFlow::Continue(())
    }
}
