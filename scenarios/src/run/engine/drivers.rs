//! The drivers of connections that are in the hands of somebody's own code, which labels no request.
//!
//! redis-rs queues a request and its driver, a task, writes it later, when another call's code may have run. So the
//! driver is shared with whoever runs the code: each time that the code of a call has run, its drivers write what it
//! queued, before anything else can run. Then what is written is that call's, exactly.
//!
//! Not modelled: whose a request is that found no room. Written from the driver's own task it belongs to nobody, and
//! written when the code of another call has run, it is taken for that one's.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};

/// The drivers of one process.
#[derive(Clone, Default)]
pub(in crate::run) struct Drivers(Arc<Mutex<Vec<Weak<Mutex<Driver>>>>>);

/// A driver, and the task that is woken for it.
struct Driver {
    /// Until its connection has ended.
    future: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    /// Of the task, once it has run.
    waker: Option<Waker>,
}

impl Driver {
    /// Does what there is to do. The task is woken for the rest, whoever asks.
    fn poll(&mut self) -> Poll<()> {
        let Some(future) = &mut self.future else { return Poll::Ready(()) };
        // A task that has yet to run will run anyway.
        let waker = self.waker.as_ref().unwrap_or(Waker::noop());
        let polled = future.as_mut().poll(&mut Context::from_waker(waker));
        if polled.is_ready() {
            self.future = None;
        }
        polled
    }
}

impl Drivers {
    /// A driver's task. It holds the driver; if the task is dropped, the driver is.
    pub(in crate::run) fn share(&self, driver: impl Future<Output = ()> + Send + 'static) -> DriverTask {
        let driver = Arc::new(Mutex::new(Driver { future: Some(Box::pin(driver)), waker: None }));
        lock(&self.0).push(Arc::downgrade(&driver));
        DriverTask(driver)
    }

    /// Lets each driver write what was queued.
    pub(in crate::run) fn flush(&self) {
        let mut drivers = lock(&self.0);
        drivers.retain(|driver| match driver.upgrade() {
            Some(driver) => lock(&driver).poll().is_pending(),
            None => false,
        });
    }
}

/// What a host runs for a driver.
pub(in crate::run) struct DriverTask(Arc<Mutex<Driver>>);

impl Future for DriverTask {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut driver = lock(&self.0);
        driver.waker = Some(cx.waker().clone());
        driver.poll()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
