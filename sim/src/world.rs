//! A world: hosts, links and planned faults, put together and run.

use std::collections::BTreeSet;
use std::future::Future;
use std::marker::PhantomData;
use std::rc::Rc;
use std::time::Duration;

use slab::Slab;

use crate::budget::{Budget, Outcome};
use crate::capture::Capture;
use crate::clock::{Clocks, RatePpb};
use crate::delay::DelayLaw;
use crate::disk::Disk;
use crate::external_timers::ExternalTimers;
use crate::fault::{Fault, PlannedFault, Struck};
use crate::host::{Boot, Host};
use crate::host_state::{HostState, KernelBoot};
use crate::kernel::{Kernel, Shared, host_stream};
use crate::life::Life;
use crate::net::LinkSpec;
use crate::observer::WorldObserver;
use crate::queue::Pending;
use crate::random::Seed;
use crate::slots::Slots;
use crate::time::{SimTime, WallTime};
use crate::trace::{HostId, Keep, Record};
use crate::trace_hash::TraceHash;

/// The world's own host has no name, so that the hosts added to it may have any.
const OBSERVER_NAME: &str = "";

/// A host before the world starts.
#[derive(Clone, Debug)]
pub struct HostSpec {
    /// Its name: unique in the world, not empty, and the label of its random stream.
    pub name: String,
    /// What its wall clock shows when the world begins.
    pub wall: WallTime,
    /// How fast its clocks run.
    pub rate: RatePpb,
    /// How long its disk takes for an fsync.
    pub fsync_time: DelayLaw,
    /// The run lasts until the main tasks of all essential hosts are done and what these sent has arrived.
    pub essential: bool,
}

impl HostSpec {
    /// A host whose clocks are right (the epoch, at the world's beginning) and whose fsync takes a millisecond.
    pub fn new(name: impl Into<String>) -> HostSpec {
        HostSpec {
            name: name.into(),
            wall: WallTime(0),
            rate: RatePpb(0),
            fsync_time: DelayLaw::Fixed(Duration::from_millis(1)),
            essential: false,
        }
    }

    /// The same host, for whose main task the run waits.
    pub fn essential(self) -> HostSpec {
        HostSpec { essential: true, ..self }
    }
}

/// What a run came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// How it ended.
    pub outcome: Outcome,
    /// True time at the end.
    pub ended: SimTime,
    /// How many events there were.
    pub events: u64,
    /// How many times bytes were handed to the network.
    pub messages: u64,
    /// The digest of all events.
    pub hash: TraceHash,
    /// Every time that each planned fault struck, in the order in which they were planned.
    pub faults: Vec<Vec<Struck>>,
    /// When the last message that a [`Fault::DelayNext`](crate::Fault::DelayNext) struck was to arrive; zero if there
    /// was none.
    pub last_late: SimTime,
}

/// A world under construction, then running, then over.
///
/// ```
/// use doublehold_sim::{Budget, DelayLaw, HostSpec, LinkSpec, Outcome, Seed, World};
/// use std::time::Duration;
/// use tokio::io::{AsyncReadExt, AsyncWriteExt};
///
/// let mut world = World::new(Seed(1), LinkSpec::lossless(DelayLaw::Fixed(Duration::from_millis(2))));
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
/// assert_eq!(run.ended.0, 8_000_000); // a handshake and an echo: four one-way delays
/// ```
pub struct World {
    kernel: Shared,
    /// The hosts' names: no two are alike.
    names: BTreeSet<String>,
    over: bool,
    /// Handles may cross threads by type, and check; a world should not even compile there.
    stays_on_its_thread: PhantomData<Rc<()>>,
}

impl World {
    /// An empty world. Hosts added to it are linked to each other by `links`.
    pub fn new(seed: Seed, links: LinkSpec) -> World {
        World::keeping(seed, links, Keep::Hash)
    }

    /// The same, keeping the trace: see [`World::take_trace`].
    pub fn traced(seed: Seed, links: LinkSpec) -> World {
        World::keeping(seed, links, Keep::Events)
    }

    /// The same, keeping what a picture of the run needs as well: see [`World::take_capture`].
    ///
    /// ```
    /// use doublehold_sim::{Budget, DelayLaw, HostSpec, LinkSpec, Seed, World};
    /// use std::time::Duration;
    /// use tokio::io::AsyncWriteExt;
    ///
    /// let run = |mut world: World| {
    ///     let listener = world.add_host(HostSpec::new("listener"), |host| async move {
    ///         let _stream = host.listen(7).accept().await;
    ///     });
    ///     world.add_host(HostSpec::new("sender").essential(), move |host| async move {
    ///         let mut stream = host.connect(listener, 7).await.expect("the listener is there");
    ///         stream.write_all(b"hello").await.expect("nothing is cut");
    ///     });
    ///     (world.run(Budget::default()).hash, world.take_capture())
    /// };
    /// let links = LinkSpec::lossless(DelayLaw::Fixed(Duration::from_millis(2)));
    /// let (hash, captured) = run(World::captured(Seed(1), links.clone()));
    /// assert_eq!(captured.sent, [b"hello"]);
    /// assert_eq!(captured.clocks.len(), 3); // those of the two hosts and of the observer, and no change
    /// assert_eq!(hash, run(World::new(Seed(1), links)).0);
    /// ```
    pub fn captured(seed: Seed, links: LinkSpec) -> World {
        World::keeping(seed, links, Keep::Everything)
    }

    pub(crate) fn keeping(seed: Seed, links: LinkSpec, keep: Keep) -> World {
        let kernel = Kernel::shared(seed, links, keep);
        let names = BTreeSet::new();
        let mut world = World { kernel, names, over: false, stays_on_its_thread: PhantomData };
        world.insert(HostSpec::new(OBSERVER_NAME), None);
        world
    }

