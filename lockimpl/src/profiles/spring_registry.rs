//! Spring Integration's `RedisLockRegistry`, as a setting of `local-remote`.

use std::time::Duration;

use crate::profile::{Flaw, Profile};
use crate::switch::Switches;

pub(super) const SPRING_REGISTRY: Profile = Profile {
    name: "spring-registry",
    also: &["RedisLockRegistry", "spring-integration-redis"],
    library: "Spring Integration (RedisLockRegistry)",
    language: "Java",
    version: "7.2.0-SNAPSHOT",
    files: "spring-projects/spring-integration f369e89: spring-integration-redis/src/main/java/org/springframework/\
            integration/redis/util/RedisLockRegistry.java; redis/lettuce: RedisURI.java",
    read_on: "2026-11-25",
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
            .with("request_timeout", Duration::from_secs(60))
            .with("on_timeout", "keep")
    },
    open: &["poll", "request_timeout", "wait"],
    flaws: &[Flaw {
        what: "`tryLock` with a time waits for it at the mutex, and then once more for the key: twice as long as asked",
        scenario: "spring-registry",
        repaired: "spring-registry/repaired",
    }],
    left_out: &[
        "the renewal every third of the lease, which runs where a scheduler is given",
        "the way of waiting by messages (`PUB_SUB_LOCK`)",
        "that Redis 8.4 deletes with `DELEX … IFEQ` and renews with `SET … IFEQ`, which do what the scripts do",
        "the table's capacity of 100,000, and a mutex that it forgets",
        "that Lettuce sends requests again on a new connection",
    ],
};
