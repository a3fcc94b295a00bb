//! A served host's two clocks: this machine's, with what faults have done to them.
//!
//! A step moves the wall clock alone. A drift moves both clocks, as it does in scenarios.

use std::time::Duration;

use doublehold_sim_redis::core::WallMicros;

/// A part of a million: how much faster a clock runs than this machine's.
const MILLION: i128 = 1_000_000;

/// A host's clocks, as functions of this machine's.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Clocks {
    /// How far steps have set the wall clock ahead.
    stepped_us: i64,
    /// How far drift had put both clocks ahead when the rate was set.
    drifted_ns: i64,
    /// When the rate was set, on this machine's monotonic clock.
    since: Duration,
    rate_ppm: i64,
}

impl Clocks {
    /// Sets the wall clock ahead, or back.
    pub(super) fn step(&mut self, by_us: i64) {
        self.stepped_us = self.stepped_us.saturating_add(by_us);
    }

    /// Lets both clocks run faster by so many parts of a million from `now` on, or slower. A rate that stops a clock is
    /// taken for one that nearly does.
    pub(super) fn drift(&mut self, rate_ppm: i64, now: Duration) {
        *self = Clocks { drifted_ns: self.drifted_ns_at(now), since: now, rate_ppm, ..*self };
    }

    /// Sets the wall clock right and lets both run at the right rate. The monotonic clock goes on from where it is.
    pub(super) fn set_right(&mut self, now: Duration) {
        let drifted_ns = self.drifted_ns_at(now);
        *self = Clocks { stepped_us: -drifted_ns / 1_000, drifted_ns, since: now, rate_ppm: 0 };
    }

    /// The wall clock, when this machine's shows `wall`.
    pub(super) fn wall(&self, wall: WallMicros, now: Duration) -> WallMicros {
        WallMicros(wall.0.saturating_add(self.stepped_us).saturating_add(self.drifted_ns_at(now) / 1_000))
    }

    /// The monotonic clock, when this machine's shows `now`.
    pub(super) fn monotonic(&self, now: Duration) -> Duration {
        let ahead = self.drifted_ns_at(now);
        let by = Duration::from_nanos(ahead.unsigned_abs());
        if ahead < 0 { now.saturating_sub(by) } else { now.saturating_add(by) }
    }

    /// The time in which the host's clocks advance by `duration`.
    pub(super) fn true_time_of(&self, duration: Duration) -> Duration {
        let rate = (MILLION + i128::from(self.rate_ppm)).max(1).unsigned_abs();
        let ns = duration.as_nanos().saturating_mul(MILLION.unsigned_abs()).div_ceil(rate);
        Duration::from_nanos(u64::try_from(ns).unwrap_or(u64::MAX))
    }

    /// Whether they are this machine's.
    pub(super) fn are_right(&self) -> bool {
        self.rate_ppm == 0 && self.stepped_us.saturating_add(self.drifted_ns / 1_000) == 0
    }

    /// How far the wall clock is ahead.
    pub(super) fn ahead_us(&self, now: Duration) -> i64 {
        self.stepped_us.saturating_add(self.drifted_ns_at(now) / 1_000)
    }

    pub(super) fn rate_ppm(&self) -> i64 {
        self.rate_ppm
    }

    fn drifted_ns_at(&self, now: Duration) -> i64 {
        let elapsed = i128::try_from(now.saturating_sub(self.since).as_nanos()).unwrap_or(i128::MAX);
        let more = elapsed.saturating_mul(i128::from(self.rate_ppm)) / MILLION;
        self.drifted_ns.saturating_add(i64::try_from(more).unwrap_or(i64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_step_moves_the_wall_clock_and_not_the_monotonic_one() {
        let mut clocks = Clocks::default();
        clocks.step(10_000_000);
        clocks.step(-4_000_000);
        assert_eq!(clocks.wall(WallMicros(100), SECOND), WallMicros(6_000_100));
        assert_eq!(clocks.monotonic(SECOND), SECOND);
        assert!(!clocks.are_right());
    }

    #[test]
    fn a_drift_moves_both_clocks_from_when_it_began() {
        let mut clocks = Clocks::default();
        clocks.drift(10_000, SECOND);
        assert_eq!(clocks.monotonic(SECOND * 3), SECOND * 3 + Duration::from_millis(20));
        assert_eq!(clocks.wall(WallMicros(0), SECOND * 3), WallMicros(20_000));
        assert_eq!(clocks.true_time_of(Duration::from_millis(1_010)), SECOND);
        clocks.drift(-500_000, SECOND * 3);
        assert_eq!(clocks.monotonic(SECOND * 4), Duration::from_millis(3_520), "what it had gained stays");
        assert_eq!(clocks.true_time_of(SECOND), SECOND * 2);
    }

    #[test]
    fn clocks_that_are_set_right_show_the_time_and_never_go_back() {
        let mut clocks = Clocks::default();
        clocks.step(7_000);
        clocks.drift(10_000, Duration::ZERO);
        let before = clocks.monotonic(SECOND * 2);
        clocks.set_right(SECOND * 2);
        assert_eq!(clocks.wall(WallMicros(5), SECOND * 9), WallMicros(5));
        assert!(clocks.monotonic(SECOND * 2) >= before);
        assert!(clocks.are_right());
    }
}
