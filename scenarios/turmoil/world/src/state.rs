//! Everything that changes in a run, but for the code that runs and the machines' network stacks.
//!
//! The earliest event of one queue happens next; of two at one instant the one that was scheduled first.

use std::cell::{Ref, RefCell, RefMut};
use std::collections::BTreeMap;
use std::ops::Deref;
use std::rc::Rc;
use std::task::Context;

use doublehold_sim::parts::{Disk, FaultBook, Life, Matched, Trace};
use doublehold_sim::{Budget, Clocks, DelayLaw, Event, HostId, Keep, Outcome, Seed, SimTime, Stream, Then};
use fragile::Fragile;

use crate::network::Network;
use crate::process::Process;
use crate::queue::{Due, Queue, TimerId};
use crate::syncs::PendingSync;
use crate::timers::Timer;

/// The events between two measurements of a run.
const MEASURED_EVERY: u64 = 1024;
/// The bytes of an event in a kept trace.
const RECORD_BYTES: u64 = 64;

/// The state as handles hold it: checked to stay on one thread, because the futures of real client libraries must be
/// `Send` although a world is single-threaded.
#[derive(Clone)]
pub(crate) struct Shared(Fragile<Rc<RefCell<State>>>);

impl Shared {
    pub(crate) fn new(state: State) -> Shared {
        Shared(Fragile::new(Rc::new(RefCell::new(state))))
    }

    pub(crate) fn borrow(&self) -> Ref<'_, State> {
        self.0.get().deref().borrow()
    }

    pub(crate) fn borrow_mut(&self) -> RefMut<'_, State> {
        self.0.get().deref().borrow_mut()
    }

    /// True if nobody is in the middle of a change: after a panic somebody may be.
    pub(crate) fn is_free(&self) -> bool {
        self.0.get().try_borrow_mut().is_ok()
    }

    /// The door for handles: faults that an event brought down strike before the caller goes on.
    pub(crate) fn enter<R>(&self, action: impl FnOnce(&mut State) -> R) -> R {
        let mut state = self.borrow_mut();
        let result = action(&mut state);
        state.strike_due_faults();
        result
    }
}

/// One host: its machine and its process.
pub(crate) struct HostState {
    pub(crate) name: String,
    pub(crate) clocks: Clocks,
    pub(crate) random: Stream,
    pub(crate) disk: Disk,
    pub(crate) fsync_time: DelayLaw,
    /// What the process is asked to do takes so much longer.
    pub(crate) slow_by: Vec<DelayLaw>,
    pub(crate) life: Life,
    /// Timers of its tasks that came due while it was stopped, in that order.
    pub(crate) late_timers: Vec<TimerId>,
    pub(crate) process: Process,
    pub(crate) signals: Vec<String>,
    pub(crate) signal_waker: Option<std::task::Waker>,
}

/// Everything that changes in a run.
pub(crate) struct State {
    pub(crate) now: SimTime,
    pub(crate) queue: Queue,
    /// Number zero is the observer's.
    pub(crate) hosts: Vec<HostState>,
    pub(crate) timers: BTreeMap<TimerId, Timer>,
    pub(crate) timers_so_far: u64,
    pub(crate) syncs: BTreeMap<u64, PendingSync>,
    pub(crate) syncs_so_far: u64,
    pub(crate) net: Network,
    pub(crate) trace: Trace,
    pub(crate) faults: FaultBook,
    pub(crate) seed: Seed,
    pub(crate) later_seed: Seed,
    pub(crate) essential_left: usize,
    /// Pauses and suspensions that will end.
    pub(crate) stops_to_end: usize,
    /// Work that waits until the state is free, in this order.
    pub(crate) chores: Vec<Chore>,
    /// Calls that the code that watches asked for, and that are due.
    pub(crate) watched: Vec<Then>,
    pub(crate) watchers_keep: u64,
    pub(crate) budget: Budget,
    pub(crate) halted: bool,
    memory_spent: bool,
    step_points: u64,
    /// A task was stopped in the middle of a step because the budget is spent.
    pub(crate) cut_short: bool,
    /// The panic of a task.
    pub(crate) panic: Option<Box<dyn std::any::Any + Send>>,
}

/// Work of a fault that runs code or a network stack, and so waits until the state is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Chore {
    /// Start the host's process.
    Boot(HostId),
    /// Drop everything of the host's process: its machine tells the peers.
    End(HostId),
    /// The same, and nobody is told.
    Silence(HostId),
    /// Tell both ends of every connection between the two that it is over.
    Reset(HostId, HostId),
}

