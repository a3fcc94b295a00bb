//! node-redlock 4 (`redlock` on npm, the version that is installed if nobody names one), as a setting of `redlock`.

use std::time::Duration;

use crate::config::{Flaw, Newest, Profile, Remedy, Switches};

pub(super) static NODE_REDLOCK_4: Profile = Profile {
    name: "node-redlock-4",
    also: &["redlock-npm-4"],
    library: "node-redlock 4 (npm: redlock, latest) over ioredis",
    language: "Node.js",
    version: "4.2.0",
    files: "github.com/mike-marcacci/node-redlock 870778c (v4.2.0): redlock.js, package.json",
    read_on: "2026-11-25",
    newest: Some(Newest { version: "4.2.0", looked_up_on: "2026-11-28" }),
    meaning: "the published Redlock by the wall clock, which waits for every node, however long that takes",
    ttl: None,
    fixed: || {
        Switches::new()
            .with("order", "parallel")
            .with("wait_for", "all")
            .with("clock", "wall")
            .with("driver", "ioredis-5")
            .with("tries", 11_u64)
            .with("retry_delay", Duration::from_millis(300))
            .with("retry_least", Duration::from_millis(100))
            .with("token", "call")
            .with("on_failed_extension", "release")
            .with("extend_check", "new-lease")
    },
    open: &[
        "driver",
        "node_timeout",
        "on_failed_extension",
        "retry_delay",
        "retry_least",
        "tries",
        "transport_retries",
        "wait_for",
    ],
    flaws: &[Flaw {
        what: "One dead node of three keeps a client out: each attempt waits until the driver gives that node up. \
               Where connections to it are refused, ioredis 5 does so every 21 attempts to connect, which take 10 s \
               at first and 42 s later, and by then a lease of 10 s has ended.",
        scenario: "node-redlock-4",
        repaired: "node-redlock-4/repaired",
        remedy: Remedy::Option("commandTimeout"),
    }],
    left_out: &[
        "That an extension is refused without asking when its lock's time is over, and tried again, after its keys \
         were deleted.",
        "Several resources under one lock; the claim is a SET here, and a script with EXISTS and SET there.",
        "node_redis, which may be its driver as well, and keeps a request for an hour.",
        "That a release needs a quorum of keys it found, and says an error otherwise.",
    ],
};
