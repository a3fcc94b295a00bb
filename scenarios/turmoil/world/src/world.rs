//! A world: hosts, links and planned faults, put together and run on turmoil's network.

use std::collections::BTreeSet;
use std::panic::resume_unwind;
use std::rc::Rc;

use bytes::Bytes;
use doublehold_sim::parts::{Disk, Life};
use doublehold_sim::{
    Boot, Budget, Capture, ClockKind, Clocks, Event, Fault, Host, HostId, HostSpec, Keep, LinkSpec,
    ObserverLike, Outcome, PlannedFault, Probability, Readings, Record, Run, Seed, SimTime, Then, WorldLike,
};
use turmoil_net::{KernelConfig, Net, Packet, TcpFlags, TcpSegment, Transport};

use crate::host::TurmoilHost;
use crate::network::Which;
use crate::process::{Process, Tasks, spawn_main, take_ready};
use crate::queue::Due;
use crate::state::{Chore, HostState, Shared, State, host_stream};

/// Why a world on turmoil's network loses nothing.
const NO_LOSS: &str = "turmoil's TCP repeats a lost packet after a count and not after a time, so it would come back at \
                       the wrong moment";

/// Why nothing is sent twice on turmoil's network.
const NO_COPIES: &str =
    "turmoil's network opens connections for processes only, and nobody's process sends the copy";

/// A world whose network is turmoil's and whose tasks are tokio's.
///
/// ```
/// use doublehold_sim::{Budget, DelayLaw, HostSpec, Keep, LinkSpec, Outcome, Seed, WorldLike};
/// use doublehold_sim_turmoil::TurmoilWorld;
/// use std::time::Duration;
/// use tokio::io::{AsyncReadExt, AsyncWriteExt};
///
/// let links = LinkSpec::lossless(DelayLaw::Fixed(Duration::from_millis(2)));
/// let mut world = TurmoilWorld::build(Seed(1), links, Keep::Hash);
/// let server = world.add_host(HostSpec::new("server"), |host| async move {
///     let mut incoming = host.listen(7);
///     loop {
///         let mut stream = incoming.accept().await;
///         let mut word = [0; 5];
///         if stream.read_exact(&mut word).await.is_ok() {
///             let _ = stream.write_all(&word).await;
///         }
///     }
/// });
/// world.add_host(HostSpec::new("client").essential(), move |host| async move {
///     let mut stream = host.connect(server, 7).await.expect("the server listens");
///     stream.write_all(b"hello").await.expect("nothing is cut");
///     let mut echo = [0; 5];
///     stream.read_exact(&mut echo).await.expect("the server answers");
///     assert_eq!(&echo, b"hello");
/// });
/// let run = world.run(Budget::default());
/// assert_eq!(run.outcome, Outcome::Completed);
/// assert_eq!(run.ended.0, 8_000_000); // a handshake and an echo: four one-way delays, as in doublehold's own network
/// ```
pub struct TurmoilWorld {
    shared: Shared,
    boots: Vec<Option<Boot>>,
    tasks: Vec<Option<Rc<Tasks>>>,
    net: Option<Net>,
    /// turmoil's numbers of the hosts.
    stacks: Vec<turmoil_net::HostId>,
    names: BTreeSet<String>,
}

impl WorldLike for TurmoilWorld {
    type Observer = TurmoilObserver;

