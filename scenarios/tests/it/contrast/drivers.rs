//! What decides the verdict of each variant that shows a flaw over another driver.

use doublehold_history::Predicate::LV;

use super::table::{Contrast, HOLDS, contrast};

pub(super) const DRIVERS: &[Contrast] = &[
    contrast(
        "pottery/redis-py-8",
        "a late SET comes after the release",
        &[("lock.wait_for", "all")],
        &[(LV, "holds")],
    ),
    contrast(
        "python-redis-lock/redis-py-8",
        "the signal is gone before the client comes to the list",
        &[("lock.signal_ttl", "10s")],
        &[(LV, "holds")],
    ),
    contrast(
        "python-redis-lock-renewal/outage",
        "the outage is longer than the driver tries",
        &[("faults.0.for", "2s")],
        HOLDS,
    ),
    contrast(
        "redlock-py-late-clean-up/redis-py-8",
        "the clean-up finds its own token",
        &[("lock.token", "attempt")],
        HOLDS,
    ),
];
