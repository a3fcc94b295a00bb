//! Times of a Sentinel: milliseconds of its machine's wall clock, as in Redis. A clock that jumps takes all of them
//! along, which is why there is a TILT.

use std::time::Duration;

use doublehold_sim_redis::core::WallMicros;

/// A moment, in milliseconds of the wall clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct WallMillis(pub(crate) i64);

impl WallMillis {
    /// A moment that never comes.
    pub(crate) const NEVER: WallMillis = WallMillis(i64::MAX);

    /// The milliseconds since an earlier moment; negative if it is later.
    pub(crate) fn since(self, earlier: WallMillis) -> i64 {
        self.0.saturating_sub(earlier.0)
    }

    /// The moment so many milliseconds later.
    pub(crate) fn plus(self, millis: i64) -> WallMillis {
        WallMillis(self.0.saturating_add(millis))
    }

    /// The first moment at which more than so many milliseconds have passed.
    pub(crate) fn past(self, millis: i64) -> WallMillis {
        self.plus(millis).plus(1)
    }
}

impl From<WallMicros> for WallMillis {
    fn from(now: WallMicros) -> WallMillis {
        WallMillis(now.millis())
    }
}

/// A length of time in whole milliseconds.
pub(crate) fn millis(length: Duration) -> i64 {
    i64::try_from(length.as_millis()).unwrap_or(i64::MAX)
}

/// `SENTINEL_PING_PERIOD`.
pub(crate) const PING_PERIOD_MS: i64 = 1_000;
/// `sentinel_info_period`.
pub(crate) const INFO_PERIOD_MS: i64 = 10_000;
/// The same while a failover may be under way.
pub(crate) const BUSY_INFO_PERIOD_MS: i64 = 1_000;
/// `sentinel_ask_period`.
pub(crate) const ASK_PERIOD_MS: i64 = 1_000;
/// `sentinel_publish_period`.
pub(crate) const PUBLISH_PERIOD_MS: i64 = 2_000;
/// `sentinel_tilt_trigger`.
pub(crate) const TILT_TRIGGER_MS: i64 = 2_000;
/// `sentinel_tilt_period`.
pub(crate) const TILT_PERIOD_MS: i64 = 30_000;
/// `sentinel_slave_reconf_timeout`.
pub(crate) const RECONFIGURATION_LIMIT_MS: i64 = 10_000;
/// `sentinel_min_link_reconnect_period`.
pub(crate) const LINK_MIN_AGE_MS: i64 = 15_000;
/// `sentinel_election_timeout`.
pub(crate) const ELECTION_LIMIT_MS: i64 = 10_000;
/// `SENTINEL_MAX_DESYNC`.
pub(crate) const DESYNC_MS: u32 = 1_000;
