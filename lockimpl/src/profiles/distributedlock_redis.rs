//! DistributedLock.Redis, as its source has it: Redlock whose time limit is a timer, and no look at a clock.

use std::num::NonZeroU32;
use std::time::Duration;

use crate::config::{Flaw, Profile, Ratio, Remedy, Switches};

const TENTHS: NonZeroU32 = NonZeroU32::new(10).unwrap();

pub(super) static DISTRIBUTEDLOCK_REDIS: Profile = Profile {
    name: "distributedlock-redis",
    also: &["DistributedLock.Redis", "RedisDistributedLock", "Medallion"],
    library: "DistributedLock.Redis over StackExchange.Redis",
    language: ".NET",
    version: "1.1.1 (of DistributedLock 2.8.1)",
    files: "github.com/madelson/DistributedLock 3da3eaf: \
        src/DistributedLock.Redis/RedisDistributedSynchronizationOptionsBuilder.cs, \
        src/DistributedLock.Redis/RedLock/*.cs, src/DistributedLock.Redis/Primitives/RedisMutexPrimitive.cs, \
        src/DistributedLock.Core/Internal/LeaseMonitor.cs",
    read_on: "2026-11-26",
    newest: None,
    meaning: "Redlock for .NET: a quorum within 3 s by a timer, and nobody compares the time it took",
    ttl: Some(Duration::from_secs(30)),
    fixed: || {
        Switches::new()
            .with("order", "parallel")
            .with("wait_for", "quorum")
            // Its own, in place of the driver's: 30 s without the 27 s that have to remain.
            .with("node_timeout", Duration::from_secs(3))
            .with("driver", "stackexchange-redis-3")
            .with("connect_timeout", "none")
            // `Acquire` goes on for ever if nobody says otherwise.
            .with("tries", 1000_u32)
            .with("retry_delay", Duration::from_millis(800))
            .with("retry_least", Duration::from_millis(10))
            .with("elapsed_check", false)
            .with("token", "attempt")
            .with("extend_check", "none")
            // A third of the 27 s that have to remain.
            .with("renew_every", Ratio { numerator: 3, denominator: TENTHS })
            .with("renew_from", "reply")
            .with("told_on_loss", "when-due")
    },
    open: &[
        "acquire_limit",
        "elapsed_check",
        "node_timeout",
        "retry_delay",
        "retry_least",
        "tries",
        "renew_every",
        "told_on_loss",
    ],
    flaws: &[
        Flaw {
            what: "A process that was stopped while the replies were on their way takes them for a lock when it \
                   goes on, however long it was stopped: a reply that has arrived wins against the timer that is \
                   due.",
            scenario: "distributedlock-redis",
            repaired: "distributedlock-redis/repaired",
            remedy: Remedy::Code(
                "Read a monotonic clock right before you ask for the lock, and give it back if \
                                  30 s have passed when you have it.",
            ),
        },
        Flaw {
            what: "`HandleLostToken` looks at the time only when an extension is due, and counts 30 s from the \
                   last reply: a holder that is cut off is told 3 s or more after its keys have ended.",
            scenario: "distributedlock-redis-told-late",
            repaired: "distributedlock-redis-told-late/repaired",
            remedy: Remedy::Code(
                "Take an `Expiry` that is longer than your work, read a monotonic clock right \
                                  before you ask for the lock, and begin no write when it has passed since then.",
            ),
        },
    ],
    left_out: &[
        "An extension that is not answered within 3 s is waited for by the next one, where its reply counts. \
         Here each extension has requests of its own.",
        "A program here stops its work when the token says so, as a worker does that is given the token.",
        "After a stop .NET may look at the timer first, and then the library asks again: here the reply is first. On \
         one node, called without `await`, the library does compare the time.",
        "Half of an even number of nodes that say no decides: here a quorum does.",
        "A release that is behind a claim under way waits for it: here it may overtake it on a connection that was \
         not open yet.",
        "A node that is known to be disconnected is not waited for where it would decide.",
        "`TryAcquire` asks once: a program's `try` makes all attempts of a call, unless with `--set lock.tries=1`.",
    ],
};
