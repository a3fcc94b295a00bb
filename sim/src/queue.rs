//! What will happen, and what can take a step now: the kernel's two queues.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

use async_task::Runnable;

use crate::fsync::SyncKey;
use crate::kernel::{OBSERVER, Process};
use crate::net::connection::{ConnectionKey, SegmentKey, Side};
use crate::random::Stream;
use crate::time::SimTime;
use crate::timer::TimerKey;

/// Events by time; those of one instant in the order in which they were scheduled.
pub(crate) struct EventQueue {
    heap: BinaryHeap<Scheduled>,
    /// Numbers events in the order of scheduling.
    sequence: u64,
    /// The same for events that come before all others of their instant.
    first_sequence: u64,
}

/// Ordinary events are numbered from here on, so that those below come first. No run has that many.
const FIRST_ORDINARY: u64 = 1 << 63;

impl EventQueue {
    pub(crate) fn push(&mut self, at: SimTime, what: Pending) {
        self.sequence += 1;
        self.heap.push(Scheduled::new(at, self.sequence, what));
    }

    /// Before everything else of that instant, which must be the present one.
    pub(crate) fn push_first(&mut self, now: SimTime, what: Pending) {
        self.first_sequence += 1;
        self.heap.push(Scheduled::new(now, self.first_sequence, what));
    }

    pub(crate) fn pop(&mut self) -> Option<Scheduled> {
        self.heap.pop()
    }

    pub(crate) fn len(&self) -> usize {
        self.heap.len()
    }
}

impl Default for EventQueue {
    fn default() -> EventQueue {
        EventQueue { heap: BinaryHeap::new(), sequence: FIRST_ORDINARY, first_sequence: 0 }
    }
}

/// An event that will happen. The greatest is the earliest, and of one instant the first that was scheduled: that is
/// the one which a heap gives out.
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

impl PartialEq for Scheduled {
    fn eq(&self, other: &Scheduled) -> bool {
        self.order == other.order
    }
}

impl Eq for Scheduled {}

impl PartialOrd for Scheduled {
    fn partial_cmp(&self, other: &Scheduled) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Scheduled {
    fn cmp(&self, other: &Scheduled) -> Ordering {
        other.order.cmp(&self.order)
    }
}

/// What can be scheduled. Small and `Copy`: the heap moves these around all the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Pending {
    /// A timer may be due; stale if its generation is not the timer's.
    Timer { key: TimerKey, generation: u32 },
    /// A segment reaches the receiver's machine.
    Segment { key: SegmentKey },
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
}

impl ReadyQueue {
    pub(crate) fn push(&mut self, runnable: Runnable<Process>) {
        if runnable.metadata().host == OBSERVER {
            self.observing.push_back(runnable);
        } else {
            self.ordinary.push(runnable);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.observing.is_empty() && self.ordinary.is_empty()
    }

    /// The next one, chosen by the schedule stream when there is a choice.
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
