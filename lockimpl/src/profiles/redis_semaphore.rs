//! redis-semaphore's `RedlockMutex`, as a setting of `redlock`, and its `Mutex`, as one of `single`.

use std::num::NonZeroU32;
use std::time::Duration;

use crate::config::{Flaw, Newest, Profile, Ratio, Remedy, Switches};

const FIFTHS: NonZeroU32 = NonZeroU32::new(5).unwrap();

pub(super) const REDIS_SEMAPHORE: Profile = Profile {
    name: "redis-semaphore",
    also: &["RedlockMutex"],
    library: "redis-semaphore (RedlockMutex) over ioredis 5",
    language: "Node.js",
    version: "5.7.0",
    files: "swarthy/redis-semaphore 63c2d01: src/misc.ts, src/Lock.ts, src/RedlockMutex.ts, src/redlockMutex/*.ts; \
            redis/ioredis v5.9.3: lib/redis/event_handler.ts, lib/redis/RedisOptions.ts, lib/Redis.ts, lib/Command.ts",
    read_on: "2026-11-25",
    newest: Some(Newest { version: "5.8.0", looked_up_on: "2026-11-28" }),
    meaning: "a majority of nodes, which waits for all of them and does not look at how long that took",
    ttl: Some(Duration::from_secs(10)),
    fixed: || {
        Switches::new()
            .with("order", "parallel")
            .with("elapsed_check", false)
            .with("clock", "wall")
            .with("driver", "ioredis-5")
            .with("token", "object")
            .with("tries", 1000u64)
            .with("acquire_limit", Duration::from_secs(10))
            .with("retry_delay", Duration::from_millis(10))
            .with("jitter", false)
            .with("on_failed_extension", "release")
            .with("extend_check", "none")
            .with("renew_every", Ratio { numerator: 4, denominator: FIFTHS })
            .with("told_on_loss", "callback")
    },
    open: &[
        "driver",
        "acquire_limit",
        "elapsed_check",
        "node_timeout",
        "reconnect",
        "renew_every",
        "retry_delay",
        "told_on_loss",
        "tries",
        "transport_retries",
    ],
    flaws: &[
        Flaw {
            what: "One stopped node of three delays an acquire until the keys on the other two have ended, and \
                   the lock is granted all the same.",
            scenario: "redis-semaphore",
            repaired: "redis-semaphore/repaired",
            remedy: Remedy::Option("commandTimeout"),
        },
        Flaw {
            what: "One dead node of three does the same. Where connections to it are refused, ioredis 5 gives \
                   a request up after 21 attempts, 10.5 s after the first one, and ioredis 6 after 73 s; the lease \
                   is 10 s.",
            scenario: "redis-semaphore-killed-node",
            repaired: "redis-semaphore-killed-node/repaired",
            remedy: Remedy::Option("commandTimeout"),
        },
        Flaw {
            what: "One stopped node of three delays a renewal, and no other renewal is sent meanwhile: the keys \
                   on the other two end, and the holder is not told.",
            scenario: "redis-semaphore-renewal",
            repaired: "redis-semaphore-renewal/repaired",
            remedy: Remedy::Code(
                "With `commandTimeout` of ioredis renewals go on, and two do not hold it. A \
                                  clean-up that is late may then delete a later key of the same mutex object, as \
                                  all of them have one token (`doublehold run \
                                  redis-semaphore-renewal/command-timeout`).",
            ),
        },
    ],
    left_out: &[
        "That a holder without `onLockLost` is told by an error that ends its process; here it stops its work",
        "That a renewal that falls due while another is under way waits for the next tick of its timer: here it \
         is sent when the other has come to something",
        "That an extension asks for the key again on nodes that lacked it",
        "ioredis' handshake (INFO): a stopped node takes connections, and only a request to it is late",
        "Version 5.8 over ioredis 6: `--set lock.driver=ioredis-6`",
    ],
};

pub(super) const REDIS_SEMAPHORE_MUTEX: Profile = Profile {
    name: "redis-semaphore-mutex",
    also: &["RedisMutex", "redis-semaphore Mutex"],
    library: "redis-semaphore (Mutex) over ioredis 5",
    language: "Node.js",
    version: "5.7.0",
    files: "swarthy/redis-semaphore 63c2d01: src/misc.ts, src/Lock.ts, src/RedisMutex.ts, src/mutex/*.ts; \
            redis/ioredis v5.11.1: lib/connectors/SentinelConnector/*.ts, lib/connectors/AbstractConnector.ts",
    read_on: "2026-11-30",
    newest: Some(Newest { version: "5.8.0", looked_up_on: "2026-11-28" }),
    meaning: "a key on one node, asked for every 10 ms and renewed beside its holder; no deadline",
    ttl: Some(Duration::from_secs(10)),
    fixed: || {
        Switches::new()
            .with("driver", "ioredis-5")
            .with("token", "object")
            .with("wake", "poll")
            .with("poll", Duration::from_millis(10))
            .with("until_expiry", false)
            .with("wait_clock", "wall")
            .with("release_on_failure", false)
            .with("renew_every", Ratio { numerator: 4, denominator: FIFTHS })
            .with("told_on_loss", "callback")
    },
    open: &[
        "driver",
        "elapsed_check",
        "poll",
        "renew_every",
        "request_timeout",
        "token",
        "told_on_loss",
        "transport_retries",
    ],
    flaws: &[Flaw {
        what: "Behind Sentinel, the driver keeps its connection to a master that stood still and was replaced. When \
               that one goes on, it grants the lock beside the new master, until it is made a replica 10 s later.",
        scenario: "redis-semaphore-mutex",
        repaired: "redis-semaphore-mutex/repaired",
        remedy: Remedy::Option("failoverDetector"),
    }],
    left_out: &[
        "`acquire` gives up after 10 s (`acquireTimeout`): here a program asks until it has the lock, or says for how \
         long (`try 10s`)",
        "That a holder without `onLockLost` is told by an error that ends its process; here it stops its work",
        "That a renewal which fails with an error ends the process too; here the next one is sent",
        "That a renewal that falls due while another is under way waits for the next tick of its timer",
        "Version 5.8 over ioredis 6: `--set lock.driver=ioredis-6`",
    ],
};
