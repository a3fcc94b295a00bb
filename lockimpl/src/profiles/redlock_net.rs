//! RedLock.net, as its source has it: Redlock whose holder has a flag, and whose extension sets keys that are gone.

use std::num::NonZeroU32;
use std::time::Duration;

use crate::config::{Flaw, Profile, Ratio, Remedy, Switches};

const HALVES: NonZeroU32 = NonZeroU32::new(2).unwrap();

pub(super) static REDLOCK_NET: Profile = Profile {
    name: "redlock-net",
    also: &["RedLock.net", "RedLockNet"],
    library: "RedLock.net over StackExchange.Redis",
    language: ".NET",
    version: "2.3.2",
    files: "github.com/samcook/RedLock.net dcfe373: RedLockNet.SERedis/RedLock.cs, \
        RedLockNet.SERedis/Lua/Extend.lua, RedLockNet.SERedis/Lua/Unlock.lua, \
        RedLockNet.SERedis/Configuration/InternallyManagedRedLockConnectionProvider.cs",
    read_on: "2026-11-26",
    newest: None,
    meaning: "Redlock for .NET: a lock is a flag, and an extension sets a key that is gone",
    ttl: None,
    fixed: || {
        Switches::new()
            .with("order", "parallel")
            .with("node_timeout", Duration::from_secs(1))
            .with("driver", "stackexchange-redis-3")
            .with("connect_timeout", "none")
            .with("tries", 3_u32)
            .with("retry_delay", Duration::from_millis(399))
            .with("clock", "monotonic")
            .with("token", "call")
            .with("tells_deadline", false)
            .with("extend_if_missing", true)
            .with("extend_check", "new-lease")
            .with("renew_every", Ratio { numerator: 1, denominator: HALVES })
            .with("told_on_loss", "flag")
    },
    open: &["extend_if_missing", "node_timeout", "retry_delay", "tells_deadline", "tries", "renew_every"],
    flaws: &[
        Flaw {
            what: "`IsAcquired` stays true after the lease has ended, until the next extension: a program that \
                   asks it writes under a lock that another client holds.",
            scenario: "redlock-net",
            repaired: "redlock-net/repaired",
            remedy: Remedy::Code(
                "Read a monotonic clock right before you ask for the lock, and begin no write \
                                  when its lease has passed since then. The work has to fit into one lease: \
                                  nothing tells when an extension was sent.",
            ),
        },
        Flaw {
            what: "An extension that comes after the lease has ended sets the keys again, and the holder is not \
                   told that another client had the lock in between.",
            scenario: "redlock-net-extends-again",
            repaired: "redlock-net-extends-again/repaired",
            remedy: Remedy::Code(
                "Read a monotonic clock right before you ask for the lock, and begin no write \
                                  when its lease has passed since then. The work has to fit into one lease: \
                                  nothing tells when an extension was sent.",
            ),
        },
    ],
    left_out: &[
        "Its timer fires every half lease from the grant on, and not while an extension is under way: here the next \
         one is due half a lease after the last was sent.",
        "`IsAcquired` is asked by a program's `check`, and by nothing else.",
        "Its status, which says why a lock was not obtained, and a lease of 10 ms where a shorter one is asked for.",
        "`wait` and `retry`, which call again: a program's `retry` can say that.",
        "Its limit of 100 ms for a connection: here a second holds for both, connecting and asking.",
    ],
};
