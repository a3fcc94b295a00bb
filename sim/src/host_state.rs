//! What the kernel knows of one host: its clocks, its process, its disk.
//!
//! Whether the process lives and is stopped is in [`Life`]. A stopped host's ready tasks are parked; a dead process's
//! tasks are dropped.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::Waker;

use async_task::{Runnable, Task};
use slab::Slab;

use crate::clock::Clocks;
use crate::delay::DelayLaw;
use crate::disk::Disk;
use crate::fsync::PendingSync;
use crate::kernel::{Kernel, Process, Shared, State};
use crate::kernel_host::KernelHost;
use crate::life::Life;
use crate::net::Listener;
use crate::random::Stream;
use crate::slots::Slots;
use crate::timer::{Timer, TimerKey};
use crate::trace::{Event, HostId};

/// Starts a host's process: called once at the start of the world and again at each restart.
pub(crate) type KernelBoot = Rc<dyn Fn(KernelHost) -> Pin<Box<dyn Future<Output = ()> + Send>>>;

pub(crate) struct HostState {
    pub(crate) name: String,
    pub(crate) clocks: Clocks,
    pub(crate) random: Stream,
    pub(crate) disk: Disk,
    pub(crate) fsync_time: DelayLaw,
    /// What the process is asked to do takes so much longer.
    pub(crate) slow_by: Vec<DelayLaw>,
    pub(crate) boot: Option<KernelBoot>,
    pub(crate) life: Life,
    /// Timers that wait on its clocks, whoever's they are.
    pub(crate) timers: Slots<Timer>,
    /// Its disk's fsyncs under way.
    pub(crate) syncs: Slots<PendingSync>,
    pub(crate) parked: Vec<Runnable<Process>>,
    pub(crate) late_timers: Vec<(TimerKey, u32)>,
    pub(crate) tasks: Slab<Task<(), Process>>,
    pub(crate) listeners: Vec<Listener>,
    pub(crate) signals: Vec<String>,
    pub(crate) signal_waker: Option<Waker>,
}

impl Kernel {
    /// Starts the host's process. The state must not be borrowed: the boot function is user code.
    pub(crate) fn boot(self: &Rc<Self>, host: HostId) {
        let booted = {
            let mut state = self.state.borrow_mut();
            let started = state.host_mut(host);
            if !started.life.boot() {
                return; // it died, or was started twice, before this call could be made
            }
            let process = Process { host, incarnation: started.life.incarnation() };
            let boot = started.boot.clone();
            state.emit(Event::Booted { host });
            state.strike_due_faults();
            boot.map(|boot| (boot, process))
        };
        let Some((boot, process)) = booted else { return };
        let handle = KernelHost::new(Shared::new(self.clone()), process);
        let main = boot(handle.clone());
        let watched = handle.clone();
        handle.spawn(async move {
            main.await;
            watched.main_finished();
        });
    }

    /// Spawns a task of a process. A task of a dead process is dropped at once.
    pub(crate) fn spawn(
        self: &Rc<Self>,
        process: Process,
        future: impl Future<Output = ()> + Send + 'static,
    ) {
        let mut state = self.state.borrow_mut();
        let host = state.host_mut(process.host);
        if host.life.incarnation() != process.incarnation {
            drop(state); // the future's destructors may enter the kernel
            return;
        }
        let key = host.tasks.vacant_key();
        let kernel = Shared::new(self.clone());
        let finished = kernel.clone();
        let future = async move {
            future.await;
            let done = finished.state.borrow_mut().forget_task(process, key);
            drop(done);
        };
        let schedule = move |runnable| kernel.ready.borrow_mut().push(runnable);
        let (runnable, task) = async_task::Builder::new().metadata(process).spawn(|_| future, schedule);
        host.tasks.insert(task);
        drop(state);
        runnable.schedule();
    }
}

impl State {
    fn forget_task(&mut self, process: Process, key: usize) -> Option<Task<(), Process>> {
        let host = self.host_mut(process.host);
        (host.life.incarnation() == process.incarnation).then(|| host.tasks.remove(key))
    }

    /// Ends the host's process: its tasks will be dropped, its listeners and timers with them.
    pub(crate) fn end_process(&mut self, host: HostId) {
        let state = self.host_mut(host);
        state.life.end_process();
        state.late_timers.clear();
        state.listeners.clear();
        state.signal_waker = None;
        let parked = std::mem::take(&mut state.parked);
        let tasks = std::mem::take(&mut state.tasks);
        drop(tasks); // cancels them: each is scheduled once more, which drops its future
        parked.into_iter().for_each(Runnable::schedule);
    }

    /// A pause or a suspension ended: if it was the last, the host's tasks go on.
    pub(crate) fn resume_tasks(&mut self, host: HostId) {
        if self.host(host).life.is_stopped() {
            return;
        }
        let parked = std::mem::take(&mut self.host_mut(host).parked);
        parked.into_iter().for_each(Runnable::schedule);
        self.fire_late_timers(host);
    }

    /// The main task of a process finished.
    pub(crate) fn main_finished(&mut self, process: Process) {
        let host = self.host_mut(process.host);
        if host.life.incarnation() == process.incarnation && host.life.main_finished() {
            self.essential_left -= 1;
        }
    }
}
