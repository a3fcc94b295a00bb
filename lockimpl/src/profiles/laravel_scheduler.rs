//! The mutex of Laravel's scheduler, as its source has it: who looks whether a task runs takes its lock, and who is
//! done deletes it, whosever it is.

use std::time::Duration;

use crate::config::{Flaw, Profile, Remedy, Switches};

pub(super) static LARAVEL_SCHEDULER: Profile = Profile {
    name: "laravel-scheduler",
    also: &["CacheEventMutex", "withoutOverlapping", "laravel schedule"],
    library: "Laravel (scheduler, withoutOverlapping)",
    language: "PHP",
    version: "13.26.1",
    files: "github.com/laravel/framework bd71b45: src/Illuminate/Cache/RedisLock.php, Lock.php, \
        LuaScripts.php, RedisStore.php; src/Illuminate/Console/Scheduling/CacheEventMutex.php, Event.php, \
        ManagesAttributes.php",
    read_on: "2026-11-25",
    newest: None,
    meaning: "a mutex of 1,440 minutes: `exists` takes it and gives it back, `forget` is a plain DEL",
    ttl: Some(Duration::from_secs(86400)),
    fixed: || {
        Switches::new()
            .with("probe", "takes")
            .with("release", "plain-delete")
            .with("request_timeout", Duration::from_secs(60))
            .with("release_on_failure", false)
    },
    open: &["probe", "release", "request_timeout"],
    flaws: &[
        Flaw {
            what: "A scheduler that dies while it checks whether a task is running leaves the task's lock behind: \
                   the task does not run for a day, on any server, unless somebody runs `schedule:clear-cache`. A \
                   number of minutes for `withoutOverlapping` makes that as many minutes.",
            scenario: "laravel-scheduler",
            repaired: "laravel-scheduler/repaired",
            remedy: Remedy::Option("withoutOverlapping(minutes)"),
        },
        Flaw {
            what: "`forget` deletes the lock, whoever holds it: a server that stops right before it, until the \
                   minutes have passed, lets a third one start the task while the second is at it. Shown with \
                   `withoutOverlapping(10)`.",
            scenario: "laravel-scheduler-forgets",
            repaired: "laravel-scheduler-forgets/repaired",
            remedy: Remedy::Option("withoutOverlapping(minutes)"),
        },
    ],
    left_out: &[
        "`onOneServer`, which is another lock, of an hour.",
        "Other conditions of a task, and signals, at which it gives back.",
        "`runInBackground`, where another process gives back.",
        "phpredis and predis were not read: PHP's default of 60 s is taken for the time that a command may \
         take.",
    ],
};
