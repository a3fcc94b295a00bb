//! One direction between two hosts: delay law, loss, cuts. Pure data and arithmetic.
//!
//! A transmission gets through if its link was free the whole time from its departure to its arrival. Where on the way
//! a cut is, no scenario says; had one instant counted alone, a cut shorter than the delay would miss a message that
//! was sent into it (if the arrival counts) or one that arrives in it (if the departure does), and a fault that strikes
//! right before a message would differ from one that strikes right after it at the same instant.
//!
//! Decision: "A cut holds every message that is on its way while it lasts" (docs/decisions/world.md).

use std::collections::BTreeSet;
use std::time::Duration;

use super::connection::ConnectionKey;
use super::round_trip::MOST;
use crate::delay::DelayLaw;
use crate::random::Probability;
use crate::slots::Key;
use crate::time::{SimTime, nanos};

/// The quality of a link when no fault touches it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkSpec {
    /// One-way delay.
    pub delay: DelayLaw,
    /// Chance that one transmission is lost, and so comes a retransmission timeout later: 200 ms, or more where the
    /// round trip is long.
    pub loss: Probability,
}

impl LinkSpec {
    /// A link that loses nothing.
    pub fn lossless(delay: DelayLaw) -> LinkSpec {
        LinkSpec { delay, loss: Probability::NEVER }
    }

    /// A host's link to itself: the loopback interface takes some tens of microseconds.
    pub(crate) fn loopback() -> LinkSpec {
        LinkSpec::lossless(DelayLaw::Fixed(Duration::from_micros(20)))
    }
}

pub(crate) type LinkKey = Key<Link>;

/// A link as faults have left it, and what runs over it.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) spec: LinkSpec,
    /// Chances of loss set by faults that last; the latest counts, and without any the link's own.
    pub(crate) losses: Vec<Probability>,
    /// How many cuts hold it. Counted, so that overlapping cuts compose and none heals another.
    pub(crate) cuts: u32,
    /// How many cuts there ever were.
    cuts_so_far: u64,
    /// Added to every delay.
    pub(crate) extra: Duration,
    /// Added to the next data segment's delay, once.
    pub(crate) late_once: Vec<Late>,
    /// Copies of the next data segment that is a request.
    pub(crate) copy_once: Vec<Doubled>,
    /// The connections of which a side sends on this link.
    pub(crate) connections: BTreeSet<ConnectionKey>,
}

impl Link {
    pub(crate) fn new(spec: LinkSpec) -> Link {
        Link {
            spec,
            losses: Vec::new(),
            cuts: 0,
            cuts_so_far: 0,
            extra: Duration::ZERO,
            late_once: Vec::new(),
            copy_once: Vec::new(),
            connections: BTreeSet::new(),
        }
    }

    pub(crate) fn cut(&mut self) {
        self.cuts += 1;
        self.cuts_so_far += 1;
    }

    /// What a transmission that leaves at this time, which is now, remembers of the link.
    pub(crate) fn departure(&self, at: SimTime) -> Departure {
        Departure { at, free_after_cuts: (self.cuts == 0).then_some(self.cuts_so_far) }
    }

    /// Whether the link has been free ever since that departure.
    pub(crate) fn is_free_since(&self, departure: Departure) -> bool {
        departure.free_after_cuts == Some(self.cuts_so_far)
    }

    /// What the delays that wait add up to. They wait no longer.
    pub(crate) fn take_late(&mut self) -> Duration {
        if self.late_once.is_empty() {
            return Duration::ZERO; // nearly always
        }
        self.late_once.drain(..).fold(Duration::ZERO, |sum, late| sum.saturating_add(late.by))
    }

    /// The chance that a transmission is lost now.
    pub(crate) fn loss(&self) -> Probability {
        self.losses.last().copied().unwrap_or(self.spec.loss)
    }
}

/// A planned delay that waits for the next data on its link.
#[derive(Debug)]
pub(crate) struct Late {
    pub(crate) by: Duration,
    /// Which planned fault it is of, and which of that fault's strikes, counted from 0.
    pub(crate) fault: usize,
    pub(crate) strike: usize,
}

/// A planned copy that waits for the next request on its link.
#[derive(Debug)]
pub(crate) struct Doubled {
    /// How long after the message the copy follows.
    pub(crate) after: Duration,
    /// Which planned fault it is of, and which of that fault's strikes, counted from 0.
    pub(crate) fault: usize,
    pub(crate) strike: usize,
}

/// When a transmission left, and how its link was then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Departure {
    pub(crate) at: SimTime,
    /// The cuts there had been, if none of them was left.
    free_after_cuts: Option<u64>,
}

/// The first retransmission at or after `not_before` of something first sent at `first`: the timeout doubles each
/// time, up to two minutes.
pub(crate) fn retransmission(first: SimTime, first_timeout: Duration, not_before: SimTime) -> SimTime {
    let mut at = first;
    let mut timeout = first_timeout;
    while at < not_before {
        if timeout >= MOST {
            let missing = not_before.0 - at.0;
            let steps = missing.div_ceil(nanos(MOST));
            return SimTime(at.0.saturating_add(steps * nanos(MOST)));
        }
        at = at.after(timeout);
        timeout = (timeout * 2).min(MOST);
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retransmissions_back_off_by_doubling_up_to_two_minutes() {
        let first = SimTime(5);
        let next = |after_ms: u64| {
            let not_before = SimTime(first.0 + after_ms * 1_000_000);
            (retransmission(first, Duration::from_millis(200), not_before).0 - first.0) / 1_000_000
        };
        for (not_before, at) in [
            (0, 0),
            (1, 200),
            (200, 200),
            (201, 600),
            (1_401, 3_000),
            (102_200, 102_200),
            (102_201, 204_600), // 0.2 × (2^10 − 1) s
            (204_601, 324_600), // from here on every 120 s
            (324_601, 444_600),
            (924_600, 924_600),
        ] {
            assert_eq!(next(not_before), at, "not before {not_before} ms");
        }
    }

    #[test]
    fn retransmission_is_the_first_instant_of_the_back_off_that_is_late_enough() {
        let mut instants = vec![0u64];
        let mut wait = 200;
        while instants.last().is_some_and(|&last| last < 2_000_000) {
            instants.push(instants.last().expect("one to begin with") + wait);
            wait = (wait * 2).min(120_000);
        }
        for not_before in (0..1_900_000).step_by(137) {
            let expected = instants.iter().find(|&&at| at >= not_before).expect("beyond the last asked for");
            let at = retransmission(SimTime(0), Duration::from_millis(200), SimTime(not_before * 1_000_000));
            assert_eq!(at.0 / 1_000_000, *expected, "not before {not_before} ms");
        }
    }
}
