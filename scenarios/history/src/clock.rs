//! What clients can read: their own three clocks, and the deadlines that they compute on one of them.

use serde::{Deserialize, Serialize};

/// What a client's three clocks read at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reading {
    /// Wall clock: nanoseconds since the Unix epoch.
    pub wall_ns: i64,
    /// Monotonic clock: nanoseconds; stands still while the machine is suspended.
    pub monotonic_ns: u64,
    /// Boot clock: nanoseconds; runs while the machine is suspended.
    pub boot_ns: u64,
}

impl Reading {
    /// What the given clock read, in its nanoseconds.
    pub fn clock_ns(&self, clock: ClockKind) -> i128 {
        match clock {
            ClockKind::Wall => self.wall_ns.into(),
            ClockKind::Monotonic => self.monotonic_ns.into(),
            ClockKind::Boot => self.boot_ns.into(),
        }
    }
}

/// One of a client's three clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClockKind {
    /// The time of day; can be stepped in both directions.
    Wall,
    /// Never stepped; stands still while the machine is suspended.
    Monotonic,
    /// Never stepped; runs while the machine is suspended.
    Boot,
}

impl ClockKind {
    /// The clock's name, lower case.
    pub fn as_str(self) -> &'static str {
        match self {
            ClockKind::Wall => "wall",
            ClockKind::Monotonic => "monotonic",
            ClockKind::Boot => "boot",
        }
    }
}

/// When a grant ends by the client's own computation. The claim is valid while the clock reads less than this.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Deadline {
    /// The clock the algorithm measures with.
    pub clock: ClockKind,
    /// The reading of that clock, in its nanoseconds, at which the claim ends.
    pub reading_ns: i64,
}
