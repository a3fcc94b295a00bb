//! One direction between two hosts: delay law, loss, cuts. Pure data and arithmetic; nothing here knows connections.

use std::time::Duration;

use crate::delay::DelayLaw;
use crate::random::Probability;
use crate::time::{SimTime, nanos};

/// The quality of a link when no fault touches it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkSpec {
    /// One-way delay.
    pub delay: DelayLaw,
    /// Chance that one transmission is lost, and so comes a retransmission timeout later.
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

/// A link as faults have left it.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    pub(crate) spec: LinkSpec,
    /// Chances of loss set by faults that last; the latest counts, and without any the link's own.
    pub(crate) losses: Vec<Probability>,
    /// How many cuts hold it. Counted, so that overlapping cuts compose and none heals another.
    pub(crate) cuts: u32,
    /// Added to every delay.
    pub(crate) extra: Duration,
    /// Added to the next data segment's delay, once.
    pub(crate) extra_once: Duration,
}

impl Link {
    pub(crate) fn new(spec: LinkSpec) -> Link {
        Link { spec, losses: Vec::new(), cuts: 0, extra: Duration::ZERO, extra_once: Duration::ZERO }
    }

    /// The chance that a transmission is lost now.
    pub(crate) fn loss(&self) -> Probability {
        self.losses.last().copied().unwrap_or(self.spec.loss)
    }
}

/// The longest wait between two retransmissions (Linux's `TCP_RTO_MAX`).
const TIMEOUT_MAX: Duration = Duration::from_secs(120);

/// The first retransmission at or after `not_before` of something first sent at `first`: the timeout doubles each
/// time, up to [`TIMEOUT_MAX`].
pub(crate) fn retransmission(first: SimTime, first_timeout: Duration, not_before: SimTime) -> SimTime {
    let mut at = first;
    let mut timeout = first_timeout;
    while at < not_before {
        if timeout >= TIMEOUT_MAX {
            let missing = not_before.0 - at.0;
            let steps = missing.div_ceil(nanos(TIMEOUT_MAX));
            return SimTime(at.0.saturating_add(steps * nanos(TIMEOUT_MAX)));
        }
        at = at.after(timeout);
        timeout = (timeout * 2).min(TIMEOUT_MAX);
    }
    at
}
