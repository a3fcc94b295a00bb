//! Everything that will happen, in the order of time and, at one instant, in the order in which it was scheduled.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use doublehold_sim::{HostId, SimTime};

/// Names a timer; never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TimerId(pub(crate) u64);

/// Names a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FlowId(pub(crate) usize);

/// Something that will happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Due {
    /// A timer, in the arming of this number.
    Timer(TimerId, u64),
    /// The first packet of a flow, if that is still its time.
    Arrival(FlowId),
    /// An fsync.
    Synced(u64),
    /// A planned fault strikes.
    Strike(usize),
    /// A planned fault's time is over.
    Undo(usize),
    /// Everything random is drawn from another seed.
    Reseed,
    /// A host's wall clock is set right.
    Resync(HostId),
}

/// The queue of future events.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    heap: BinaryHeap<Reverse<(SimTime, i64, Due)>>,
    scheduled: i64,
    first: i64,
}

impl Queue {
    pub(crate) fn push(&mut self, at: SimTime, due: Due) {
        self.scheduled += 1;
        self.heap.push(Reverse((at, self.scheduled, due)));
    }

    /// Before everything else of that instant that is scheduled by now.
    pub(crate) fn push_all_first(&mut self, at: SimTime, due: impl DoubleEndedIterator<Item = Due>) {
        for due in due.rev() {
            self.first -= 1;
            self.heap.push(Reverse((at, self.first, due)));
        }
    }

    pub(crate) fn pop(&mut self) -> Option<(SimTime, Due)> {
        self.heap.pop().map(|Reverse((at, _, due))| (at, due))
    }
}
