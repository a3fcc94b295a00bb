//! Lengths of time drawn at random, in whole nanoseconds: no float decides when something happens.

use std::time::Duration;

use crate::env::Env;

/// Draws from zero up to and including `longest`.
pub(crate) fn up_to<E: Env>(env: &E, longest: Duration) -> Duration {
    let mut bytes = [0; 8];
    env.random(&mut bytes);
    uniform(longest, u64::from_le_bytes(bytes))
}

/// Scales 64 random bits to zero up to and including `longest`.
pub(crate) fn uniform(longest: Duration, random: u64) -> Duration {
    let longest = u64::try_from(longest.as_nanos()).unwrap_or(u64::MAX);
    let scaled = (u128::from(random) * (u128::from(longest) + 1)) >> 64;
    // The product is below 2^64 * (longest + 1), so that what is left of it fits in `longest`.
    Duration::from_nanos(u64::try_from(scaled).unwrap_or(longest))
}
