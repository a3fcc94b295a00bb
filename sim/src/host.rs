//! A host's handle: the only door from code under test to the world.
//!
//! Everything here that is awaited is a *step point*: a pause can strike there, after what it did (a clock sampled,
//! a mark made) and before the code goes on. That is how a pause falls between a check and the write that follows it.
//!
//! Handles belong to one process of the host. After that process dies they stay inert: their futures never complete.

use std::borrow::Cow;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use crate::clock::{ClockKind, Readings};
use crate::delay::DelayLaw;
use crate::kernel::{Kernel, Process, Shared, State};
use crate::net::{ConnectError, Incoming, SimStream};
use crate::time::{BootTime, MonotonicTime, WallTime};
use crate::timer::ClockReaches;
use crate::trace::{Event, HostId};

/// A host, as its own code sees it.
///
/// ```
/// use doublehold_sim::{Budget, DeadlinePassed, DelayLaw, HostSpec, LinkSpec, Outcome, Seed, World};
/// use std::time::Duration;
///
/// let mut world = World::new(Seed(1), LinkSpec::lossless(DelayLaw::Fixed(Duration::from_millis(1))));
/// world.add_host(HostSpec::new("host").essential(), |host| async move {
///     // An operation against a deadline: here a sleep, more often an exchange over a connection.
///     let deadline = host.monotonic().await.after(Duration::from_millis(50));
///     let late = host.race(host.sleep(Duration::from_millis(80)), deadline).await;
///     assert_eq!(late, Err(DeadlinePassed));
///
///     // Written at once, durable after an fsync.
///     let mut token = [0; 20];
///     host.random(&mut token);
///     host.append("token", &token);
///     host.fsync("token").await;
///     assert_eq!(host.read_file("token"), token);
///
///     // A task of the same process, and a mark in the trace where a fault may strike.
///     let other = host.clone();
///     host.spawn(async move { other.mark("other task", None).await });
///     host.sleep(Duration::from_millis(1)).await;
/// });
/// assert_eq!(world.run(Budget::default()).outcome, Outcome::Completed);
/// ```
#[derive(Clone)]
pub struct Host {
    kernel: Shared,
    process: Process,
}

/// A deadline passed before the operation was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the deadline passed first")]
pub struct DeadlinePassed;

impl Host {
    pub(crate) fn new(kernel: Shared, process: Process) -> Host {
        Host { kernel, process }
    }

    pub(crate) fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    pub(crate) fn process(&self) -> Process {
        self.process
    }

    /// This host's number.
    pub fn id(&self) -> HostId {
        self.process.host
    }

    /// This host's name.
    pub fn name(&self) -> String {
        self.kernel.state.borrow().host(self.process.host).name.clone()
    }

    /// How many processes of this host died before this one.
    pub fn restarts(&self) -> u32 {
        self.process.incarnation
    }

    /// What the three clocks show, without a step point: for servers, whose pauses strike between requests.
    pub fn clocks(&self) -> Readings {
        let state = self.kernel.state.borrow();
        state.host(self.process.host).clocks.read(state.now)
    }

    /// Reads the wall clock, as a step point.
    pub async fn wall(&self) -> WallTime {
        WallTime(self.read_clock(ClockKind::Wall).await)
    }

    /// Reads the monotonic clock, as a step point.
    pub async fn monotonic(&self) -> MonotonicTime {
        MonotonicTime(self.read_clock(ClockKind::Monotonic).await as u64)
    }

    /// Reads the boot clock, as a step point.
    pub async fn boot(&self) -> BootTime {
        BootTime(self.read_clock(ClockKind::Boot).await as u64)
    }

    fn read_clock(&self, clock: ClockKind) -> impl Future<Output = i64> {
        let host = self.process.host;
        self.step(move |state| {
            let reading = state.host(host).clocks.value(clock, state.now);
            state.emit(Event::ClockRead { host, clock, reading });
            reading
        })
    }

    /// Notes something in the trace, where a fault may wait for it, as a step point.
    pub async fn mark(&self, label: impl Into<Cow<'static, str>>, about: Option<HostId>) {
        let (host, mut label) = (self.process.host, Some(label.into()));
        self.step(|state| {
            if let Some(label) = label.take() {
                state.emit(Event::Mark { host, label, about });
            }
        })
        .await;
    }

    /// Notes something in the trace without a step point: for servers and for callbacks that cannot wait.
    pub fn note(&self, label: impl Into<Cow<'static, str>>, about: Option<HostId>) {
        let label = label.into();
        self.act_on_host(|state, host| state.emit(Event::Mark { host, label, about }));
    }

    /// Ends the run with [`Outcome::Halted`](crate::Outcome::Halted): this host has come to a point from which on it
    /// would not do what it stands for. No code takes another step.
    pub fn halt(&self) {
        self.act_on_host(|state, _| state.halted = true);
    }

    /// Does `action` once, then waits while the host is stopped.
    async fn step<R>(&self, mut action: impl FnMut(&mut State) -> R) -> R {
        let mut done = None;
        poll_fn(|cx| {
            let mut state = self.kernel.state.borrow_mut();
            if state.holds_back(self.process, cx) {
                return Poll::Pending;
            }
            let result = match done.take() {
                Some(result) => return Poll::Ready(result),
                None => action(&mut state),
            };
            state.strike_due_faults();
            // The action's own event may have stopped this host.
            if state.holds_back(self.process, cx) {
                done = Some(result);
                return Poll::Pending;
            }
            Poll::Ready(result)
        })
        .await
    }

    pub(crate) fn holds_back(&self, cx: &Context<'_>) -> bool {
        self.kernel.state.borrow_mut().holds_back(self.process, cx)
    }