impl State {
    pub(crate) fn new(seed: Seed, links: doublehold_sim::LinkSpec, keep: Keep) -> State {
        State {
            now: SimTime::ZERO,
            queue: Queue::default(),
            hosts: Vec::new(),
            timers: BTreeMap::new(),
            timers_so_far: 0,
            syncs: BTreeMap::new(),
            syncs_so_far: 0,
            net: Network::new(seed, links),
            trace: Trace::new(keep),
            faults: FaultBook::default(),
            seed,
            later_seed: seed,
            essential_left: 0,
            stops_to_end: 0,
            chores: Vec::new(),
            watched: Vec::new(),
            watchers_keep: 0,
            budget: Budget::default(),
            halted: false,
            memory_spent: false,
            step_points: 0,
            cut_short: false,
            panic: None,
        }
    }

    pub(crate) fn host(&self, host: HostId) -> &HostState {
        &self.hosts[host.0 as usize]
    }

    pub(crate) fn host_mut(&mut self, host: HostId) -> &mut HostState {
        &mut self.hosts[host.0 as usize]
    }

    /// Writes an event into the trace and shows it to the faults that wait for one.
    pub(crate) fn emit(&mut self, event: Event) {
        if self.faults.watches(&event) {
            let mut later = Vec::new();
            let mut due = std::mem::take(&mut self.faults.due);
            self.faults.observe(&event, |matched| match matched {
                Matched::Now(number) => due.push(number),
                Matched::Later(number, offset) => later.push((number, offset)),
            });
            self.faults.due = due;
            for (number, offset) in later {
                self.queue.push(self.now.after(offset), Due::Strike(number));
            }
        }
        self.trace.hash_event(self.now, &event);
        if self.trace.is_kept() {
            self.trace.keep(self.now, event);
        }
        if self.trace.count().is_multiple_of(MEASURED_EVERY) {
            let disks: u64 = self.hosts.iter().map(|host| host.disk.bytes()).sum();
            let kept = self.watchers_keep + disks + self.net.bytes() + RECORD_BYTES * self.trace.count();
            self.memory_spent |= kept > self.budget.memory;
        }
    }

    /// Which budget is used up, or whether a host ended the run.
    pub(crate) fn spent_budget(&self) -> Option<Outcome> {
        let events = self.trace.count().max(self.step_points) >= self.budget.events;
        match (self.memory_spent, events) {
            _ if self.halted => Some(Outcome::Halted),
            (true, _) => Some(Outcome::MemoryBudget),
            (false, true) => Some(Outcome::EventBudget),
            (false, false) => None,
        }
    }

    /// A task of this process is at a step point: true if it [must wait](State::gate_is_closed) there.
    pub(crate) fn holds_back(&mut self, host: HostId, incarnation: u32, cx: &Context<'_>) -> bool {
        self.step_points += 1;
        self.gate_is_closed(host, incarnation, cx)
    }

    /// True if a task of this process must wait where it is: its host is stopped, the process is dead, or the budget is
    /// spent. What waits for its host is woken when it goes on.
    pub(crate) fn gate_is_closed(&mut self, host: HostId, incarnation: u32, cx: &Context<'_>) -> bool {
        if self.host(host).life.incarnation() != incarnation {
            return true;
        }
        if self.spent_budget().is_some() {
            self.cut_short = true;
            return true;
        }
        let state = self.host_mut(host);
        if state.life.is_stopped() {
            state.process.parked.push(cx.waker().clone());
            return true;
        }
        false
    }

    /// True if the run has nothing left to wait for.
    pub(crate) fn is_complete(&self) -> bool {
        self.essential_left == 0 && self.stops_to_end == 0 && !self.essential_data_is_to_come()
    }

    /// Applies the faults that events brought down, and those that their own events bring down in turn.
    pub(crate) fn strike_due_faults(&mut self) {
        while !self.faults.due.is_empty() {
            let number = self.faults.due.remove(0);
            self.strike(number);
        }
    }

    /// Does what comes next.
    pub(crate) fn dispatch(&mut self, at: SimTime, due: Due) {
        debug_assert!(at >= self.now, "time ran backwards");
        self.now = at;
        match due {
            Due::Timer(timer, generation) => self.timer_due(timer, generation),
            Due::Synced(sync) => self.fsync_done(sync),
            Due::Strike(number) => self.strike(number),
            Due::Undo(number) => self.undo(number),
            Due::Reseed => self.reseed(),
            Due::Resync(host) => self.resync(host),
            // Needs the network stacks: the world's own loop does it.
            Due::Arrival(_) => unreachable!("packets are delivered by the world"),
        }
    }

    /// Every stream goes on as that of another seed would have begun.
    fn reseed(&mut self) {
        let seed = self.later_seed;
        self.net.reseed(seed);
        for host in &mut self.hosts {
            host.random = host_stream(seed, &host.name);
        }
    }
}

/// The random stream of the host of this name.
pub(crate) fn host_stream(seed: Seed, name: &str) -> Stream {
    Stream::new(seed, &format!("host/{name}"))
}
