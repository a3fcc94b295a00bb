//! The whole units in which Redis counts leases.

use std::time::Duration;

/// Whole milliseconds, rounded up: `PEXPIRE key 0` would delete the key, and a lease rounded down
/// would end before its holder thinks.
pub(crate) fn millis(duration: Duration) -> u64 {
    let millis = duration.as_nanos().div_ceil(1_000_000).max(1);
    u64::try_from(millis).unwrap_or(u64::MAX)
}

/// Whole seconds, rounded up: `EXPIRE key 0` would delete the key.
pub(crate) fn seconds(ttl: Duration) -> u64 {
    ttl.as_secs() + u64::from(ttl.subsec_nanos() > 0)
}
