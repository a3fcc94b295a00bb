//! Contrasts of failovers by Sentinels: the one setting that turns each verdict.

use doublehold_history::Predicate::LV;

use super::table::{Contrast, HOLDS, Sets, contrast};

const TIMED: Sets = &[("lock.driver", "redis-py-8")];

pub(super) const SENTINELS: &[Contrast] = &[
    contrast("sentinel-stop", "clients wait for the old master", TIMED, HOLDS),
    contrast("sentinel-stop/redis-py-5", "clients wait for the old master", TIMED, HOLDS),
    contrast("sentinel-stop/lettuce", "clients wait for the old master", TIMED, HOLDS),
    contrast(
        "sentinel-stop/command-timeout",
        "the driver keeps its connection",
        &[("lock.driver", "redis-py-5")],
        HOLDS,
    ),
    contrast(
        "sentinel-cut/min-replicas",
        "the max-lag is as long as the lease",
        &[("nodes.min_replicas_max_lag", "2s")],
        HOLDS,
    ),
    contrast("sentinel-wait", "c1 goes on once there is another master", &[("faults.1.for", "1ms")], HOLDS),
    contrast("sentinel-kill/behind", "the replicas did not hear of it", &[("faults.0.for", "1s")], HOLDS),
    contrast(
        "sentinel-tilt/clock-step",
        "the clocks are stepped by more than two seconds",
        &[("faults.1.by", "+1500ms")],
        &[(LV, "holds")],
    ),
];
