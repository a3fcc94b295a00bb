//! Symfony Lock over its `RedisStore`, as its source has it: 300 s first, and the lease that was asked for in a second
//! command.

use std::time::Duration;

use crate::config::{Flaw, Profile, Remedy, Switches};

pub(super) static SYMFONY_LOCK: Profile = Profile {
    name: "symfony-lock",
    also: &["RedisStore", "Symfony\\Component\\Lock"],
    library: "Symfony Lock (RedisStore)",
    language: "PHP",
    version: "7.1.1",
    files: "github.com/symfony/lock 091a6ff: Lock.php, Key.php, LockFactory.php, Store/RedisStore.php",
    read_on: "2026-11-25",
    newest: None,
    meaning: "a key of 300 s that a second command shortens to what was asked for; validity by the wall \
        clock",
    ttl: Some(Duration::from_secs(300)),
    fixed: || {
        Switches::new()
            .with("initial_ttl", Duration::from_secs(300))
            .with("token", "object")
            .with("elapsed_check", true)
            .with("clock", "wall")
            .with("drift_ratio", crate::Ratio { numerator: 0, denominator: std::num::NonZeroU32::MIN })
            .with("drift_constant", Duration::ZERO)
            .with("request_timeout", Duration::from_secs(60))
            .with("release_on_failure", false)
    },
    open: &["clock", "initial_ttl", "request_timeout"],
    flaws: &[
        Flaw {
            what: "A client that dies between its two commands leaves a key of 300 s, however short a lease it \
                   asked for.",
            scenario: "symfony-lock",
            repaired: "symfony-lock/repaired",
            remedy: Remedy::Option("initialTtl"),
        },
        Flaw {
            what: "If the wall clock is set back while a lock is held, its holder goes on believing in it after \
                   its key has ended.",
            scenario: "symfony-lock-clock",
            repaired: "symfony-lock-clock/repaired",
            remedy: Remedy::MEASURE,
        },
    ],
    left_out: &[
        "Its sorted sets, whose scores are times of the node: here a string key with a lease.",
        "A Lock object that ends without `release()` gives back by itself: here only programs do.",
        "`acquire(true)`, which asks every 90 to 110 ms for ever: here programs ask again.",
        "Read locks, and `isAcquired()`, which asks the node.",
        "predis and phpredis were not read: PHP's default of 60 s is taken for the time that a command may \
         take.",
    ],
};
