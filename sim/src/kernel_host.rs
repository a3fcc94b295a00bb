//! A host of the kernel: what a [`Host`](crate::Host) does here, as steps of the event loop.

use std::borrow::Cow;
use std::future::{Future, poll_fn};
use std::task::{Context, Poll};
use std::time::Duration;

use crate::clock::{ClockKind, Readings};
use crate::delay::DelayLaw;
use crate::kernel::{Kernel, Process, Shared, State};
use crate::net::{ConnectError, KernelIncoming, KernelStream};
use crate::time::{BootTime, MonotonicTime, WallTime};
use crate::timer::ClockReaches;
use crate::trace::{Event, HostId};

/// A host of the kernel. [`Host`](crate::Host) says what its methods do.
#[derive(Clone)]
pub(crate) struct KernelHost {
    kernel: Shared,
    process: Process,
}

impl KernelHost {
    pub(crate) fn new(kernel: Shared, process: Process) -> KernelHost {
        KernelHost { kernel, process }
    }

    pub(crate) fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    pub(crate) fn process(&self) -> Process {
        self.process
    }

    pub(crate) fn id(&self) -> HostId {
        self.process.host
    }

    pub(crate) fn name(&self) -> String {
        self.kernel.state.borrow().host(self.process.host).name.clone()
    }

    pub(crate) fn restarts(&self) -> u32 {
        self.process.incarnation
    }

    pub(crate) fn clocks(&self) -> Readings {
        let state = self.kernel.state.borrow();
        state.host(self.process.host).clocks.read(state.now)
    }

    pub(crate) async fn wall(&self) -> WallTime {
        WallTime(self.read_clock(ClockKind::Wall).await)
    }

    pub(crate) async fn monotonic(&self) -> MonotonicTime {
        MonotonicTime(self.read_clock(ClockKind::Monotonic).await as u64)
    }

    pub(crate) async fn boot(&self) -> BootTime {
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

    pub(crate) async fn mark(&self, label: Cow<'static, str>, about: Option<HostId>) {
        let (host, mut label) = (self.process.host, Some(label));
        self.step(|state| {
            if let Some(label) = label.take() {
                state.emit(Event::Mark { host, label, about });
            }
        })
        .await;
    }

    pub(crate) fn note(&self, label: Cow<'static, str>, about: Option<HostId>) {
        self.act_on_host(|state, host| state.emit(Event::Mark { host, label, about }));
    }

    pub(crate) fn halt(&self) {
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

    pub(crate) fn sleep_until(&self, until: MonotonicTime) -> impl Future<Output = ()> + use<> {
        self.clock_reaches(ClockKind::Monotonic, reading(until.0))
    }

    pub(crate) fn wall_reaches(&self, until: WallTime) -> impl Future<Output = ()> + use<> {
        self.clock_reaches(ClockKind::Wall, until.0)
    }

    fn clock_reaches(&self, clock: ClockKind, reading: i64) -> ClockReaches {
        ClockReaches::new(self.clone(), self.process.host, clock, reading)
    }

    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.kernel.spawn(self.process, task);
    }

    pub(crate) fn random(&self, bytes: &mut [u8]) {
        self.kernel.state.borrow_mut().host_mut(self.process.host).random.fill(bytes);
    }

    pub(crate) fn draw(&self, law: &DelayLaw) -> Duration {
        law.draw(&mut self.kernel.state.borrow_mut().host_mut(self.process.host).random)
    }

    pub(crate) fn slowness(&self) -> Duration {
        let host = &mut *self.kernel.state.borrow_mut();
        let host = host.host_mut(self.process.host);
        let crate::host_state::HostState { slow_by, random, .. } = host;
        slow_by.iter().fold(Duration::ZERO, |sum, law| sum.saturating_add(law.draw(random)))
    }

    pub(crate) async fn connect(&self, to: HostId, port: u16) -> Result<KernelStream, ConnectError> {
        KernelStream::connect(self.clone(), to, port).await
    }

    pub(crate) fn listen(&self, port: u16) -> KernelIncoming {
        KernelIncoming::open(self.clone(), port)
    }

    pub(crate) fn append(&self, file: &str, bytes: &[u8]) {
        self.act_on_host(|state, host| state.host_mut(host).disk.append(file, bytes));
    }

    pub(crate) fn read_file(&self, file: &str) -> Vec<u8> {
        self.kernel.state.borrow().host(self.process.host).disk.read(file)
    }

    pub(crate) fn truncate(&self, file: &str, len: usize) {
        self.act_on_host(|state, host| {
            state.host_mut(host).disk.truncate(file, len);
            state.fsyncs_cover_at_most(host, file, len);
        });
    }

    pub(crate) fn replace(&self, file: &str, bytes: &[u8]) {
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

    pub(crate) async fn fsync(&self, file: &str) {
        crate::fsync::Fsync::new(self.clone(), file.to_owned()).await;
    }

    pub(crate) async fn signal(&self) -> String {
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
