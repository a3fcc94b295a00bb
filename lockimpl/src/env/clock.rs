//! The clock by which a client measures a lease, and whether a deadline on one has passed.
//!
//! Assumes that every reading comes from one host. Does not model error bars: a reading is a number.

use std::fmt;
use std::time::Duration;

use super::Env;
use super::times::{BootTime, Deadline, MonotonicTime, WallTime};
use crate::config::{Choice, word_of};

/// Which of its clocks a client measures a lease with.
///
/// | clock | stepped back while acquiring | machine suspended while acquiring |
/// |---|---|---|
/// | wall | accepts an expired lock | refuses it |
/// | monotonic | refuses it | accepts an expired lock |
/// | boot | refuses it | refuses it |
///
/// A timeout per request changes the second column only by luck: it waits on the monotonic clock, too.
/// And no clock that stands still during a suspension notices one while the lock is held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clock {
    /// What several libraries use. antirez asks for a monotonic clock instead.
    Wall,
    /// What antirez asks for, and what `std::time::Instant` reads on Linux.
    #[default]
    Monotonic,
    /// What a client needs whose machine may be suspended or its VM snapshotted.
    Boot,
}

impl Choice for Clock {
    const WORDS: &'static [(&'static str, Self)] =
        &[("wall", Self::Wall), ("monotonic", Self::Monotonic), ("boot", Self::Boot)];
}

impl fmt::Display for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(word_of(*self))
    }
}

impl Clock {
    /// Reads it, in nanoseconds.
    pub(crate) async fn read<E: Env>(self, env: &E) -> i128 {
        match self {
            Self::Wall => env.wall().await.0.into(),
            Self::Monotonic => env.monotonic().await.0.into(),
            Self::Boot => env.boot().await.0.into(),
        }
    }

    /// Reads it: the moment that lies so far ahead.
    pub(crate) async fn deadline_after<E: Env>(self, env: &E, ahead: Duration) -> Deadline {
        self.deadline(self.read(env).await.saturating_add(nanos(ahead)))
    }

    /// The deadline at this reading of it.
    pub(crate) fn deadline(self, at: i128) -> Deadline {
        let unsigned = u64::try_from(at.max(0)).unwrap_or(u64::MAX);
        match self {
            Self::Wall => {
                let limit = if at < 0 { i64::MIN } else { i64::MAX };
                Deadline::Wall(WallTime(i64::try_from(at).unwrap_or(limit)))
            }
            Self::Monotonic => Deadline::Monotonic(MonotonicTime(unsigned)),
            Self::Boot => Deadline::Boot(BootTime(unsigned)),
        }
    }
}

impl Deadline {
    /// The clock this deadline is a reading of.
    pub fn clock(self) -> Clock {
        match self {
            Self::Wall(_) => Clock::Wall,
            Self::Monotonic(_) => Clock::Monotonic,
            Self::Boot(_) => Clock::Boot,
        }
    }

    /// Reads the deadline's clock: has the moment come? True at the deadline itself.
    ///
    /// The answer is already old when it arrives: a pause may strike between the reading and its
    /// use, which is why asking just before a write makes a stale write rarer and never impossible.
    pub async fn has_passed<E: Env>(self, env: &E) -> bool {
        self.clock().read(env).await >= self.nanos()
    }

    /// Its reading, in nanoseconds.
    pub(crate) fn nanos(self) -> i128 {
        match self {
            Self::Wall(at) => at.0.into(),
            Self::Monotonic(at) => at.0.into(),
            Self::Boot(at) => at.0.into(),
        }
    }
}

/// The same length as a difference of two readings.
pub(crate) fn nanos(duration: Duration) -> i128 {
    i128::try_from(duration.as_nanos()).unwrap_or(i128::MAX)
}
