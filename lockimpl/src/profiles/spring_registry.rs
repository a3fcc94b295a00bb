//! Spring Integration's `RedisLockRegistry`, as a setting of `local-remote`.

use std::time::Duration;

use crate::config::{Flaw, Profile, Remedy, Switches};

pub(super) const SPRING_REGISTRY: Profile = Profile {
    name: "spring-registry",
    also: &["RedisLockRegistry", "spring-integration-redis"],
    library: "Spring Integration (RedisLockRegistry)",
    language: "Java",
    version: "before 7.2.0 (f369e89)",
    files: "spring-projects/spring-integration f369e89: spring-integration-redis/src/main/java/org/springframework/\
            integration/redis/util/RedisLockRegistry.java; redis/lettuce: RedisURI.java",
    read_on: "2026-11-25",
    newest: None,
    meaning: "threads of a process wait at a mutex, and processes ask for a key every 100 ms",
    ttl: Some(Duration::from_secs(60)),
    fixed: || {
        Switches::new()
            .with("client_id", "process")
            .with("local", "process")
            .with("script", "whole")
            .with("wait", "twice")
            .with("wait_clock", "wall")
            .with("poll", Duration::from_millis(100))
            .with("release", "compare-and-delete")
            .with("driver", "lettuce-7")
    },
    open: &["client_id", "driver", "poll", "request_timeout", "wait"],
    flaws: &[
        Flaw {
            what: "`tryLock(3, SECONDS)` may wait for 3 s at the process's own lock, and then for 3 s more for \
                   the key.",
            scenario: "spring-registry",
            repaired: "spring-registry/repaired",
            remedy: Remedy::Code("Give it half of the time that you have, as it may wait for that twice."),
        },
        Flaw {
            what: "All locks of a registry have one id: a release that is late deletes the key of the next holder \
                   in the same process. Shown with a timeout of 2 s, as over Jedis.",
            scenario: "spring-registry-late-release",
            repaired: "spring-registry-late-release/repaired",
            remedy: Remedy::Option("spring.data.redis.timeout"),
        },
    ],
    left_out: &[
        "The renewal every third of a lease, if it is given a scheduler.",
        "`unlock()` throws if the lease has ended: the work is done by then. Here such a release is told `NotOwner`.",
        "PUB_SUB_LOCK, where a release wakes those who wait.",
        "On Redis 8.4 it compares by DELEX and SET IFEQ; here by the scripts that it has for older nodes.",
        "The table of 100,000 local locks, and what becomes of those that are put out of it.",
        "Spring's code was not read.",
        "Lettuce sends all commands of a process over one connection, on which none overtakes another.",
    ],
};
