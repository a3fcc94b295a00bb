//! A host of this world, behind the `Host` that its code holds: doublehold's clocks and disk, turmoil's network.
//!
//! Handles belong to one process of the host. After that process died they stay inert: their futures never complete.

use std::borrow::Cow;
use std::future::{Future, poll_fn};
use std::task::{Context, Poll};
use std::time::Duration;

use doublehold_sim::{
    BootTime, BoxFuture, ClockKind, ConnectError, DelayLaw, Event, HostId, HostLike, IncomingLike,
    MonotonicTime, Readings, StreamLike, WallTime,
};

use crate::process;
use crate::state::{HostState, Shared, State};
use crate::stream::{TurmoilIncoming, TurmoilStream};
use crate::syncs::Fsync;
use crate::timers::ClockReaches;

/// A host of a [`TurmoilWorld`](crate::TurmoilWorld). [`Host`](doublehold_sim::Host) says what its methods do.
#[derive(Clone)]
pub(crate) struct TurmoilHost {
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

    fn wall(&self) -> BoxFuture<'_, WallTime> {
        Box::pin(async { WallTime(self.read_clock(ClockKind::Wall).await) })
    }

    fn monotonic(&self) -> BoxFuture<'_, MonotonicTime> {
        Box::pin(async { MonotonicTime(self.read_clock(ClockKind::Monotonic).await as u64) })
    }

    fn boot(&self) -> BoxFuture<'_, BootTime> {
        Box::pin(async { BootTime(self.read_clock(ClockKind::Boot).await as u64) })
    }

    fn mark(&self, label: Cow<'static, str>, about: Option<HostId>) -> BoxFuture<'_, ()> {
        let host = self.host;
        Box::pin(self.step(move |state| state.emit(Event::Mark { host, label: label.clone(), about })))
    }

    fn note(&self, label: Cow<'static, str>, about: Option<HostId>) {
        self.act(|state, host| state.emit(Event::Mark { host, label, about }));
    }

    fn halt(&self) {
        self.act(|state, _| state.halted = true);
    }

    fn sleep_until(&self, until: MonotonicTime) -> BoxFuture<'static, ()> {
        let reading = i64::try_from(until.0).unwrap_or(i64::MAX);
        Box::pin(ClockReaches::new(self.clone(), ClockKind::Monotonic, reading))
    }

    fn wall_reaches(&self, until: WallTime) -> BoxFuture<'static, ()> {
        Box::pin(ClockReaches::new(self.clone(), ClockKind::Wall, until.0))
    }

    fn spawn(&self, task: BoxFuture<'static, ()>) {
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

    fn connect(&self, to: HostId, port: u16) -> BoxFuture<'_, Result<Box<dyn StreamLike>, ConnectError>> {
        Box::pin(async move {
            let stream = TurmoilStream::connect(self.clone(), to, port).await?;
            Ok(Box::new(stream) as Box<dyn StreamLike>)
        })
    }

    fn listen(&self, port: u16) -> Box<dyn IncomingLike> {
        Box::new(TurmoilIncoming::open(self.clone(), port))
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

    fn fsync<'a>(&'a self, file: &'a str) -> BoxFuture<'a, ()> {
        Box::pin(async { Fsync::new(self.clone(), file).await })
    }

    fn signal(&self) -> BoxFuture<'_, String> {
        Box::pin(poll_fn(|cx| {
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
        }))
    }
}
