//! What a holder has of the watchdog beside it: the deadline that renewals have moved, and the news that the lock is
//! lost.

use std::fmt;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::env::{Deadline, Task};

/// The watchdog of a grant, as its holder sees it. Clones are of the same.
///
/// Dropping it stops nothing: a watchdog ends with the release, with the process, or when the lock is lost.
#[derive(Clone)]
pub struct Watch(Arc<Mutex<State>>);

struct State {
    deadline: Option<Deadline>,
    /// A renewal found out, or the lease must have ended.
    lost: bool,
    /// The holder is told.
    told: bool,
    /// The holder would be told if it asked.
    flag: bool,
    /// Nobody wants to know any more.
    stopped: bool,
    task: Option<Task>,
    waiting: Vec<Waker>,
}

impl Watch {
    pub(crate) fn new(deadline: Option<Deadline>) -> Self {
        let (lost, told, flag, stopped, task, waiting) = (false, false, false, false, None, Vec::new());
        Self(Arc::new(Mutex::new(State { deadline, lost, told, flag, stopped, task, waiting })))
    }

    /// The deadline after the last renewal, if the lock computes any.
    pub fn deadline(&self) -> Option<Deadline> {
        self.state().deadline
    }

    /// True if the holder has been told that the lock is lost.
    pub fn is_notified(&self) -> bool {
        self.state().told
    }

    /// Waits until the holder is told that the lock is lost; for ever if it is not, or the lock does not tell.
    pub async fn wait_for_loss(&self) {
        poll_fn(|cx| self.poll_loss(cx)).await;
    }

    /// The same, for whoever waits for one of several.
    pub fn poll_loss(&self, cx: &Context<'_>) -> Poll<()> {
        let mut state = self.state();
        if state.told {
            return Poll::Ready(());
        }
        if !state.waiting.iter().any(|waker| waker.will_wake(cx.waker())) {
            state.waiting.push(cx.waker().clone());
        }
        Poll::Pending
    }

    /// Whether a holder that asks hears that the last renewal failed.
    pub fn is_flagged(&self) -> bool {
        self.state().flag
    }

    /// Whether the watchdog knows that the lock is lost.
    pub(crate) fn is_lost(&self) -> bool {
        self.state().lost
    }

    /// Whether the watchdog was stopped.
    pub(crate) fn is_stopped(&self) -> bool {
        self.state().stopped
    }

    pub(crate) fn set_deadline(&self, deadline: Option<Deadline>) {
        let mut state = self.state();
        state.deadline = deadline;
        state.flag = false;
    }

    /// A renewal failed, and the holder hears so if it asks before one succeeds.
    pub(crate) fn flag(&self) {
        self.state().flag = true;
    }

    /// The lock is lost, and the holder is told, or not.
    pub(crate) fn lose(&self, tell: bool) {
        let mut state = self.state();
        state.lost = true;
        state.told |= tell;
        let waiting = if tell { std::mem::take(&mut state.waiting) } else { Vec::new() };
        drop(state);
        // Not under the lock: whoever wakes may look at once.
        waiting.into_iter().for_each(Waker::wake);
    }

    pub(crate) fn runs(&self, task: Task) {
        self.state().task = Some(task);
    }

    /// Ends the watchdog where it waits. What it has sent is not recalled, and what comes of that is not looked at.
    pub(crate) fn stop(&self) {
        let mut state = self.state();
        state.stopped = true;
        let task = state.task.take();
        drop(state);
        task.iter().for_each(Task::abort);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PartialEq for Watch {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Watch {}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state();
        f.debug_struct("Watch").field("deadline", &state.deadline).field("told", &state.told).finish()
    }
}
