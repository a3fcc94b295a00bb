//! A host's process: its tasks on a tokio runtime of its own.
//!
//! The runtime runs while its world drives it, until every task waits. A stopped host is not driven, and a task that
//! is polled all the same (its own step stopped the host) waits at the gate around it. A process ends by dropping its
//! runtime: its tasks are dropped where they stand, and the machine closes what they held.
//!
//! Not there: tokio's timers and I/O. Time in this world is that of a host's clocks.
//!
//! Decision: "Each process has a tokio runtime of its own, driven until every task waits" (docs/decisions/engines.md).

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use doublehold_sim::{BoxFuture, Event, HostId};
use tokio::runtime::{Builder, Handle, Runtime};

use crate::host::TurmoilHost;
use crate::state::{Shared, State};

/// The part of a process that the state knows.
#[derive(Default)]
pub(crate) struct Process {
    /// Where its tasks are spawned; `None` while none runs.
    pub(crate) handle: Option<Handle>,
    /// True if a task may have something to do.
    pub(crate) ready: bool,
    /// Wakes what was polled while the host was stopped, in that order.
    pub(crate) parked: Vec<Waker>,
}

/// The runtime of one process.
pub(crate) struct Tasks {
    runtime: Runtime,
    idle: Arc<Idle>,
}

/// Says that every task of a runtime waits: set when the runtime parks its thread.
#[derive(Default)]
struct Idle {
    is: AtomicBool,
    driver: Mutex<Option<Waker>>,
}

impl Tasks {
    /// # Panics
    /// If the operating system has no file descriptor left.
    pub(crate) fn new() -> Rc<Tasks> {
        let idle = Arc::<Idle>::default();
        let parks = idle.clone();
        let runtime = Builder::new_current_thread()
            .on_thread_park(move || {
                parks.is.store(true, Ordering::Relaxed);
                let driver = parks.driver.lock().unwrap_or_else(PoisonError::into_inner).take();
                driver.into_iter().for_each(Waker::wake);
            })
            .build()
            .expect("a runtime without I/O takes nothing that could be used up");
        Rc::new(Tasks { runtime, idle })
    }

    pub(crate) fn handle(&self) -> Handle {
        self.runtime.handle().clone()
    }

    /// Runs tasks until all of them wait.
    pub(crate) fn drive(&self) {
        self.idle.is.store(false, Ordering::Relaxed);
        self.runtime.block_on(poll_fn(|cx| {
            if self.idle.is.load(Ordering::Relaxed) {
                return Poll::Ready(());
            }
            *self.idle.driver.lock().unwrap_or_else(PoisonError::into_inner) = Some(cx.waker().clone());
            Poll::Pending
        }));
    }
}

/// A task behind the gate of its host.
struct Gated {
    host: TurmoilHost,
    task: BoxFuture<'static, ()>,
}

impl Future for Gated {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let (host, incarnation) = (this.host.host, this.host.incarnation);
        let waits = this.host.shared.enter(|state| {
            let waits = state.gate_is_closed(host, incarnation, cx);
            if !waits {
                state.emit(Event::Ran { host });
            }
            waits
        });
        if waits {
            return Poll::Pending;
        }
        // A panic of a task is the world's, and not tokio's to swallow.
        catch_unwind(AssertUnwindSafe(|| this.task.as_mut().poll(cx))).unwrap_or_else(|panic| {
            this.host.shared.borrow_mut().panic.get_or_insert(panic);
            Poll::Ready(())
        })
    }
}

/// Spawns a task of a process; one of a dead process is dropped at once.
pub(crate) fn spawn(host: &TurmoilHost, task: BoxFuture<'static, ()>) {
    let handle = {
        let state = host.shared.borrow();
        let of = state.host(host.host);
        if of.life.incarnation() == host.incarnation { of.process.handle.clone() } else { None }
    };
    if let Some(handle) = handle {
        // Detached: it ends with its runtime.
        drop(handle.spawn(Gated { host: host.clone(), task }));
        host.shared.borrow_mut().make_ready(host.host);
    }
}

/// Spawns the main task of a process.
pub(crate) fn spawn_main(host: &TurmoilHost, main: BoxFuture<'static, ()>) {
    let watched = host.clone();
    let main = async move {
        main.await;
        watched.shared.enter(|state| state.main_finished(watched.host, watched.incarnation));
    };
    spawn(host, Box::pin(main));
}

/// The hosts that may have something to do, in their order, once.
pub(crate) fn take_ready(shared: &Shared) -> Option<HostId> {
    let mut state = shared.borrow_mut();
    let ready = state.hosts.iter().position(|host| host.process.ready && !host.life.is_stopped())?;
    state.hosts[ready].process.ready = false;
    Some(HostId(ready as u32))
}

impl State {
    /// Something of this host was woken.
    pub(crate) fn make_ready(&mut self, host: HostId) {
        self.host_mut(host).process.ready = true;
    }

    /// A pause or a suspension ended: if it was the last, the host's tasks go on.
    pub(crate) fn resume_tasks(&mut self, host: HostId) {
        if self.host(host).life.is_stopped() {
            return;
        }
        std::mem::take(&mut self.host_mut(host).process.parked).into_iter().for_each(Waker::wake);
        self.make_ready(host);
        self.fire_late_timers(host);
    }

    fn main_finished(&mut self, host: HostId, incarnation: u32) {
        let state = self.host_mut(host);
        if state.life.incarnation() == incarnation && state.life.main_finished() {
            self.essential_left -= 1;
        }
    }
}
