//! A panic in the code under test is a finding about that code: the run ends there, and says so.
//!
//! Assumes that nobody looks at what the code left half done: its run is over, and its world is thrown away. Does not
//! catch panics of anything else, which are bugs of ours; nor one in a `Drop` while another panic is under way, which
//! nothing can catch.
//!
//! Decision: "A panic in a lock is a finding, and ends its run" (docs/decisions/locks.md).

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use doublehold_history::ClientId;
use doublehold_lockimpl::{Acquired, BoxLock, Extended, Grant, Lock, Released};

use super::stage::Stage;
use crate::run::recorder::Recorder;

/// A lock whose panics end the run, also those of what it drops.
pub(crate) struct GuardedLock<S: Stage> {
    /// There until this is dropped.
    lock: Option<BoxLock>,
    end: PanicGuard<S>,
}

impl<S: Stage> GuardedLock<S> {
    pub(crate) fn new(lock: BoxLock, end: PanicGuard<S>) -> GuardedLock<S> {
        GuardedLock { lock: Some(lock), end }
    }

    fn parts(&mut self) -> (&mut BoxLock, &PanicGuard<S>) {
        (self.lock.as_mut().expect("it is there until it is dropped"), &self.end)
    }
}

impl<S: Stage> Lock for GuardedLock<S> {
    async fn acquire(&mut self, resource: &str, ttl: Duration) -> Acquired {
        let (lock, end) = self.parts();
        end.guard(lock.acquire(resource, ttl)).await
    }

    async fn acquire_within(&mut self, resource: &str, ttl: Duration, limit: Duration) -> Acquired {
        let (lock, end) = self.parts();
        end.guard(lock.acquire_within(resource, ttl, limit)).await
    }

    async fn extend(&mut self, grant: &mut Grant, ttl: Duration) -> Extended {
        let (lock, end) = self.parts();
        end.guard(lock.extend(grant, ttl)).await
    }

    async fn release(&mut self, grant: &Grant) -> Released {
        let (lock, end) = self.parts();
        end.guard(lock.release(grant)).await
    }
}

impl<S: Stage> Drop for GuardedLock<S> {
    fn drop(&mut self) {
        self.end.drop_guarded(self.lock.take());
    }
}

/// What ends a run.
#[derive(Clone)]
pub(crate) struct PanicGuard<S: Stage> {
    pub(crate) stage: S,
    pub(crate) recorder: Recorder,
    /// Whose code runs.
    pub(crate) client: ClientId,
    /// Its name.
    pub(crate) name: String,
}

impl<S: Stage> PanicGuard<S> {
    /// Runs code under test. If it panics, so ends the run, and this never returns.
    pub(crate) fn guard<F: Future>(&self, code: F) -> GuardedCode<S, F> {
        GuardedCode { code: Some(Box::pin(code)), end: self.clone() }
    }

    /// Drops what belongs to code under test.
    fn drop_guarded<T>(&self, what: T) {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(what))) {
            self.report_panic(panic.as_ref());
        }
    }

    fn report_panic(&self, panic: &(dyn Any + Send)) {
        let why = format!("the lock of {} panicked: {}", self.name, message(panic));
        // Where a world is taken down nothing is left to be ended.
        let ended = catch_unwind(AssertUnwindSafe(|| {
            if wants_runtime(panic) {
                self.recorder.note_need_of_timers();
            }
            self.recorder.record_panic(why);
            self.stage.halt();
        }));
        ended.unwrap_or_default();
    }
}

/// Code under test, at work.
pub(crate) struct GuardedCode<S: Stage, F> {
    /// There until it panicked, or this is dropped.
    code: Option<Pin<Box<F>>>,
    end: PanicGuard<S>,
}

/// The code is pinned in its box, and nothing else is pinned at all.
impl<S: Stage, F> Unpin for GuardedCode<S, F> {}

impl<S: Stage, F: Future> Future for GuardedCode<S, F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = &mut *self;
        let Some(code) = &mut this.code else { return Poll::Pending };
        // A reply that is there beats a timeout that has passed, whichever task is woken first.
        this.end.stage.catch_up();
        this.end.recorder.set_running(this.end.client, true);
        let polled = catch_unwind(AssertUnwindSafe(|| code.as_mut().poll(cx)));
        // What it asked for is written before the code of another call can run, which may be at this same instant.
        this.end.stage.flush();
        this.end.recorder.set_running(this.end.client, false);
        match polled {
            Ok(polled) => polled,
            Err(panic) => {
                this.end.report_panic(panic.as_ref());
                let code = this.code.take();
                this.end.drop_guarded(code);
                Poll::Pending
            }
        }
    }
}

impl<S: Stage, F> Drop for GuardedCode<S, F> {
    fn drop(&mut self) {
        let code = self.code.take();
        self.end.drop_guarded(code);
    }
}

/// What a panic says. Code that wants a tokio runtime is told what there is in its place.
fn message(panic: &(dyn Any + Send)) -> String {
    let said = said(panic);
    if wants_runtime(panic) || said.contains("Tokio 1.x context was found, but") {
        return format!(
            "it wants of a tokio runtime what a simulated machine has not (\"{said}\"): spawn and connect through the \
             client that the lock is given, and run the check outside of any runtime"
        );
    }
    said.to_owned()
}

fn said(panic: &(dyn Any + Send)) -> &str {
    text_of(panic).unwrap_or("no message")
}

fn text_of(panic: &dyn Any) -> Option<&str> {
    panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied())
}

/// Whether code panicked with this because it uses tokio and found no runtime.
pub fn wants_runtime(panic: &dyn Any) -> bool {
    text_of(panic)
        .is_some_and(|said| said.contains("no reactor running") || said.contains("Tokio 1.x runtime"))
}
