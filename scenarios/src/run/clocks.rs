//! One clock, three crates: what the kernel, a lock and a history call the same reading.
//!
//! The crates do not know each other, and a reading of one clock must not be taken for one of another: so each has its
//! own types, and this file is the only bridge between them.

use doublehold_history::{self as history, Reading, TrueNs};
use doublehold_lockimpl as lockimpl;
use doublehold_sim as sim;

/// A deadline as a lock computed it, for the history.
pub(in crate::run) fn deadline(deadline: lockimpl::Deadline) -> history::Deadline {
    use history::ClockKind;
    let (clock, reading_ns) = match deadline {
        lockimpl::Deadline::Wall(at) => (ClockKind::Wall, at.0),
        lockimpl::Deadline::Monotonic(at) => (ClockKind::Monotonic, clamp_signed(at.0)),
        lockimpl::Deadline::Boot(at) => (ClockKind::Boot, clamp_signed(at.0)),
    };
    history::Deadline { clock, reading_ns }
}

/// What the clocks of a simulated host show, for the history.
pub(in crate::run) fn reading(clocks: sim::Readings) -> Reading {
    Reading { wall_ns: clocks.wall.0, monotonic_ns: clocks.monotonic.0, boot_ns: clocks.boot.0 }
}

/// A moment of a simulated run, for the history.
pub(in crate::run) fn true_time(at: sim::SimTime) -> TrueNs {
    TrueNs(at.0)
}

/// Which clock of a simulated host the history means.
pub(in crate::run) fn sim_clock(clock: history::ClockKind) -> sim::ClockKind {
    match clock {
        history::ClockKind::Wall => sim::ClockKind::Wall,
        history::ClockKind::Monotonic => sim::ClockKind::Monotonic,
        history::ClockKind::Boot => sim::ClockKind::Boot,
    }
}

/// A reading of a simulated host's wall clock, for a lock.
pub(in crate::run) fn wall(at: sim::WallTime) -> lockimpl::WallTime {
    lockimpl::WallTime(at.0)
}

/// A reading of a simulated host's monotonic clock, for a lock.
pub(in crate::run) fn monotonic(at: sim::MonotonicTime) -> lockimpl::MonotonicTime {
    lockimpl::MonotonicTime(at.0)
}

/// A reading of a simulated host's boot clock, for a lock.
pub(in crate::run) fn boot(at: sim::BootTime) -> lockimpl::BootTime {
    lockimpl::BootTime(at.0)
}

/// What a lock waits for, as a reading of its simulated host's monotonic clock.
pub(in crate::run) fn sim_monotonic(at: lockimpl::MonotonicTime) -> sim::MonotonicTime {
    sim::MonotonicTime(at.0)
}

/// Nanoseconds that no clock will show, if there are too many.
fn clamp_signed(nanoseconds: u64) -> i64 {
    i64::try_from(nanoseconds).unwrap_or(i64::MAX)
}
