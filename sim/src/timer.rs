//! Waiting for a clock: sleeps and timeouts of hosts, and watches of the world's observer.
//!
//! A timer waits for a reading of one clock of one host, so a change of that clock moves the true time at which the
//! timer fires: every change re-arms what waits on it. A timer that comes due while its owner is stopped fires late,
//! at resume, in the order in which the timers came due.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use crate::clock::ClockKind;
use crate::host::Host;
use crate::kernel::{Coming, Process, State};
use crate::trace::{Event, HostId};

/// A registered wait.
pub(crate) struct Timer {
    /// The process whose task waits. For a watch, the observer's.
    owner: Process,
    /// Whose clock it waits on.
    host: HostId,
    clock: ClockKind,
    reading: i64,
    /// Counts re-armings: an event of an older arming is stale.
    generation: u32,
    fired: bool,
    waker: Waker,
}

/// Waits until a host's clock shows at least a reading.
pub(crate) struct ClockReaches {
    owner: Host,
    host: HostId,
    clock: ClockKind,
    reading: i64,
    key: Option<usize>,
}

impl ClockReaches {
    pub(crate) fn new(owner: Host, host: HostId, clock: ClockKind, reading: i64) -> ClockReaches {
        ClockReaches { owner, host, clock, reading, key: None }
    }
}

impl Future for ClockReaches {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let owner = self.owner.process();
        let (host, clock, reading, key) = (self.host, self.clock, self.reading, self.key);
        let (poll, key) = self.owner.kernel().enter(|state| {
            if state.host(owner.host).holds_back(owner.incarnation, cx) {
                return (Poll::Pending, key);
            }
            match key {
                Some(key) if state.timers[key].fired => (Poll::Ready(()), Some(key)),
                Some(key) => {
                    state.timers[key].waker.clone_from(cx.waker());
                    (Poll::Pending, Some(key))
                }
                None if state.clock_value(host, clock) >= reading => (Poll::Ready(()), None),
                None => {
                    (Poll::Pending, Some(state.set_timer(owner, host, clock, reading, cx.waker().clone())))
                }
            }
        });
        self.key = key;
        poll
    }
}

impl Drop for ClockReaches {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            self.owner.kernel().enter(|state| drop(state.timers.remove(key)));
        }
    }
}

impl State {
    fn clock_value(&self, host: HostId, clock: ClockKind) -> i64 {
        self.host(host).clocks.value(clock, self.now)
    }

    fn set_timer(
        &mut self,
        owner: Process,
        host: HostId,
        clock: ClockKind,
        reading: i64,
        waker: Waker,
    ) -> usize {
        let timer =
            Timer { owner, host, clock, reading, generation: self.timer_generation(), fired: false, waker };
        let key = self.timers.insert(timer);
        self.arm(key);
        key
    }

    fn arm(&mut self, key: usize) {
        let timer = &self.timers[key];
        let (generation, host) = (timer.generation, self.host(timer.host));
        if let Some(at) = host.clocks.reaches(timer.clock, timer.reading, self.now) {
            self.schedule(at, Coming::Timer { key: key as u32, generation });
        }
    }

    /// Re-arms everything that waits on a clock of `host`, after it changed.
    pub(crate) fn rearm(&mut self, host: HostId) {
        let waiting: Vec<usize> =
            self.timers.iter().filter(|(_, t)| t.host == host && !t.fired).map(|(key, _)| key).collect();
        for key in waiting {
            self.timers[key].generation = self.timer_generation();
            self.arm(key);
        }
    }

    pub(crate) fn timer_is_live(&self, key: u32, generation: u32) -> bool {
        self.timers.get(key as usize).is_some_and(|t| t.generation == generation && !t.fired)
    }

    pub(crate) fn timer_due(&mut self, key: u32) {
        let timer = &mut self.timers[key as usize];
        let owner = timer.owner.host;
        if self.hosts[owner.0 as usize].is_stopped() {
            let late = (key, timer.generation);
            self.host_mut(owner).late_timers.push(late);
            return;
        }
        timer.fired = true;
        timer.waker.wake_by_ref();
        self.emit(Event::TimerFired { host: owner });
    }

    /// Schedules what came due during a stop, to fire now in the order in which it came due.
    pub(crate) fn fire_late_timers(&mut self, host: HostId) {
        for (key, generation) in std::mem::take(&mut self.host_mut(host).late_timers) {
            self.schedule(self.now, Coming::Timer { key, generation });
        }
    }

    fn timer_generation(&mut self) -> u32 {
        self.timer_generations = self.timer_generations.wrapping_add(1);
        self.timer_generations
    }
}