    fn cannot_do(fault: &Fault) -> Option<&'static str> {
        match fault {
            Fault::Lose { .. } | Fault::Unlose { .. } => Some(NO_LOSS),
            Fault::CopyNext { .. } => Some(NO_COPIES),
            _ => None,
        }
    }

    const LACKS_USER_TIMEOUT: Option<&'static str> =
        Some("this engine gives no connection up because a probe stays unanswered");

    fn cannot_link(link: &LinkSpec) -> Option<&'static str> {
        (link.loss != Probability::NEVER).then_some(NO_LOSS)
    }

    /// # Panics
    /// If the links lose packets.
    fn build(seed: Seed, links: LinkSpec, keep: Keep) -> TurmoilWorld {
        assert_eq!(links.loss, Probability::NEVER, "{NO_LOSS}");
        // Undelivered packets are held here, and so never have to be repeated there.
        let never = KernelConfig::default().retx_threshold(u32::MAX);
        let mut world = TurmoilWorld {
            shared: Shared::new(State::new(seed, links, keep)),
            boots: Vec::new(),
            tasks: Vec::new(),
            net: Some(Net::with_config(never)),
            stacks: Vec::new(),
            names: BTreeSet::new(),
        };
        world.insert(HostSpec::new(""), None);
        world
    }

    /// # Panics
    /// If the name is empty or taken.
    fn add_boxed_host(&mut self, spec: HostSpec, boot: Boot) -> HostId {
        self.insert(spec, Some(boot))
    }

    /// # Panics
    /// If the link loses packets.
    fn set_link(&mut self, from: HostId, to: HostId, spec: LinkSpec) {
        assert_eq!(spec.loss, Probability::NEVER, "{NO_LOSS}");
        self.shared.borrow_mut().net.set_link(from, to, spec);
    }

    fn plan(&mut self, fault: PlannedFault) {
        let mut state = self.shared.borrow_mut();
        let (number, at) = state.faults.plan(fault);
        if let Some(at) = at {
            state.queue.push(at, Due::Strike(number));
        }
    }

    fn reseed_at(&mut self, at: SimTime, seed: Seed) {
        let mut state = self.shared.borrow_mut();
        state.later_seed = seed;
        state.queue.push(at, Due::Reseed);
    }

    fn observer(&self) -> TurmoilObserver {
        TurmoilObserver(self.shared.clone())
    }

    /// # Panics
    /// If the world has run before, or another one that has begun to run is not dropped on this thread; and with what a
    /// task panics.
    fn run(&mut self, budget: Budget) -> Run {
        let net = self.net.take().expect("this world has run before");
        {
            let mut state = self.shared.borrow_mut();
            state.budget = budget;
            state.net.switch_on(net.enter());
        }
        (1..self.stacks.len() as u32).for_each(|host| self.boot(HostId(host)));
        let outcome = self.run_until(SimTime::ZERO.after(budget.time));
        let mut state = self.shared.borrow_mut();
        if let Some(panic) = state.panic.take() {
            drop(state);
            resume_unwind(panic);
        }
        Run {
            outcome,
            ended: state.now,
            events: state.trace.count(),
            messages: state.net.messages,
            hash: state.trace.hash(),
            faults: state.struck(),
            last_late: state.net.last_late,
        }
    }

    fn take_trace(&mut self) -> Vec<Record> {
        self.shared.borrow_mut().trace.take_kept()
    }

    fn take_capture(&mut self) -> Capture {
        self.shared.borrow_mut().trace.take_captured()
    }
}

impl TurmoilWorld {
    fn insert(&mut self, spec: HostSpec, boot: Option<Boot>) -> HostId {
        assert!(self.names.insert(spec.name.clone()), "two hosts are named `{}`", spec.name);
        let mut state = self.shared.borrow_mut();
        let id = HostId(state.hosts.len() as u32);
        let address = state.net.address(id);
        self.stacks.push(self.net.as_mut().expect("a world that has not run").add_host(address));
        let mut clocks = Clocks::new(spec.wall);
        clocks.change_rate(SimTime::ZERO, spec.rate);
        let random = host_stream(state.seed, &spec.name);
        state.essential_left += usize::from(spec.essential);
        state.hosts.push(HostState {
            name: spec.name,
            clocks,
            random,
            disk: Disk::default(),
            fsync_time: spec.fsync_time,
            slow_by: Vec::new(),
            life: Life::new(spec.essential),
            late_timers: Vec::new(),
            process: Process::default(),
            signals: Vec::new(),
            signal_waker: None,
        });
        state.capture_clocks(id);
        self.boots.push(boot);
        self.tasks.push(None);
        id
    }

    /// Runs until the essential tasks are done, nothing is left to happen, or the budget is spent.
    fn run_until(&mut self, end: SimTime) -> Outcome {
        loop {
            self.drain();
            let mut state = self.shared.borrow_mut();
            if state.panic.is_some() {
                return Outcome::Halted;
            }
            if !state.cut_short && state.is_complete() && !state.halted {
                return Outcome::Completed;
            }
            if let Some(outcome) = state.spent_budget() {
                return outcome;
            }
            let Some((at, due)) = state.next() else { return Outcome::Stalled };
            if at > end {
                state.now = end;
                return Outcome::TimeBudget;
            }
            match due {
                Due::Arrival(flow) => {
                    state.now = at;
                    while let Some(packet) = state.arrival(flow) {
                        state.deliver(packet);
                        state.flush();
                        state.strike_due_faults();
                    }
                }
                due => state.dispatch(at, due),
            }
            state.strike_due_faults();
        }
    }

    /// Does everything that is to be done now.
    fn drain(&mut self) {
        loop {
            self.do_chores();
            let watched = std::mem::take(&mut self.shared.borrow_mut().watched);
            watched.into_iter().for_each(|then| then());
            let Some(host) = take_ready(&self.shared) else { return };
            if let Some(tasks) = self.tasks[host.0 as usize].clone() {
                turmoil_net::set_current(self.stacks[host.0 as usize]);
                tasks.drive();
                self.shared.enter(State::flush);
            }
            if self.shared.borrow().panic.is_some() {
                return;
            }
        }
    }

