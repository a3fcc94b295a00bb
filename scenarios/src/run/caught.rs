//! A panic in the code under test is a finding about that code: the run ends there, and says so.
//!
//! Assumes that nobody looks at what the code left half done: its run is over, and its world is thrown away. Does not
//! catch panics of anything else, which are bugs of ours.

use std::any::Any;
use std::future::{Future, pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use doublehold_lockimpl::{Acquired, BoxLock, Extended, Grant, Lock, Released};

use super::recorder::Recorder;
use super::stage::Stage;

/// A lock whose panics end the run.
pub(crate) struct CaughtLock<S: Stage> {
    lock: BoxLock,
    end: End<S>,
}

impl<S: Stage> CaughtLock<S> {
    pub(crate) fn new(lock: BoxLock, end: End<S>) -> CaughtLock<S> {
        CaughtLock { lock, end }
    }
}

impl<S: Stage> Lock for CaughtLock<S> {
    async fn acquire(&mut self, resource: &str, ttl: Duration) -> Acquired {
        self.end.if_panics(self.lock.acquire(resource, ttl)).await
    }

    async fn extend(&mut self, grant: &mut Grant, ttl: Duration) -> Extended {
        self.end.if_panics(self.lock.extend(grant, ttl)).await
    }

    async fn release(&mut self, grant: &Grant) -> Released {
        self.end.if_panics(self.lock.release(grant)).await
    }
}

/// What ends a run.
pub(crate) struct End<S: Stage> {
    pub(crate) stage: S,
    pub(crate) recorder: Recorder,
    /// The name of the client whose code runs.
    pub(crate) client: String,
}

impl<S: Stage> End<S> {
    /// Runs code under test. If it panics, so ends the run, and this never returns.
    pub(crate) async fn if_panics<F: Future>(&self, code: F) -> F::Output {
        match caught(code).await {
            Ok(output) => output,
            Err(message) => {
                self.recorder.panicked(format!("the lock of {} panicked: {message}", self.client));
                self.stage.halt();
                pending().await
            }
        }
    }
}

/// Runs code to its end or to its panic, whose message it gives.
async fn caught<F: Future>(code: F) -> Result<F::Output, String> {
    let mut code = pin!(code);
    poll_fn(|cx| match catch_unwind(AssertUnwindSafe(|| code.as_mut().poll(cx))) {
        Ok(polled) => polled.map(Ok),
        Err(panic) => Poll::Ready(Err(message(panic.as_ref()))),
    })
    .await
}

/// What a panic says. Code that wants a tokio runtime is told what there is in its place.
fn message(panic: &(dyn Any + Send)) -> String {
    let said = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    let said = said.unwrap_or("no message");
    if said.contains("no reactor running") || said.contains("Tokio 1.x runtime") {
        return format!(
            "it wants a tokio runtime (\"{said}\"), and a simulated machine has none: sleep, time out, spawn and \
             connect through the client that the lock is given, whose clock is the simulated one"
        );
    }
    said.to_owned()
}
