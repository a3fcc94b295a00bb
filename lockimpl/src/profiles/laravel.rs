//! Laravel's `Cache::lock` over Redis, as its source has it: no end unless seconds are given, and a wait by the wall
//! clock.

use std::time::Duration;

use crate::config::{Flaw, Profile, Remedy, Switches};

pub(super) static LARAVEL: Profile = Profile {
    name: "laravel",
    also: &["Cache::lock", "illuminate/cache", "RedisLock"],
    library: "Laravel (Cache::lock)",
    language: "PHP",
    version: "13.26.1",
    files: "github.com/laravel/framework bd71b45: src/Illuminate/Cache/RedisLock.php, Lock.php, \
        LuaScripts.php, RedisStore.php",
    read_on: "2026-11-25",
    newest: None,
    meaning: "a key without an end unless seconds are given; `block` asks every 250 ms by the wall clock",
    ttl: None,
    fixed: || {
        Switches::new()
            .with("expiry", "none")
            .with("token", "object")
            .with("wake", "poll")
            .with("poll", Duration::from_millis(250))
            .with("until_expiry", false)
            .with("wait_clock", "wall")
            .with("request_timeout", Duration::from_secs(60))
            .with("release_on_failure", false)
    },
    open: &["expiry", "poll", "request_timeout", "wait_clock"],
    flaws: &[
        Flaw {
            what: "A process that dies while it holds a lock without seconds keeps everybody out for ever.",
            scenario: "laravel",
            repaired: "laravel/repaired",
            remedy: Remedy::Option("seconds"),
        },
        Flaw {
            what: "`block` measures its wait by the wall clock: if that clock is set back, it gives up later by \
                   as much. Nothing else goes wrong.",
            scenario: "laravel-block",
            repaired: "laravel-block/repaired",
            remedy: Remedy::Code(
                "Call `get()` in a loop of your own, which measures its wait by `hrtime()`.",
            ),
        },
    ],
    left_out: &[
        "`refresh`, with seconds of its own.",
        "A lease is whole seconds there.",
        "It gives up its wait when the next attempt would be too late; here it asks once more at the end.",
        "phpredis and predis were not read: PHP's default of 60 s is taken for the time that a command may \
         take.",
        "Where the connection's `retry` is set, a command that was sent may be sent again on a new one.",
    ],
};
