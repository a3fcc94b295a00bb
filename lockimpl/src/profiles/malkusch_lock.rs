//! malkusch/lock's `DistributedMutex`, as a setting of `redlock`.

use std::time::Duration;

use crate::config::{Flaw, Profile, Remedy, Switches};

pub(super) const MALKUSCH_LOCK: Profile = Profile {
    name: "malkusch-lock",
    also: &["php-lock", "DistributedMutex"],
    library: "malkusch/lock (DistributedMutex of RedisMutex)",
    language: "PHP",
    version: "3.1.1",
    files: "php-lock/lock 3e64b5e: src/Mutex/DistributedMutex.php, AbstractSpinlockMutex.php, \
            AbstractSpinlockWithTokenMutex.php, RedisMutex.php, src/Util/Loop.php",
    read_on: "2026-11-25",
    newest: None,
    meaning: "a key without an end on a majority of nodes, deleted only where its yes arrived",
    ttl: None,
    fixed: || {
        Switches::new()
            .with("expiry", "none")
            .with("elapsed_check", false)
            .with("clock", "wall")
            .with("drift_ratio", crate::parts::timing::Drift::NONE.ratio)
            .with("drift_constant", Duration::ZERO)
            // PHP's `default_socket_timeout`.
            .with("node_timeout", Duration::from_secs(60))
            .with("token", "attempt")
            .with("tries", 1000u64)
            .with("acquire_limit", Duration::from_secs(3))
            .with("retry_least", Duration::from_millis(10))
            .with("retry_delay", Duration::from_millis(500))
            .with("release_on", "answered")
    },
    open: &["acquire_limit", "expiry", "node_timeout", "release_on"],
    flaws: &[Flaw {
        what: "If the replies of a majority of nodes are lost, nobody deletes the keys there, and they never end.",
        scenario: "malkusch-lock",
        repaired: "malkusch-lock/repaired",
        remedy: Remedy::Option("expireTimeout"),
    }],
    left_out: &[
        "The random order of the nodes, and that it stops asking when no majority is left to win",
        "The waits between attempts: they grow from 10 to 500 ms there, and are drawn between the two here",
        "The key, which expires in 1,000 years there, and the error when half of the nodes fail",
        "A token of each node of its own",
    ],
};