    /// Adds a host. `boot` makes its process: it is called when the world starts and at each restart after a crash.
    ///
    /// # Panics
    /// If the name is empty or taken: names are labels of random streams, and two hosts must not share one.
    pub fn add_host<F>(&mut self, spec: HostSpec, boot: impl Fn(Host) -> F + 'static) -> HostId
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.add_kernel_host(spec, Rc::new(move |host| Box::pin(boot(Host::of_kernel(host)))))
    }

    pub(crate) fn add_boxed_host(&mut self, spec: HostSpec, boot: Boot) -> HostId {
        self.add_kernel_host(spec, Rc::new(move |host| boot(Host::of_kernel(host))))
    }

    fn add_kernel_host(&mut self, spec: HostSpec, boot: KernelBoot) -> HostId {
        assert_ne!(spec.name, OBSERVER_NAME, "a host has a name");
        self.insert(spec, Some(boot))
    }

    fn insert(&mut self, spec: HostSpec, boot: Option<KernelBoot>) -> HostId {
        assert!(self.names.insert(spec.name.clone()), "two hosts are named `{}`", spec.name);
        let mut state = self.kernel.state.borrow_mut();
        let id = HostId(state.hosts.len() as u32);
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
            boot,
            life: Life::new(spec.essential),
            timers: Slots::default(),
            syncs: Slots::default(),
            parked: Vec::new(),
            late_timers: Vec::new(),
            tasks: Slab::new(),
            listeners: Vec::new(),
            signals: Vec::new(),
            signal_waker: None,
        });
        state.capture_clocks(id);
        id
    }

    /// Changes the quality of one direction between two hosts.
    ///
    /// # Panics
    /// If one of them has not been added.
    pub fn set_link(&mut self, from: HostId, to: HostId, spec: LinkSpec) {
        let mut state = self.kernel.state.borrow_mut();
        let hosts = state.hosts.len() as u32;
        assert!(from.0 < hosts && to.0 < hosts, "there is no link from host {} to host {}", from.0, to.0);
        state.net.link(from, to).spec = spec;
    }

    /// Plans a fault. Its number, by which [`Run::faults`] reports on it, is the count of those planned before.
    ///
    /// # Panics
    /// If it strikes the observer, or a host that has not been added.
    pub fn plan(&mut self, fault: PlannedFault) {
        let mut state = self.kernel.state.borrow_mut();
        let hosts = state.hosts.len() as u32;
        for host in fault.faults.iter().flat_map(Fault::hosts) {
            assert!((1..hosts).contains(&host.0), "no fault can strike host {}", host.0);
        }
        state.plan(fault);
    }

    /// From a time on, everything random is drawn from another seed: the same past, and another future. What is on its
    /// way by then arrives as it would have.
    ///
    /// ```
    /// use doublehold_sim::{Budget, DelayLaw, HostSpec, LinkSpec, Seed, SimTime, World};
    /// use std::time::Duration;
    ///
    /// let law = DelayLaw::Uniform { min: Duration::ZERO, max: Duration::from_millis(1) };
    /// let run = |future: Option<u64>| {
    ///     let law = law.clone();
    ///     let mut world = World::new(Seed(1), LinkSpec::lossless(DelayLaw::Fixed(Duration::from_millis(1))));
    ///     world.add_host(HostSpec::new("host").essential(), move |host| {
    ///         let law = law.clone();
    ///         async move {
    ///             host.sleep(host.draw(&law)).await;
    ///             host.sleep(Duration::from_millis(5)).await;
    ///             host.sleep(host.draw(&law)).await;
    ///         }
    ///     });
    ///     let at = SimTime::ZERO.after(Duration::from_millis(3));
    ///     future.into_iter().for_each(|seed| world.reseed_at(at, Seed(seed)));
    ///     world.run(Budget::default()).ended
    /// };
    /// assert_eq!(run(Some(2)), run(Some(2)));
    /// assert_ne!(run(Some(2)), run(Some(3)));
    /// assert_ne!(run(Some(2)), run(None));
    /// ```
    pub fn reseed_at(&mut self, at: SimTime, seed: Seed) {
        let mut state = self.kernel.state.borrow_mut();
        state.later_seed = seed;
        state.schedule(at, Pending::Reseed);
    }

    /// Lets timers that are not the kernel's own pass with its time.
    pub fn set_external_timers(&mut self, timers: Rc<dyn ExternalTimers>) {
        *self.kernel.timers.borrow_mut() = Some(timers);
    }

    /// The world's observer, for code that watches the run.
    pub fn observer(&self) -> WorldObserver {
        WorldObserver::new(self.kernel.clone())
    }

    /// Starts every process and runs until the essential ones are done or the budget is spent.
    ///
    /// # Panics
    /// If the world has run before: time does not start twice.
    pub fn run(&mut self, budget: Budget) -> Run {
        assert!(!std::mem::replace(&mut self.over, true), "this world has run before");
        let hosts = self.kernel.state.borrow().hosts.len() as u32;
        (1..hosts).for_each(|host| self.kernel.boot(HostId(host)));
        let outcome = self.kernel.run(budget);
        let state = self.kernel.state.borrow();
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

    /// The kept trace, once, if the world keeps one.
    pub fn take_trace(&mut self) -> Vec<Record> {
        self.kernel.state.borrow_mut().trace.take_kept()
    }

    /// What was captured besides the trace, once; empty if the world does not capture.
    pub fn take_capture(&mut self) -> Capture {
        self.kernel.state.borrow_mut().trace.take_captured()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.kernel.shut_down();
    }
}

#[cfg(test)]
mod tests;
