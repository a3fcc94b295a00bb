//! redis-plus-plus, as its source has it: `RedMutex` with `scripting = false`, which is `RedMutexTx`.

use std::num::NonZeroU32;
use std::time::Duration;

use crate::config::{Flaw, Profile, Ratio, Remedy, Switches};

const HALVES: NonZeroU32 = NonZeroU32::new(2).unwrap();

pub(super) static REDIS_PLUS_PLUS_TX: Profile = Profile {
    name: "redis-plus-plus-tx",
    also: &["RedMutexTx", "redis++"],
    library: "redis-plus-plus (RedMutexTx)",
    language: "C++",
    version: "2c47000",
    files: "github.com/sewenew/redis-plus-plus 2c47000: src/sw/redis++/patterns/redlock.h, redlock.cpp",
    read_on: "2026-11-26",
    newest: None,
    meaning: "RedMutex without scripts: an extension counts nodes that hold another's key",
    ttl: Some(Duration::from_secs(3)),
    fixed: || {
        Switches::new()
            .with("order", "sequential")
            .with("node_timeout", "none")
            .with("tries", 1_u32)
            .with("clock", "monotonic")
            .with("drift_ratio", crate::Ratio { numerator: 0, denominator: std::num::NonZeroU32::MIN })
            .with("drift_constant", Duration::ZERO)
            .with("tells_deadline", false)
            .with("extend_check", "new-lease")
            .with("extension_votes", "answered")
            .with("release_on_failure", false)
            .with("renew_every", Ratio { numerator: 1, denominator: HALVES })
            .with("renew_from", "reply")
            .with("renew_stops_on_error", true)
            .with("told_on_loss", "at-release")
    },
    open: &["extension_votes", "release_on_failure", "renew_every", "told_on_loss"],
    flaws: &[
        Flaw {
            what: "An extension counts every node that answers, even one that holds another client's key: the \
                   holder is never told that the lock is lost.",
            scenario: "redis-plus-plus-tx",
            repaired: "redis-plus-plus-tx/repaired",
            remedy: Remedy::Code(
                "Leave `RedMutexOptions::scripting` on, as it is by default: `RedMutex` by \
                                  scripts has another flaw instead.",
            ),
        },
        Flaw {
            what: "A failed attempt is given back with the resource's name where its token should be: what it has \
                   won stays for a lease.",
            scenario: "redis-plus-plus-tx-leftovers",
            repaired: "redis-plus-plus-tx-leftovers/repaired",
            remedy: Remedy::Code(
                "Leave `RedMutexOptions::scripting` on, as it is by default: `RedMutex` by \
                                  scripts has another flaw instead.",
            ),
        },
    ],
    left_out: &[
        "Its transactions (WATCH, GET, MULTI, EXEC): here one script a node.",
        "One thread extends for all mutexes that share a watcher, one after another: here each lock has a task \
         of its own.",
        "`unlock()` after an extension that failed says nothing: here its caller is told `NotOwner`.",
        "An error of one node throws out of the whole attempt: here such a node has no vote.",
        "`lock()` asks again after 0 to 5 ms, which a program's `retry` can say.",
    ],
};
