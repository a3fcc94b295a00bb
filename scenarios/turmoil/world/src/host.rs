//! A host's handle, as its own code has it: doublehold's clocks and disk, turmoil's network.
//!
//! Handles belong to one process of the host. After that process died they stay inert: their futures never complete.

use std::borrow::Cow;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::{Context, Poll};
use std::time::Duration;

use doublehold_sim::{
    BootTime, ClockKind, ConnectError, DeadlinePassed, DelayLaw, Event, HostId, HostLike, MonotonicTime,
    Readings, WallTime,
};

use crate::process;
use crate::state::{HostState, Shared, State};
use crate::stream::{TurmoilIncoming, TurmoilStream};
use crate::syncs::Fsync;
use crate::timers::ClockReaches;

/// A host of a [`TurmoilWorld`](crate::TurmoilWorld), as its own code sees it.
#[derive(Clone)]
pub struct TurmoilHost {
    pub(crate) shared: Shared,
    pub(crate) host: HostId,
    pub(crate) incarnation: u32,
}

impl TurmoilHost {
    pub(crate) fn holds_back(&self, cx: &Context<'_>) -> bool {
        self.shared.borrow_mut().holds_back(self.host, self.incarnation, cx)
    }

    /// Sends what this host has written, so that faults that wait for it strike.
    pub(crate) fn flush(&self) {
        self.shared.enter(State::flush);
    }

    /// Closes a socket on this host's machine. One that outlives its world belongs to no machine any more.
    pub(crate) fn close<S>(&self, socket: Option<S>) {
        if !self.shared.borrow().net.is_on() {
            std::mem::forget(socket);
        }
    }

    /// Does `action` once, then waits while the host is stopped.
    async fn step<R>(&self, mut action: impl FnMut(&mut State) -> R) -> R {
        let mut done = None;
        poll_fn(|cx| {
            let mut state = self.shared.borrow_mut();
            if state.holds_back(self.host, self.incarnation, cx) {
                return Poll::Pending;
            }
            let result = match done.take() {
                Some(result) => return Poll::Ready(result),
                None => action(&mut state),
            };
            state.strike_due_faults();
            // The action's own event may have stopped this host.
            if state.holds_back(self.host, self.incarnation, cx) {
                done = Some(result);
                return Poll::Pending;
            }
            Poll::Ready(result)
        })
        .await
    }

    fn read_clock(&self, clock: ClockKind) -> impl Future<Output = i64> + Send {
        let host = self.host;
        self.step(move |state| {
            let reading = state.host(host).clocks.value(clock, state.now);
            state.emit(Event::ClockRead { host, clock, reading });
            reading
        })
    }

    /// Acts for this process; does nothing once it died.
    fn act(&self, action: impl FnOnce(&mut State, HostId)) {
        self.shared.enter(|state| {
            if state.host(self.host).life.incarnation() == self.incarnation {
                action(state, self.host);
            }
        });
    }
}

impl HostLike for TurmoilHost {
    type Stream = TurmoilStream;
    type Incoming = TurmoilIncoming;

    fn id(&self) -> HostId {
        self.host
    }

    fn name(&self) -> String {
        self.shared.borrow().host(self.host).name.clone()
    }

    fn restarts(&self) -> u32 {
        self.incarnation
    }

    fn clocks(&self) -> Readings {
        let state = self.shared.borrow();
        state.host(self.host).clocks.read(state.now)
    }

    async fn wall(&self) -> WallTime {
        WallTime(self.read_clock(ClockKind::Wall).await)
    }

    async fn monotonic(&self) -> MonotonicTime {
        MonotonicTime(self.read_clock(ClockKind::Monotonic).await as u64)
    }

    async fn boot(&self) -> BootTime {
        BootTime(self.read_clock(ClockKind::Boot).await as u64)
    }

    async fn mark(&self, label: &'static str, about: Option<HostId>) {
        let host = self.host;
        self.step(|state| state.emit(Event::Mark { host, label: label.into(), about })).await;
    }

    fn note(&self, label: impl Into<Cow<'static, str>>, about: Option<HostId>) {
        let label = label.into();
        self.act(|state, host| state.emit(Event::Mark { host, label, about }));
    }

    fn halt(&self) {
        self.act(|state, _| state.halted = true);
    }

    fn sleep_until(&self, until: MonotonicTime) -> impl Future<Output = ()> + Send {
        let reading = i64::try_from(until.0).unwrap_or(i64::MAX);
        ClockReaches::new(self.clone(), ClockKind::Monotonic, reading)
    }

    fn wall_reaches(&self, until: WallTime) -> impl Future<Output = ()> + Send {
        ClockReaches::new(self.clone(), ClockKind::Wall, until.0)
    }

    async fn race<F>(&self, operation: F, deadline: MonotonicTime) -> Result<F::Output, DeadlinePassed>
    where
        F: Future + Send,
        F::Output: Send,
    {
        let mut operation = pin!(operation);
        let mut timer = pin!(self.sleep_until(deadline));
        poll_fn(|cx| match operation.as_mut().poll(cx) {
            Poll::Ready(output) => Poll::Ready(Ok(output)),
            Poll::Pending => timer.as_mut().poll(cx).map(|()| Err(DeadlinePassed)),
        })
        .await
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        process::spawn(self, task);
    }

    fn random(&self, bytes: &mut [u8]) {
        self.shared.borrow_mut().host_mut(self.host).random.fill(bytes);
    }

    fn draw(&self, law: &DelayLaw) -> Duration {
        law.draw(&mut self.shared.borrow_mut().host_mut(self.host).random)
    }

    fn slowness(&self) -> Duration {
        let mut state = self.shared.borrow_mut();
        let HostState { slow_by, random, .. } = state.host_mut(self.host);
        slow_by.iter().fold(Duration::ZERO, |sum, law| sum.saturating_add(law.draw(random)))
    }

    async fn connect(&self, to: HostId, port: u16) -> Result<TurmoilStream, ConnectError> {
        TurmoilStream::connect(self.clone(), to, port).await
    }

    fn listen(&self, port: u16) -> TurmoilIncoming {
        TurmoilIncoming::open(self.clone(), port)
    }

    fn append(&self, file: &str, bytes: &[u8]) {
        self.act(|state, host| state.host_mut(host).disk.append(file, bytes));
    }

    fn read_file(&self, file: &str) -> Vec<u8> {
        self.shared.borrow().host(self.host).disk.read(file)
    }

    fn truncate(&self, file: &str, len: usize) {
        self.act(|state, host| {
            state.host_mut(host).disk.truncate(file, len);
            state.fsyncs_cover_at_most(host, file, len);
        });
    }

    fn replace(&self, file: &str, bytes: &[u8]) {
        self.act(|state, host| {
            state.host_mut(host).disk.replace(file, bytes);
            state.fsyncs_miss(host, file);
        });
    }

    async fn fsync(&self, file: &str) {
        Fsync::new(self.clone(), file).await;
    }

    async fn signal(&self) -> String {
        poll_fn(|cx| {
            if self.holds_back(cx) {
                return Poll::Pending;
            }
            self.shared.enter(|state| {
                let host = state.host_mut(self.host);
                if host.signals.is_empty() {
                    host.signal_waker = Some(cx.waker().clone());
                    return Poll::Pending;
                }
                Poll::Ready(host.signals.remove(0))
            })
        })
        .await
    }
}
