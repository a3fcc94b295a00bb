//! The clocks, as a process looks at them: Redis' Sentinel distrusts its clock (TILT) if it was set back, or if more
//! than two seconds passed from one tick of its timer to the next.
//!
//! Ticks are left out here, so the time since the last one is put together: one period, the time by which the timer is
//! late, and the step of the wall clock since somebody looked. A process that stood still since before the timer was
//! due counts as late from then only, a few tenths of a second less.

use std::time::Duration;

use crate::time::{TILT_TRIGGER_MS, WallMillis, millis};

/// The mean pause between two ticks of Redis' timer.
const TICK_MS: i64 = 70;

/// Both clocks, when the process last did something.
pub(crate) struct LastLook {
    wall: WallMillis,
    monotonic: Duration,
}

impl LastLook {
    pub(crate) fn new(wall: WallMillis, monotonic: Duration) -> LastLook {
        LastLook { wall, monotonic }
    }

    /// Looks at the clocks of a process whose timer is `due`; true if Redis would distrust its own.
    pub(crate) fn is_odd(&mut self, wall: WallMillis, monotonic: Duration, due: Duration) -> bool {
        let passed = wall.since(self.wall);
        let step = (passed - millis(monotonic.saturating_sub(self.monotonic))).max(0);
        let late = millis(monotonic.saturating_sub(due));
        *self = LastLook::new(wall, monotonic);
        passed < 0 || TICK_MS + late + step > TILT_TRIGGER_MS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_step_or_a_pause_of_two_seconds_is_odd_and_a_rest_of_one_is_not() {
        let look = |wall: i64, monotonic: Duration, due: Duration| {
            LastLook::new(WallMillis(10_000), SECOND).is_odd(WallMillis(wall), monotonic, due)
        };
        assert!(!look(11_000, SECOND * 2, SECOND * 2), "nothing was due for a second");
        assert!(!look(12_800, SECOND * 2, SECOND * 2), "a step of 1.8 s");
        assert!(look(13_000, SECOND * 2, SECOND * 2), "a step of 2 s");
        assert!(look(9_990, SECOND * 2, SECOND * 2), "a step back");
        assert!(!look(10_000, SECOND * 2, SECOND * 2), "a clock that stands still");
        assert!(!look(12_800, SECOND * 3 + SECOND * 8 / 10, SECOND * 2), "a pause of 1.8 s");
        assert!(look(14_000, SECOND * 5, SECOND * 2), "a pause of 3 s");
    }
}
