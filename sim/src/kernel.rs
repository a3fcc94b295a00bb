//! The heart: one true time, one heap of events, one queue of ready tasks.
//!
//! Time is event-driven: it jumps to the next event, so an idle hour costs nothing. Between two events every ready
//! task runs until none is left. Tasks that become ready together run in an order drawn from the seed's *schedule*
//! stream; events at the same instant keep the order in which they were scheduled.
//!
//! [`Kernel`] is what handles point to. Its two halves are borrowed apart on purpose: waking a task while the state
//! is borrowed only pushes onto the ready queue. Code under test runs only while neither is borrowed.
//!
//! Decision: "A run ends when its clients are done and their messages have arrived" (docs/decisions/world.md).
//! Decision: "Kernel handles use `fragile`" (docs/decisions/world.md).

use std::cell::RefCell;
use std::ops::Deref;
use std::rc::Rc;
use std::task::Context;

use async_task::Runnable;
use fragile::Fragile;

use crate::budget::{Budget, Outcome};
use crate::external_timers::{ExternalTimers, TaskIsReady};
use crate::fault_book::{FaultBook, Matched};
use crate::host_state::HostState;
use crate::life::Gate;
use crate::memory::MEASURED_EVERY;
use crate::net::{LinkSpec, Network};
use crate::queue::{EventQueue, Pending, ReadyQueue, Scheduled};
use crate::random::{Seed, Stream};
use crate::time::SimTime;
use crate::trace::{Event, HostId, Keep, Trace};

/// How handles hold the kernel: checked to stay on one thread, because the futures of real client libraries must be
/// `Send` although the kernel, being deterministic, is single-threaded.
#[derive(Clone)]
pub(crate) struct Shared(Fragile<Rc<Kernel>>);

impl Shared {
    pub(crate) fn new(kernel: Rc<Kernel>) -> Shared {
        Shared(Fragile::new(kernel))
    }
}

impl Deref for Shared {
    type Target = Rc<Kernel>;

    #[inline]
    fn deref(&self) -> &Rc<Kernel> {
        self.0.get()
    }
}

/// Which process of which host a task belongs to. A process that died has another incarnation than its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) host: HostId,
    pub(crate) incarnation: u32,
}

pub(crate) struct Kernel {
    pub(crate) state: RefCell<State>,
    pub(crate) ready: RefCell<ReadyQueue>,
    pub(crate) timers: RefCell<Option<Rc<dyn ExternalTimers>>>,
}

impl Kernel {
    pub(crate) fn shared(seed: Seed, links: LinkSpec, keep: Keep) -> Shared {
        let state = State::new(seed, links, keep);
        let (ready, timers) = (RefCell::default(), RefCell::default());
        Shared::new(Rc::new(Kernel { state: RefCell::new(state), ready, timers }))
    }

    /// The one door to the state for handles: faults that an event brought down strike before the caller goes on.
    pub(crate) fn enter<R>(&self, action: impl FnOnce(&mut State) -> R) -> R {
        let mut state = self.state.borrow_mut();
        let result = action(&mut state);
        state.strike_due_faults();
        result
    }

    /// Runs until the essential tasks are done, nothing is left to happen, or the budget is spent.
    pub(crate) fn run(self: &Rc<Self>, budget: Budget) -> Outcome {
        let end = SimTime::ZERO.after(budget.time);
        self.state.borrow_mut().budget = budget;
        let timers = self.timers.borrow().clone();
        loop {
            self.drain_ready();
            let mut state = self.state.borrow_mut();
            let drained = self.ready.borrow().is_empty() && !state.cut_short;
            if drained && state.is_complete() && !state.halted {
                return Outcome::Completed;
            }
            if let Some(outcome) = state.spent_budget() {
                return outcome;
            }
            if let Some(timers) = &timers {
                let until = state.next_time().map_or(end, |next| next.min(end));
                // They wake tasks, which may look at the state.
                drop(state);
                let kernel = self.clone();
                let ready = TaskIsReady(Box::new(move |cx| kernel.ready.borrow_mut().poll_any(cx)));
                let due = timers.advance(until, ready);
                state = self.state.borrow_mut();
                if let Some(due) = due {
                    state.now = due;
                    continue;
                }
            }
            let Some(next) = state.next_event() else { return Outcome::Stalled };
            if next.at() > end {
                state.now = end;
                return Outcome::TimeBudget;
            }
            state.dispatch(next);
            state.strike_due_faults();
            drop(state);
            self.boot_due();
        }
    }

    /// Runs ready tasks until none is left or the budget is spent.
    fn drain_ready(self: &Rc<Self>) {
        while let Some((runnable, gate)) = self.pick() {
            match gate {
                Gate::Run => {
                    runnable.run();
                }
                Gate::Park => {
                    let host = runnable.metadata().host;
                    self.state.borrow_mut().host_mut(host).parked.push(runnable);
                }
            }
            self.boot_due();
        }
    }