    /// Waits for a duration of this host's monotonic clock.
    pub async fn sleep(&self, duration: Duration) {
        self.sleep_until(self.clocks().monotonic.after(duration)).await;
    }

    /// Waits until this host's monotonic clock shows `until`.
    pub fn sleep_until(&self, until: MonotonicTime) -> impl Future<Output = ()> + use<> {
        self.clock_reaches(ClockKind::Monotonic, reading(until.0))
    }

    /// Waits until this host's wall clock shows `until` or later, however it comes there.
    pub fn wall_reaches(&self, until: WallTime) -> impl Future<Output = ()> + use<> {
        self.clock_reaches(ClockKind::Wall, until.0)
    }

    fn clock_reaches(&self, clock: ClockKind, reading: i64) -> ClockReaches {
        ClockReaches::new(self.clone(), self.process.host, clock, reading)
    }

    /// Runs an operation against a deadline on the monotonic clock. The operation is polled before the timer: after a
    /// pause in which both came due, an answer that is already there wins. Fails when the deadline passes first; the
    /// operation is then dropped, which recalls nothing that was already sent.
    pub async fn race<F: Future>(
        &self,
        operation: F,
        deadline: MonotonicTime,
    ) -> Result<F::Output, DeadlinePassed> {
        let mut operation = pin!(operation);
        let mut timer = pin!(self.sleep_until(deadline));
        poll_fn(|cx| match operation.as_mut().poll(cx) {
            Poll::Ready(output) => Poll::Ready(Ok(output)),
            Poll::Pending => timer.as_mut().poll(cx).map(|()| Err(DeadlinePassed)),
        })
        .await
    }

    /// Starts a task of this host's process. It dies with the process.
    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.kernel.spawn(self.process, task);
    }

    /// Fills `bytes` from this host's own random stream.
    pub fn random(&self, bytes: &mut [u8]) {
        self.kernel.state.borrow_mut().host_mut(self.process.host).random.fill(bytes);
    }

    /// Draws from a law with this host's own random stream.
    pub fn draw(&self, law: &DelayLaw) -> Duration {
        law.draw(&mut self.kernel.state.borrow_mut().host_mut(self.process.host).random)
    }

    /// How much longer than usual something takes that this host's process is asked to do: a draw from each
    /// [`Fault::SlowService`](crate::Fault::SlowService) in force, and nothing is drawn where there is none.
    pub fn slowness(&self) -> Duration {
        let host = &mut *self.kernel.state.borrow_mut();
        let host = host.host_mut(self.process.host);
        let crate::host_state::HostState { slow_by, random, .. } = host;
        slow_by.iter().fold(Duration::ZERO, |sum, law| sum.saturating_add(law.draw(random)))
    }

    /// Opens a connection. Takes a round trip; fails when nothing listens there, the other machine resets it, or no
    /// answer comes within the connect timeout.
    pub async fn connect(&self, to: HostId, port: u16) -> Result<SimStream, ConnectError> {
        SimStream::connect(self.clone(), to, port).await
    }

    /// Listens on a port. The machine completes handshakes and queues connections also while the process is paused.
    ///
    /// # Panics
    /// If the process already listens on this port.
    pub fn listen(&self, port: u16) -> Incoming {
        Incoming::open(self.clone(), port)
    }

    /// Appends to a file: visible at once, durable after an fsync.
    pub fn append(&self, file: &str, bytes: &[u8]) {
        self.act_on_host(|state, host| state.host_mut(host).disk.append(file, bytes));
    }

    /// The file as written; empty if there is none.
    pub fn read_file(&self, file: &str) -> Vec<u8> {
        self.kernel.state.borrow().host(self.process.host).disk.read(file)
    }

    /// Cuts a file to its first `len` bytes.
    pub fn truncate(&self, file: &str, len: usize) {
        self.act_on_host(|state, host| {
            state.host_mut(host).disk.truncate(file, len);
            state.fsyncs_cover_at_most(host, file, len);
        });
    }

    /// Replaces a file's content, all or nothing: until an fsync that began later is done, a power loss brings the old
    /// content back.
    pub fn replace(&self, file: &str, bytes: &[u8]) {
        self.act_on_host(|state, host| {
            state.host_mut(host).disk.replace(file, bytes);
            state.fsyncs_miss(host, file);
        });
    }

    /// Acts for this process; does nothing once it died.
    fn act_on_host(&self, action: impl FnOnce(&mut State, HostId)) {
        let Process { host, incarnation } = self.process;
        self.kernel.enter(|state| {
            if state.host(host).life.incarnation() == incarnation {
                action(state, host);
            }
        });
    }

    /// Makes durable what the file holds now. Takes the disk's fsync time.
    pub async fn fsync(&self, file: &str) {
        crate::fsync::Fsync::new(self.clone(), file.to_owned()).await;
    }

    /// Waits for the next signal to this host's process and takes it.
    pub async fn signal(&self) -> String {
        poll_fn(|cx| {
            if self.holds_back(cx) {
                return Poll::Pending;
            }
            self.kernel.enter(|state| {
                let host = state.host_mut(self.process.host);
                if host.signals.is_empty() {
                    host.signal_waker = Some(cx.waker().clone());
                    return Poll::Pending;
                }
                Poll::Ready(host.signals.remove(0))
            })
        })
        .await
    }

    pub(crate) fn main_finished(&self) {
        self.kernel.enter(|state| state.main_finished(self.process));
    }
}

/// A monotonic reading as the signed number clocks compare by; later than any clock will show if it does not fit.
fn reading(nanoseconds: u64) -> i64 {
    i64::try_from(nanoseconds).unwrap_or(i64::MAX)
}

/// Boxes a boot function's future.
pub(crate) type BoxFuture = Pin<Box<dyn Future<Output = ()> + Send>>;
