//! The engine whose words the rows of `keyword_effects` show: here the second one. So every word of the format does on
//! it what it says, or is refused.

use doublehold_turmoil_engine::TurmoilEngine;

pub(crate) fn engine() -> TurmoilEngine {
    TurmoilEngine
}

/// The words that it refuses, and what is below them.
pub(crate) const REFUSED: &[&str] = &[
    "network.loss",
    "network.links.loss",
    "faults.kind=loss",
    "faults.loss",
    "faults.kind=duplicate",
    "faults.duplicate",
    "service.keepalive_idle",
    "service.keepalive_interval",
    "service.keepalive_count",
];
