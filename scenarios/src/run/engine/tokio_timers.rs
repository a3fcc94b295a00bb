//! tokio's timers in a simulated world: what somebody's own lock sleeps on, and redis-rs its response timeouts.
//!
//! A runtime of the world's own, whose clock is paused and stands where the world's true time does. Nothing runs on it;
//! it is entered while the world runs, so that timers register with it, and the kernel asks it before each event. As
//! tokio's timers do everywhere, they fire at whole milliseconds, counted from the beginning of the run.
//!
//! Assumes that the thread is in no other runtime ([`outside_runtimes`]). Does not model drift, or a machine whose
//! clock stands still: such timers run on true time, and
//! [`Env::sleep_until`](doublehold_lockimpl::Env::sleep_until) is exact. Does not run what is spawned on it: no process
//! would end it, and no call would send what it sends.
//!
//! Decision: "tokio's timers run on the world's true time" (docs/decisions/locks.md).

use std::cell::Cell;
use std::future::poll_fn;
use std::panic::resume_unwind;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::thread;
use std::time::Duration;

use doublehold_sim::{ExternalTimers, SimTime, TaskIsReady};
use tokio::runtime::{Builder, EnterGuard, Handle, Runtime};
use tokio::time::{Instant, advance, sleep_until};

/// The step of tokio's timers.
const STEP: Duration = Duration::from_millis(1);

/// The timers of one world.
pub(super) struct TokioTimers {
    runtime: Runtime,
    began: Instant,
    /// Something was spawned, and nothing is done any more.
    spawned: Cell<bool>,
    fired: Arc<AtomicBool>,
}

/// Whether a timer of tokio's has fired in a run. None can where there are none, which costs nothing to know.
#[derive(Clone, Default)]
pub(in crate::run) struct Fired(Option<Arc<AtomicBool>>);

impl Fired {
    /// Whether there are any timers.
    pub(in crate::run) fn has_timers(&self) -> bool {
        self.0.is_some()
    }

    pub(in crate::run) fn is_set(&self) -> bool {
        self.0.as_ref().is_some_and(|fired| fired.load(Ordering::Relaxed))
    }
}

impl TokioTimers {
    /// Timers for a world that begins now.
    #[expect(clippy::disallowed_methods, reason = "the clock is paused: it shows where it stands")]
    pub(super) fn new() -> Rc<TokioTimers> {
        let builder = &mut Builder::new_current_thread();
        let runtime = builder.enable_time().start_paused(true).build().expect("timers take no resource");
        let began = {
            let _entered = runtime.enter();
            Instant::now()
        };
        Rc::new(TokioTimers { runtime, began, spawned: Cell::new(false), fired: Arc::default() })
    }

    /// Lets code of this thread find the runtime.
    pub(super) fn enter(&self) -> EnterGuard<'_> {
        self.runtime.enter()
    }

    /// Whether one of them has fired.
    pub(super) fn fired(&self) -> Fired {
        Fired(Some(self.fired.clone()))
    }

    /// Whether the code under test has spawned something on the runtime.
    pub(super) fn has_spawned(&self) -> bool {
        self.spawned.get() || self.runtime.metrics().num_alive_tasks() > 0
    }
}

/// Does something on a thread that is in no runtime: on another one where this one is, as in a `#[tokio::test]`.
pub(super) fn outside_runtimes<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    if Handle::try_current().is_err() {
        return work();
    }
    thread::scope(|scope| scope.spawn(work).join()).unwrap_or_else(|panic| resume_unwind(panic))
}

impl ExternalTimers for TokioTimers {
    fn advance(&self, until: SimTime, ready: TaskIsReady) -> Option<SimTime> {
        if self.has_spawned() {
            self.spawned.set(true);
            return None;
        }
        let until = Duration::from_nanos(until.0);
        let due = self.runtime.block_on(pass_time(self.began, until, ready))?;
        self.fired.store(true, Ordering::Relaxed);
        Some(SimTime(u64::try_from(due.as_nanos()).unwrap_or(u64::MAX)))
    }
}

/// Lets the runtime's time pass, and stops where a task of the world is ready: so long after the beginning.
#[expect(clippy::disallowed_methods, reason = "the clock is paused: it shows where it stands")]
async fn pass_time(began: Instant, until: Duration, ready: TaskIsReady) -> Option<Duration> {
    let mut ready = pin!(ready);
    // A timer is due at a whole step. The clock stands between two, since an event of the world may be anywhere.
    let past_step = modulo_step(began.elapsed());
    if !past_step.is_zero() && began.elapsed() + (STEP - past_step) <= until {
        advance(STEP - past_step).await;
    }
    if modulo_step(began.elapsed()).is_zero() {
        let last_step = until - modulo_step(until);
        let mut passed = pin!(sleep_until(began + last_step));
        let is_ready = poll_fn(|cx| match ready.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(true),
            Poll::Pending => passed.as_mut().poll(cx).map(|()| false),
        });
        if is_ready.await {
            return Some(began.elapsed());
        }
    }
    advance(until.saturating_sub(began.elapsed())).await;
    None
}

fn modulo_step(time: Duration) -> Duration {
    Duration::from_nanos(u64::from(time.subsec_nanos()) % STEP.as_nanos() as u64)
}
