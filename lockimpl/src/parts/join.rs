//! Runs several futures at once and keeps their results in order.
//!
//! Ready-made combinators poll what was woken in the order of waking, and give way to other tasks after as many polls
//! as there are futures: the order of requests and the number of steps would depend on how they are written. Here
//! the futures that were woken are polled first to last, and nothing else runs in between. Those that were not woken
//! are left alone: a lock with hundreds of nodes is woken hundreds of times.
//!
//! Assumes that a future that is not ready wakes its waker when it may be.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// Waits for all `futures` and returns what each came to, in the order given. All are polled once, first to last, then
/// those that were woken, first to last.
pub(crate) async fn join_in_order<F: Future>(futures: impl Iterator<Item = F>) -> Vec<F::Output> {
    let woken = Arc::new(Woken::default());
    let mut branches: Vec<Branch<F>> = futures.map(|future| Branch::Running(Box::pin(future))).collect();
    let wakers: Vec<Waker> = (0..branches.len()).map(|index| woken.waker(index)).collect();
    woken.lock().indices = (0..branches.len()).collect();
    let mut running = branches.len();
    poll_fn(|cx| {
        for index in woken.take(cx.waker()) {
            let branch = &mut branches[index];
            if let Branch::Running(future) = branch
                && let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&wakers[index]))
            {
                *branch = Branch::Done(output);
                running -= 1;
            }
        }
        if running == 0 { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    branches.into_iter().filter_map(Branch::output).collect()
}

enum Branch<F: Future> {
    Running(Pin<Box<F>>),
    Done(F::Output),
}

impl<F: Future> Branch<F> {
    fn output(self) -> Option<F::Output> {
        match self {
            Branch::Running(_) => None,
            Branch::Done(output) => Some(output),
        }
    }
}

/// Which futures were woken since they were polled last, and whom to tell of it.
#[derive(Default)]
struct Woken(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    /// In the order of waking; one may be there twice.
    indices: Vec<usize>,
    task: Option<Waker>,
}

impl Woken {
    /// The woken, first to last. From here on `task` is told of others.
    fn take(&self, task: &Waker) -> Vec<usize> {
        let mut inner = self.lock();
        if !inner.task.as_ref().is_some_and(|known| known.will_wake(task)) {
            inner.task = Some(task.clone());
        }
        let mut indices = std::mem::take(&mut inner.indices);
        indices.sort_unstable();
        indices.dedup();
        indices
    }

    fn waker(self: &Arc<Self>, index: usize) -> Waker {
        Waker::from(Arc::new(BranchWaker { index, woken: Arc::clone(self) }))
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Wakes one future and the task it is part of.
struct BranchWaker {
    index: usize,
    woken: Arc<Woken>,
}

impl Wake for BranchWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let task = {
            let mut inner = self.woken.lock();
            inner.indices.push(self.index);
            inner.task.clone()
        };
        // Not under the lock: the task may run at once, on another thread.
        if let Some(task) = task {
            task.wake();
        }
    }
}
