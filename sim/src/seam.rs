//! The seam for a second simulator: everything that a simulated world offers, whoever simulates it.
//!
//! Code under test, and the code that judges it, is written against these traits. [`World`] with its [`Host`] is the
//! one that is in this crate, and the words of the seam (faults, events, clocks) are its words, so that two simulators
//! can be asked for the same run and their answers compared.
//!
//! Nothing here says in which order tasks run or how a network behaves: there two simulators may differ.
//!
//! Decision: "The seam between engines is a simulated world" (docs/decisions/engines.md).

use std::borrow::Cow;
use std::future::Future;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};

use crate::capture::Capture;
use crate::clock::{ClockKind, Readings};
use crate::delay::DelayLaw;
use crate::fault::{Fault, PlannedFault};
use crate::host::{DeadlinePassed, Host};
use crate::kernel::Budget;
use crate::net::{ConnectError, CopyOf, Incoming, LinkSpec, SimStream};
use crate::observer::WorldObserver;
use crate::random::Seed;
use crate::time::{BootTime, MonotonicTime, SimTime, WallTime};
use crate::trace::{ConnectionId, HostId, Keep, Record};
use crate::world::{HostSpec, Run, World};

/// A world under construction, then running, then over: what [`World`] is. Its methods do what those of the same name
/// do there.
pub trait WorldLike: Sized + 'static {
    /// Its hosts, as their own code sees them.
    type Host: HostLike;
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

    /// Adds a host. `boot` makes its process.
    fn add_host<F>(&mut self, spec: HostSpec, boot: impl Fn(Self::Host) -> F + 'static) -> HostId
    where
        F: Future<Output = ()> + Send + 'static;

    /// Changes the quality of one direction between two hosts.
    fn set_link(&mut self, from: HostId, to: HostId, spec: LinkSpec);

    /// Plans a fault.
    fn plan(&mut self, fault: PlannedFault);

    /// From a time on, everything random is drawn from another seed.
    fn reseed_at(&mut self, at: SimTime, seed: Seed);

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

/// A host, as its own code sees it: what [`Host`] is. What is awaited here is a step point, where a pause can strike.
pub trait HostLike: Clone + Send + Sync + 'static {
    /// One end of a connection.
    type Stream: StreamLike;
    /// An open port.
    type Incoming: IncomingLike<Stream = Self::Stream>;

    /// This host's number.
    fn id(&self) -> HostId;

    /// This host's name.
    fn name(&self) -> String;

    /// The number of this host's processes that died before this one.
    fn restarts(&self) -> u32;

    /// The readings of the three clocks, without a step point.
    fn clocks(&self) -> Readings;

    /// Reads the wall clock, as a step point.
    fn wall(&self) -> impl Future<Output = WallTime> + Send;

    /// Reads the monotonic clock, as a step point.
    fn monotonic(&self) -> impl Future<Output = MonotonicTime> + Send;

    /// Reads the boot clock, as a step point.
    fn boot(&self) -> impl Future<Output = BootTime> + Send;

    /// Notes something in the trace, where a fault may wait for it, as a step point.
    fn mark(&self, label: &'static str, about: Option<HostId>) -> impl Future<Output = ()> + Send;

    /// The same without a step point.
    fn note(&self, label: impl Into<Cow<'static, str>>, about: Option<HostId>);

    /// Ends the run as [`Outcome::Halted`](crate::Outcome::Halted).
    fn halt(&self);

    /// Waits until this host's monotonic clock shows `until`.
    fn sleep_until(&self, until: MonotonicTime) -> impl Future<Output = ()> + Send;

    /// Waits for a duration of this host's monotonic clock.
    fn sleep(&self, duration: Duration) -> impl Future<Output = ()> + Send {
        async move { self.sleep_until(self.clocks().monotonic.after(duration)).await }
    }

    /// Waits until this host's wall clock shows `until` or later, however it comes there.
    fn wall_reaches(&self, until: WallTime) -> impl Future<Output = ()> + Send;

    /// Runs an operation against a deadline on the monotonic clock. The operation is polled before the timer.
    fn race<F>(
        &self,
        operation: F,
        deadline: MonotonicTime,
    ) -> impl Future<Output = Result<F::Output, DeadlinePassed>> + Send
    where
        F: Future + Send,
        F::Output: Send;

    /// Starts a task of this host's process. It dies with the process.
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static);

    /// Fills `bytes` from this host's own random stream.
    fn random(&self, bytes: &mut [u8]);

    /// Draws from a law with this host's own random stream.
    fn draw(&self, law: &DelayLaw) -> Duration;

    /// How much longer than usual something takes that its process is asked to do.
    fn slowness(&self) -> Duration;

    /// Opens a connection.
    fn connect(
        &self,
        to: HostId,
        port: u16,
    ) -> impl Future<Output = Result<Self::Stream, ConnectError>> + Send;

    /// Listens on a port.
    fn listen(&self, port: u16) -> Self::Incoming;

    /// Appends to a file: visible at once, durable after an fsync.
    fn append(&self, file: &str, bytes: &[u8]);

    /// The file as written; empty if there is none.
    fn read_file(&self, file: &str) -> Vec<u8>;

    /// Cuts a file to its first `len` bytes.
    fn truncate(&self, file: &str, len: usize);

    /// Replaces a file's content, all or nothing.
    fn replace(&self, file: &str, bytes: &[u8]);

    /// Makes durable what the file holds now.
    fn fsync(&self, file: &str) -> impl Future<Output = ()> + Send;

    /// Waits for the next signal to this host's process and takes it.
    fn signal(&self) -> impl Future<Output = String> + Send;
}

/// One end of a connection: an ordered byte stream, as tokio's traits have it. Dropping it closes the connection.
pub trait StreamLike: AsyncRead + AsyncWrite + Unpin + Send + Sync + 'static {
    /// The connection, by the number that both ends and the trace know it by.
    fn connection(&self) -> ConnectionId;

    /// The host at the other end.
    fn peer(&self) -> HostId;
}