    /// Starts the processes that an event or a fault asked for.
    fn boot_due(self: &Rc<Self>) {
        if self.state.borrow().boots.is_empty() {
            return; // by far the most common case, twice per event
        }
        let boots = std::mem::take(&mut self.state.borrow_mut().boots);
        boots.into_iter().for_each(|host| self.boot(host));
    }

    /// Takes one ready task, and says whether it may run.
    fn pick(&self) -> Option<(Runnable<Process>, Gate)> {
        let mut ready = self.ready.borrow_mut();
        if ready.is_empty() {
            return None;
        }
        let mut state = self.state.borrow_mut();
        if state.spent_budget().is_some() {
            return None;
        }
        let runnable = ready.take(&mut state.schedule)?;
        let process = *runnable.metadata();
        let gate = state.hosts[process.host.0 as usize].life.gate(process.incarnation);
        if gate == Gate::Run && process.host != OBSERVER {
            state.emit(Event::Ran { host: process.host });
        }
        Some((runnable, gate))
    }

    /// Ends every process, so that tasks let go of the kernel they hold: a world that is dropped leaks nothing.
    pub(crate) fn shut_down(&self) {
        let hosts = self.state.borrow().hosts.len();
        for host in 0..hosts {
            self.state.borrow_mut().end_process(HostId(host as u32));
        }
        loop {
            let Some(runnable) = self.ready.borrow_mut().pop() else { break };
            runnable.run(); // cancelled above: this drops the future without polling it
        }
        let mut state = self.state.borrow_mut();
        let boots: Vec<_> = state.hosts.iter_mut().map(|host| host.boot.take()).collect();
        // They may hold what belongs to a task, and the kernel holds them.
        *self.timers.borrow_mut() = None;
        // Sockets of the dead may still hold wakers, and a waker holds its task's memory, which holds the kernel.
        let connections = std::mem::take(&mut state.net.connections);
        drop(state);
        drop((boots, connections));
    }
}

/// The labels of the kernel's own streams.
const SCHEDULE: &str = "schedule";
const NETWORK: &str = "network";

/// The random stream of the host of this name.
pub(crate) fn host_stream(seed: Seed, name: &str) -> Stream {
    Stream::new(seed, &format!("host/{name}"))
}

/// The world's own host: beyond all faults, and no part of the trace.
pub(crate) const OBSERVER: HostId = HostId(0);

/// Everything that changes in a run, except the ready queue.
pub(crate) struct State {
    pub(crate) now: SimTime,
    pub(crate) events: EventQueue,
    pub(crate) hosts: Vec<HostState>,
    /// Distinguishes armings, also of timers that share a slot one after the other.
    pub(crate) timer_generations: u32,
    pub(crate) net: Network,
    pub(crate) trace: Trace,
    budget: Budget,
    /// The run was measured to keep more than the budget allows.
    memory_spent: bool,
    /// What the code that watches the run keeps, in bytes.
    pub(crate) watchers_keep: u64,
    /// Step points reached: most are part of a step that counts as an event, but a loop of them need not be.
    step_points: u64,
    /// A task was stopped in the middle of a step because the budget is spent.
    cut_short: bool,
    /// A host ended the run.
    pub(crate) halted: bool,
    pub(crate) faults: FaultBook,
    pub(crate) schedule: Stream,
    pub(crate) network: Stream,
    pub(crate) seed: Seed,
    /// The seed of what comes after [`Pending::Reseed`].
    pub(crate) later_seed: Seed,
    /// Essential hosts whose main task has neither finished nor died for good.
    pub(crate) essential_left: usize,
    /// Pauses and suspensions that will end: what reached a stopped machine is not dealt with before.
    pub(crate) stops_to_end: usize,
    /// Hosts whose process must be started as soon as the state is no longer borrowed.
    pub(crate) boots: Vec<HostId>,
}

impl State {
    fn new(seed: Seed, links: LinkSpec, keep: Keep) -> State {
        State {
            now: SimTime::ZERO,
            events: EventQueue::default(),
            hosts: Vec::new(),
            timer_generations: 0,
            net: Network::new(links),
            trace: Trace::new(keep),
            budget: Budget::default(),
            memory_spent: false,
            watchers_keep: 0,
            step_points: 0,
            cut_short: false,
            halted: false,
            faults: FaultBook::default(),
            schedule: Stream::new(seed, SCHEDULE),
            network: Stream::new(seed, NETWORK),
            seed,
            later_seed: seed,
            essential_left: 0,
            stops_to_end: 0,
            boots: Vec::new(),
        }
    }

    fn is_complete(&self) -> bool {
        self.essential_left == 0
            && self.net.essential_on_the_way == 0
            && self.stops_to_end == 0
            && !self.essential_data_is_held()
    }

    pub(crate) fn host_mut(&mut self, host: HostId) -> &mut HostState {
        &mut self.hosts[host.0 as usize]
    }

    pub(crate) fn host(&self, host: HostId) -> &HostState {
        &self.hosts[host.0 as usize]
    }

