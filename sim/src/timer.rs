//! Waiting for a clock: sleeps and timeouts of hosts, and watches of the world's observer.
//!
//! A timer waits for a reading of one clock of one host, so a change of that clock moves the true time at which the
//! timer fires: every change re-arms what waits on it. A timer that comes due while its owner is stopped fires late,
//! at resume, in the order in which the timers came due.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use crate::clock::ClockKind;
use crate::kernel::{OBSERVER, Process, State};
use crate::kernel_host::KernelHost;
use crate::queue::Pending;
use crate::slots::Key;
use crate::time::SimTime;
use crate::trace::{Event, HostId};

/// Names a timer by the host on whose clock it waits: a change of that clock then looks at its own timers only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TimerKey {
    host: HostId,
    slot: Key<Timer>,
}

/// A registered wait.
pub(crate) struct Timer {
    /// The process whose task waits. For a watch, the observer's.
    owner: Process,
    clock: ClockKind,
    reading: i64,
    /// Counts re-armings: an event of an older arming is stale.
    generation: u32,
    /// The true time for which it is armed; `None` while its clock stands still.
    armed_for: Option<SimTime>,
    progress: Progress,
    waker: Waker,
}

/// How far a timer has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    Waiting,
    /// It came due while its owner was stopped. A change of the clock no longer matters to it.
    Late,
    Fired,
}

/// Waits until a host's clock shows at least a reading.
pub(crate) struct ClockReaches {
    owner: KernelHost,
    host: HostId,
    clock: ClockKind,
    reading: i64,
    key: Option<TimerKey>,
}

impl ClockReaches {
    pub(crate) fn new(owner: KernelHost, host: HostId, clock: ClockKind, reading: i64) -> ClockReaches {
        ClockReaches { owner, host, clock, reading, key: None }
    }
}

impl Future for ClockReaches {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let owner = self.owner.process();
        let (host, clock, reading, key) = (self.host, self.clock, self.reading, self.key);
        let (poll, key) = self.owner.kernel().enter(|state| {
            if state.holds_back(owner, cx) {
                return (Poll::Pending, key);
            }
            match key {
                Some(key) if state.timer_mut(key).progress == Progress::Fired => (Poll::Ready(()), Some(key)),
                Some(key) => {
                    state.timer_mut(key).waker.clone_from(cx.waker());
                    (Poll::Pending, Some(key))
                }
                None if state.clock_value(host, clock) >= reading => {
                    state.note_timer(owner.host);
                    (Poll::Ready(()), None)
                }
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
            self.owner.kernel().enter(|state| drop(state.host_mut(key.host).timers.remove(key.slot)));
        }
    }
}

impl State {
    fn note_timer(&mut self, host: HostId) {
        if host != OBSERVER {
            self.emit(Event::TimerFired { host });
        }
    }

    fn clock_value(&self, host: HostId, clock: ClockKind) -> i64 {
        self.host(host).clocks.value(clock, self.now)
    }

    fn timer_mut(&mut self, key: TimerKey) -> &mut Timer {
        &mut self.host_mut(key.host).timers[key.slot]
    }

    fn set_timer(
        &mut self,
        owner: Process,
        host: HostId,
        clock: ClockKind,
        reading: i64,
        waker: Waker,
    ) -> TimerKey {
        let timer = Timer {
            owner,
            clock,
            reading,
            generation: 0,
            armed_for: None,
            progress: Progress::Waiting,
            waker,
        };
        let at = self.due_time(host, &timer);
        let key = TimerKey { host, slot: self.host_mut(host).timers.insert(timer) };
        self.arm(key, at);
        key
    }

    fn due_time(&self, host: HostId, timer: &Timer) -> Option<SimTime> {
        self.host(host).clocks.reaches(timer.clock, timer.reading, self.now)
    }

    fn arm(&mut self, key: TimerKey, at: Option<SimTime>) {
        let generation = self.timer_generation();
        let timer = self.timer_mut(key);
        timer.generation = generation;
        timer.armed_for = at;
        if let Some(at) = at {
            self.schedule(at, Pending::Timer { key, generation });
        }
    }

    /// Re-arms what waits on a clock of `host` and comes due at another time than before, after it changed. In the
    /// order in which it was armed, so that timers due at one instant keep their order.
    pub(crate) fn rearm(&mut self, host: HostId) {
        let waiting = |timer: &Timer| timer.progress == Progress::Waiting;
        let mut moved: Vec<(u32, TimerKey, Option<SimTime>)> = Vec::new();
        for (slot, timer) in self.host(host).timers.iter().filter(|(_, timer)| waiting(timer)) {
            let due = self.due_time(host, timer);
            if due != timer.armed_for {
                moved.push((timer.generation, TimerKey { host, slot }, due));
            }
        }
        moved.sort_unstable();
        for (_, key, due) in moved {
            self.arm(key, due);
        }
    }

    pub(crate) fn timer_is_live(&self, key: TimerKey, generation: u32) -> bool {
        let timer = self.host(key.host).timers.get(key.slot);
        timer.is_some_and(|t| t.generation == generation && t.progress != Progress::Fired)
    }

    pub(crate) fn timer_due(&mut self, key: TimerKey) {
        let owner = self.timer_mut(key).owner.host;
        let is_stopped = self.host(owner).life.is_stopped();
        let timer = self.timer_mut(key);
        if is_stopped {
            timer.progress = Progress::Late;
            let late = (key, timer.generation);
            self.host_mut(owner).late_timers.push(late);
            return;
        }
        timer.progress = Progress::Fired;
        timer.waker.wake_by_ref();
        self.note_timer(owner);
    }

    /// Schedules what came due during a stop, to fire now in the order in which it came due, and before what comes
    /// due at this very instant.
    pub(crate) fn fire_late_timers(&mut self, host: HostId) {
        for (key, generation) in std::mem::take(&mut self.host_mut(host).late_timers) {
            self.events.push_first(self.now, Pending::Timer { key, generation });
        }
    }

    fn timer_generation(&mut self) -> u32 {
        self.timer_generations = self.timer_generations.wrapping_add(1);
        self.timer_generations
    }
}
