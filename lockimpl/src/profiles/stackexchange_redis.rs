//! StackExchange.Redis' LockTake, LockExtend and LockRelease, as its source has them: each compares.

use crate::config::{Flaw, Profile, Remedy, Switches};

pub(super) static STACKEXCHANGE_REDIS: Profile = Profile {
    name: "stackexchange-redis",
    also: &["LockTake", "StackExchange.Redis", "LockTakeAsync"],
    library: "StackExchange.Redis (LockTake)",
    language: ".NET",
    version: "3.1",
    files: "github.com/StackExchange/StackExchange.Redis 90bbf1f: src/StackExchange.Redis/RedisDatabase.cs",
    read_on: "2026-11-25",
    newest: None,
    meaning: "SET NX PX, extended and given back where the token is its own; no deadline",
    ttl: None,
    fixed: || {
        Switches::new()
            .with("token", "call")
            .with("driver", "stackexchange-redis-3")
            .with("release_on_failure", false)
    },
    open: &["driver", "elapsed_check", "extend_by", "release", "request_timeout"],
    flaws: &[Flaw {
        what: "`LockTake` says yes or no, but not until when: a program whose work outlives the lease is not \
               told.",
        scenario: "stackexchange-redis",
        repaired: "stackexchange-redis/repaired",
        remedy: Remedy::MEASURE,
    }],
    left_out: &[
        "On Redis 8.4 it compares by DELEX and SET IFEQ: `--set lock.release=delex-ifeq --set \
         lock.extend_by=set-ifeq`. Before, by a transaction (WATCH), for which there is a script here.",
        "The token is the caller's: here it is new for each call.",
        "Its backlog, which keeps commands while there is no connection.",
    ],
};
