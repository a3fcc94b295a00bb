//! redis-plus-plus, as its source has it: `RedMutex` by scripts, as it is if nobody says otherwise.

use std::time::Duration;

use crate::profile::{Flaw, Profile};
use crate::switch::Switches;

pub(super) static REDIS_PLUS_PLUS: Profile = Profile {
    name: "redis-plus-plus",
    also: &["RedMutex", "RedLockMutex"],
    library: "redis-plus-plus (RedMutex, by scripts)",
    language: "C++",
    version: "2c47000",
    files: "github.com/sewenew/redis-plus-plus 2c47000: src/sw/redis++/patterns/redlock.h, redlock.cpp",
    read_on: "2026-11-25",
    meaning: "RedMutex by scripts: a node that cannot be reached ends the call, and its keys stay",
    ttl: Some(Duration::from_secs(3)),
    fixed: || {
        Switches::new()
            .with("order", "sequential")
            .with("node_timeout", "none")
            .with("tries", 1_u32)
            .with("clock", "monotonic")
            .with("token", "attempt")
            .with("on_node_error", "stop")
            .with("tells_deadline", false)
            .with("on_failed_extension", "release")
            .with("extend_check", "new-lease")
    },
    open: &["node_timeout", "on_failed_extension", "on_node_error"],
    flaws: &[Flaw {
        what: "One dead node of three is enough to keep everybody out: it throws out of the attempt, and leaves its \
            keys for a lease.",
        scenario: "redis-plus-plus",
        repaired: "redis-plus-plus/repaired",
    }],
    left_out: &[
        "Its watcher, which extends every half lease, and the callback that is told if that fails: here programs \
         extend.",
        "An extension that fails makes the release that follows do nothing.",
        "`lock()` asks again after 0 to 5 ms, which a program's `retry` can say. Its option `retry_delay` of 100 ms \
         is read by nobody.",
        "A time limit for replies and connections, which its user may set, and which is off.",
    ],
};
