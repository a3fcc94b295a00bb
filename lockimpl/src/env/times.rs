//! What the three clocks of a client show. Three types and no conversion between them, so that no code mixes two
//! clocks.
//!
//! Pure data: who reads a clock, and what for, is the business of `clock` and of the locks.

use std::time::Duration;

/// Nanoseconds since the Unix epoch on this client's wall clock. It may step, in both directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WallTime(pub i64);

impl WallTime {
    /// This moment `by` later, or the end of time if that is beyond it.
    #[must_use]
    pub fn saturating_add(self, by: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(by.as_nanos()).unwrap_or(i64::MAX)))
    }
}

/// Nanoseconds on this client's `CLOCK_MONOTONIC`. It never steps, and stands still while the
/// machine is suspended. Sleeps and timeouts wait on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MonotonicTime(pub u64);

impl MonotonicTime {
    /// This moment `by` later, or the end of time if that is beyond it.
    #[must_use]
    pub fn saturating_add(self, by: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(by.as_nanos()).unwrap_or(u64::MAX)))
    }
}

/// Nanoseconds on this client's `CLOCK_BOOTTIME`: monotonic, and it runs through a suspend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BootTime(pub u64);

/// The moment, on one clock of the client that computed it, from which a grant is no longer valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deadline {
    /// On the wall clock.
    Wall(WallTime),
    /// On the monotonic clock.
    Monotonic(MonotonicTime),
    /// On the boot clock.
    Boot(BootTime),
}
