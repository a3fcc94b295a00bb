//! Points in time, one type per kind of time, so that no clock can be mistaken for another.
//!
//! Everything counts nanoseconds in integers: two runs of one plan compare equal bit for bit, which floats do not
//! promise. There are deliberately no conversions between the four types. True time belongs to the world and no
//! code under test can read it; the other three are what a host's clocks show, and only [`crate::clock`] knows how
//! they relate.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// True time: nanoseconds since the world began. No host can read it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SimTime(pub u64);

/// What a host's wall clock (`CLOCK_REALTIME`) shows: nanoseconds since the Unix epoch. It can be stepped either way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WallTime(pub i64);

/// What a host's monotonic clock (`CLOCK_MONOTONIC`) shows: nanoseconds since boot, less the time spent suspended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MonotonicTime(pub u64);

/// What a host's boot clock (`CLOCK_BOOTTIME`) shows: nanoseconds since boot, suspension included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BootTime(pub u64);

impl SimTime {
    /// The world's first instant.
    pub const ZERO: SimTime = SimTime(0);

    /// The instant `after` this one; saturates at the end of time (584 years in).
    pub fn after(self, after: Duration) -> SimTime {
        SimTime(self.0.saturating_add(nanos(after)))
    }

    /// The next instant.
    pub(crate) fn next(self) -> SimTime {
        SimTime(self.0.saturating_add(1))
    }

    /// How long ago `earlier` was; zero if it is not earlier.
    pub fn since(self, earlier: SimTime) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

impl MonotonicTime {
    /// The reading `after` this one; saturates.
    pub fn after(self, after: Duration) -> MonotonicTime {
        MonotonicTime(self.0.saturating_add(nanos(after)))
    }
}

impl fmt::Display for SimTime {
    /// Seconds with nanoseconds: `12.031000000`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:09}", self.0 / 1_000_000_000, self.0 % 1_000_000_000)
    }
}

/// A duration in whole nanoseconds, saturating at `u64::MAX`.
#[inline]
pub(crate) fn nanos(duration: Duration) -> u64 {
    let whole = duration.as_secs().checked_mul(1_000_000_000);
    whole.and_then(|whole| whole.checked_add(u64::from(duration.subsec_nanos()))).unwrap_or(u64::MAX)
}