    fn do_chores(&mut self) {
        loop {
            let mut state = self.shared.borrow_mut();
            if state.chores.is_empty() {
                return;
            }
            let chore = state.chores.remove(0);
            drop(state);
            match chore {
                Chore::Boot(host) => self.boot(host),
                Chore::End(host) => {
                    self.drop_tasks(host);
                    self.shared.enter(State::flush);
                }
                Chore::Silence(host) => {
                    self.drop_tasks(host);
                    self.shared.enter(|state| state.silence(host));
                }
                Chore::Reset(one, other) => self.shared.enter(|state| state.reset_between(one, other)),
            }
        }
    }

    fn boot(&mut self, host: HostId) {
        let handle = {
            let mut state = self.shared.borrow_mut();
            let booted = state.host_mut(host);
            if !booted.life.boot() {
                return; // it died, or was started twice, before this could be done
            }
            let incarnation = booted.life.incarnation();
            let tasks = Tasks::new();
            booted.process = Process { handle: Some(tasks.handle()), ..Process::default() };
            self.tasks[host.0 as usize] = Some(tasks);
            state.emit(Event::Booted { host });
            state.strike_due_faults();
            TurmoilHost { shared: self.shared.clone(), host, incarnation }
        };
        if let Some(boot) = self.boots[host.0 as usize].clone() {
            spawn_main(&handle, boot(Host::of_other(handle.clone())));
        }
    }

    /// Drops everything of a host's process where it stands. Its machine closes what it held.
    fn drop_tasks(&mut self, host: HostId) {
        turmoil_net::set_current(self.stacks[host.0 as usize]);
        let handle = self.shared.borrow_mut().host_mut(host).process.handle.take();
        let waker = self.shared.borrow_mut().host_mut(host).signal_waker.take();
        drop((self.tasks[host.0 as usize].take(), handle, waker));
    }

    /// Ends every process, and turmoil's network after them.
    fn shut_down(&mut self) {
        if self.shared.borrow().net.is_on() {
            (0..self.stacks.len() as u32).for_each(|host| self.drop_tasks(HostId(host)));
        }
        let mut state = self.shared.borrow_mut();
        let guard = state.net.switch_off();
        // Calls of the code that watches hold the observer, which holds the state.
        let waits = (std::mem::take(&mut state.timers), std::mem::take(&mut state.watched));
        drop(state);
        drop((guard, waits));
        // They hold handles, which hold the state as well.
        self.boots.clear();
    }
}

impl Drop for TurmoilWorld {
    /// Processes end with their world and not with its run: a node that went before would tell whoever records that it
    /// has forgotten its keys.
    fn drop(&mut self) {
        if self.shared.is_free() {
            self.shut_down();
        }
    }
}

impl State {
    /// The next event and its time. A stale one does not move time.
    fn next(&mut self) -> Option<(SimTime, Due)> {
        loop {
            let (at, due) = self.queue.pop()?;
            match due {
                Due::Timer(timer, generation) if self.timer_is_stale(timer, generation) => {}
                Due::Arrival(flow) if !self.arrives(flow, at) => {}
                _ => return Some((at, due)),
            }
        }
    }

    /// A machine without power: its peers hear nothing of what its sockets do, and it forgets them.
    fn silence(&mut self, host: HostId) {
        for peer in (1..self.hosts.len() as u32).map(HostId) {
            self.reset_at(host, peer, Which::All);
        }
        self.flush_but(Some(host));
    }

    /// A machine is told, as by its peer, that each of its connections with that is over.
    pub(crate) fn reset_at(&mut self, host: HostId, peer: HostId, which: Which) {
        for (from, to) in self.net.ends_between(peer, host, which) {
            let flags = TcpFlags { rst: true, ..TcpFlags::default() };
            let (src_port, dst_port, payload) = (from.port(), to.port(), Bytes::new());
            let reset = TcpSegment { src_port, dst_port, seq: 0, ack: 0, flags, window: 0, payload };
            self.deliver(Packet { src: from.ip(), dst: to.ip(), ttl: 64, payload: Transport::Tcp(reset) });
        }
        self.forget_all(host, peer, which);
        self.make_ready(host);
    }
}

/// Watches a [`TurmoilWorld`] from outside.
#[derive(Clone)]
pub struct TurmoilObserver(Shared);

impl ObserverLike for TurmoilObserver {
    fn true_time(&self) -> SimTime {
        self.0.borrow().now
    }

    fn clocks_of(&self, host: HostId) -> Readings {
        let state = self.0.borrow();
        state.host(host).clocks.read(state.now)
    }

    fn when(&self, host: HostId, clock: ClockKind, reading: i64, then: Then) {
        self.0.borrow_mut().watch(host, clock, reading, then);
    }

    fn keeps(&self, bytes: u64) {
        self.0.borrow_mut().watchers_keep += bytes;
    }
}
