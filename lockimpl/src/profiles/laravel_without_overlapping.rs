//! Laravel's `WithoutOverlapping` for jobs of a queue, as its source has it: a lock without an end.

use std::time::Duration;

use crate::config::{Flaw, Profile, Remedy, Switches};

pub(super) static LARAVEL_WITHOUT_OVERLAPPING: Profile = Profile {
    name: "laravel-without-overlapping",
    also: &["Illuminate\\Queue\\Middleware\\WithoutOverlapping"],
    library: "Laravel (WithoutOverlapping)",
    language: "PHP",
    version: "13.26.1",
    files: "github.com/laravel/framework bd71b45: src/Illuminate/Cache/RedisLock.php, Lock.php, \
        LuaScripts.php, RedisStore.php; src/Illuminate/Queue/Middleware/WithoutOverlapping.php",
    read_on: "2026-11-25",
    newest: None,
    meaning: "a key without an end around a job, unless `expireAfter` is set",
    ttl: None,
    fixed: || {
        Switches::new()
            .with("expiry", "none")
            .with("token", "object")
            .with("request_timeout", Duration::from_secs(60))
            .with("release_on_failure", false)
    },
    open: &["expiry", "request_timeout"],
    flaws: &[Flaw {
        what: "A worker that is killed during a job leaves a lock without an end: no job with its key runs until \
               somebody deletes it.",
        scenario: "laravel-without-overlapping",
        repaired: "laravel-without-overlapping/repaired",
        remedy: Remedy::Option("expireAfter"),
    }],
    left_out: &[
        "A job that is refused goes back to its queue, and is tried as often as the queue allows: here \
         programs ask again.",
        "phpredis and predis were not read: PHP's default of 60 s is taken for the time that a command may \
         take.",
    ],
};
