//! node-redlock (`redlock` on npm), as a setting of `redlock`.

use crate::config::{Flaw, Newest, Profile, Remedy, Switches};

pub(super) const NODE_REDLOCK: Profile = Profile {
    name: "node-redlock",
    also: &["redlock-npm"],
    library: "node-redlock (npm: redlock) over ioredis 5",
    language: "Node.js",
    version: "5.0.0-beta.2",
    files: "mike-marcacci/node-redlock afe5cf9: src/index.ts",
    read_on: "2026-11-25",
    newest: Some(Newest { version: "5.0.0-beta.2", looked_up_on: "2026-11-28" }),
    meaning: "Redlock for Node.js: handed out at a quorum, even if the time at which it ends has passed",
    ttl: None,
    fixed: || {
        Switches::new()
            .with("order", "parallel")
            .with("wait_for", "quorum")
            .with("tie", "never")
            .with("elapsed_check", false)
            .with("unchecked_deadline", true)
            .with("clock", "wall")
            .with("driver", "ioredis-5")
            .with("tries", 11u64)
            .with("retry_delay", std::time::Duration::from_millis(300))
            .with("retry_least", std::time::Duration::from_millis(100))
            .with("release_between_tries", false)
            .with("extend_check", "at-start")
            .with("told_on_loss", "callback")
    },
    open: &[
        "driver",
        "elapsed_check",
        "node_timeout",
        "renew_every",
        "retry_delay",
        "retry_least",
        "tie",
        "told_on_loss",
        "tries",
        "transport_retries",
    ],
    flaws: &[
        Flaw {
            what: "A lock is handed out even if its expiration has passed: only a caller who compares that with \
                   the time notices.",
            scenario: "node-redlock",
            repaired: "node-redlock/repaired",
            remedy: Remedy::Code("Compare the lock's `expiration` with `Date.now()` before each write."),
        },
        Flaw {
            what: "If half of an even number of nodes say yes and half say no, the call never ends.",
            scenario: "node-redlock-tie",
            repaired: "node-redlock-tie/repaired",
            remedy: Remedy::Code("Use an odd number of nodes."),
        },
        Flaw {
            what: "The signal of `using()` is set when an extension has failed, and an extension that still waits \
                   for its nodes has not failed: the lease ends while the routine works on.",
            scenario: "node-redlock-using",
            repaired: "node-redlock-using/repaired",
            remedy: Remedy::Code(
                "With `commandTimeout: 100` of ioredis, and `retryCount: 0` and \
                                  `automaticExtensionThreshold: 5000` of Redlock, an extension has failed before \
                                  a lease of 10 s ends (`doublehold run node-redlock-using/short-time-limits`).",
            ),
        },
    ],
    left_out: &[
        "`using()` extends 500 ms before the expiration that it computes: `--set lock.renew_every=9398ms` for a \
         lease of 10 s (less 1 %, 2 ms and 500 ms). Without it this is `acquire()`. An extension that failed is \
         tried at once as long as the lease lasts; here an interval later",
        "`using()` waits for an extension that is under way before it gives the lock back; here it is not looked at",
        "That releases and extensions are tried again as an acquire is",
        "Several resources under one lock; the claim is a SET here, and a script with EXISTS and SET there",
    ],
};