    /// Which budget is used up, or whether a host ended the run. No code takes another step then.
    fn spent_budget(&self) -> Option<Outcome> {
        let events = self.trace.count().max(self.step_points) >= self.budget.events;
        match (self.memory_spent, events) {
            _ if self.halted => Some(Outcome::Halted),
            (true, _) => Some(Outcome::MemoryBudget),
            (false, true) => Some(Outcome::EventBudget),
            (false, false) => None,
        }
    }

    /// A task of this process is at a step point: whether it must wait there, because the host is stopped, the process
    /// is dead, or the budget is spent. A stopped one is woken at once, which parks it until the host resumes; the
    /// others never run again.
    pub(crate) fn holds_back(&mut self, process: Process, cx: &Context<'_>) -> bool {
        self.step_points += 1;
        let host = &self.hosts[process.host.0 as usize];
        if process.incarnation != host.life.incarnation() {
            return true;
        }
        if self.spent_budget().is_some() {
            self.cut_short = true;
            return true;
        }
        if host.life.is_stopped() {
            cx.waker().wake_by_ref();
            return true;
        }
        false
    }

    /// Writes an event into the trace and shows it to the faults that wait for one.
    ///
    /// Always inlined: where nobody looks, as nearly always, it is known which event this is and no `Event` is built.
    #[inline(always)]
    pub(crate) fn emit(&mut self, event: Event) {
        if self.trace.is_kept() || self.faults.watches(&event) {
            self.show(event);
        } else {
            self.trace.hash_event(self.now, &event);
        }
        if self.trace.count().is_multiple_of(MEASURED_EVERY) {
            self.measure_memory();
        }
    }

    #[cold]
    fn show(&mut self, event: Event) {
        if self.faults.watches(&event) {
            self.match_faults(&event);
        }
        self.trace.hash_event(self.now, &event);
        self.trace.keep(self.now, event);
    }

    #[cold]
    fn measure_memory(&mut self) {
        self.memory_spent |= self.memory() > self.budget.memory;
    }

    fn match_faults(&mut self, event: &Event) {
        let mut later = Vec::new();
        let mut due = std::mem::take(&mut self.faults.due);
        self.faults.observe(event, |matched| match matched {
            Matched::Now(number) => due.push(number),
            Matched::Later(number, offset) => later.push((number, offset)),
        });
        self.faults.due = due;
        for (number, offset) in later {
            self.schedule(self.now.after(offset), Pending::Strike { number: number as u32 });
        }
    }

    pub(crate) fn schedule(&mut self, at: SimTime, what: Pending) {
        self.events.push(at, what);
    }

    /// The next event that is not stale. Stale ones do not move time.
    fn next_event(&mut self) -> Option<Scheduled> {
        loop {
            let next = self.events.pop()?;
            if !self.discard_if_stale(&next) {
                return Some(next);
            }
        }
    }

    /// The time of the next event that is not stale.
    fn next_time(&mut self) -> Option<SimTime> {
        loop {
            let next = self.events.first()?;
            if !self.discard_if_stale(&next) {
                return Some(next.at());
            }
            self.events.pop();
        }
    }

    /// Whether this event is about nothing any more. If so, it no longer keeps its connection's slot.
    fn discard_if_stale(&mut self, event: &Scheduled) -> bool {
        let (connection, is_live) = match event.what {
            Pending::Timer { key, generation } => return !self.timer_is_live(key, generation),
            Pending::Retransmit { key, side } => (key, self.retransmission_is_live(key, side, event.at())),
            Pending::UserTimeout { key, side, serial } => (key, self.user_timeout_is_live(key, side, serial)),
            _ => return false,
        };
        if !is_live {
            self.event_over(connection);
        }
        !is_live
    }

    fn dispatch(&mut self, next: Scheduled) {
        debug_assert!(next.at() >= self.now, "time ran backwards");
        self.now = next.at();
        match next.what {
            Pending::Reseed => self.reseed(),
            Pending::Timer { key, .. } => self.timer_due(key),
            Pending::Segment { key } => self.segment_arrives(key),
            Pending::Resync { host } => self.resync(host),
            Pending::Repeat { number } => self.repeat(number),
            Pending::Ask { key } => self.ask(key),
            Pending::Request { key } => self.request_arrives(key),
            Pending::Answer { key, accepted } => self.answer_arrives(key, accepted),
            Pending::Retransmit { key, side } => self.retransmit(key, side),
            Pending::UserTimeout { key, side, serial } => self.user_timeout(key, side, serial),
            Pending::Synced { key } => self.fsync_done(key),
            Pending::Strike { number } => self.strike(number as usize),
            Pending::Undo { number } => self.undo(number as usize),
        }
    }

    /// Every stream goes on as that of another seed would have begun.
    fn reseed(&mut self) {
        let seed = self.later_seed;
        self.schedule = Stream::new(seed, SCHEDULE);
        self.network = Stream::new(seed, NETWORK);
        for host in &mut self.hosts {
            host.random = host_stream(seed, &host.name);
        }
    }

    /// Applies the faults that events brought down, and those that their own events bring down in turn.
    pub(crate) fn strike_due_faults(&mut self) {
        while !self.faults.due.is_empty() {
            let number = self.faults.due.remove(0);
            self.strike(number);
        }
    }
}
