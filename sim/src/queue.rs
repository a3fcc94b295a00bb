//! What will happen, and what can take a step now: the kernel's two queues.

use std::collections::VecDeque;
use std::task::{Context, Poll, Waker};

use async_task::Runnable;

use crate::fsync::SyncKey;
use crate::kernel::{OBSERVER, Process};
use crate::net::connection::{ConnectionKey, SegmentKey, Side};
use crate::random::Stream;
use crate::time::SimTime;
use crate::timer::TimerKey;
use crate::trace::HostId;

/// Events by time; those of one instant in the order in which they were scheduled.
pub(crate) struct EventQueue {
    /// A binary heap: whatever is at `i` comes before what is at `2 * i + 1` and `2 * i + 2`. Not the standard
    /// library's, which puts the last event down at the root and reads it again there in other pieces: the processor
    /// waits for that, at every event of a run.
    heap: Vec<Scheduled>,
    /// Numbers events in the order of scheduling.
    sequence: u64,
    /// The same for events that come before all others of their instant.
    first_sequence: u64,
}

/// Ordinary events are numbered from here on, so that those below come first. No run has that many.
const FIRST_ORDINARY: u64 = 1 << 63;

impl EventQueue {
    #[inline]
    pub(crate) fn push(&mut self, at: SimTime, what: Pending) {
        self.sequence += 1;
        self.insert(Scheduled::new(at, self.sequence, what));
    }

    /// Before everything else of that instant, which must be the present one.
    pub(crate) fn push_first(&mut self, now: SimTime, what: Pending) {
        self.first_sequence += 1;
        self.insert(Scheduled::new(now, self.first_sequence, what));
    }

    #[inline]
    fn insert(&mut self, event: Scheduled) {
        let mut place = self.heap.len();
        self.heap.push(event);
        while let Some(parent) = place.checked_sub(1).map(|before| before / 2)
            && event.order < self.heap[parent].order
        {
            self.heap[place] = self.heap[parent];
            place = parent;
        }
        self.heap[place] = event;
    }

    /// The first of all, which stays.
    pub(crate) fn first(&self) -> Option<Scheduled> {
        self.heap.first().copied()
    }

    /// The first of all.
    pub(crate) fn pop(&mut self) -> Option<Scheduled> {
        let last = self.heap.pop()?;
        let Some(first) = self.heap.first().copied() else { return Some(last) };
        // The last one takes the place that is free, once those that come before it have moved up.
        let mut place = 0;
        loop {
            let left = 2 * place + 1;
            let next = match self.heap.get(left..) {
                Some([left_one, right_one, ..]) => left + usize::from(right_one.order < left_one.order),
                Some([_]) => left,
                _ => break,
            };
            if last.order < self.heap[next].order {
                break;
            }
            self.heap[place] = self.heap[next];
            place = next;
        }
        self.heap[place] = last;
        Some(first)
    }

    pub(crate) fn len(&self) -> usize {
        self.heap.len()
    }
}

impl Default for EventQueue {
    fn default() -> EventQueue {
        EventQueue { heap: Vec::new(), sequence: FIRST_ORDINARY, first_sequence: 0 }
    }
}

/// An event that will happen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scheduled {
    /// The time in the upper half, the sequence number in the lower: one comparison for both.
    order: u128,
    pub(crate) what: Pending,
}

impl Scheduled {
    fn new(at: SimTime, sequence: u64, what: Pending) -> Scheduled {
        Scheduled { order: u128::from(at.0) << 64 | u128::from(sequence), what }
    }

    pub(crate) fn at(&self) -> SimTime {
        SimTime((self.order >> 64) as u64)
    }
}

