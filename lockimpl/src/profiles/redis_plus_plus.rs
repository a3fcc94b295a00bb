//! redis-plus-plus, as its source has it: `RedMutex` by scripts, as it is if nobody says otherwise.

use std::num::NonZeroU32;
use std::time::Duration;

use crate::config::{Flaw, Profile, Ratio, Remedy, Switches};

const HALVES: NonZeroU32 = NonZeroU32::new(2).unwrap();

pub(super) static REDIS_PLUS_PLUS: Profile = Profile {
    name: "redis-plus-plus",
    also: &["RedMutex", "RedLockMutex"],
    library: "redis-plus-plus (RedMutex, by scripts)",
    language: "C++",
    version: "2c47000",
    files: "github.com/sewenew/redis-plus-plus 2c47000: src/sw/redis++/patterns/redlock.h, redlock.cpp",
    read_on: "2026-11-26",
    newest: None,
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
            .with("renew_every", Ratio { numerator: 1, denominator: HALVES })
            .with("renew_from", "reply")
            .with("renew_stops_on_error", true)
            .with("told_on_loss", "at-release")
    },
    open: &["node_timeout", "on_failed_extension", "on_node_error", "renew_every", "told_on_loss"],
    flaws: &[
        Flaw {
            what: "One dead node of three is enough to keep everybody out: its error ends the attempt, and the \
                   keys on the other two stay for a lease.",
            scenario: "redis-plus-plus",
            repaired: "redis-plus-plus/repaired",
            remedy: Remedy::Authors,
        },
        Flaw {
            what: "If one connection breaks when the watcher extends, the extensions end for good, even though \
                   the other nodes are well. The holder is told by `auto_extend_err_callback` only, which is optional: \
                   `unlock()` returns without a word then, and asks no node, so that keys that are left stay until \
                   their lease ends.",
            scenario: "redis-plus-plus-renewal",
            repaired: "redis-plus-plus-renewal/repaired",
            remedy: Remedy::Option("auto_extend_err_callback"),
        },
    ],
    left_out: &[
        "One thread extends for all mutexes that share a watcher, one after another: here each lock has a task \
         of its own.",
        "`lock()` asks again after 0 to 5 ms, which a program's `retry` can say. Its option `retry_delay` of 100 ms \
         is read by nobody.",
        "`unlock()` after an extension that failed says nothing: here its caller is told `NotOwner`.",
        "A time limit for replies and connections, which its user may set, and which is off.",
    ],
};
