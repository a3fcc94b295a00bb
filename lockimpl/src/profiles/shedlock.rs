//! ShedLock over Redis, as its source has it: what gives back and what extends asks nobody whose the key is.

use crate::config::{Flaw, Profile, Remedy, Switches};

pub(super) static SHEDLOCK: Profile = Profile {
    name: "shedlock",
    also: &["ShedLock", "RedisLockProvider", "SchedulerLock"],
    library: "ShedLock (RedisLockProvider)",
    language: "Java",
    version: "7.9.0",
    files: "github.com/lukas-krecan/ShedLock 2495b14: InternalRedisLockProvider.java of \
        shedlock-support-redis, RedisLockProvider.java of shedlock-provider-redis-spring",
    read_on: "2026-11-25",
    newest: None,
    meaning: "SET NX PX, given back by DEL and extended by SET XX, unless `safeUpdate` is on",
    ttl: None,
    fixed: || {
        Switches::new()
            .with("token", "call")
            .with("release", "plain-delete")
            .with("extend_by", "set-xx")
            .with("driver", "lettuce-7")
            .with("release_on_failure", false)
    },
    open: &["driver", "extend_by", "release", "request_timeout"],
    flaws: &[
        Flaw {
            what: "A DEL that arrives after the lease has ended deletes the lock of whoever holds it by then. \
                   `safeUpdate` compares first, and is off by default.",
            scenario: "shedlock",
            repaired: "shedlock/repaired",
            remedy: Remedy::Option("safeUpdate"),
        },
        Flaw {
            what: "`extend` sets the key, whoever holds it: two clients have the lock, and both are told that \
                   they have. `safeUpdate` compares first.",
            scenario: "shedlock-extend",
            repaired: "shedlock-extend/repaired",
            remedy: Remedy::Option("safeUpdate"),
        },
    ],
    left_out: &[
        "`safeUpdate` changes how it gives back and how it extends. Here these are two switches, `release` and \
         `extend_by`.",
        "It never waits: a task whose lock is taken is skipped. Here programs ask again.",
        "`lockAtLeastFor`, by which a release keeps the key for a while.",
        "KeepAliveLockProvider, which extends beside the task. Here programs extend.",
        "The lease is what is left of `lockAtMostFor` when the request is made, by the wall clock: here all \
         of it.",
        "Spring's code was not read.",
    ],
};