/// What can be scheduled. Small and `Copy`: the heap moves these around all the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Pending {
    /// From here on randomness is another seed's.
    Reseed,
    /// A timer may be due; stale if its generation is not the timer's.
    Timer { key: TimerKey, generation: u32 },
    /// A segment reaches the receiver's machine.
    Segment { key: SegmentKey },
    /// A host's wall clock is set right.
    Resync { host: HostId },
    /// A message is sent again, by somebody who retries.
    Repeat { number: u32 },
    /// A connection request leaves, for the first time or again.
    Ask { key: ConnectionKey },
    /// A connection request reaches the other machine.
    Request { key: ConnectionKey },
    /// The answer to a connection request reaches the asker.
    Answer { key: ConnectionKey, accepted: bool },
    /// What one end of a connection holds leaves again; stale if its timer is set for another time.
    Retransmit { key: ConnectionKey, side: Side },
    /// The sender of a held segment may have waited for its user timeout.
    UserTimeout { key: ConnectionKey, side: Side, serial: u64 },
    /// An fsync is done.
    Synced { key: SyncKey },
    /// A planned fault strikes.
    Strike { number: u32 },
    /// A planned fault that lasts a while is undone.
    Undo { number: u32 },
}

/// The tasks that can take a step.
#[derive(Default)]
pub(crate) struct ReadyQueue {
    /// The observer's go first, in the order in which they became ready, and leave no mark: who watches a run must not
    /// change it.
    observing: VecDeque<Runnable<Process>>,
    ordinary: Vec<Runnable<Process>>,
    /// Whoever waits for the next one.
    waiting: Option<Waker>,
}

impl ReadyQueue {
    #[inline]
    pub(crate) fn push(&mut self, runnable: Runnable<Process>) {
        if runnable.metadata().host == OBSERVER {
            self.observing.push_back(runnable);
        } else {
            self.ordinary.push(runnable);
        }
        if self.waiting.is_some() {
            self.wake_waiting();
        }
    }

    #[cold]
    fn wake_waiting(&mut self) {
        self.waiting.take().into_iter().for_each(Waker::wake);
    }

    /// Whether there is any, for whoever is to be woken when there is.
    pub(crate) fn poll_any(&mut self, cx: &Context<'_>) -> Poll<()> {
        if !self.is_empty() {
            return Poll::Ready(());
        }
        self.waiting = Some(cx.waker().clone());
        Poll::Pending
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.observing.is_empty() && self.ordinary.is_empty()
    }

    /// The next one, chosen by the schedule stream when there is a choice.
    #[inline]
    pub(crate) fn take(&mut self, schedule: &mut Stream) -> Option<Runnable<Process>> {
        if let Some(first) = self.observing.pop_front() {
            return Some(first);
        }
        let choice = match self.ordinary.len() {
            0 => return None,
            1 => 0,
            several => schedule.below(several as u64),
        };
        Some(self.ordinary.swap_remove(choice as usize))
    }

    /// Any of them, for when no order matters any more.
    pub(crate) fn pop(&mut self) -> Option<Runnable<Process>> {
        self.ordinary.pop().or_else(|| self.observing.pop_front())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Seed;

    #[test]
    fn events_come_in_order_of_time_and_at_one_instant_as_they_were_scheduled() {
        let mut draws = Stream::new(Seed(1), "queue");
        let (mut queue, mut expected, mut now) = (EventQueue::default(), Vec::new(), SimTime::ZERO);
        for number in 0..5000 {
            let first = draws.below(50) == 0;
            let at = if first { now } else { SimTime(now.0 + draws.below(20)) };
            let what = Pending::Strike { number };
            if first {
                queue.push_first(at, what)
            } else {
                queue.push(at, what)
            }
            expected.push((at, !first, number));
            // Longer and shorter in turns.
            for _ in 0..draws.below(if number % 400 < 200 { 2 } else { 4 }) {
                let Some(popped) = queue.pop() else { break };
                expected.sort_unstable();
                let (at, _, number) = expected.remove(0);
                assert_eq!((popped.at(), popped.what), (at, Pending::Strike { number }));
                now = at;
            }
            assert_eq!(queue.len(), expected.len());
        }
        assert!(!expected.is_empty() && now > SimTime(100), "it was neither idle nor empty");
    }
}