/// An open port. Dropping it closes the port.
pub trait IncomingLike: Send + 'static {
    /// An accepted connection.
    type Stream: StreamLike;

    /// The next connection.
    fn accept(&mut self) -> impl Future<Output = Self::Stream> + Send;
}

impl WorldLike for World {
    type Host = Host;
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

    fn set_link(&mut self, from: HostId, to: HostId, spec: LinkSpec) {
        World::set_link(self, from, to, spec);
    }

    fn plan(&mut self, fault: PlannedFault) {
        World::plan(self, fault);
    }

    fn reseed_at(&mut self, at: SimTime, seed: Seed) {
        World::reseed_at(self, at, seed);
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

impl HostLike for Host {
    type Stream = SimStream;
    type Incoming = Incoming;

    fn id(&self) -> HostId {
        Host::id(self)
    }

    fn name(&self) -> String {
        Host::name(self)
    }

    fn restarts(&self) -> u32 {
        Host::restarts(self)
    }

    fn clocks(&self) -> Readings {
        Host::clocks(self)
    }

    fn wall(&self) -> impl Future<Output = WallTime> + Send {
        Host::wall(self)
    }

    fn monotonic(&self) -> impl Future<Output = MonotonicTime> + Send {
        Host::monotonic(self)
    }

    fn boot(&self) -> impl Future<Output = BootTime> + Send {
        Host::boot(self)
    }

    fn mark(&self, label: &'static str, about: Option<HostId>) -> impl Future<Output = ()> + Send {
        Host::mark(self, label, about)
    }

    fn note(&self, label: impl Into<Cow<'static, str>>, about: Option<HostId>) {
        Host::note(self, label, about);
    }

    fn halt(&self) {
        Host::halt(self);
    }

    fn sleep_until(&self, until: MonotonicTime) -> impl Future<Output = ()> + Send {
        Host::sleep_until(self, until)
    }

    fn sleep(&self, duration: Duration) -> impl Future<Output = ()> + Send {
        Host::sleep(self, duration)
    }

    fn wall_reaches(&self, until: WallTime) -> impl Future<Output = ()> + Send {
        Host::wall_reaches(self, until)
    }

    fn race<F>(
        &self,
        operation: F,
        deadline: MonotonicTime,
    ) -> impl Future<Output = Result<F::Output, DeadlinePassed>> + Send
    where
        F: Future + Send,
        F::Output: Send,
    {
        Host::race(self, operation, deadline)
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        Host::spawn(self, task);
    }

    fn random(&self, bytes: &mut [u8]) {
        Host::random(self, bytes);
    }

    fn draw(&self, law: &DelayLaw) -> Duration {
        Host::draw(self, law)
    }

    fn slowness(&self) -> Duration {
        Host::slowness(self)
    }

    fn connect(&self, to: HostId, port: u16) -> impl Future<Output = Result<SimStream, ConnectError>> + Send {
        Host::connect(self, to, port)
    }

    fn listen(&self, port: u16) -> Incoming {
        Host::listen(self, port)
    }

    fn append(&self, file: &str, bytes: &[u8]) {
        Host::append(self, file, bytes);
    }

    fn read_file(&self, file: &str) -> Vec<u8> {
        Host::read_file(self, file)
    }

    fn truncate(&self, file: &str, len: usize) {
        Host::truncate(self, file, len);
    }

    fn replace(&self, file: &str, bytes: &[u8]) {
        Host::replace(self, file, bytes);
    }

    fn fsync(&self, file: &str) -> impl Future<Output = ()> + Send {
        Host::fsync(self, file)
    }

    fn signal(&self) -> impl Future<Output = String> + Send {
        Host::signal(self)
    }
}

impl StreamLike for SimStream {
    fn connection(&self) -> ConnectionId {
        SimStream::connection(self)
    }

    fn peer(&self) -> HostId {
        SimStream::peer(self)
    }
}

impl IncomingLike for Incoming {
    type Stream = SimStream;

    fn accept(&mut self) -> impl Future<Output = SimStream> + Send {
        Incoming::accept(self)
    }
}
