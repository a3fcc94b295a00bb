//! Redisson's `RLock`, as a setting of `hash` and, where there are replicas, of `hash-replicated`.

use std::num::NonZeroU32;
use std::time::Duration;

use crate::config::{Flaw, Profile, Ratio, Remedy, Switches};

const FILES: &str = "redisson/redisson 6686397: redisson/src/main/java/org/redisson/RedissonLock.java, \
                     RedissonBaseLock.java, command/CommandAsyncService.java, config/Config.java, \
                     config/BaseConfig.java, renewal/RenewalTask.java, renewal/LockTask.java";

pub(super) const REDISSON: Profile = Profile {
    name: "redisson",
    also: &["RLock", "RedissonLock"],
    library: "Redisson (RLock)",
    language: "Java",
    version: "after 4.7.0 (6686397)",
    files: FILES,
    read_on: "2026-11-25",
    newest: None,
    meaning: "a lock that its thread may take again; whoever waits is woken by a message or by the key's end",
    ttl: Some(Duration::from_secs(30)),
    fixed: || with_watchdog(switches()),
    open: &["elapsed_check", "release_on_failure", "renew_every", "request_timeout", "told_on_loss"],
    flaws: &[
        Flaw {
            what: "The watchdog renews every 10 s. A process that stops for more than 20 s right before a renewal \
                   has lost the lock when it wakes. The watchdog finds that out, and the program learns of it \
                   only at `unlock()`, unless it asks the node by `isHeldByCurrentThread()`.",
            scenario: "redisson-watchdog",
            repaired: "redisson-watchdog/repaired",
            remedy: Remedy::Option("lockWatchdogTimeout"),
        },
        Flaw {
            what: "An acquire whose reply comes too late raises the hold count all the same, though its caller gets \
                   an exception. If the thread asks again, the count is 2: one `unlock()` is not enough, and nobody \
                   else has the lock until its key ends.",
            scenario: "redisson",
            repaired: "redisson/repaired",
            remedy: Remedy::Code(
                "When an acquire has thrown, ask `getHoldCount()` whether it counted, and call `unlock()` if it did. A \
                 request that is still on its way counts after that: ask again before you ask for the lock again.",
            ),
        },
    ],
    left_out: LEFT_OUT,
};

pub(super) const REDISSON_REPLICATED: Profile = Profile {
    name: "redisson-replicated",
    also: &["checkLockSyncedSlaves"],
    library: "Redisson (RLock over a master and replicas)",
    language: "Java",
    version: "after 4.7.0 (6686397)",
    files: FILES,
    read_on: "2026-11-25",
    newest: None,
    meaning: "RLock on a master: granted as soon as one replica has acknowledged it; another may be promoted",
    ttl: Some(Duration::from_secs(30)),
    fixed: || with_watchdog(switches()).with("synced", "any").with("wait_timeout", Duration::from_secs(1)),
    open: &[
        "elapsed_check",
        "release_on_failure",
        "renew_every",
        "request_timeout",
        "synced",
        "wait_timeout",
    ],
    flaws: &[Flaw {
        what: "One of two replicas has the lock, the master dies, and the other replica is promoted: by hand, by \
               its priority, or because the first one cannot be reached. Where Sentinel can reach both, and \
               their priorities are the same, it promotes the one that has received most, which is the right one.",
        scenario: "redisson-replicated",
        repaired: "redisson-replicated/repaired",
        remedy: Remedy::Code(
            "After `lock()`, write something to the same master in a batch with `sync(2, …)`, \
                              and call `unlock()` unless its `getSyncedSlaves()` is 2: replicas have what came \
                              before. Then ask `isHeldByCurrentThread()`, since a batch that went to a new master \
                              says nothing of the lock. This was not tried here.",
        ),
    }],
    left_out: LEFT_OUT,
};

pub(super) const REDISSON_REDLOCK: Profile = Profile {
    name: "redisson-redlock",
    also: &["RedissonRedLock", "RedissonMultiLock"],
    library: "Redisson (RedissonRedLock)",
    language: "Java",
    version: "after 4.7.0 (6686397)",
    files: "redisson/redisson 6686397: redisson/src/main/java/org/redisson/RedissonMultiLock.java, \
            RedissonRedLock.java, RedissonLock.java, RedissonBaseLock.java",
    read_on: "2026-11-25",
    newest: None,
    meaning: "RLocks of several nodes, asked in turn: a majority is enough, however long that took",
    ttl: None,
    fixed: || {
        switches()
            .with("release_on_failure", true)
            .with("members", "majority")
            .with("lease_from", "wait")
            .with("final_expire", "unchecked")
    },
    open: &["elapsed_check", "final_expire", "lease_from", "request_timeout"],
    flaws: &[Flaw {
        what: "Nodes that answer slowly, one after another, all count, although the first of their keys have ended \
               by then. The class is deprecated, in favour of `RLock` with replicas and `RFencedLock`. Shown with \
               `tryLock()` without a wait.",
        scenario: "redisson-redlock",
        repaired: "redisson-redlock/repaired",
        remedy: Remedy::Code(
            "Read a monotonic clock right before `tryLock()`, and call `unlock()` if the lease \
                              has passed when you have it.",
        ),
    }],
    left_out: &[
        "`lock` asks in turns of a time that it draws; here a turn has the whole time that its client has.",
        "The watchdog, where no lease is given.",
    ],
};

const THIRD: Ratio = Ratio { numerator: 1, denominator: NonZeroU32::new(3).unwrap() };

/// With the watchdog, which is there where no lease was asked for.
fn with_watchdog(switches: Switches) -> Switches {
    switches.with("renew_every", THIRD).with("renew_from", "reply")
}

fn switches() -> Switches {
    Switches::new()
        .with("request_timeout", Duration::from_secs(3))
        .with("on_timeout", "keep")
        .with("elapsed_check", false)
        .with("release_on_failure", false)
        .with("wake", "pubsub")
        .with("poll", "none")
        .with("until_expiry", true)
        .with("wait_clock", "wall")
}

const LEFT_OUT: &[&str] = &[
    "The watchdog is there where no lease is asked for: `--set lock.renew_every=none` is a call with one. Its \
     timer is one for all locks of a process, so that the first renewal may come sooner than here.",
    "`LockRenewalFailureListener`, a change that was proposed and is in no version that was read: it is told of a \
     renewal that was an error, and not of a lock that was gone.",
    "An election: who is promoted is what a scenario says.",
    "The key for each release that lets one be sent twice (`redisson_unlock_latch`)",
    "A request is sent again, up to 4 times, as long as it was not written to a connection",
    "An acquire which no replica has is taken back and made again, up to 4 times after 1 to 2 s",
    "Fair locks, read and write locks, and `RFencedLock`, whose numbers are fencing tokens for a store that looks \
     at them",
];
