//! The end of a client's claims without a release: its process is gone, or a thread is done with the lock.
//!
//! The end of a thread is not that of its process. What the thread did not give back stays as it is, and nobody
//! believes in it any more.

use std::sync::Arc;

use doublehold_history::{EventKind, LockId, ObjectId};

use super::program::Job;
use super::stage::Stage;
use crate::model::scenario::Step;

/// Tells the recorder when the process is gone: killed, or at its end while it still claims the lock. Either way nobody
/// is left to believe in it. The end of a thread is not that of its process: it leaves the lock as it is.
pub(super) struct Life<S: Stage> {
    job: Arc<Job<S>>,
    finished: bool,
}

impl<S: Stage> Life<S> {
    pub(super) fn new(job: Arc<Job<S>>) -> Life<S> {
        Life { job, finished: false }
    }

    /// The program is done: what is dropped now was not killed. A process that still claims something is gone all the
    /// same, and what its locks started is gone with it.
    pub(super) fn finish(&mut self, stage: &S) {
        self.finished = true;
        let Job { program, recorder, .. } = &*self.job;
        if !program.is_thread && !recorder.claims(program.client).is_empty() {
            stage.end_tasks();
        }
    }
}

impl<S: Stage> Drop for Life<S> {
    fn drop(&mut self) {
        let Job { program, recorder, .. } = &*self.job;
        if !self.finished {
            self.job.forget_reach();
        }
        let claimed = recorder.claims(program.client);
        if self.finished && program.is_thread {
            for grant in claimed {
                recorder.note(program.client, |client| EventKind::Abandoned { client, grant });
            }
        } else if !self.finished || !claimed.is_empty() {
            recorder.record_death(program.client);
        }
    }
}

/// True if a program has done all under a lock that it does, before the step at a place: it has read, written, checked,
/// prepared or extended, and does none of this any more, nor gives the lock back. Work after that is not under the
/// lock.
pub(super) fn is_done_with(
    program: &[Step],
    place: usize,
    lock: LockId,
    lock_of: impl Fn(ObjectId) -> LockId,
) -> bool {
    let is_under = |step: &Step| match step {
        Step::Read(object) | Step::Write(object) => lock_of(*object) == lock,
        Step::Check(of) | Step::Prepare(of) | Step::Extend(of) | Step::Release(of) => *of == lock,
        Step::Acquire(_) | Step::Try(..) | Step::Work(_) => false,
    };
    let (before, after) = program.split_at(place);
    before.iter().any(is_under) && !after.iter().any(is_under)
}
