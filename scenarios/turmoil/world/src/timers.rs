//! Waiting for a clock. The clocks are doublehold's, so the timers are too: tokio's have the resolution of a
//! millisecond and know one clock.
//!
//! A timer waits for a reading of one clock of one host; each change of that clock arms it anew. One that comes due
//! while its owner is stopped fires when the owner goes on, in the order in which they came due.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use doublehold_sim::{ClockKind, Event, HostId, SimTime, Then};

use crate::host::TurmoilHost;
use crate::queue::{Due, TimerId};
use crate::state::State;

/// A registered wait.
pub(crate) struct Timer {
    host: HostId,
    clock: ClockKind,
    reading: i64,
    waits: Waits,
    armed_for: Option<SimTime>,
    /// Counts armings, over all timers: what is due in an older one is stale.
    generation: u64,
    progress: Progress,
}

/// The waiter.
enum Waits {
    /// A task of the host.
    Task(Waker),
    /// The code that watches.
    Watcher(Option<Then>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    Waiting,
    Late,
    Fired,
}

/// Waits until one of the host's clocks shows at least a reading.
pub(crate) struct ClockReaches {
    host: TurmoilHost,
    clock: ClockKind,
    reading: i64,
    timer: Option<TimerId>,
}

impl ClockReaches {
    pub(crate) fn new(host: TurmoilHost, clock: ClockKind, reading: i64) -> ClockReaches {
        ClockReaches { host, clock, reading, timer: None }
    }
}

impl Future for ClockReaches {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let (id, incarnation) = (this.host.host, this.host.incarnation);
        this.host.shared.enter(|state| {
            if state.holds_back(id, incarnation, cx) {
                return Poll::Pending;
            }
            if let Some(timer) = this.timer {
                let timer = state.timers.get_mut(&timer).expect("kept until dropped");
                if timer.progress == Progress::Fired {
                    return Poll::Ready(());
                }
                timer.waits = Waits::Task(cx.waker().clone());
                return Poll::Pending;
            }
            if state.host(id).clocks.value(this.clock, state.now) >= this.reading {
                state.emit(Event::TimerFired { host: id });
                return Poll::Ready(());
            }
            let waits = Waits::Task(cx.waker().clone());
            this.timer = Some(state.set_timer(id, this.clock, this.reading, waits));
            Poll::Pending
        })
    }
}

impl Drop for ClockReaches {
    fn drop(&mut self) {
        if let Some(timer) = self.timer {
            let gone = self.host.shared.borrow_mut().timers.remove(&timer);
            drop(gone); // its waker, outside of the state
        }
    }
}

impl State {
    fn set_timer(&mut self, host: HostId, clock: ClockKind, reading: i64, waits: Waits) -> TimerId {
        self.timers_so_far += 1;
        let id = TimerId(self.timers_so_far);
        let progress = Progress::Waiting;
        let timer = Timer { host, clock, reading, waits, armed_for: None, generation: 0, progress };
        self.timers.insert(id, timer);
        self.arm(id);
        id
    }

    /// Does `then` once the host's clock shows `reading`, whatever its process does.
    pub(crate) fn watch(&mut self, host: HostId, clock: ClockKind, reading: i64, then: Then) {
        self.set_timer(host, clock, reading, Waits::Watcher(Some(then)));
    }

    fn arm(&mut self, id: TimerId) {
        let timer = &self.timers[&id];
        let at = self.host(timer.host).clocks.reaches(timer.clock, timer.reading, self.now);
        self.timers_so_far += 1;
        let generation = self.timers_so_far;
        let timer = self.timers.get_mut(&id).expect("just looked at");
        (timer.generation, timer.armed_for) = (generation, at);
        if let Some(at) = at {
            self.queue.push(at, Due::Timer(id, generation));
        }
    }

    /// Arms anew what waits on a clock of `host`, after it changed, in the order in which it was armed.
    pub(crate) fn rearm(&mut self, host: HostId) {
        let waits = |timer: &Timer| timer.host == host && timer.progress == Progress::Waiting;
        let moved = |timer: &Timer| {
            let due = self.host(host).clocks.reaches(timer.clock, timer.reading, self.now);
            due != timer.armed_for
        };
        let moved = self.timers.iter().filter(|(_, timer)| waits(timer) && moved(timer));
        let mut moved: Vec<_> = moved.map(|(id, timer)| (timer.generation, *id)).collect();
        moved.sort_unstable();
        moved.into_iter().for_each(|(_, id)| self.arm(id));
    }

    pub(crate) fn timer_due(&mut self, id: TimerId, generation: u64) {
        let Some(timer) = self.timers.get_mut(&id).filter(|timer| timer.generation == generation) else {
            return;
        };
        let host = timer.host;
        match &mut timer.waits {
            Waits::Watcher(then) => {
                self.watched.extend(then.take());
                self.timers.remove(&id);
            }
            Waits::Task(_) if self.hosts[host.0 as usize].life.is_stopped() => {
                timer.progress = Progress::Late;
                self.host_mut(host).late_timers.push(id);
            }
            Waits::Task(waker) => {
                timer.progress = Progress::Fired;
                waker.wake_by_ref();
                self.make_ready(host);
                self.emit(Event::TimerFired { host });
            }
        }
    }

    /// True if nobody waits for this any more: time does not go on for it.
    pub(crate) fn timer_is_stale(&self, id: TimerId, generation: u64) -> bool {
        self.timers
            .get(&id)
            .is_none_or(|timer| timer.generation != generation || timer.progress == Progress::Fired)
    }

    /// Fires the timers that came due during a stop, before those that come due at this very instant.
    pub(crate) fn fire_late_timers(&mut self, host: HostId) {
        let late = std::mem::take(&mut self.host_mut(host).late_timers);
        let timers = &self.timers;
        let due = late.iter().filter_map(|id| Some(Due::Timer(*id, timers.get(id)?.generation)));
        let due: Vec<Due> = due.collect();
        self.queue.push_all_first(self.now, due.into_iter());
    }
}
