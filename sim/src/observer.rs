//! The world's own observer: what the code that watches a run can know, and no code under test.
//!
//! It has a type of its own so that a host cannot be asked for true time at all. It is host zero, beyond all faults,
//! and leaves no mark in the trace: a run that is watched is the run that is not.
//!
//! Decision: "The observer is host 0" (docs/decisions/world.md).

use std::future::Future;

use crate::clock::{ClockKind, Readings};
use crate::kernel::{OBSERVER, Process, Shared};
use crate::kernel_host::KernelHost;
use crate::net::CopyOf;
use crate::time::SimTime;
use crate::timer::ClockReaches;
use crate::trace::{ConnectionId, HostId};

/// Watches a world from outside: made by [`World::observer`](crate::World::observer).
///
/// ```
/// use doublehold_sim::{Budget, ClockKind, DelayLaw, HostSpec, LinkSpec, RatePpb, Seed, World};
/// use std::sync::mpsc;
/// use std::time::Duration;
///
/// let mut world = World::new(Seed(1), LinkSpec::lossless(DelayLaw::Fixed(Duration::from_millis(1))));
/// let fast = HostSpec { rate: RatePpb(1_000_000_000), ..HostSpec::new("fast").essential() }; // twice true time
/// let host = world.add_host(fast, |host| async move { host.sleep(Duration::from_secs(9)).await });
/// let observer = world.observer();
/// let (says, said) = mpsc::channel();
/// observer.clone().spawn(async move {
///     observer.clock_reaches(host, ClockKind::Wall, 4_000_000_000).await;
///     says.send(observer.true_time()).expect("the test listens");
/// });
/// world.run(Budget::default());
/// assert_eq!(said.recv().expect("it was reached").to_string(), "2.000000000");
/// ```
///
/// Code on a host cannot ask:
///
/// ```compile_fail
/// async fn cheat(host: doublehold_sim::Host) {
///     host.true_time();
/// }
/// ```
#[derive(Clone)]
pub struct WorldObserver(KernelHost);

impl WorldObserver {
    pub(crate) fn new(kernel: Shared) -> WorldObserver {
        WorldObserver(KernelHost::new(kernel, Process { host: OBSERVER, incarnation: 0 }))
    }

    /// True time.
    pub fn true_time(&self) -> SimTime {
        self.0.kernel().state.borrow().now
    }

    /// What a host's clocks show now.
    pub fn clocks_of(&self, host: HostId) -> Readings {
        let state = self.0.kernel().state.borrow();
        state.host(host).clocks.read(state.now)
    }

    /// The message that a connection carries again, if it was opened for that.
    pub fn copy_of(&self, connection: ConnectionId) -> Option<CopyOf> {
        self.0.kernel().state.borrow().copy_of(connection)
    }

    /// Waits until a host's clock shows at least `reading`, in nanoseconds, whatever is done to that clock meanwhile.
    pub async fn clock_reaches(&self, host: HostId, clock: ClockKind, reading: i64) {
        ClockReaches::new(self.0.clone(), host, clock, reading).await;
    }

    /// Starts a task that watches. Of the tasks that are ready it goes first.
    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.0.spawn(task);
    }

    /// The code that watches has recorded so many bytes more, which count towards
    /// [`Budget::memory`](crate::Budget::memory).
    pub fn keeps(&self, bytes: u64) {
        self.0.kernel().state.borrow_mut().watchers_keep += bytes;
    }
}
