//! A host's handle: the only door from code under test to the world.
//!
//! Everything here that is awaited is a *step point*: a pause can strike there, after what it did (a clock sampled,
//! a mark made) and before the code goes on. That is how a pause falls between a check and the write that follows it.
//!
//! Handles belong to one process of the host. After that process dies they stay inert: their futures never complete.
//!
//! A handle is of the kernel or of another simulator. Whatever runs on hosts has this one type for both, so it is
//! compiled once: a call to the kernel costs one comparison more, a call to another simulator goes through an object.
//!
//! Decision: "A host of any simulator is one type" (docs/decisions/engines.md).

use std::borrow::Cow;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use crate::clock::Readings;
use crate::delay::DelayLaw;
use crate::either::{Either, for_both};
use crate::host_like::{BoxFuture, HostLike};
use crate::kernel_host::KernelHost;
use crate::net::ConnectError;
use crate::stream::{Incoming, SimStream};
use crate::time::{BootTime, MonotonicTime, WallTime};
use crate::trace::HostId;

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
pub struct Host(Either<KernelHost, Arc<dyn HostLike>>);

/// Makes the process of a host: called when the world starts and at each restart.
pub type Boot = Rc<dyn Fn(Host) -> BoxFuture<'static, ()>>;

/// A deadline passed before the operation was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the deadline passed first")]
pub struct DeadlinePassed;

impl Host {
    /// A host of another simulator.
    pub fn of_other(host: impl HostLike + 'static) -> Host {
        Host(Either::Other(Arc::new(host)))
    }

    pub(crate) fn of_kernel(host: KernelHost) -> Host {
        Host(Either::Kernel(host))
    }

    /// This host's number.
    pub fn id(&self) -> HostId {
        for_both!(&self.0, host => host.id())
    }

    /// This host's name.
    pub fn name(&self) -> String {
        for_both!(&self.0, host => host.name())
    }

    /// How many processes of this host died before this one.
    pub fn restarts(&self) -> u32 {
        for_both!(&self.0, host => host.restarts())
    }

    /// What the three clocks show, without a step point: for servers, whose pauses strike between requests.
    pub fn clocks(&self) -> Readings {
        for_both!(&self.0, host => host.clocks())
    }

    /// Reads the wall clock, as a step point.
    pub async fn wall(&self) -> WallTime {
        for_both!(&self.0, host => host.wall().await)
    }

    /// Reads the monotonic clock, as a step point.
    pub async fn monotonic(&self) -> MonotonicTime {
        for_both!(&self.0, host => host.monotonic().await)
    }

    /// Reads the boot clock, as a step point.
    pub async fn boot(&self) -> BootTime {
        for_both!(&self.0, host => host.boot().await)
    }

    /// Notes something in the trace, where a fault may wait for it, as a step point.
    pub async fn mark(&self, label: impl Into<Cow<'static, str>>, about: Option<HostId>) {
        let label = label.into();
        for_both!(&self.0, host => host.mark(label, about).await);
    }

    /// Notes something in the trace without a step point: for servers and for callbacks that cannot wait.
    pub fn note(&self, label: impl Into<Cow<'static, str>>, about: Option<HostId>) {
        let label = label.into();
        for_both!(&self.0, host => host.note(label, about));
    }

    /// Ends the run with [`Outcome::Halted`](crate::Outcome::Halted): this host has come to a point from which on it
    /// would not do what it stands for. No code takes another step.
    pub fn halt(&self) {
        for_both!(&self.0, host => host.halt());
    }

    /// Waits for a duration of this host's monotonic clock.
    pub async fn sleep(&self, duration: Duration) {
        self.sleep_until(self.clocks().monotonic.after(duration)).await;
    }

    /// Waits until this host's monotonic clock shows `until`.
    pub fn sleep_until(&self, until: MonotonicTime) -> impl Future<Output = ()> + Send + use<> {
        match &self.0 {
            Either::Kernel(host) => Either::Kernel(host.sleep_until(until)),
            Either::Other(host) => Either::Other(host.sleep_until(until)),
        }
    }

    /// Waits until this host's wall clock shows `until` or later, however it comes there.
    pub fn wall_reaches(&self, until: WallTime) -> impl Future<Output = ()> + Send + use<> {
        match &self.0 {
            Either::Kernel(host) => Either::Kernel(host.wall_reaches(until)),
            Either::Other(host) => Either::Other(host.wall_reaches(until)),
        }
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
        match &self.0 {
            Either::Kernel(host) => host.spawn(task),
            Either::Other(host) => host.spawn(Box::pin(task)),
        }
    }

    /// Fills `bytes` from this host's own random stream.
    pub fn random(&self, bytes: &mut [u8]) {
        for_both!(&self.0, host => host.random(bytes));
    }

    /// Draws from a law with this host's own random stream.
    pub fn draw(&self, law: &DelayLaw) -> Duration {
        for_both!(&self.0, host => host.draw(law))
    }

    /// How much longer than usual something takes that this host's process is asked to do: a draw from each
    /// [`Fault::SlowService`](crate::Fault::SlowService) in force, and nothing is drawn where there is none.
    pub fn slowness(&self) -> Duration {
        for_both!(&self.0, host => host.slowness())
    }

    /// Opens a connection. Takes a round trip; fails when nothing listens there, the other machine resets it, or no
    /// answer comes within the connect timeout.
    pub async fn connect(&self, to: HostId, port: u16) -> Result<SimStream, ConnectError> {
        match &self.0 {
            Either::Kernel(host) => host.connect(to, port).await.map(SimStream::of_kernel),
            Either::Other(host) => host.connect(to, port).await.map(SimStream::of_other),
        }
    }

    /// Listens on a port. The machine completes handshakes and queues connections also while the process is paused.
    ///
    /// # Panics
    /// If the process already listens on this port, in a [`World`](crate::World).
    pub fn listen(&self, port: u16) -> Incoming {
        match &self.0 {
            Either::Kernel(host) => Incoming::of_kernel(host.listen(port)),
            Either::Other(host) => Incoming::of_other(host.listen(port)),
        }
    }

    /// Appends to a file: visible at once, durable after an fsync.
    pub fn append(&self, file: &str, bytes: &[u8]) {
        for_both!(&self.0, host => host.append(file, bytes));
    }

    /// The file as written; empty if there is none.
    pub fn read_file(&self, file: &str) -> Vec<u8> {
        for_both!(&self.0, host => host.read_file(file))
    }

    /// Cuts a file to its first `len` bytes.
    pub fn truncate(&self, file: &str, len: usize) {
        for_both!(&self.0, host => host.truncate(file, len));
    }

    /// Replaces a file's content, all or nothing: until an fsync that began later is done, a power loss brings the old
    /// content back.
    pub fn replace(&self, file: &str, bytes: &[u8]) {
        for_both!(&self.0, host => host.replace(file, bytes));
    }

    /// Makes durable what the file holds now. Takes the disk's fsync time.
    pub async fn fsync(&self, file: &str) {
        for_both!(&self.0, host => host.fsync(file).await);
    }

    /// Waits for the next signal to this host's process and takes it.
    pub async fn signal(&self) -> String {
        for_both!(&self.0, host => host.signal().await)
    }
}
