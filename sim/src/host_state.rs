//! What the kernel knows of one host: its clocks, its process, whether it is stopped, its disk.
//!
//! A host runs one process at a time. It is *up*, or down after a crash or a power loss; while up it can be stopped
//! by any number of overlapping pauses and suspensions. A stopped host's ready tasks are parked; a dead process's
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
use crate::host::Host;
use crate::kernel::{Kernel, Process, Shared, State};
use crate::net::Listener;
use crate::random::Stream;
use crate::slots::Slots;
use crate::timer::{Timer, TimerKey};
use crate::trace::{Event, HostId};

/// Starts a host's process: called once at the start of the world and again at each restart.
pub(crate) type Boot = Rc<dyn Fn(Host) -> Pin<Box<dyn Future<Output = ()> + Send>>>;

/// Whether a ready task may run now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gate {
    /// It may; a cancelled task of a dead process may too, which only drops it.
    Run,
    /// Its host is stopped.
    Park,
}

/// Whether the machine behind a host answers the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Power {
    On,
    /// Switched off: the network gets silence.
    Off,
}

pub(crate) struct HostState {
    pub(crate) name: String,
    pub(crate) clocks: Clocks,
    pub(crate) random: Stream,
    pub(crate) disk: Disk,
    pub(crate) fsync_time: DelayLaw,
    pub(crate) boot: Option<Boot>,
    pub(crate) essential: bool,
    pub(crate) main_done: bool,
    pub(crate) up: bool,
    pub(crate) power: Power,
    /// Counts processes: handles and tasks of an earlier one are dead.
    pub(crate) incarnation: u32,
    /// The boot function was called for this incarnation.
    pub(crate) booted: bool,
    /// How often the process, or the place where one would run, died: each ends the pauses before it.
    pub(crate) deaths: u32,
    /// How often the machine lost power: each ends the suspensions before it.
    pub(crate) power_losses: u32,
    pub(crate) pauses: u32,
    pub(crate) suspensions: u32,
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

impl HostState {
    pub(crate) fn is_stopped(&self) -> bool {
        self.pauses > 0 || self.suspensions > 0
    }

    pub(crate) fn gate(&self, incarnation: u32) -> Gate {
        if incarnation == self.incarnation && self.is_stopped() { Gate::Park } else { Gate::Run }
    }

    /// Whether the machine takes what the network brings.
    pub(crate) fn is_reachable(&self) -> bool {
        self.power == Power::On && self.suspensions == 0
    }
}

impl Kernel {
    /// Starts the host's process. The state must not be borrowed: the boot function is user code.
    pub(crate) fn boot(self: &Rc<Self>, host: HostId) {
        let booted = {
            let mut state = self.state.borrow_mut();
            let HostState { incarnation, up, ref mut booted, ref boot, .. } = *state.host_mut(host);
            if !up || std::mem::replace(booted, true) {
                return; // it died, or was started twice, before this call could be made
            }
            let process = Process { host, incarnation };
            let boot = boot.clone();
            state.emit(Event::Booted { host });
            state.strike_due_faults();
            boot.map(|boot| (boot, process))
        };
        let Some((boot, process)) = booted else { return };
        let handle = Host::new(Shared::new(self.clone()), process);
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
        if host.incarnation != process.incarnation {
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
        (host.incarnation == process.incarnation).then(|| host.tasks.remove(key))
    }

    /// Ends the host's process: its tasks will be dropped, its listeners and timers with them.
    pub(crate) fn end_process(&mut self, host: HostId) {
        let state = self.host_mut(host);
        state.up = false;
        state.booted = false;
        state.incarnation += 1;
        state.late_timers.clear();
        state.listeners.clear();
        state.signal_waker = None;
        let parked = std::mem::take(&mut state.parked);
        let tasks = std::mem::take(&mut state.tasks);
        drop(tasks); // cancels them: each is scheduled once more, which drops its future
        parked.into_iter().for_each(Runnable::schedule);
    }

    /// Marks the host's process as running; the kernel boots it once the state is free.
    pub(crate) fn start_process(&mut self, host: HostId) {
        let state = self.host_mut(host);
        state.up = true;
        self.boots.push(host);
    }

    /// Lets a host go on after its last pause or suspension ended.
    pub(crate) fn let_go(&mut self, host: HostId) {
        if self.host(host).is_stopped() {
            return;
        }
        let parked = std::mem::take(&mut self.host_mut(host).parked);
        parked.into_iter().for_each(Runnable::schedule);
        self.fire_late_timers(host);
    }

    /// The main task of a process finished.
    pub(crate) fn main_finished(&mut self, process: Process) {
        let host = self.host_mut(process.host);
        if host.incarnation == process.incarnation && host.essential && !host.main_done {
            host.main_done = true;
            self.essential_left -= 1;
        }
    }
}
