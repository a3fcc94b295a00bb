//! bsm/redislock, as its source has it: one node, scripts, and no deadline but what the node says.

use crate::config::{Flaw, Profile, Remedy, Switches};

pub(super) static BSM_REDISLOCK: Profile = Profile {
    name: "bsm-redislock",
    also: &["redislock", "bsm/redislock"],
    library: "bsm/redislock",
    language: "Go",
    version: "0.10.0",
    files: "github.com/bsm/redislock 76760bd: redislock.go, obtain.lua, refresh.lua, release.lua, \
        retry.go, README.md",
    read_on: "2026-11-25",
    newest: None,
    meaning: "a key on one node, taken and given back by scripts; no deadline",
    ttl: None,
    fixed: || {
        Switches::new()
            .with("driver", "go-redis-9.21")
            // What is sent again finds its own token, and sets the key anew.
            .with("own_token_counts", true)
            .with("release_on_failure", false)
    },
    open: &["driver", "request_timeout", "transport_retries", "elapsed_check"],
    flaws: &[Flaw {
        what: "A grant has no deadline: a program whose work outlives the lease is not told, unless it asks the \
               node.",
        scenario: "bsm-redislock",
        repaired: "bsm-redislock/repaired",
        remedy: Remedy::MEASURE,
    }],
    left_out: &[
        "Custom tokens: a lock whose token begins another's (`job1`, `job10`) takes it over, as the \
         script compares as many bytes as its own has.",
        "A lease below 1 ms becomes 0, which deletes the key and reports success; here leases are rounded up.",
        "It acquires by a script (MSETNX, then PEXPIRE), for several keys at once if asked; here by SET NX.",
        "Its strategies to ask again.",
        "`TTL()`, which asks the node for what is left.",
    ],
};
