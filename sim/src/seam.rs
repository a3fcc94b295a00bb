//! The seam for a second simulator: everything that a simulated world offers, whoever simulates it.
//!
//! The code that runs and judges worlds is written against these traits; code under test has a [`Host`], of whichever
//! world. [`World`] is the one that is in this crate, and the words of the seam (faults, events, clocks) are its words,
//! so that two simulators can be asked for the same run and their answers compared.
//!
//! What hosts and connections of a second simulator implement is in `host_like`.
//!
//! Nothing here says in which order tasks run or how a network behaves: there two simulators may differ.
//!
//! Decision: "The seam between engines is a simulated world" (docs/decisions/engines.md).

use std::future::Future;
use std::rc::Rc;

use crate::budget::Budget;
use crate::capture::Capture;
use crate::clock::{ClockKind, Readings};
use crate::external_timers::ExternalTimers;
use crate::fault::{Fault, PlannedFault};
use crate::host::{Boot, Host};
use crate::net::{CopyOf, LinkSpec};
use crate::observer::WorldObserver;
use crate::random::Seed;
use crate::time::SimTime;
use crate::trace::{ConnectionId, HostId, Keep, Record};
use crate::world::{HostSpec, Run, World};

/// A world under construction, then running, then over: what [`World`] is. Its methods do what those of the same name
/// do there.
pub trait WorldLike: Sized + 'static {
    /// The knowledge of the code that watches it.
    type Observer: ObserverLike;

    /// An empty world, whose hosts are linked to each other by `links`.
    fn build(seed: Seed, links: LinkSpec, keep: Keep) -> Self;

    /// Why it cannot do what this fault does, if it cannot. A world may panic where it is asked for it all the same.
    fn cannot_do(fault: &Fault) -> Option<&'static str> {
        let _ = fault;
        None
    }

    /// Why it cannot have such a link, if it cannot.
    fn cannot_link(link: &LinkSpec) -> Option<&'static str> {
        let _ = link;
        None
    }

    /// The reason for which its connections cannot be given up after a time of one's own, if they cannot.
    const LACKS_USER_TIMEOUT: Option<&'static str> = None;

    /// Adds a host. `boot` makes its process.
    fn add_host<F>(&mut self, spec: HostSpec, boot: impl Fn(Host) -> F + 'static) -> HostId
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.add_boxed_host(spec, Rc::new(move |host| Box::pin(boot(host))))
    }

    /// Adds a host. `boot` makes its process, boxed.
    fn add_boxed_host(&mut self, spec: HostSpec, boot: Boot) -> HostId;

    /// Changes the quality of one direction between two hosts.
    fn set_link(&mut self, from: HostId, to: HostId, spec: LinkSpec);

    /// Plans a fault.
    fn plan(&mut self, fault: PlannedFault);

    /// From a time on, everything random is drawn from another seed.
    fn reseed_at(&mut self, at: SimTime, seed: Seed);

    /// True if timers that are not the world's own can pass with its time.
    const TAKES_TIMERS: bool = false;

    /// Lets such timers pass with the world's time, if it can.
    fn set_external_timers(&mut self, timers: Rc<dyn ExternalTimers>) {
        let _ = timers;
    }

    /// The world's observer.
    fn observer(&self) -> Self::Observer;

    /// Starts every process and runs until the essential ones are done or the budget is spent.
    fn run(&mut self, budget: Budget) -> Run;

    /// The kept trace, once, if the world keeps one.
    fn take_trace(&mut self) -> Vec<Record>;

    /// The capture besides the trace, once; empty if the world does not capture.
    fn take_capture(&mut self) -> Capture;
}

/// A call for the moment at which a clock shows some reading.
pub type Then = Box<dyn FnOnce() + Send>;

/// The knowledge of the code that watches a world, as [`WorldObserver`] has it.
pub trait ObserverLike: Clone + Send + Sync + 'static {
    /// True time.
    fn true_time(&self) -> SimTime;

    /// The readings of a host's clocks now.
    fn clocks_of(&self, host: HostId) -> Readings;

    /// The message that a connection carries again, if it was opened for that. A world that copies nothing has none.
    fn copy_of(&self, connection: ConnectionId) -> Option<CopyOf> {
        let _ = connection;
        None
    }

    /// Does `then` once a host's clock shows at least `reading`, in nanoseconds, whatever its process does meanwhile.
    fn when(&self, host: HostId, clock: ClockKind, reading: i64, then: Then);

    /// The code that watches has recorded so many bytes more.
    fn keeps(&self, bytes: u64);
}

impl WorldLike for World {
    type Observer = WorldObserver;

    fn build(seed: Seed, links: LinkSpec, keep: Keep) -> World {
        World::keeping(seed, links, keep)
    }

    fn add_host<F>(&mut self, spec: HostSpec, boot: impl Fn(Host) -> F + 'static) -> HostId
    where
        F: Future<Output = ()> + Send + 'static,
    {
        World::add_host(self, spec, boot)
    }

    fn add_boxed_host(&mut self, spec: HostSpec, boot: Boot) -> HostId {
        World::add_boxed_host(self, spec, boot)
    }

    fn set_link(&mut self, from: HostId, to: HostId, spec: LinkSpec) {
        World::set_link(self, from, to, spec);
    }

    fn plan(&mut self, fault: PlannedFault) {
        World::plan(self, fault);
    }

    fn reseed_at(&mut self, at: SimTime, seed: Seed) {
        World::reseed_at(self, at, seed);
    }

    const TAKES_TIMERS: bool = true;

    fn set_external_timers(&mut self, timers: Rc<dyn ExternalTimers>) {
        World::set_external_timers(self, timers);
    }

    fn observer(&self) -> WorldObserver {
        World::observer(self)
    }

    fn run(&mut self, budget: Budget) -> Run {
        World::run(self, budget)
    }

    fn take_trace(&mut self) -> Vec<Record> {
        World::take_trace(self)
    }

    fn take_capture(&mut self) -> Capture {
        World::take_capture(self)
    }
}

impl ObserverLike for WorldObserver {
    fn true_time(&self) -> SimTime {
        WorldObserver::true_time(self)
    }

    fn clocks_of(&self, host: HostId) -> Readings {
        WorldObserver::clocks_of(self, host)
    }

    fn copy_of(&self, connection: ConnectionId) -> Option<CopyOf> {
        WorldObserver::copy_of(self, connection)
    }

    fn when(&self, host: HostId, clock: ClockKind, reading: i64, then: Then) {
        let observer = self.clone();
        self.spawn(async move {
            observer.clock_reaches(host, clock, reading).await;
            then();
        });
    }

    fn keeps(&self, bytes: u64) {
        WorldObserver::keeps(self, bytes);
    }
}
