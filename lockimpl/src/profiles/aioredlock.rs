//! aioredlock, as its source has it: Redlock whose holder has a flag, not a time.

use std::time::Duration;

use crate::config::{Flaw, Newest, Profile, Remedy, Switches};

pub(super) static AIOREDLOCK: Profile = Profile {
    name: "aioredlock",
    also: &["joanvila"],
    library: "aioredlock",
    language: "Python",
    version: "0.7.3",
    files: "github.com/joanvila/aioredlock 685d1b5: aioredlock/algorithm.py, aioredlock/redis.py, aioredlock/lock.py",
    read_on: "2026-11-25",
    newest: Some(Newest { version: "0.7.3", looked_up_on: "2026-11-28" }),
    meaning: "Redlock for asyncio: a lock is a flag, and a failed extension gives it back",
    ttl: Some(Duration::from_secs(10)),
    fixed: || {
        Switches::new()
            .with("order", "parallel")
            .with("node_timeout", "none")
            .with("tries", 3_u32)
            .with("retry_delay", Duration::from_millis(300))
            .with("retry_least", Duration::from_millis(100))
            .with("clock", "monotonic")
            .with("token", "call")
            .with("tells_deadline", false)
            .with("extend_if_missing", true)
            .with("extend_check", "new-lease")
            .with("on_failed_extension", "release")
            .with("renew_from", "reply")
            .with("renew_stops_on_error", true)
            .with("told_on_loss", "flag")
    },
    open: &[
        "tries",
        "retry_delay",
        "retry_least",
        "tells_deadline",
        "on_failed_extension",
        "renew_every",
        "told_on_loss",
    ],
    flaws: &[
        Flaw {
            what: "`valid` stays true after the lease has ended: a program that asks it works on with a lock that \
                   another client holds.",
            scenario: "aioredlock",
            repaired: "aioredlock/repaired",
            remedy: Remedy::MEASURE,
        },
        Flaw {
            what: "An automatic extension that misses its quorum once gives back what is still good. `valid` is \
                   false from then on, and a program that does not ask it works on without a lock.",
            scenario: "aioredlock-gives-up",
            repaired: "aioredlock-gives-up/repaired",
            remedy: Remedy::Code(
                "Ask `valid` before each write (`doublehold run aioredlock-gives-up/asks`), or \
                                  give a `lock_timeout`, with which nothing extends the lock by itself.",
            ),
        },
    ],
    left_out: &[
        "Its automatic extension, every 0.6 leases, is there where no lease is asked for: `--set \
         lock.renew_every=3/5`. As it stands this is a call with a `lock_timeout`.",
        "It makes three attempts of an extension too: here one.",
        "It does not give back between the attempts of a call, only after the last: here after each.",
        "It acquires by a script that sets a key again that holds its own token; here by SET NX.",
    ],
};
