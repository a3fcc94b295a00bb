//! redsync, as a setting of `redlock`.

use std::time::Duration;

use crate::config::{Flaw, Profile, Remedy, Switches};

pub(super) const REDSYNC: Profile = Profile {
    name: "redsync",
    also: &["go-redsync"],
    library: "redsync over go-redis",
    language: "Go",
    version: "4.17 (5560bd2)",
    files: "go-redsync/redsync 5560bd2: redsync.go, mutex.go; redis/go-redis 216593cc: redis.go, options.go, error.go",
    read_on: "2026-11-28",
    newest: None,
    meaning: "the published Redlock, with one token for the 32 attempts of a call",
    ttl: Some(Duration::from_secs(8)),
    fixed: || {
        Switches::new()
            .with("order", "parallel")
            .with("drift_constant", Duration::ZERO)
            // redsync's own limit is in a context: go-redis does not look at it while it reads, and ends its retries
            // and its tries to connect by it.
            .with("driver", "go-redis-9.22")
            .with("transport_retries", 0_u32)
            .with("reconnect", "at-once")
            .with("tries", 32u64)
            .with("retry_delay", Duration::from_millis(250))
            .with("retry_least", Duration::from_millis(50))
            .with("extend_check", "new-lease")
    },
    open: &[
        "driver",
        "extend_if_missing",
        "node_timeout",
        "retry_delay",
        "retry_least",
        "token",
        "tries",
        "wait_for",
    ],
    flaws: &[Flaw {
        what: "The late clean-up of a failed attempt deletes the keys of a later attempt of the same call. It \
               has to be later than `ReadTimeout`, which is 5 s, or than 0.4 s where `ContextTimeoutEnabled` is \
               on.",
        scenario: "redsync",
        repaired: "redsync/repaired",
        remedy: Remedy::Code(
            "Call `TryLock` in a loop of your own, 50 to 250 ms apart: each call has a value of \
                              its own (`doublehold run redsync/one-attempt-a-call`).",
        ),
    }],
    left_out: &[
        "The three retries that go-redis makes of a release or an extension, whose context has no end",
        "The limit of 5 % of the lease that it puts into the context of each claim: `--set \
         lock.node_timeout=400ms` is a lease of 8 s with `ContextTimeoutEnabled`",
        "The pool of go-redis: a request has a connection of its own after a timeout only",
        "Failing fast counts nodes that said no, here also those that did not answer",
    ],
};
